// The revision that a daemon's pools must have now.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_GOAL_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_GOAL_H_

#include <string>

#include "operator/api/conditions.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/observe/status_view.h"

namespace yad {

struct Goal {
  RevisionPtr revision;
  // Only for RollingUpdate. True if `revision` is status.currentRevision, the last revision that was fully rolled out.
  bool is_current = false;
  bool rolled_back = false;  // the update revision has failed, so `revision` is status.currentRevision
};

inline Goal GoalOf(const Snapshot& snapshot) {
  if (snapshot.daemon.strategy.type != UpdateStrategyType::kRollingUpdate || snapshot.current == nullptr) {
    return {snapshot.update, false, false};
  }
  const bool is_current = snapshot.current->name == snapshot.update->name;
  if (!is_current && !snapshot.update->failed_at.empty()) return {snapshot.current, true, true};
  return {snapshot.update, is_current, false};
}

// Returns whether status shows that `update` was rolled out as updateRevision. The status of older versions has no
// condition Complete, so currentRevision decides.
inline bool WasRolledOut(const Json& status, const std::string& update) {
  if (StringAt(status, {"updateRevision"}) != update) return false;
  const Json* complete = FindConditionIn(status, kCompleteCondition);
  if (complete == nullptr) return StringAt(status, {"currentRevision"}) == update;
  return StringAt(*complete, {"status"}) == "True";
}

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_GOAL_H_
