#include "plugin/commands/arguments.h"

#include <algorithm>

namespace yad {
namespace {

const FlagHelp* FlagOfAny(const std::vector<CommandHelp>& commands, std::string_view name) {
  for (const CommandHelp& command : commands) {
    if (const FlagHelp* flag = FindFlag(command.flags, name)) return flag;
  }
  return nullptr;
}

}  // namespace

const FlagHelp* FindFlag(const std::vector<FlagHelp>& flags, std::string_view name) {
  const auto found = std::find_if(flags.begin(), flags.end(), [&](const FlagHelp& flag) {
    return flag.name == name || (!flag.brief.empty() && flag.brief == name);
  });
  return found == flags.end() ? nullptr : &*found;
}

std::vector<std::string> AdaptArguments(const std::vector<std::string>& arguments,
                                        const std::vector<CommandHelp>& commands) {
  std::vector<std::string> adapted;
  bool is_value = false;  // the previous argument is a flag, and this argument is its value
  bool no_flags = false;  // after "--"
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    const bool may_be_flag = !is_value && !no_flags && argument.starts_with('-');
    const FlagHelp* flag = may_be_flag ? FlagOfAny(commands, std::string_view(argument).substr(0, equals)) : nullptr;
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
