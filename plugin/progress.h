// How a rollout goes, as its YurtAppDaemon's status tells. Pure.
#ifndef PLUGIN_PROGRESS_H_
#define PLUGIN_PROGRESS_H_

#include <cstdint>
#include <string>

#include "operator/api/object.h"

namespace yad {

enum class RolloutOutcome { kGoing, kComplete, kStopped };

struct Progress {
  RolloutOutcome state = RolloutOutcome::kGoing;
  bool observed = false;  // status speaks of the newest spec
  std::int64_t desired = 0, updated = 0, ready = 0, failed = 0, offline = 0;
  std::string reason;   // of condition Progressing
  std::string message;  // and its message
  // "Waiting for …", "… successfully rolled out", "… has stopped: …": what `kubectl rollout status` would say.
  std::string line;
};

// Condition Progressing decides: False has stopped, True with RolloutComplete is complete. What a partition keeps back
// is no part of the rollout. A status without that condition was written by OpenYurt: nothing is known yet.
Progress ReadProgress(const Json& daemon);

}  // namespace yad

#endif  // PLUGIN_PROGRESS_H_
