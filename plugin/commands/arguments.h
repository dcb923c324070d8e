// Adapts the arguments of the command line to CLI11.
#ifndef PLUGIN_COMMANDS_ARGUMENTS_H_
#define PLUGIN_COMMANDS_ARGUMENTS_H_

#include <string>
#include <vector>

#include "plugin/commands/command_help.h"

namespace yad {

// Rewrites `arguments` so that CLI11, the parser of the command line, reads them as kubectl would. Pure.
// - `-n=shop` becomes `--namespace=shop`. CLI11 would read the value "=shop".
// - `--namespace=` becomes `--namespace` with the value "". CLI11 would read the next argument as the value.
std::vector<std::string> AdaptArguments(const std::vector<std::string>& arguments,
                                        const std::vector<CommandHelp>& commands);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_ARGUMENTS_H_
