// The progress of a rollout, from the status of its YurtAppDaemon. Pure.
#ifndef PLUGIN_VIEW_PROGRESS_H_
#define PLUGIN_VIEW_PROGRESS_H_

#include <cstdint>
#include <string>

#include "operator/api/object.h"

namespace yad {

enum class RolloutOutcome { kGoing, kComplete, kStopped };

struct Progress {
  RolloutOutcome state = RolloutOutcome::kGoing;
  bool observed = false;  // status is for the newest spec
  std::int64_t desired = 0, updated = 0, ready = 0, failed = 0, offline = 0;
  std::string reason;   // the reason of condition Progressing, or AllPoolsOffline of condition Complete
  std::string message;  // the message of this condition
  // A line such as "Waiting for …", "… successfully rolled out" or "… has stopped: …", as in `kubectl rollout status`.
  std::string line;
};

// Reads the progress from the conditions:
// - The rollout has stopped if Progressing is False.
// - It is complete if Complete is True. Older operators do not set Complete. Without Complete, the rollout is complete
//   if Progressing has reason RolloutComplete.
// - It is also complete if Progressing has reason PartitionReached, because pools in the partition are not updated.
// - A status without Progressing is from OpenYurt and has no information about the rollout.
Progress ReadProgress(const Json& daemon);

// Returns the message of condition RemovalBlocked, which has the command that allows the removals. Returns "" if no
// removal is blocked.
std::string WhyRemovalsAreBlocked(const Json& daemon);

}  // namespace yad

#endif  // PLUGIN_VIEW_PROGRESS_H_
