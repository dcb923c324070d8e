// The pools of one YurtAppDaemon as the page gets them. Pure.
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

// A snapshot with the plan that the operator makes for it. Both are only for display. The plan considers neither
// checks, nor images that are pulled before updates, nor conditions of Nodes. For the pools that the daemon's status
// lists, DisplayedPools takes the effects of checks, pulls and conditions from the status.
struct PlannedSnapshot {
  Snapshot snapshot;
  HealthRecord health;  // of the snapshot
  Plan plan;
  std::vector<std::size_t> groups;  // of the pools, in the order of the snapshot
};
// `memo` is for this daemon only.
std::unique_ptr<const PlannedSnapshot> PlanForDisplay(Snapshot snapshot, PlanMemo& memo);

// One pool.
struct PoolFacts {
  std::string name;
  std::optional<std::size_t> group;  // an index in RollingUpdate::groups; nullopt: unknown, or the pool is not selected
  Json labels = Json::object();
  std::string phase;
  std::string revision;
  bool current = false;  // on status.updateRevision
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
  bool derived = false;  // not from status.pools, which lists at most 500 pools

  // Returns whether the update has reached the pool, and the pool has not failed.
  bool done() const;
  bool operator==(const PoolFacts&) const = default;
};

// Returns the pools in the order of the groups, then by name. `planned` may be null: then there are only the pools that
// status lists.
std::vector<PoolFacts> DisplayedPools(const Json& daemon, const PlannedSnapshot* planned);

// Returns the pool as JSON. `group` is the name of its group.
Json ToJson(const PoolFacts& pool, const std::string& group);

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_POOL_MODEL_H_
