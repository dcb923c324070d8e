// Since when each pool is as it is. Status remembers it, so that a restart forgets nothing.
#ifndef OPERATOR_YURTAPPDAEMON_POOL_HEALTH_H_
#define OPERATOR_YURTAPPDAEMON_POOL_HEALTH_H_

#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "operator/api/object.h"
#include "operator/api/update_strategy.h"
#include "operator/base/clock.h"

namespace yad {

// A write of a workload that the server refused because of what the revision says.
struct RefusedWrite {
  std::string revision;  // its name
  std::string reason;
  std::string message;
};

struct PoolHealth {
  enum class State { kOffline, kUnhealthy, kHealthy };
  State state = State::kUnhealthy;
  std::string revision;  // the name of the one that the workload was on
  WallTime since;        // of this state on this revision
  // For how long it was unhealthy on this revision before `since`, and since it last had soaked.
  Duration unhealthy_before = Duration::zero();
  std::optional<RefusedWrite> refused;

  // Healthy for long enough to count as updated.
  bool Soaked(std::chrono::seconds min_ready, WallTime now) const {
    return state == State::kHealthy && now >= since + min_ready;
  }
  bool UnhealthyFor(std::chrono::seconds time, WallTime now) const {
    return state == State::kUnhealthy && now >= since + time;
  }
  // When one that stays unhealthy has failed. What crashes again and again before it has soaked fails, too.
  WallTime OverdueAt(std::chrono::seconds deadline) const {
    return since + deadline - std::chrono::duration_cast<WallTime::duration>(unhealthy_before);
  }
  bool Overdue(std::chrono::seconds deadline, WallTime now) const {
    return state == State::kUnhealthy && now >= OverdueAt(deadline);
  }
};

using HealthRecord = std::unordered_map<std::string, PoolHealth>;  // by pool

// By how much the wall clock was set forward between two looks. A machine that slept, too: who did not look may not say
// that a pool had its time.
class ClockLeap {
 public:
  Duration Since(SteadyTime steady, WallTime wall);

 private:
  std::optional<std::pair<SteadyTime, WallTime>> last_;
};
// Moves the times of `record` with the clock.
void MoveBy(Duration leap, HealthRecord& record);

// What is so now, where `before` was known.
PoolHealth Observe(const PoolHealth* before, PoolHealth::State state, const std::string& revision,
                   const RollingUpdate& strategy, WallTime now);

// What status remembers of the pools that it lists. One that it does not list begins anew: it may soak, or have to
// become healthy, for longer than it need.
HealthRecord RestoreHealth(const Json& status);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_POOL_HEALTH_H_
