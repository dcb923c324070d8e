// Plans the writes of one daemon. Pure: a plan depends on a Snapshot only, and a memo only saves time.
#ifndef OPERATOR_YURTAPPDAEMON_PLAN_H_
#define OPERATOR_YURTAPPDAEMON_PLAN_H_

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/yurtappdaemon/assess.h"
#include "operator/yurtappdaemon/rollout.h"
#include "operator/yurtappdaemon/snapshot.h"
#include "operator/yurtappdaemon/update_record.h"

namespace yad {

enum class ServiceWrite {
  kNone,
  kCreate,
  kUpdate,  // the template has changed
  kRepair,  // another actor changed values of the operator
};

// A StatefulSet that makes no progress for this long, or a pod of it that is not ready for this long, may be stuck.
inline constexpr std::chrono::seconds kStuckAfter{10};

struct ServicePlan {
  std::string name;
  ServiceWrite write = ServiceWrite::kNone;
  ObjectPtr live;  // null: it does not exist yet
};

struct PoolPlan {
  std::string pool;
  bool offline = false;
  Write write = Write::kNone;
  std::optional<WorkloadRef> workload;  // nullopt: it does not exist yet
  Target from;                          // the target that made the live workload; unset for kCreate
  Target to;                            // the target after the write
  // `to` renders as the daemon's update revision does. After a rollback: the live workload is still on the update
  // revision.
  bool on_update = false;
  // An update that a user blocks: the daemon is paused, OnDelete, a partition, a hold, an open approval. Also set if
  // the workload is created from currentRevision.
  bool held = false;
  // An update that the rollout starts later by itself.
  bool waits = false;
  // The reason why a workload that needs an update does not get it now; kNone also if the server rejected the update.
  WaitingFor waiting_for = WaitingFor::kNone;
  std::string hold;  // the site's reason for its hold; "" if there is none
  // Only for RollingUpdate. `soaking`: healthy, but not for minReadySeconds yet. `overdue`: not healthy in time.
  // `dark`: offline, and the update may be the cause. `joining`: the pool joined with this workload and has never been
  // healthy.
  PoolHealth health;
  bool soaking = false;
  bool overdue = false;
  bool dark = false;
  bool joining = false;
  // Only for RollingUpdate: the pool has failed on the goal, and counts for maxFailures.
  bool failed = false;
  // Only for RollingUpdate: the record that the write sets. nullopt: the write leaves the record as it is.
  std::optional<UpdateRecord> record;
  // A StatefulSet that has been unhealthy for a while, and may wait for a pod that never becomes ready
  // (ReplaceStuckPods).
  bool may_be_stuck = false;
  // The Service of `to`. nullopt: the revision has none, or the pool has no workload and gets none now.
  std::optional<ServicePlan> service;
  // Set if the server rejected these writes, and they are not retried yet.
  std::optional<RefusedWrite> withheld;
  std::string failure_reason;  // such as InvalidPoolName; then the workload is not written
  std::string failure_message;
};

bool WritesAnything(const PoolPlan& pool);
// Returns whether the update changes the inputs of the rendering. Then the pool, and not only the daemon, may be the
// reason.
bool IsForThePool(const PoolPlan& pool);

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

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_H_
