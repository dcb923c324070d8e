// The health of each pool of a daemon with strategy RollingUpdate. The operator restores it from status after a
// restart.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_POOL_HEALTH_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_POOL_HEALTH_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "operator/api/object.h"
#include "operator/api/update_strategy.h"
#include "operator/base/clock.h"
#include "operator/yurtappdaemon/observe/status_view.h"

namespace yad {

// A write of a workload that the server rejected because of the revision's content.
struct RejectedWrite {
  std::string revision;  // the revision's name
  std::string reason;
  std::string message;
};

// The progress of the checks of one pool after its update.
struct CheckProgress {
  std::string name;  // the name of the check that runs or has failed
  // The time at which the timeout of the check begins, or WallTime() if the timeout does not run now.
  WallTime since;
  std::int64_t failures = 0;  // the number of Prometheus samples outside the limits
  std::string failure;        // the reason why the check has failed; "" while it runs
  // The uid of the check's Job if a failure of this Job does not count, because an outage of the pool may have killed
  // its pods. Otherwise "". Not stored in status.
  std::string interrupted_job = "";

  bool operator==(const CheckProgress&) const = default;
};

// Returns the message about a check for status.
std::string CheckMessage(const std::string& check, const std::string& message);

struct PoolHealth {
  enum class State {
    kOffline,  // no node is ready; the update is not the suspected cause
    // No node is ready, and the update may be the cause. The pool was online when it was updated, and went offline
    // before it finished its soak and its checks.
    kOfflineAfterUpdate,
    kUnhealthy,
    kHealthy,
  };
  State state = State::kUnhealthy;
  std::string revision;  // name of the workload's revision
  WallTime since;        // the time from which the pool has been in this state on this revision
  // The total time before `since` in which the pool was kUnhealthy or kOfflineAfterUpdate on this revision. Reset to
  // zero after the soak, and again after the last check.
  Duration unhealthy_before = Duration::zero();
  bool been_healthy = false;                          // on this revision, at least once
  bool soaked = false;                                // healthy for minReadySeconds on this revision, at least once
  bool verified = false;                              // all checks have passed on this revision, or it needs no checks
  std::optional<CheckProgress> check = std::nullopt;  // nullopt: no check has begun, or `verified`
  bool deadline_paused = false;  // the deadline does not run, because pools that were not updated also went offline
  std::int64_t replicas = 0;     // spec.replicas when the pool was last healthy; 0: unknown
  std::optional<RejectedWrite> rejected = std::nullopt;
  bool joins = false;  // the pool is new, and the creation of its first workload has not succeeded yet

  bool UnhealthyFor(std::chrono::seconds time, WallTime now) const {
    return state == State::kUnhealthy && now >= since + time;
  }
  // Returns the time from which the pool is overdue if it does not become healthy.
  WallTime OverdueAt(std::chrono::seconds deadline) const {
    return since + deadline - std::chrono::duration_cast<WallTime::duration>(unhealthy_before);
  }
  bool Overdue(std::chrono::seconds deadline, WallTime now) const {
    return (state == State::kUnhealthy || state == State::kOfflineAfterUpdate) && !deadline_paused &&
           now >= OverdueAt(deadline);
  }
};

// The health of the pools, by pool name.
using HealthRecord = std::unordered_map<std::string, PoolHealth>;

// Measures how far the wall clock jumped forward between two calls. A sleep of the machine counts as a jump, because
// the operator did not observe the pools in that time.
class ClockLeap {
 public:
  Duration Since(SteadyTime steady, WallTime wall);

 private:
  std::optional<std::pair<SteadyTime, WallTime>> last_;
};
// Adds `leap` (from ClockLeap) to the times in `record`, so that the leap does not count for soaks and deadlines.
void ShiftTimes(Duration leap, HealthRecord& record);

// One observation of a pool.
struct PoolObservation {
  bool offline = false;
  bool healthy = false;         // ignored if the pool is offline
  bool updated_online = false;  // the pool was online when it was updated to its current revision
  std::string revision;         // name of the workload's revision; "": the pool has no workload
  std::int64_t replicas = 0;    // spec.replicas
};

// Returns the health of a pool after a new observation. `before` is its health after the last observation, or nullptr
// if it is unknown.
PoolHealth Observe(const PoolHealth* before, const PoolObservation& observation, const RollingUpdate& strategy,
                   WallTime now);

// Restores the health of the pools from their entries in status. Omits the pools that a truncated list in status omits.
HealthRecord RestoreHealth(const StatusView& status);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_POOL_HEALTH_H_
