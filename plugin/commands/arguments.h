// Describes the commands and their flags, and adapts the arguments of the command line to CLI11.
#ifndef PLUGIN_COMMANDS_ARGUMENTS_H_
#define PLUGIN_COMMANDS_ARGUMENTS_H_

#include <string>
#include <string_view>
#include <vector>

namespace yad {

struct FlagHelp {
  std::string name;   // "--output"
  std::string brief;  // "-o"; "": none
  std::string help;
  bool takes_value = false;
  std::vector<std::string> values;  // the valid values; empty if any value is valid
};
struct CommandHelp {
  std::string name;  // "capacity plan" for a subcommand
  std::string summary;
  std::vector<FlagHelp> flags;
};

// Returns the flag with this name, such as "--namespace" or "-n"; nullptr if there is none.
const FlagHelp* FindFlag(const std::vector<FlagHelp>& flags, std::string_view name);

// Rewrites `arguments` so that CLI11, the parser of the command line, reads them as kubectl would. Pure.
// - `-n=shop` becomes `--namespace=shop`. CLI11 would read the value "=shop".
// - `--namespace=` becomes `--namespace` with the value "". CLI11 would read the next argument as the value.
std::vector<std::string> AdaptArguments(const std::vector<std::string>& arguments,
                                        const std::vector<CommandHelp>& commands);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_ARGUMENTS_H_
