#include "operator/yurtappdaemon/pool_health.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/yurtappdaemon/phase.h"
#include "operator/yurtappdaemon/pod_facts.h"

namespace yad {

namespace {

// Of a pool that has failed: why it is not healthy, and not why a write was refused. A quota refuses pods where there
// is a workload, and else the workload.
bool SaysWhyOfPods(const Json& entry) {
  const std::string reason = StringAt(entry, {"reason"});
  return IsFaultOfPods(reason) && (reason != kQuotaExceeded || !StringAt(entry, {"workload"}).empty());
}

}  // namespace

PoolHealth Observe(const PoolHealth* before, PoolHealth::State state, const std::string& revision,
                   const RollingUpdate& strategy, WallTime now) {
  using State = PoolHealth::State;
  PoolHealth health{state, revision, now, Duration::zero(), std::nullopt};
  if (before == nullptr) return health;
  health.refused = before->refused;
  if (before->revision != revision) return health;
  if (before->state == state) {
    // A clock that was set back must not make anybody wait for the day that it was.
    health.since = std::min(before->since, now);
    health.unhealthy_before = before->unhealthy_before;
  } else if (before->state == State::kUnhealthy && state == State::kHealthy) {
    // One that has failed, and comes back after all, begins anew.
    if (before->Overdue(strategy.progress_deadline, now)) return health;
    health.unhealthy_before = before->unhealthy_before + std::max(now - before->since, WallTime::duration::zero());
  } else if (before->state == State::kHealthy && !before->Soaked(strategy.min_ready, now)) {
    health.unhealthy_before = before->unhealthy_before;
  }
  return health;
}

Duration ClockLeap::Since(SteadyTime steady, WallTime wall) {
  constexpr Duration kTold = std::chrono::seconds(10);  // what a clock that is only steered never does
  const auto last = std::exchange(last_, std::pair(steady, wall));
  if (!last) return Duration::zero();
  const Duration leap = Duration(wall - last->second) - (steady - last->first);
  return leap >= kTold ? leap : Duration::zero();
}

void MoveBy(Duration leap, HealthRecord& record) {
  for (auto& [pool, health] : record) {
    // Those without a time have soaked, or are overdue.
    if (health.since != WallTime()) health.since += std::chrono::duration_cast<WallTime::duration>(leap);
  }
}

HealthRecord RestoreHealth(const Json& status) {
  HealthRecord record;
  const Json* pools = Find(status, {"pools"});
  if (pools == nullptr || !pools->is_array()) return record;
  for (const Json& entry : *pools) {
    const std::string phase = StringAt(entry, {"phase"});
    const std::string reason = StringAt(entry, {"reason"});
    PoolHealth health;
    health.revision = StringAt(entry, {"revision"});
    health.since = ParseTime(StringAt(entry, {"lastTransitionTime"}));
    if (phase == kOfflinePhase) {
      health.state = PoolHealth::State::kOffline;
    } else if (phase == kReadyPhase) {
      health.state = PoolHealth::State::kHealthy;
      health.since = {};  // It has soaked.
    } else if (phase == kSoakingPhase) {
      health.state = PoolHealth::State::kHealthy;
    } else if (phase == kFailedPhase && (reason == kDeadlineExceeded || SaysWhyOfPods(entry))) {
      health.since = {};  // It is overdue.
    } else if (phase == kFailedPhase) {
      health.refused = RefusedWrite{StringAt(status, {"updateRevision"}), reason, StringAt(entry, {"message"})};
    } else if (phase != kUpdatingPhase) {
      continue;
    }
    record.emplace(StringAt(entry, {"name"}), std::move(health));
  }
  return record;
}

}  // namespace yad
