// Finds the rollout that a status describes, and its stage. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_REPORT_ROLLOUT_STAGE_H_
#define OPERATOR_YURTAPPDAEMON_REPORT_ROLLOUT_STAGE_H_

#include <cstdint>
#include <string>

#include "operator/api/object.h"
#include "operator/yurtappdaemon/observe/history.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

enum class RolloutStage {
  kUnderway,  // includes a rollout that waits for a window, or for the end of a hold or pause
  kWaitsForApproval,
  kStopped,  // failures have stopped the rollout; a rollback may still run
  kRollbackComplete,
  kComplete,
};

struct ShownStage {
  RolloutStage stage = RolloutStage::kUnderway;
  std::string reason;   // of the condition that shows the stage
  std::string message;  // of that condition
  // The time of the condition's last transition (RFC 3339). It may be earlier than the start of the stage.
  std::string since;
};

ShownStage ShownStageOf(const Json& status);

bool HasEnded(RolloutStage stage);

// Identifies one rollout of one daemon. If a revision is rolled out again, `number` is higher.
struct RolloutKey {
  std::string uid;  // the uid of the daemon
  std::string revision;
  std::int64_t number = 0;  // of the revision; 0: not known

  friend bool operator==(const RolloutKey&, const RolloutKey&) = default;
};

// Returns the identity of the rollout that the status describes.
RolloutKey RolloutKeyOf(const Snapshot& snapshot, const RevisionHistory::State& revisions, const Json& status);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REPORT_ROLLOUT_STAGE_H_
