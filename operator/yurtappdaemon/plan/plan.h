// Plans the writes of one daemon. Pure: a plan depends only on the Snapshot. The memo only saves time.
#ifndef OPERATOR_YURTAPPDAEMON_PLAN_PLAN_H_
#define OPERATOR_YURTAPPDAEMON_PLAN_PLAN_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/plan/assess.h"
#include "operator/yurtappdaemon/plan/pool_plan.h"
#include "operator/yurtappdaemon/rollout/percent_groups.h"
#include "operator/yurtappdaemon/rollout/rollout.h"

namespace yad {

struct Removal {
  WorkloadRef workload;
  // Set only if `workload` is a second workload of its pool. `kept` is the one that stays. Before `workload` is
  // deleted, a live read confirms that `kept` exists.
  std::optional<WorkloadRef> kept = std::nullopt;
  // The approval token (RemovalToken), or "" if the removal needs no approval. All workloads with a token are annotated
  // with it before the first of them is removed.
  std::string mark = {};
};

// A Service of the daemon that no pool needs any more.
struct ServiceRemoval {
  ServiceRef service;
  // The Service's pool, as an index in Plan::pools. The pool needs no Service, or one with another name. nullopt: the
  // pool is not selected, and the operator removes the Service after the pool's workloads.
  std::optional<std::size_t> pool;
};

// Removals that the plan postpones.
struct HeldRemovals {
  std::vector<WorkloadRef> workloads;
  // The next three fields are set if the removals are blocked until a user allows them. They are empty while this is
  // not decided yet.
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
  // The window that opens first, among the windows for which pools wait.
  std::optional<WindowState> next_window = {};
  // WindowState::fault of a pool that waits for a window, if the next opening is unknown.
  std::string window_fault = {};
  std::set<std::string> begun = {};  // groups whose update has begun, including those that this decision begins
  // The new value of kPercentGroupsAnnotation of the update revision, or "" if the annotation needs no change. It must
  // be written before the writes of the plan.
  std::string percent_groups = {};
};

struct Plan {
  std::vector<PoolPlan> pools;       // in the order of the snapshot
  std::vector<Removal> removals;     // workloads of pools that are no longer selected, and duplicates
  std::vector<WorkloadRef> leaving;  // workloads of unselected pools that are already being deleted
  std::vector<ServiceRemoval> service_removals;
  std::vector<CheckJobRef> outdated_jobs;        // Jobs of checks to delete
  std::vector<PrefetchRef> outdated_prefetches;  // DaemonSets to delete
  bool frozen = false;                           // a freeze was in force, or a gate could not be read
  HeldRemovals held;                             // the removals that GuardRemovals moved here
  std::optional<Rollout> rollout;                // only for RollingUpdate
  // The next time at which the plan may change without an event, for instance because a soak or a deadline ends.
  std::optional<WallTime> wake;
  std::set<std::string> orphans;  // uids of all workloads without a controller in the snapshot
};

PoolGroups GroupsOf(const Snapshot& snapshot);

Plan MakePlan(const Snapshot& snapshot, PlanMemo& memo);

// Returns the object to PUT, which turns the live workload into plan.to. It is a three-way merge, together with the
// parts that StampMetadata and plan.record set. If the revision of plan.to is unknown, only these parts are set. If no
// write is needed, the result equals `live`. Fails as Render does.
Result<Json> MergedWorkload(const YurtAppDaemon& daemon, const PoolPlan& plan, Json live);
// Returns whether MergedWorkload would return `live`. The plan must have no plan.record, and plan.from must equal
// plan.to. The call is cheap if the result is true.
bool NeedsNoWrite(const YurtAppDaemon& daemon, const PoolPlan& plan, const Json& live);
// Returns the object to POST. A StatefulSet whose template has no serviceName gets the name of its pool's Service, if
// there is one. No rendering includes that name, because the field is immutable. Fails as Render does.
Result<Json> NewWorkload(const YurtAppDaemon& daemon, const PoolPlan& plan);
}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_PLAN_H_
