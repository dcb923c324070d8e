#include "plugin/view/pool_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "plugin/view/progress.h"
#include "plugin/view/text.h"

namespace yad {
namespace {

// The positions of the phases in a list of counts, in the order of PoolPhase; position 0 is the most urgent phase.
constexpr std::array<int, 10> kUrgency{4, 2, 3, 4, 4, 7, 1, 0, 6, 5};
static_assert(kUrgency.size() == static_cast<std::size_t>(PoolPhase::kRemoving) + 1);

}  // namespace

std::vector<PoolStatusView> PoolsOf(const Json& daemon) {
  const Json* status = Find(daemon, {"status"});
  return status != nullptr ? StatusView(*status).pools() : std::vector<PoolStatusView>();
}

std::string WhyNotReady(const PoolStatusView& pool) {
  if (pool.reason().empty() || pool.message().empty() || pool.phase() == PoolPhase::kReady) return "";
  return std::string(pool.reason()) + ": " + std::string(pool.message());
}

Table PoolTable(const Json& daemon, bool wide, WallTime now, std::size_t most) {
  std::vector<std::string> header{"NAME", "PHASE", "REVISION", "REPLICAS", "READY", "AGE", "REASON"};
  const std::vector<PoolStatusView> pools = PoolsOf(daemon);
  const bool services =
      std::any_of(pools.begin(), pools.end(), [](const PoolStatusView& pool) { return !pool.service().empty(); });
  if (wide) header.insert(header.end(), {"STATE", "WORKLOAD", "MESSAGE"});
  if (wide && services) header.insert(header.end() - 1, "SERVICE");
  Table table(std::move(header));
  for (const PoolStatusView& pool : pools) {
    if (table.size() == most) break;
    std::vector<std::string> row{std::string(pool.name()),
                                 std::string(pool.phase_text()),
                                 TextOr(pool.revision(), "<none>"),
                                 std::to_string(pool.replicas()),
                                 std::to_string(pool.ready_replicas()),
                                 Age(std::string(pool.last_transition_text()), now),
                                 std::string(pool.reason())};
    if (wide) {
      row.insert(row.end(),
                 {TextOr(pool.state(), "<none>"), TextOr(pool.workload(), "<none>"), std::string(pool.message())});
    }
    if (wide && services) row.insert(row.end() - 1, TextOr(pool.service(), "<none>"));
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
  const std::vector<PoolStatusView> pools = PoolsOf(daemon);
  for (std::size_t i = first; i < pools.size(); ++i) {
    const int urgency = kUrgency[static_cast<std::size_t>(pools[i].phase())];
    ++counts[{urgency, std::string(pools[i].phase_text())}];
  }
  std::string text;
  for (const auto& [phase, count] : counts) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + phase.second;
  }
  return text;
}

}  // namespace yad
