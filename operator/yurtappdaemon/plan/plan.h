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
  // Set only if `workload` is a duplicate: the workload of the same pool that stays. A live read confirms that it
  // exists before `workload` is deleted.
  std::optional<WorkloadRef> kept = std::nullopt;
  // The approval token (RemovalToken), or "" if the removal needs no approval. The operator annotates all workloads
  // with it before it removes the first.
  std::string mark = {};
};

// A Service of the daemon that no pool needs any more.
struct ServiceRemoval {
  ServiceRef service;
  // The index in Plan::pools of the Service's pool, which needs no Service, or one with another name. nullopt: the pool
  // is not selected, and its workloads are removed first.
  std::optional<std::size_t> pool;
};

// Removals that the plan postpones.
struct PostponedRemovals {
  std::vector<WorkloadRef> workloads;
  // The next three fields are set if the removals are blocked until a user allows them. Empty while undecided.
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
  // The first opening among the windows that pools wait for.
  std::optional<WindowState> next_window = {};
  // The reason why the next opening is unknown (WindowState::fault), or "".
  std::string window_fault = {};
  std::set<std::string> begun = {};  // groups whose update has begun, including those that this decision begins
  // The new kPercentGroupsAnnotation of the update revision, or "" for no change. It must be written before the writes
  // of the plan.
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

// Returns the object to PUT. Fails as Render does. The object is `live`, merged with:
// - the rendering of plan.to, if its revision is known (three-way merge). See KeepsPodTemplate
// - the metadata of StampMetadata
// - plan.record
Result<Json> MergedWorkload(const YurtAppDaemon& daemon, const PoolPlan& plan, Json live);
// Returns whether MergedWorkload would return `live`. Cheap if the result is true. Requires that plan.record is unset
// and that plan.from equals plan.to.
bool NeedsNoWrite(const YurtAppDaemon& daemon, const PoolPlan& plan, const Json& live);
// Returns the object to POST. Fails as Render does.
//
// A StatefulSet without serviceName gets the name of its pool's Service, if there is one. Renderings leave the name
// out, because the field is immutable.
Result<Json> NewWorkload(const YurtAppDaemon& daemon, const PoolPlan& plan);
}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_PLAN_H_
