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
  };

  // `fought`: pools whose workloads are repaired more seldom from now on.
  void Tell(const Snapshot& snapshot, const Applied& applied, const std::vector<std::string>& fought,
            Memory& memory) const;

 private:
  EventSink& events_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_DAEMON_EVENTS_H_
