// kubectl-yad: the whole program except for main.
#ifndef PLUGIN_PLUGIN_H_
#define PLUGIN_PLUGIN_H_

#include <string>
#include <vector>

#include "operator/base/error.h"
#include "plugin/view/console.h"

namespace yad {

// Parses the arguments (without the program's name), runs the command and returns the exit code.
int RunPlugin(const std::vector<std::string>& arguments, const std::string& version, Console& console);

// Formats an error as kubectl does: `Error from server (NotFound): …` for the response of a server, `Unable to connect
// to the server: …` for a failed connection, and `error: …` for other errors.
std::string DescribeError(const Error& error);

}  // namespace yad

#endif  // PLUGIN_PLUGIN_H_
