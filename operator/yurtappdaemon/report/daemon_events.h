// Reports the results of a reconcile in events, metrics and the log.
#ifndef OPERATOR_YURTAPPDAEMON_REPORT_DAEMON_EVENTS_H_
#define OPERATOR_YURTAPPDAEMON_REPORT_DAEMON_EVENTS_H_

#include <map>
#include <string>
#include <vector>

#include "operator/runtime/event_recorder.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/plan/outcome.h"

namespace yad {

// Thread-safe if only one thread at a time uses each Memory.
class DaemonEvents {
 public:
  explicit DaemonEvents(EventSink& events) : events_(events) {}

  // The reports so far about one daemon.
  struct Memory {
    std::map<std::string, std::string> failed;  // pools whose failure has had its event, and the reason
    bool complete = false;                      // `failed` includes the failures in status
    std::string progress;                       // the reason of condition Progressing that has had its event
  };

  // Reports the writes, reverts and failures of a reconcile. `fought` are pools whose workloads the operator repairs
  // less often from now on.
  void ReportOutcome(const Snapshot& snapshot, const Outcome& outcome, const std::vector<std::string>& fought,
                     Memory& memory) const;
  // Reports the state of a RollingUpdate if it has changed. `previous` and `status` are the status before and after the
  // reconcile.
  void ReportRollout(const YurtAppDaemon& daemon, const Json& previous, const Json& status, Memory& memory) const;
  // Removes the daemon's metrics.
  static void Forget(const ObjectKey& daemon);

 private:
  void ReportWrites(const YurtAppDaemon& daemon, const Outcome& outcome) const;
  // Reports pools whose workloads do not stay as they were written.
  void ReportReverts(const YurtAppDaemon& daemon, const Outcome& outcome, const std::vector<std::string>& fought) const;
  void ReportFailures(const YurtAppDaemon& daemon, const Outcome& outcome, Memory& memory) const;

  EventSink& events_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REPORT_DAEMON_EVENTS_H_
