// Prepares the data of the pools of one YurtAppDaemon for the page. Pure.
#ifndef PLUGIN_DASHBOARD_POOL_MODEL_H_
#define PLUGIN_DASHBOARD_POOL_MODEL_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// A snapshot and the operator's plan for it, only for display. The plan ignores checks, prefetches, and conditions of
// Nodes. So DisplayedPools uses the plan only for the phases of pools that status.pools does not list.
struct PlannedSnapshot {
  Snapshot snapshot;
  HealthRecord health;  // of the snapshot
  Plan plan;
  std::vector<std::size_t> groups;  // the group of each pool, in the order of the snapshot
};
// Each daemon needs its own `memo`.
std::unique_ptr<const PlannedSnapshot> PlanForDisplay(Snapshot snapshot, PlanMemo& memo);

// The data of one pool.
struct PoolFacts {
  std::string name;
  std::optional<std::size_t> group;  // an index in RollingUpdate::groups; nullopt: unknown, or the pool is not selected
  Json labels = Json::object();
  std::string phase;
  std::string revision;
  bool current = false;  // on status.updateRevision, or on a revision that renders the same workload for this pool
  std::string reason;
  std::string message;
  std::string waiting_for;
  std::optional<WallTime> opens;
  std::string since;
  std::int64_t replicas = 0;
  std::int64_t ready_replicas = 0;
  std::int64_t misplaced = 0;
  std::string workload;
  std::string check;
  bool derived = false;  // computed from the plan; status.pools lists at most 500 pools

  // Returns whether the pool has the new revision and the update has ended without a failure.
  bool done() const;
  bool operator==(const PoolFacts&) const = default;
};

// Returns the pools in the order of the groups, then by name. If `planned` is null, returns only the pools that the
// daemon's status lists.
std::vector<PoolFacts> DisplayedPools(const Json& daemon, const PlannedSnapshot* planned);

// Returns the pool as JSON. `group` is the name of its group.
Json ToJson(const PoolFacts& pool, const std::string& group);

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_POOL_MODEL_H_
