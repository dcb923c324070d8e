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
  kUnderway,  // the rollout may also wait for a window, or for the end of a hold or pause
  kWaitsForApproval,
  kStopped,  // failures have stopped the rollout; a rollback may still run
  kRollbackComplete,
  kComplete,
};

// The stage that a status shows, and the condition that shows it.
struct ShownStage {
  RolloutStage stage = RolloutStage::kUnderway;
  // The reason, the message and lastTransitionTime of the condition. The time may be earlier than the start of the
  // stage.
  std::string reason, message, since;
};

ShownStage ShownStageOf(const Json& status);

bool HasEnded(RolloutStage stage);

// Identifies one rollout of one daemon.
struct RolloutKey {
  std::string uid;  // the uid of the daemon
  std::string revision;
  std::int64_t number = 0;  // the number of the revision, which is higher if it is rolled out again; 0: not known

  friend bool operator==(const RolloutKey&, const RolloutKey&) = default;
};

// Returns the identity of the rollout that the status describes.
RolloutKey RolloutKeyOf(const Snapshot& snapshot, const RevisionHistory::State& revisions, const Json& status);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REPORT_ROLLOUT_STAGE_H_
