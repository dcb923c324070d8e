// The plan of one pool: the writes of its workload and its Service, and the reasons for them. Plain data.
#ifndef OPERATOR_YURTAPPDAEMON_PLAN_POOL_PLAN_H_
#define OPERATOR_YURTAPPDAEMON_PLAN_POOL_PLAN_H_

#include <chrono>
#include <optional>
#include <string>

#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/plan/assess.h"
#include "operator/yurtappdaemon/plan/checks.h"
#include "operator/yurtappdaemon/plan/gates.h"
#include "operator/yurtappdaemon/plan/prefetches.h"
#include "operator/yurtappdaemon/rollout/rollout.h"
#include "operator/yurtappdaemon/rollout/update_record.h"

namespace yad {

enum class ServiceAction {
  kNone,
  kCreate,
  kUpdate,  // the template has changed
  kRepair,  // another actor changed values of the operator
};

// A StatefulSet may be stuck if it does not make progress for this time, or if one of its pods is not ready for this
// time.
inline constexpr std::chrono::seconds kStuckAfter{10};

struct ServicePlan {
  std::string name;
  ServiceAction action = ServiceAction::kNone;
  ObjectPtr live;  // null: the Service does not exist yet
};

struct PoolPlan {
  std::string pool;
  bool offline = false;
  WorkloadAction action = WorkloadAction::kNone;
  std::optional<WorkloadRef> workload;  // nullopt: the workload does not exist yet
  RenderSpec from;                      // the spec from which the live workload was rendered; unset for kCreate
  RenderSpec to;                        // the spec after the write
  // True if `to` renders the same workload as the daemon's update revision. After a rollback, true if `from` has the
  // update revision.
  bool on_update = false;
  // True if a user blocks the update: spec.paused, OnDelete, a partition, a hold, or a missing approval. Also true if
  // the workload is created from currentRevision.
  bool waits_for_user = false;
  // True if the rollout will start the pool's update later, without a user.
  bool waits = false;
  // The reason why the workload waits for its update. A workload whose update was rejected does not wait (kNone).
  WaitingFor waiting_for = WaitingFor::kNone;
  // The members from here to `may_be_stuck` are set only for RollingUpdate.
  PoolGate gate;
  PoolHealth health;
  bool soaking = false;               // healthy, but not for minReadySeconds yet
  bool overdue = false;               // not healthy in time
  bool offline_after_update = false;  // offline, and the update may be the cause
  bool joining = false;               // the pool joined with this workload
  PoolChecks checks;
  PoolPrefetch prefetch;
  bool failed = false;   // the pool has failed on the revision that it must have, and counts for maxFailures
  bool excused = false;  // the pool has joined, so its failures do not count for maxFailures
  // The write stores this update record (time and revision of the update) in an annotation of the workload. nullopt:
  // the write does not change the annotation.
  std::optional<UpdateRecord> record;
  // True for a StatefulSet that may be blocked by a pod that never becomes ready (ReplaceStuckPods).
  bool may_be_stuck = false;
  // The planned write of the pool's Service. nullopt if revision `to` has no Service template, or if the pool has no
  // workload and none is created.
  std::optional<ServicePlan> service;
  // Set if the server rejected the writes of this pool before, and the retry is not due yet.
  std::optional<RejectedWrite> deferred;
  std::string failure_reason;  // such as InvalidPoolName; if set, the workload is not written
  std::string failure_message;
};

bool WritesAnything(const PoolPlan& pool);
// Returns whether the plan updates the workload, by an update or by an adoption that also updates it. A freeze and
// other gates delay this write.
bool UpdatesWorkload(const PoolPlan& pool);
// Returns whether the plan updates or adopts the workload with other render inputs, such as new tolerations.
bool ChangesRenderInputs(const PoolPlan& pool);
// Returns whether the planned write must keep the live pod template, even if another client has changed it. The next
// plan then repairs this change. The write must keep it if it is an adoption that does not change the spec, or a change
// of the spec (from `from` to `to`) that does not change the pod template.
bool KeepsPodTemplate(const PoolPlan& pool);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_POOL_PLAN_H_
