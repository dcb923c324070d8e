// Reads the command line.
#ifndef PLUGIN_COMMANDS_OPTIONS_H_
#define PLUGIN_COMMANDS_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "plugin/commands/arguments.h"
#include "plugin/commands/plugin_options.h"
#include "plugin/view/console.h"

namespace yad {

// The exit codes of the program, for scripts. `kubectl yad --help` and docs/kubectl-yad.md also list them.
enum ExitCode {
  kDone = 0,
  kNo = 1,        // status: the rollout has stopped; diff: there are differences
  kUsage = 2,     // the command line is wrong
  kFailed = 3,    // not found, rejected, no response, unreadable files, unwritable output ...
  kTimedOut = 4,  // status --timeout
};

// Returns nullopt if the program must exit with `exit_code`: 0 after --help, 2 after a wrong command line. The help or
// the error has then been printed.
std::optional<PluginOptions> ParsePluginOptions(const std::vector<std::string>& arguments, Console& console,
                                                int& exit_code);

// Returns the commands and flags, as completion scripts offer them.
std::vector<CommandHelp> DescribeCommands();

}  // namespace yad

#endif  // PLUGIN_COMMANDS_OPTIONS_H_
