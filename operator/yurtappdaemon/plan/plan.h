// Plans the writes of one daemon. Pure: a plan depends on a Snapshot only, and a memo only saves time.
#ifndef OPERATOR_YURTAPPDAEMON_PLAN_PLAN_H_
#define OPERATOR_YURTAPPDAEMON_PLAN_PLAN_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/plan/assess.h"
#include "operator/yurtappdaemon/plan/pool_plan.h"
#include "operator/yurtappdaemon/rollout/rollout.h"

namespace yad {

struct Removal {
  WorkloadRef workload;
  // Set for a second workload of a pool: the workload that stays. It is read from the server before the other is
  // deleted.
  std::optional<WorkloadRef> kept = std::nullopt;
  // Set if the removal needs a token. The workloads are marked with the token before any of them is removed.
  std::string mark = {};
};

// A Service of the daemon that no pool needs any more.
struct ServiceRemoval {
  ServiceRef service;
  // The index in Plan::pools, if the pool is selected and needs no Service, or one with another name. nullopt: the
  // Service is removed after the deletion of the pool's workloads.
  std::optional<std::size_t> pool;
};

// Removals that do not happen now.
struct HeldRemovals {
  std::vector<WorkloadRef> workloads;
  // Set for removals that are blocked until a user allows them. All empty: this is not decided yet.
  std::string token;
  std::string reason;
  std::string message;

  bool blocked() const { return !token.empty(); }
  bool undecided() const { return !workloads.empty() && token.empty(); }
};

// The goal of a rollout, and the decision about it.
struct Rollout {
  Goal goal;
  RolloutDecision decision;
  std::set<std::string> begun = {};  // groups that have begun with an approval, with those of this decision
};

struct Plan {
  std::vector<PoolPlan> pools;       // in the order of the snapshot
  std::vector<Removal> removals;     // workloads of pools that are no longer selected, and duplicates
  std::vector<WorkloadRef> leaving;  // workloads of such pools that are already being deleted
  std::vector<ServiceRemoval> service_removals;
  HeldRemovals held;               // moved here by GuardRemovals
  std::optional<Rollout> rollout;  // only for RollingUpdate
  std::optional<WallTime> wake;    // when time alone changes something: a soak or a deadline ends
  std::set<std::string> orphans;   // uids of all workloads without a controller in the snapshot
};

Plan MakePlan(const Snapshot& snapshot, PlanMemo& memo);

// Returns the object to PUT, which makes the live workload plan.to: a three-way merge, and the parts that Complete and
// plan.record set. It equals `live` if no write is needed. If the revision of plan.to is unknown, nothing is merged.
// Fails as Render does.
Result<Json> MergedWorkload(const YurtAppDaemon& daemon, const PoolPlan& plan, Json live);
// Returns whether MergedWorkload returns `live`, if plan.from equals plan.to and without plan.record. Cheap if it
// returns true.
bool NeedsNoWrite(const YurtAppDaemon& daemon, const PoolPlan& plan, const Json& live);
// Returns the object to POST. A StatefulSet whose template names no Service gets its pool's Service, if there is one.
// No rendering includes that name, because it is immutable. Fails as Render does.
Result<Json> NewWorkload(const YurtAppDaemon& daemon, const PoolPlan& plan);
}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_PLAN_H_
