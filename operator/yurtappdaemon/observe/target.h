// The revision that a daemon's pools must have now.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_TARGET_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_TARGET_H_

#include <string>

#include "operator/api/conditions.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/observe/status_view.h"

namespace yad {

struct Target {
  RevisionPtr revision;
  // True if `revision` is status.currentRevision, the last revision that was rolled out to all pools. Always false if
  // the strategy is not RollingUpdate.
  bool is_current = false;
  bool rolled_back = false;  // true if `is_current` because the update revision has failed
};

inline Target TargetOf(const Snapshot& snapshot) {
  if (snapshot.daemon.strategy.type != UpdateStrategyType::kRollingUpdate || snapshot.current == nullptr) {
    return {snapshot.update, false, false};
  }
  const bool is_current = snapshot.current->name == snapshot.update->name;
  if (!is_current && !snapshot.update->failed_at.empty()) return {snapshot.current, true, true};
  return {snapshot.update, is_current, false};
}

// Returns whether the revision with the name `update` was rolled out to all pools according to condition Complete. If
// an older operator version wrote the status, currentRevision is compared instead.
inline bool WasRolledOut(const Json& status, const std::string& update) {
  const StatusView view(status);
  if (view.update_revision() != update || IntAt(status, {"desiredPools"}, 1) == 0) return false;
  return view.of_older_version() ? view.current_revision() == update
                                 : IsTrue(FindConditionIn(status, kCompleteCondition));
}

// Returns whether status shows that the rollout of the revision with the name `update` was complete once, and that no
// rollout of another revision has begun since then. Condition Complete may be False again, for example because a pool
// joins, a workload is deleted, or the spec is invalid for a while.
inline bool WasCompleteOnce(const Json& status, const std::string& update) {
  const StatusView view(status);
  return WasRolledOut(status, update) ||
         (!view.of_older_version() && view.update_revision() == update && view.completed_revision() == update);
}

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_TARGET_H_
