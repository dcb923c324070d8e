// Reports the results of a reconcile in Events, metrics and the log.
#ifndef OPERATOR_YURTAPPDAEMON_REPORT_DAEMON_EVENTS_H_
#define OPERATOR_YURTAPPDAEMON_REPORT_DAEMON_EVENTS_H_

#include <map>
#include <string>
#include <vector>

#include "operator/runtime/event_recorder.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/plan/outcome.h"

namespace yad {

// The reports that were made about one daemon. The functions are thread-safe if only one thread at a time uses each
// memory.
struct EventMemory {
  std::map<std::string, std::string> failed;  // by pool: the reason of the reported failure
  bool complete = false;                      // true after the failures in status were added to `failed`
  std::string progress;                       // the reason of condition Progressing in the last call of ReportRollout
};

// Reports the writes, reverts and failures of a reconcile. `contested` are the pools whose repairs another client keeps
// reverting, so that the operator repairs them less often from now on.
void ReportOutcome(EventSink& events, const Snapshot& snapshot, const Outcome& outcome,
                   const std::vector<std::string>& contested, EventMemory& memory);
// Reports the state of a RollingUpdate if the state has changed. `previous` and `status` are the status before and
// after the reconcile.
void ReportRollout(EventSink& events, const YurtAppDaemon& daemon, const Json& previous, const Json& status,
                   EventMemory& memory);
// Sets the metric yurtappdaemon_rollout_stopped of a daemon with strategy RollingUpdate.
void ShowStopped(const ObjectKey& daemon, bool stopped);
// Removes this metric.
void ForgetStopped(const ObjectKey& daemon);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REPORT_DAEMON_EVENTS_H_
