// One pool as status shows it. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_REPORT_POOL_VIEW_H_
#define OPERATOR_YURTAPPDAEMON_REPORT_POOL_VIEW_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "operator/yurtappdaemon/diagnose/diagnosis.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/observe/status_view.h"
#include "operator/yurtappdaemon/plan/outcome.h"

namespace yad {

// Its pointers and string_views point into the workloads and plans from which it was created.
struct PoolView {
  // The fields of the pool's entry in `pools`. Fields that are "" are omitted.
  std::string_view name;
  PoolPhase phase = PoolPhase::kUnknown;
  std::string state;  // "" if there is no workload
  std::string reason;
  std::string message;
  std::string revision;
  std::string_view service;
  std::string since;            // lastTransitionTime
  WallTime counted_since = {};  // the time from which the soak or deadline counts; WallTime(): neither counts
  std::string_view waiting_for;
  std::int64_t unhealthy_seconds = 0;  // on the pool's revision before `since`; 0 is omitted
  // spec.replicas when the pool was healthy, if the phase does not show that it was healthy; 0 is omitted.
  std::int64_t scaled_from = 0;
  std::string healthy_since;              // the start of an unfinished soak; only with scaled_from
  std::string check;                      // the check that runs or has failed
  std::string check_started;              // the time at which this check began
  std::int64_t check_failures = 0;        // 0 is omitted
  const WorkloadRef* workload = nullptr;  // null: the pool has no workload
  std::int64_t misplaced = 0;             // pods on nodes that are not in the pool
  bool joining = false;                   // PoolHealth::joins

  bool ready = false;        // its workload is healthy, on any revision, even if the server rejects a write
  bool updated = false;      // healthy, soaked and verified on updateRevision; an Offline pool: only on updateRevision
  bool settled = false;      // has finished its update to updateRevision, even if it is unhealthy now
  bool assigned = false;     // its workload was already on updateRevision before this reconcile
  bool other_cause = false;  // failed, but the revision is not the cause
  bool revision_failed = false;  // failed, and the revision may be the cause
  bool late = false;             // failed, because it was not healthy within the deadline
};

// The data that all pools of a daemon share.
struct ViewContext {
  const Snapshot& snapshot;
  const PoolStatusIndex& old;
  const Rollout* rollout = nullptr;  // null: the strategy is not RollingUpdate
  const Diagnoses* diagnoses = nullptr;
  bool unlisted_were_ready = false;  // the pools that `old` lacks were Ready on the update revision
};

PoolView MakeView(const PoolOutcome& result, const ViewContext& context);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REPORT_POOL_VIEW_H_
