// Builds the status of a daemon. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_REPORT_STATUS_H_
#define OPERATOR_YURTAPPDAEMON_REPORT_STATUS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/yurtappdaemon/diagnose/diagnosis.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/plan/outcome.h"

namespace yad {

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

// Returns the status. A condition or a phase that has not changed keeps its time from the previous status, so the
// status of an unchanged cluster does not change.
Json BuildStatus(const StatusInput& input);

// Returns the merge patch that turns the status `before` into `after`, or null if they are equal. The patch applies
// only to the daemon with this uid.
Json DaemonStatusPatch(const Json& before, const Json& after, const std::string& uid);

// Returns the old status with conditions that report why the operator does not act on the spec.
Json BuildBlockedStatus(const ObjectMeta& meta, const Json& object, const std::string& reason, const Error& error,
                        WallTime now);
// Returns whether the status already reports this reason and this error.
bool ShowsBlocked(const Json& status, const std::string& reason, const Error& error);

// Returns whether status contains a blocked removal with this token.
bool ShowsRemovalBlocked(const Json& status, const std::string& token);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REPORT_STATUS_H_
