// kubectl-yad: the whole program but main.
#ifndef PLUGIN_PLUGIN_H_
#define PLUGIN_PLUGIN_H_

#include <string>
#include <vector>

#include "operator/base/error.h"
#include "plugin/console.h"

namespace yad {

// Parses the arguments (without the program's name), runs the command and returns the exit code.
int RunPlugin(const std::vector<std::string>& arguments, const std::string& version, Console& console);

// As kubectl prints errors: `Error from server (NotFound): …` for what a server answered, else `error: …`.
std::string DescribeError(const Error& error);

}  // namespace yad

#endif  // PLUGIN_PLUGIN_H_
