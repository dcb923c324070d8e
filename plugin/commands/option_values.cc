#include "plugin/commands/option_values.h"

#include <chrono>
#include <set>

#include "operator/api/names.h"
#include "operator/base/clock.h"
#include "operator/yurtappdaemon/observe/freeze.h"
#include "plugin/view/text.h"

namespace yad {
namespace {

tl::unexpected<Error> NotValid(const std::string& why) { return Fail(Reason::kBadRequest, why); }

Result<std::string> ValidName(const std::string& name, const std::string& what, const std::string& fault) {
  if (fault.empty()) return name;
  return NotValid("\"" + name + "\" is not a valid " + what + ": " + fault);
}

// Returns "web" for "web" and for "KIND/web", where KIND is one of `kinds`. Errors suggest the short kind `brief`.
Result<std::string> ParseName(const std::string& argument, const std::string& type, const std::string& brief,
                              const std::set<std::string>& kinds) {
  std::string name = argument;
  if (const std::size_t slash = argument.find('/'); slash != std::string::npos) {
    name = argument.substr(slash + 1);
    if (!kinds.contains(argument.substr(0, slash))) {
      return NotValid("\"" + argument + "\" is not a valid " + type + ": give NAME or " + brief + "/NAME");
    }
  }
  if (name.empty()) return NotValid("the name of the " + type + " is empty");
  return ValidName(name, "name of a " + type, CheckDns1123Subdomain(name));
}

}  // namespace

Result<std::string> DaemonNameOf(const std::string& argument) {
  return ParseName(argument, "YurtAppDaemon", "yad",
                   {"yad", "udd", "yurtappdaemon", "yurtappdaemons", "yurtappdaemon.apps.openyurt.io",
                    "yurtappdaemons.apps.openyurt.io"});
}

Result<std::string> AutoscalerNameOf(const std::string& argument) {
  return ParseName(argument, "NodePoolAutoscaler", "npa",
                   {"npa", "nodepoolautoscaler", "nodepoolautoscalers", "nodepoolautoscaler.capacity.openyurt.io",
                    "nodepoolautoscalers.capacity.openyurt.io"});
}

Result<std::chrono::milliseconds> DurationValue(const std::string& text) {
  if (const auto duration = ParseDuration(text)) return *duration;
  return NotValid("\"" + text + "\" is not a valid duration: give one such as 90s, 5m or 1h30m");
}

Result<WallTime> TimeValue(const std::string& text) {
  if (const WallTime time = ParseTime(text); time != WallTime()) return time;
  return NotValid("\"" + text + "\" is not a valid time: give an RFC 3339 time such as 2026-11-22T12:00:00Z");
}

Result<std::string> PoolNameValue(const std::string& argument) {
  return ParseName(argument, "NodePool", "nodepool",
                   {"np", "nodepool", "nodepools", "nodepool.apps.openyurt.io", "nodepools.apps.openyurt.io"});
}

Result<std::string> NamespaceValue(const std::string& ns) { return ValidName(ns, "namespace", CheckDns1123Label(ns)); }

Result<std::string> RevisionNameValue(const std::string& revision) {
  return ValidName(revision, "name of a revision", CheckDns1123Subdomain(revision));
}

Result<std::string> HoldReasonValue(const std::string& reason) {
  if (reason.empty()) return NotValid("the reason must not be empty");
  return reason;
}

Result<std::string> FreezeReasonValue(const std::string& reason) {
  YAD_TRY_VOID(HoldReasonValue(reason));
  if (reason.size() <= kMaxFreezeReason) return reason;
  return NotValid("the reason has " + std::to_string(reason.size()) + " bytes, and may have at most " +
                  std::to_string(kMaxFreezeReason) + ": give a shorter reason");
}

Result<double> RateValue(const std::string& text) {
  const bool percent = text.ends_with('%');
  const double scale = percent ? 100 : 1;
  const auto number = ParseNumber<double>(std::string_view(text).substr(0, text.size() - (percent ? 1 : 0)));
  if (number && *number >= 0 && *number <= scale) return *number / scale;
  return NotValid("\"" + text + "\" is not a valid probability: give one such as 5% or 0.05");
}

Result<DryRun> DryRunValue(const std::string& kind) {
  if (kind == "none") return DryRun::kNone;
  if (kind == "client") return DryRun::kClient;
  if (kind == "server") return DryRun::kServer;
  return NotValid("--dry-run must be none, client or server, not \"" + kind + "\"");
}

Result<std::string> ShellValue(const std::string& shell) {
  if (shell == "bash" || shell == "zsh" || shell == "fish") return shell;
  return NotValid("there is no completion for \"" + shell + "\": give bash, zsh or fish");
}

std::string CheckCombination(const PluginOptions& options) {
  if (options.command == "pools") {
    if (options.all_namespaces && !options.daemon.empty())
      return "NAME and -A exclude each other: give NAME with -n NAMESPACE, or -A without NAME";
    if (options.watch && options.output != OutputFormat::kDefault && options.output != OutputFormat::kWide)
      return "-w supports only tables: omit -o, or give -o wide";
  }
  if (options.command == "simulate" && options.daemon.empty() == options.file.empty())
    return "give either NAME, to simulate the current rollout, or -f FILE, to simulate the rollout after the file is "
           "applied";
  if (options.failing && options.failure_rate)
    return "--failing and --failure-rate exclude each other: give only one of them";
  if (options.command == "diff" && options.daemon.empty() == options.file.empty())
    return "give either NAME, to show the changes of the current spec, or -f FILE, to show the changes after the file "
           "is applied";
  if (options.command == "render") {
    if (options.file.empty()) return "give the manifest of a YurtAppDaemon: kubectl yad render FILE --pool POOL";
    if (options.pools.empty() && options.pool_file.empty())
      return "give a pool with --pool POOL, or a file of NodePools with --pool-file FILE";
  }
  if (options.command == "capacity plan") {
    if (!options.autoscaler.empty())
      return "capacity plan takes no NAME: it reads the NodePoolAutoscaler from the file";
    if (options.file.empty())
      return "give a file with Nodes, Pods and one NodePoolAutoscaler: kubectl yad capacity plan -f FILE";
  }
  if (options.file == "-" && (options.pool_file == "-" || options.from == "-"))
    return "only one file can be read from standard input (-)";
  return "";
}

Result<WallTime> FreezeEnd(const std::string& text, WallTime now) {
  const std::string quoted = "\"" + text + "\"";
  WallTime end = ParseTime(text);
  if (end == WallTime()) {
    // Rejects a number without a unit. ParseDuration would read it as seconds, but here it is more likely an incomplete
    // date.
    const bool bare = text.find_first_not_of("0123456789") == std::string::npos;
    const auto duration = bare ? std::nullopt : ParseDuration(text);
    if (!duration) {
      return Fail(Reason::kBadRequest, quoted +
                                           " is not a valid time: give an RFC 3339 time such as "
                                           "2026-12-24T18:00:00Z, or a duration from now such as 12h");
    }
    end = now + *duration;
  }
  if (end <= now) {
    return Fail(Reason::kBadRequest, quoted + " is not in the future (the time is " + FormatTime(now) +
                                         "): give a later time, or a duration from now such as 12h");
  }
  return std::chrono::ceil<std::chrono::seconds>(end);
}

}  // namespace yad
