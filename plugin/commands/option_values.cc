#include "plugin/commands/option_values.h"

#include <charconv>

#include "operator/api/names.h"
#include "operator/base/clock.h"
#include "operator/yurtappdaemon/observe/freeze.h"
#include "plugin/commands/freeze_end.h"
#include "plugin/commands/object_name.h"
#include "plugin/view/text.h"

namespace yad {

std::string CheckDuration(const std::string& text) {
  return ParseDuration(text) ? "" : "\"" + text + "\" is not a valid duration: give one such as 90s, 5m or 1h30m";
}

std::string CheckTime(const std::string& text) {
  return ParseTime(text) != WallTime()
             ? ""
             : "\"" + text + "\" is not a valid time: give an RFC 3339 time such as 2026-11-22T12:00:00Z";
}

std::string CheckDaemonName(const std::string& argument) {
  const auto name = DaemonNameOf(argument);
  return name ? "" : name.error().message;
}

std::string CheckAutoscalerName(const std::string& argument) {
  const auto name = AutoscalerNameOf(argument);
  return name ? "" : name.error().message;
}

std::string CheckPoolName(const std::string& pool) {
  const std::string fault = CheckDns1123Subdomain(pool);
  return fault.empty() ? "" : "\"" + pool + "\" is not a valid name of a NodePool: " + fault;
}

std::string CheckNamespace(const std::string& ns) {
  const std::string fault = CheckDns1123Label(ns);
  return fault.empty() ? "" : "\"" + ns + "\" is not a valid namespace: " + fault;
}

std::string CheckRevisionName(const std::string& revision) {
  const std::string fault = CheckDns1123Subdomain(revision);
  return fault.empty() ? "" : "\"" + revision + "\" is not a valid name of a revision: " + fault;
}

std::string CheckFreezeReason(const std::string& reason) {
  if (reason.empty()) return "the reason must not be empty";
  if (reason.size() <= kMaxFreezeReason) return "";
  return "the reason has " + std::to_string(reason.size()) + " bytes, and may have at most " +
         std::to_string(kMaxFreezeReason) + ": give a shorter reason";
}

std::string CheckFreezeEnd(const std::string& end) {
  const auto time = FreezeEnd(end, Clock::Real().WallNow());
  return time ? "" : time.error().message;
}

std::string CheckRate(const std::string& text) {
  return ParseRate(text) ? "" : "\"" + text + "\" is not a valid probability: give one such as 5% or 0.05";
}

std::string CheckDryRun(const std::string& kind) {
  return ParseDryRun(kind) ? "" : "--dry-run must be none, client or server, not \"" + kind + "\"";
}

std::string CheckCombination(const PluginOptions& options) {
  if (options.command == Command::kPools) {
    if (options.all_namespaces && !options.daemon.empty())
      return "NAME and -A exclude each other: give NAME with -n NAMESPACE, or -A without NAME";
    if (options.watch && options.output != OutputFormat::kDefault && options.output != OutputFormat::kWide)
      return "-w supports only tables: omit -o, or give -o wide";
  }
  if (options.command == Command::kSimulate && options.daemon.empty() == options.file.empty())
    return "give either NAME, to simulate the current rollout, or -f FILE, to simulate the rollout after the file is "
           "applied";
  if (options.failing && options.failure_rate)
    return "--failing and --failure-rate exclude each other: give only one of them";
  if (options.command == Command::kDiff && options.daemon.empty() == options.file.empty())
    return "give either NAME, to show the changes of the current spec, or -f FILE, to show the changes after the file "
           "is applied";
  if (options.command == Command::kRender) {
    if (options.file.empty()) return "give the manifest of a YurtAppDaemon: kubectl yad render FILE --pool POOL";
    if (options.pools.empty() && options.pool_file.empty())
      return "give a pool with --pool POOL, or a file of NodePools with --pool-file FILE";
  }
  if (options.command == Command::kCapacityPlan) {
    if (!options.autoscaler.empty())
      return "capacity plan takes no NAME: it reads the NodePoolAutoscaler from the file";
    if (options.file.empty())
      return "give a file with Nodes, Pods and one NodePoolAutoscaler: kubectl yad capacity plan -f FILE";
  }
  if (options.file == "-" && (options.pool_file == "-" || options.from == "-"))
    return "only one file can be read from standard input (-)";
  return "";
}

std::optional<DryRun> ParseDryRun(const std::string& kind) {
  if (kind == "none") return DryRun::kNone;
  if (kind == "client") return DryRun::kClient;
  if (kind == "server") return DryRun::kServer;
  return std::nullopt;
}

std::optional<double> ParseRate(const std::string& text) {
  const bool percent = text.ends_with('%');
  const char* const end = text.data() + text.size() - (percent ? 1 : 0);
  double rate = -1;
  const auto [read, error] = std::from_chars(text.data(), end, rate);
  if (error != std::errc() || read != end) return std::nullopt;
  if (percent) rate /= 100;
  if (!(rate >= 0 && rate <= 1)) return std::nullopt;
  return rate;
}

}  // namespace yad
