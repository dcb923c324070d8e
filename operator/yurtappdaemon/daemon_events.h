// Tells in events, metrics and the log what a reconcile has done.
#ifndef OPERATOR_YURTAPPDAEMON_DAEMON_EVENTS_H_
#define OPERATOR_YURTAPPDAEMON_DAEMON_EVENTS_H_

#include <map>
#include <string>
#include <vector>

#include "operator/runtime/event_recorder.h"
#include "operator/yurtappdaemon/apply.h"
#include "operator/yurtappdaemon/snapshot.h"

namespace yad {

ObjectReference Regarding(const ObjectMeta& daemon);

// Thread-safe, as long as each Memory is used by one thread at a time.
class DaemonEvents {
 public:
  explicit DaemonEvents(EventSink& events) : events_(events) {}

  // Of one daemon.
  struct Memory {
    std::map<std::string, std::string> failed;  // pools that have had their event, and the reason
    bool complete = false;                      // with what status remembers
    std::string progress;                       // reason of condition Progressing that has had its event
  };

  // `fought`: pools whose workloads are repaired more seldom from now on.
  void Tell(const Snapshot& snapshot, const Applied& applied, const std::vector<std::string>& fought,
            Memory& memory) const;
  // How a RollingUpdate stands, where that is new: `previous` and `status` are those before and after the reconcile.
  void TellRollout(const YurtAppDaemon& daemon, const Json& previous, const Json& status, Memory& memory) const;
  // Takes the daemon's metrics away.
  static void Forget(const ObjectKey& daemon);

 private:
  void ReportWrites(const YurtAppDaemon& daemon, const Applied& applied) const;
  // Pools whose workloads do not stay as they were written.
  void ReportReverts(const YurtAppDaemon& daemon, const Applied& applied, const std::vector<std::string>& fought) const;
  void ReportFailures(const YurtAppDaemon& daemon, const Applied& applied, Memory& memory) const;

  EventSink& events_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_DAEMON_EVENTS_H_
