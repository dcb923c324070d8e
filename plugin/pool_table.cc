#include "plugin/pool_table.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "plugin/progress.h"
#include "plugin/text.h"

namespace yad {
namespace {

std::string Number(const Json& object, std::initializer_list<std::string_view> path) {
  const Json* value = Find(object, path);
  return value != nullptr && value->is_number_integer() ? value->dump() : "0";
}

// Returns the rank of a phase for the user; the most urgent phase is 0.
int Urgency(const std::string& phase) {
  static const std::map<std::string, int> ranks{{"Failed", 0},  {"Unhealthy", 1}, {"Pending", 2}, {"Updating", 3},
                                                {"Soaking", 4}, {"Removing", 5},  {"Offline", 6}, {"Ready", 7}};
  const auto found = ranks.find(phase);
  return found == ranks.end() ? 4 : found->second;
}

}  // namespace

std::vector<Json> PoolsOf(const Json& daemon) {
  std::vector<Json> pools;
  const Json* list = Find(daemon, {"status", "pools"});
  if (list != nullptr && list->is_array()) pools.assign(list->begin(), list->end());
  return pools;
}

std::string WhyNotReady(const Json& pool) {
  const std::string reason = StringAt(pool, {"reason"}), message = StringAt(pool, {"message"});
  return reason.empty() || message.empty() || StringAt(pool, {"phase"}) == "Ready" ? "" : reason + ": " + message;
}

Table PoolTable(const Json& daemon, bool wide, WallTime now, std::size_t most) {
  std::vector<std::string> header{"NAME", "PHASE", "REVISION", "REPLICAS", "READY", "AGE", "REASON"};
  const std::vector<Json> pools = PoolsOf(daemon);
  const bool services =
      std::any_of(pools.begin(), pools.end(), [](const Json& pool) { return !StringAt(pool, {"service"}).empty(); });
  if (wide) header.insert(header.end(), {"STATE", "WORKLOAD", "MESSAGE"});
  if (wide && services) header.insert(header.end() - 1, "SERVICE");
  Table table(std::move(header));
  for (const Json& pool : pools) {
    if (table.size() == most) break;
    std::vector<std::string> row{
        StringAt(pool, {"name"}),   StringAt(pool, {"phase"}),       StringAt(pool, {"revision"}, "<none>"),
        Number(pool, {"replicas"}), Number(pool, {"readyReplicas"}), Age(StringAt(pool, {"lastTransitionTime"}), now),
        StringAt(pool, {"reason"})};
    if (wide) {
      row.insert(row.end(), {StringAt(pool, {"state"}, "<none>"), StringAt(pool, {"workload"}, "<none>"),
                             StringAt(pool, {"message"})});
    }
    if (wide && services) row.insert(row.end() - 1, StringAt(pool, {"service"}, "<none>"));
    table.Add(std::move(row));
  }
  return table;
}

Table DaemonTable(const std::vector<Json>& daemons, bool with_namespace, bool wide, WallTime now) {
  std::vector<std::string> header{"NAME", "TYPE", "POOLS", "UPDATED", "READY", "FAILED", "OFFLINE", "PROGRESS", "AGE"};
  if (with_namespace) header.insert(header.begin(), "NAMESPACE");
  if (wide) header.insert(header.end(), {"REVISION", "IMAGES"});
  Table table(std::move(header));
  for (const Json& daemon : daemons) {
    const Progress progress = ReadProgress(daemon);
    std::vector<std::string> row{StringAt(daemon, {"metadata", "name"}),
                                 StringAt(daemon, {"status", "templateType"}, "<unknown>"),
                                 std::to_string(progress.desired),
                                 std::to_string(progress.updated),
                                 std::to_string(progress.ready),
                                 std::to_string(progress.failed),
                                 std::to_string(progress.offline),
                                 progress.observed ? progress.reason : "NotObserved",
                                 Age(StringAt(daemon, {"metadata", "creationTimestamp"}), now)};
    if (with_namespace) row.insert(row.begin(), StringAt(daemon, {"metadata", "namespace"}));
    if (wide) {
      row.insert(row.end(), {StringAt(daemon, {"status", "updateRevision"}), StringAt(daemon, {"status", "images"})});
    }
    table.Add(std::move(row));
  }
  return table;
}

std::string CountPhases(const Json& daemon, std::size_t first) {
  std::map<std::pair<int, std::string>, int> counts;
  const std::vector<Json> pools = PoolsOf(daemon);
  for (std::size_t i = first; i < pools.size(); ++i) {
    const std::string phase = StringAt(pools[i], {"phase"});
    ++counts[{Urgency(phase), phase}];
  }
  std::string text;
  for (const auto& [phase, count] : counts) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + phase.second;
  }
  return text;
}

}  // namespace yad
