// One pool as status shows it, and the input of all functions that build the status. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_REPORT_POOL_VIEW_H_
#define OPERATOR_YURTAPPDAEMON_REPORT_POOL_VIEW_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/yurtappdaemon/diagnose/diagnosis.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/observe/status_view.h"
#include "operator/yurtappdaemon/plan/outcome.h"

namespace yad {

// The input of BuildStatus (status.h).
struct StatusInput {
  const Snapshot& snapshot;
  const std::vector<PoolOutcome>& pools;
  const std::vector<WorkloadRef>& leaving;  // Outcome::leaving
  // The status before this reconcile, including fields that the server dropped because of an old CRD. The new status
  // takes times from it.
  const Json& previous;
  std::int64_t collision_count = 0;
  const PostponedRemovals& postponed;          // workloads whose removal is blocked or not decided yet
  const std::optional<Rollout>& rollout;       // only for RollingUpdate
  const Diagnoses* diagnoses = nullptr;        // the diagnoses of unhealthy pools; null: no pool was examined
  const MisplacedCounts* misplaced = nullptr;  // null: misplaced pods are not counted
  ImageVolumeSupport image_volumes = {};       // after the writes of the reconcile
  // The fields that the CRD lacks, joined into one string; "" if it has all fields. nullopt if they are not known. The
  // condition about them then does not change.
  std::optional<std::string> missing_fields = std::nullopt;
  // True if this process last built a status that was not Complete. `previous` may be older than that status, because
  // its write failed or was delayed.
  bool was_incomplete = false;
};

// Its pointers and string_views point into the workloads and plans from which it was created.
struct PoolView {
  // The fields of the pool's entry in `pools` that other code reads. Fields that are "" or 0 are omitted.
  std::string_view name;
  PoolPhase phase = PoolPhase::kUnknown;
  std::string state;  // "" if there is no workload
  std::string reason;
  std::string message;
  std::string revision;
  WallTime counted_since = {};  // the time from which the soak or deadline counts; WallTime(): neither counts
  // spec.replicas when the pool was healthy, if the phase does not show that it was healthy.
  std::int64_t scaled_from = 0;
  const WorkloadRef* workload = nullptr;  // null: the pool has no workload
  Json details;                           // the other fields, which MakeView has encoded; null: none

  bool ready = false;        // its workload is healthy, on any revision, even if the server rejects a write
  bool updated = false;      // healthy, soaked and verified on updateRevision; an Offline pool: only on updateRevision
  bool settled = false;      // has finished its update to updateRevision, even if it is unhealthy now
  bool assigned = false;     // its workload was already on updateRevision before this reconcile
  bool other_cause = false;  // failed, but the revision is not the cause
  bool revision_failed = false;  // failed, and the revision may be the cause
  bool late = false;             // failed, because it was not healthy within the deadline
};

// `old` contains the pools of the previous status.
PoolView MakeView(const PoolOutcome& result, const StatusInput& input, const PoolStatusIndex& old);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REPORT_POOL_VIEW_H_
