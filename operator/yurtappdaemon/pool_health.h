// Since when each pool is as it is. Status remembers it, so that a restart forgets nothing.
#ifndef OPERATOR_YURTAPPDAEMON_POOL_HEALTH_H_
#define OPERATOR_YURTAPPDAEMON_POOL_HEALTH_H_

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "operator/api/object.h"
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
  // Since when it has not soaked on this revision, however often it was healthy in between.
  WallTime unsoaked_since;
  std::optional<RefusedWrite> refused;

  // Healthy for long enough to count as updated.
  bool Soaked(std::chrono::seconds min_ready, WallTime now) const {
    return state == State::kHealthy && now >= since + min_ready;
  }
  bool UnhealthyFor(std::chrono::seconds time, WallTime now) const {
    return state == State::kUnhealthy && now >= since + time;
  }
  // When one that stays unhealthy has failed. What crashes again and again before it has soaked fails, too.
  WallTime OverdueAt(std::chrono::seconds deadline, std::chrono::seconds min_ready) const {
    return std::min(since, unsoaked_since + min_ready) + deadline;
  }
  bool Overdue(std::chrono::seconds deadline, std::chrono::seconds min_ready, WallTime now) const {
    return state == State::kUnhealthy && now >= OverdueAt(deadline, min_ready);
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
                   std::chrono::seconds min_ready, WallTime now);

// What status remembers of the pools that it lists. One that it does not list begins anew: it may soak, or have to
// become healthy, for longer than it need.
HealthRecord RestoreHealth(const Json& status);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_POOL_HEALTH_H_
