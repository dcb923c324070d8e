// The changes that the page can make. Each change is a command of this program: the page shows the command line, and
// the server parses and runs exactly this command line.
#ifndef PLUGIN_DASHBOARD_ACTIONS_H_
#define PLUGIN_DASHBOARD_ACTIONS_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/client/client.h"
#include "plugin/commands/options.h"

namespace yad {

// Returns the arguments of the command for a request of the page (`{"action": "approve", "daemon": "shop/web", …}`).
// `own` are the options of the dashboard; the command uses the same cluster. Fails with kBadRequest if the request is
// not valid. Pure.
Result<std::vector<std::string>> ActionArguments(const Json& request, const PluginOptions& own);
// Returns the command line for a POSIX shell: "kubectl yad hold hangzhou '--reason=no time'". Pure.
std::string CommandLine(const std::vector<std::string>& arguments);

// The output of a command.
struct CommandOutput {
  std::string out;
  std::string warnings;         // of the command
  std::string server_warnings;  // of the apiserver, about the requests of the command
};
// Parses the arguments and runs the command, except `dashboard`. Returns the command's error if it fails.
Result<CommandOutput> RunCommand(const std::vector<std::string>& arguments, Client& client);

// Parses "NAMESPACE/NAME". Fails with kBadRequest for other strings.
Result<ObjectKey> ParseKey(const std::string& text);

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_ACTIONS_H_
