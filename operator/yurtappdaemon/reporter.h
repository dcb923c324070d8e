// Writes the status of a daemon, and its metrics.
#ifndef OPERATOR_YURTAPPDAEMON_REPORTER_H_
#define OPERATOR_YURTAPPDAEMON_REPORTER_H_

#include <set>
#include <stop_token>
#include <string_view>

#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/store.h"
#include "operator/runtime/written_versions.h"
#include "operator/yurtappdaemon/daemon_state.h"
#include "operator/yurtappdaemon/observer.h"
#include "operator/yurtappdaemon/report/status.h"

namespace yad {

// Thread-safe if only one thread at a time uses each DaemonState.
class Reporter {
 public:
  Reporter(Client& client, Store& daemons, EventSink& events, Clock& clock)
      : client_(client), daemons_(daemons), events_(events), clock_(clock) {}

  // Writes the status `after` if it differs from the daemon's current status `before`. Returns the time until the
  // status may be written, or zero if it is not delayed. A status is delayed:
  // - until kStatusInterval after the last write
  // - until the daemon is 2 s old, if it has no pools and no status yet
  Result<Duration> WriteStatus(const ObjectMeta& meta, const Json& before, const Json& after, DaemonState& state,
                               std::stop_token stop);
  // Reports in the status, and once in an Event, why the operator does not act on the spec. Workloads do not change.
  // Returns the same time as WriteStatus.
  Result<Duration> ReportBlocked(const StoredObject& stored, const Blocked& blocked, DaemonState& state,
                                 std::stop_token stop);
  // Sets the metrics of the daemon's pools. `waits_shown` are the values of waitingFor that have a metric. Adds the
  // values that get a metric in this call.
  static void ShowPools(const ObjectKey& daemon, const Json& status, const std::vector<PoolOutcome>& pools,
                        std::set<std::string_view>& waits_shown);

  // Returns whether this process wrote this version of the daemon's status, or a later version. The watch event of this
  // version then does not need a reconcile. Thread-safe.
  bool HasWrittenStatus(const ObjectMeta& daemon) const { return written_.Covers(daemon); }

  // Forgets the daemon, and removes its metrics.
  void Forget(const ObjectKey& daemon);

 private:
  Client& client_;
  Store& daemons_;
  EventSink& events_;
  Clock& clock_;
  WrittenVersions written_;  // the versions of daemons after this process has written their status
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REPORTER_H_
