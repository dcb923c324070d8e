#include "plugin/dashboard/actions.h"

#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "operator/api/names.h"
#include "plugin/commands/commands.h"
#include "plugin/view/console.h"

namespace yad {
namespace {

constexpr std::size_t kMaxText = 1024;  // bytes of a reason; the commands have their own limits
constexpr std::size_t kMaxPools = 1000;

tl::unexpected<Error> Bad(const std::string& why) { return Fail(Reason::kBadRequest, why); }

// Returns a member that must be a name. A valid name never begins with "-", so the command can't read it as a flag.
Result<std::string> NameAt(const Json& request, std::string_view member) {
  std::string name = StringAt(request, {member});
  if (const std::string fault = CheckDns1123Subdomain(name); !fault.empty())
    return Bad(std::string(member) + " is not a valid name: " + fault);
  return name;
}

Result<std::string> ReasonFlag(const Json& request) {
  const std::string reason = StringAt(request, {"reason"});
  if (reason.empty()) return Bad("the reason must not be empty");
  if (reason.size() > kMaxText) return Bad("the reason is longer than " + std::to_string(kMaxText) + " bytes");
  if (Printable(reason) != reason) return Bad("the reason has control characters");
  return "--reason=" + reason;
}

// Adds the arguments of actions on a daemon.
Status AddDaemonArguments(const std::string& action, const Json& request, std::vector<std::string>& arguments) {
  YAD_TRY(const auto key, ParseKey(StringAt(request, {"daemon"})));
  arguments.push_back(key.name);
  if (action == "approve") {
    YAD_TRY(auto group, NameAt(request, "group"));
    arguments.push_back(std::move(group));
    YAD_TRY(const auto revision, NameAt(request, "revision"));  // the revision that the user sees
    arguments.push_back("--revision=" + revision);
  }
  if (action == "undo") {
    const std::int64_t revision = IntAt(request, {"revision"});
    if (revision < 0) return Bad("the revision must not be negative");
    if (revision > 0) arguments.push_back("--to-revision=" + std::to_string(revision));
  }
  const Json* pools = action == "restart" ? Find(request, {"pools"}) : nullptr;
  if (pools != nullptr && !pools->is_null()) {
    if (!pools->is_array() || pools->size() > kMaxPools) return Bad("pools must be a list of at most 1000 names");
    for (const Json& pool : *pools) {
      YAD_TRY(const auto name, NameAt({{"pool", pool}}, "pool"));
      arguments.push_back("--pool=" + name);
    }
  }
  arguments.insert(arguments.end(), {"-n", key.ns});
  return {};
}

bool IsPlainWord(const std::string& word) {
  static constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,";
  return !word.empty() && word.find_first_not_of(kPlain) == std::string::npos;
}

}  // namespace

Result<ObjectKey> ParseKey(const std::string& text) {
  const std::size_t slash = text.find('/');
  ObjectKey key;
  if (slash != std::string::npos) key = {text.substr(0, slash), text.substr(slash + 1)};
  if (!CheckDns1123Label(key.ns).empty() || !CheckDns1123Subdomain(key.name).empty())
    return Bad("daemon must have the form NAMESPACE/NAME");
  return key;
}

Result<std::vector<std::string>> ActionArguments(const Json& request, const PluginOptions& own) {
  const std::string action = StringAt(request, {"action"});
  std::vector<std::string> arguments{action};
  if (action == "approve" || action == "pause" || action == "resume" || action == "undo" || action == "restart") {
    YAD_TRY_VOID(AddDaemonArguments(action, request, arguments));
  } else if (action == "hold" || action == "release") {
    YAD_TRY(auto pool, NameAt(request, "pool"));
    arguments.push_back(std::move(pool));
  } else if (action != "freeze" && action != "unfreeze") {
    return Bad("unknown action");
  }
  if (action == "hold" || action == "freeze") {
    YAD_TRY(auto reason, ReasonFlag(request));
    arguments.push_back(std::move(reason));
  }
  const bool freezes = action == "freeze" || action == "unfreeze";
  if (freezes && !own.operator_ns.empty()) arguments.push_back("--operator-namespace=" + own.operator_ns);
  if (!own.context.empty()) arguments.push_back("--context=" + own.context);
  if (!own.kubeconfig.empty()) arguments.push_back("--kubeconfig=" + own.kubeconfig);
  return arguments;
}

std::string CommandLine(const std::vector<std::string>& arguments) {
  std::string line = "kubectl yad";
  for (const std::string& word : arguments) {
    line += ' ';
    if (IsPlainWord(word)) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

Result<CommandOutput> RunCommand(const std::vector<std::string>& arguments, Client& client) {
  std::ostringstream out, err, server_warnings;
  std::istringstream in;
  Console console{out, err, in, [] { return std::nullopt; }};
  int exit_code = kDone;
  const auto options = ParsePluginOptions(arguments, console, exit_code);
  if (!options) {
    std::string text = err.str().substr(0, err.str().find('\n'));
    if (text.starts_with("error: ")) text.erase(0, 7);
    return Bad(text);
  }
  const WarningsOfThread redirected(server_warnings);
  Session session{*options, console, client, options->ns};
  YAD_TRY_VOID(RunOnSession(session));
  return CommandOutput{out.str(), err.str(), server_warnings.str()};
}

}  // namespace yad
