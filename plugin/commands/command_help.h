// The commands and their flags.
#ifndef PLUGIN_COMMANDS_COMMAND_HELP_H_
#define PLUGIN_COMMANDS_COMMAND_HELP_H_

#include <string>
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

}  // namespace yad

#endif  // PLUGIN_COMMANDS_COMMAND_HELP_H_
