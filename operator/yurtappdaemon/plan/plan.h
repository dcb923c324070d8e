// Plans the writes of one daemon. Pure: a plan depends only on the Snapshot. The memo only makes planning faster.
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
  // If `workload` is a duplicate, the workload of the same pool that is kept. Otherwise nullopt. Before `workload` is
  // deleted, a read from the server confirms that `kept` exists.
  std::optional<WorkloadRef> kept = std::nullopt;
  // The approval token (RemovalToken), or "" if the removal does not need an approval. The operator first stores the
  // token in an annotation of all approved workloads, and then removes them.
  std::string mark = {};
};

// A Service of the daemon that no pool needs.
struct ServiceRemoval {
  ServiceRef service;
  // The index in Plan::pools of the Service's pool, which needs no Service, or a Service with another name. nullopt if
  // the pool is not selected. The pool's workloads are then removed before the Service.
  std::optional<std::size_t> pool;
};

// Removals that the plan postpones.
struct PostponedRemovals {
  std::vector<WorkloadRef> workloads;
  // The next three fields are set if the removals are blocked until a user allows them. The fields are empty if the
  // operator has not decided yet whether the removals are blocked.
  std::string token;
  std::string reason;
  std::string message;

  bool blocked() const { return !token.empty(); }
  bool undecided() const { return !workloads.empty() && token.empty(); }
};

// The target of a rollout, and the decision about it.
struct Rollout {
  Target target;
  RolloutDecision decision;
  // The window that opens first, among the windows that pools wait for.
  std::optional<WindowState> next_window = {};
  // The reason why the time at which a window opens next is unknown (WindowState::fault). Otherwise "".
  std::string window_error = {};
  std::set<std::string> begun = {};  // groups whose update has begun, including those that this decision begins
  // The new value of kPercentGroupsAnnotation of the update revision, or "" if it does not change. Must be stored
  // before the other writes of the plan.
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
  PostponedRemovals postponed;                   // the removals that GuardRemovals moved here
  std::optional<Rollout> rollout;                // only for RollingUpdate
  // The next time at which the plan may change without an event, such as the end of a soak.
  std::optional<WallTime> wake;
  std::set<std::string> orphans;  // uids of all workloads without a controller in the snapshot
};

PoolGroups GroupsOf(const Snapshot& snapshot);

Plan MakePlan(const Snapshot& snapshot, PlanMemo& memo);

// Returns the object to PUT. Fails as Render does. The object is `live` with these changes:
// - The rendered workload of plan.to is merged into it (three-way merge) if the revision is known. The pod template of
//   `live` stays if KeepsPodTemplate is true.
// - StampMetadata sets its metadata.
// - If plan.record is set, an annotation stores it.
Result<Json> MergedWorkload(const YurtAppDaemon& daemon, const PoolPlan& plan, Json live);
// Returns whether MergedWorkload would return `live` unchanged. Requires that plan.record is unset and that plan.from
// equals plan.to. Cheap if the result is true.
bool NeedsNoWrite(const YurtAppDaemon& daemon, const PoolPlan& plan, const Json& live);
// Returns the object to POST. Fails as Render does.
//
// If a StatefulSet has no serviceName, sets it to the name of its pool's Service, if the pool has a Service. Render
// omits the name, because the field is immutable.
Result<Json> NewWorkload(const YurtAppDaemon& daemon, const PoolPlan& plan);
}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_PLAN_H_
