#include "plugin/commands/arguments.h"

#include <algorithm>
#include <string_view>

namespace yad {
namespace {

// Returns the flag with this name, such as "--namespace" or "-n"; nullptr if no command has it.
const FlagHelp* FlagNamed(const std::vector<CommandHelp>& commands, std::string_view name) {
  for (const CommandHelp& command : commands) {
    const auto found = std::find_if(command.flags.begin(), command.flags.end(), [&](const FlagHelp& flag) {
      return flag.name == name || (!flag.brief.empty() && flag.brief == name);
    });
    if (found != command.flags.end()) return &*found;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> AdaptArguments(const std::vector<std::string>& arguments,
                                        const std::vector<CommandHelp>& commands) {
  std::vector<std::string> adapted;
  bool is_value = false;  // the previous argument is a flag, and this argument is its value
  bool no_flags = false;  // after "--"
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    const bool may_be_flag = !is_value && !no_flags && argument.starts_with('-');
    const FlagHelp* flag = may_be_flag ? FlagNamed(commands, std::string_view(argument).substr(0, equals)) : nullptr;
    no_flags = no_flags || (may_be_flag && argument == "--");
    is_value = flag != nullptr && flag->takes_value && equals == std::string::npos;
    if (flag == nullptr || equals == std::string::npos) {
      adapted.push_back(argument);
    } else if (flag->takes_value && equals + 1 == argument.size()) {
      adapted.insert(adapted.end(), {flag->name, ""});
    } else {
      adapted.push_back(flag->name + argument.substr(equals));
    }
  }
  return adapted;
}

}  // namespace yad
