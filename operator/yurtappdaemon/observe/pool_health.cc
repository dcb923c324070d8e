#include "operator/yurtappdaemon/observe/pool_health.h"

#include <algorithm>

#include "operator/yurtappdaemon/observe/pod_facts.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"

namespace yad {

namespace {

using HealthState = PoolHealth::State;

bool IsBad(HealthState state) { return state == HealthState::kUnhealthy || state == HealthState::kOfflineAfterUpdate; }

// Returns whether the reason of a Failed pool is about its pods, and not about a rejected write of its workload. Reason
// QuotaExceeded is about a rejected write if the pool has no workload, and about pods if it has a workload.
bool IsAboutPods(const PoolStatusView& entry) {
  const std::string_view reason = entry.reason();
  return IsPodProblem(reason) && (reason != kQuotaExceeded || !entry.workload().empty());
}

// Returns whether all checks of the pool have ended. No check runs after a failed check.
bool ChecksHaveEnded(const PoolHealth& health) {
  return health.verified || (health.check && !health.check->failure.empty());
}

HealthState StateIn(const PoolObservation& observation, const PoolHealth* before) {
  if (!observation.offline) return observation.healthy ? HealthState::kHealthy : HealthState::kUnhealthy;
  if (!observation.updated_online || before == nullptr) return HealthState::kOffline;
  // `before` may be about another revision than the current revision. It is then older than the update, so it does not
  // show that the pool was healthy after the update.
  const bool proven = before->state == HealthState::kOffline || (before->soaked && ChecksHaveEnded(*before));
  return before->revision == observation.revision && proven ? HealthState::kOffline : HealthState::kOfflineAfterUpdate;
}

// Returns how long the pool was kUnhealthy or kOfflineAfterUpdate on this revision until now.
Duration UnhealthyUntil(const PoolHealth& before, WallTime now) {
  if (before.deadline_paused) return before.unhealthy_before;
  return before.unhealthy_before + std::max(now - before.since, WallTime::duration::zero());
}

void CarryTimes(const PoolHealth& before, const RollingUpdate& strategy, WallTime now, PoolHealth& health) {
  if (before.state == health.state) {
    // If the clock was set back, `since` is in the future. The current time replaces it, so that a soak or a deadline
    // does not take longer.
    health.since = before.deadline_paused ? now : std::min(before.since, now);
    health.unhealthy_before = before.unhealthy_before;
  } else if (IsBad(before.state) && IsBad(health.state)) {
    health.unhealthy_before = UnhealthyUntil(before, now);
  } else if (IsBad(before.state) && health.state == HealthState::kHealthy) {
    // Keeps the used part of the deadline, unless the deadline has passed: a failed pool that recovers has the full
    // deadline again.
    if (!before.Overdue(strategy.progress_deadline, now)) health.unhealthy_before = UnhealthyUntil(before, now);
  } else if (before.state == HealthState::kHealthy && IsBad(health.state)) {
    health.unhealthy_before = before.unhealthy_before;
  }
}

// Copies the progress of the pool's checks from `before` to `health`. The checks pause while the pool is offline. When
// the pool returns, the timeout of the running check starts again. Its start (`since`) does not change while the pool
// is offline, because each change would cause a write of status.
void CarryChecks(const PoolHealth& before, const PoolObservation& observation, WallTime now, PoolHealth& health) {
  health.check = before.check;
  health.verified =
      before.verified || (before.state == HealthState::kOffline && observation.updated_online && !before.check);
  const auto is_offline = [](HealthState state) {
    return state == HealthState::kOffline || state == HealthState::kOfflineAfterUpdate;
  };
  const bool returns = is_offline(before.state) && !is_offline(health.state);
  if (health.check && health.check->since != WallTime())
    health.check->since = returns && health.check->failure.empty() ? now : std::min(health.check->since, now);
}

}  // namespace

std::string CheckMessage(const std::string& check, const std::string& message) {
  return "check " + check + ": " + message;
}

PoolHealth Observe(const PoolHealth* before, const PoolObservation& observation, const RollingUpdate& strategy,
                   WallTime now) {
  PoolHealth health;
  health.state = StateIn(observation, before);
  health.revision = observation.revision;
  health.since = now;
  if (before != nullptr) {
    health.rejected = before->rejected;
    health.joins = before->joins && observation.revision.empty();
    if (before->revision == observation.revision) {
      health.been_healthy = before->been_healthy;
      // A pool that was online during its update and is now kOffline has soaked before it went offline. Otherwise, its
      // state would be kOfflineAfterUpdate.
      health.soaked = before->soaked || (before->state == HealthState::kOffline && observation.updated_online);
      health.replicas = before->replicas;
      health.been_healthy = health.been_healthy || health.soaked;
      CarryChecks(*before, observation, now, health);
      CarryTimes(*before, strategy, now, health);
    }
  }
  if (health.state == HealthState::kHealthy) {
    health.been_healthy = true;
    health.soaked = health.soaked || now >= health.since + strategy.min_ready;
    if (observation.healthy) health.replicas = observation.replicas;
  }
  // While checks run, unhealthy_before is not reset. Otherwise, the deadline would start again each time a revision
  // takes its site offline.
  const bool verifies = health.check && before->soaked;
  if (health.soaked && !verifies) health.unhealthy_before = Duration::zero();
  return health;
}

Duration ClockLeap::Since(SteadyTime steady, WallTime wall) {
  constexpr Duration kNoticed = std::chrono::seconds(10);  // the gradual correction of a clock stays below this
  const auto last = std::exchange(last_, std::pair(steady, wall));
  if (!last) return Duration::zero();
  const Duration leap = Duration(wall - last->second) - (steady - last->first);
  return leap >= kNoticed ? leap : Duration::zero();
}

void ShiftTimes(Duration leap, HealthRecord& record) {
  for (auto& [pool, health] : record) {
    // `since` stays the same in two cases:
    // - It is zero, because the pool has soaked or is overdue.
    // - The pool is kOffline. Its `since` is compared with the times of updates in the cluster.
    if (health.since != WallTime() && health.state != HealthState::kOffline)
      health.since += std::chrono::duration_cast<WallTime::duration>(leap);
    if (health.check && health.check->since != WallTime())
      health.check->since += std::chrono::duration_cast<WallTime::duration>(leap);
  }
}

namespace {

// Restores the health of a pool whose workload only scales, or has only a rejected write. The pool counts as kHealthy
// if status shows that it was healthy before (scaledFrom).
void RestoreSoak(const PoolStatusView& entry, PoolHealth& health) {
  const std::int64_t before = entry.scaled_from();
  const WallTime since = entry.healthy_since();
  if (before <= 0 || (!health.soaked && since == WallTime())) return;
  health.state = HealthState::kHealthy;
  health.since = since;
  health.replicas = before;
}

// Restores the progress of the pool's checks. If status does not contain a check and the phase is not Verifying, a
// soaked pool has passed its checks. This is also correct for the status of operator versions without checks.
void RestoreChecks(const PoolStatusView& entry, PoolHealth& health) {
  if (!entry.check().empty()) {
    health.check = CheckProgress{std::string(entry.check()), entry.check_started(), entry.check_failures(), ""};
    const std::string prefix = CheckMessage(health.check->name, "");
    std::string_view failure = entry.message();
    if (failure.starts_with(prefix)) failure.remove_prefix(prefix.size());
    if (entry.reason() == kCheckFailed) health.check->failure = failure.empty() ? kCheckFailed : failure;
  }
  health.verified = health.soaked && !health.check && entry.phase() != PoolPhase::kVerifying;
}

// Restores the health of one pool from its entry in status. Returns nullopt if the entry contains nothing to restore.
std::optional<PoolHealth> RestoreOne(const StatusView& status, const PoolStatusView& entry) {
  const PoolPhase phase = entry.phase();
  const std::string_view reason = entry.reason();
  const std::int64_t unhealthy = entry.unhealthy_seconds();
  PoolHealth health;
  // If the pool has no workload, the entry contains the revision of a rejected creation.
  if (!entry.workload().empty()) health.revision = entry.revision();
  health.since = entry.last_transition();
  health.unhealthy_before = std::chrono::seconds(std::clamp<std::int64_t>(unhealthy, 0, 1'000'000'000));
  const bool was_healthy = entry.scaled_from() > 0;
  health.replicas = was_healthy ? entry.scaled_from() : entry.replicas();
  health.joins = entry.joining();
  const bool verifies = !entry.check().empty();  // Checks begin only after the soak.
  if (phase == PoolPhase::kOffline) {
    const bool after_update = reason == kWentDarkAfterUpdate || reason == kSitesOffline;
    health.state = after_update ? HealthState::kOfflineAfterUpdate : HealthState::kOffline;
    health.soaked = verifies;
    health.been_healthy = verifies || was_healthy;
    health.deadline_paused = reason == kSitesOffline;
  } else if (phase == PoolPhase::kReady || phase == PoolPhase::kSoaking || phase == PoolPhase::kVerifying ||
             (phase == PoolPhase::kFailed && reason == kCheckFailed)) {
    health.state = HealthState::kHealthy;
    health.been_healthy = true;
    health.soaked = phase != PoolPhase::kSoaking;
    if (health.soaked) health.since = {};
  } else if (phase == PoolPhase::kFailed && (reason == kDeadlineExceeded || IsAboutPods(entry))) {
    health.since = {};  // the epoch makes the pool overdue
    // The status of older operator versions does not show whether a failed pool had soaked, so the pool counts as not
    // soaked.
    health.soaked = verifies || (unhealthy == 0 && !status.of_older_version());
    health.been_healthy = health.soaked || was_healthy;
  } else if (phase == PoolPhase::kFailed) {
    // A rejected update is restored, but not these failures:
    // - The pool still waits for its update (waitingFor). Another write was rejected, such as a repair.
    // - InvalidOverride. The server did not reject a write, and the plan will try to render the workload again.
    if (entry.waiting_for().empty() && reason != kInvalidOverride) {
      const bool of_other = entry.workload().empty() && !entry.revision().empty();
      health.rejected = RejectedWrite{of_other ? std::string(entry.revision()) : status.update_revision(),
                                      std::string(reason), std::string(entry.message())};
    }
    health.soaked = was_healthy && entry.healthy_since() == WallTime();
    health.been_healthy = was_healthy;
    RestoreSoak(entry, health);
  } else if (phase == PoolPhase::kUnhealthy) {
    health.been_healthy = true;
    health.soaked = verifies || unhealthy == 0;
    RestoreSoak(entry, health);
  } else if (phase != PoolPhase::kUpdating && !health.joins) {
    return std::nullopt;
  }
  RestoreChecks(entry, health);
  return health;
}

}  // namespace

HealthRecord RestoreHealth(const StatusView& status) {
  HealthRecord record;
  for (const PoolStatusView& entry : status.pools()) {
    if (auto health = RestoreOne(status, entry)) record.emplace(entry.name(), *std::move(health));
  }
  return record;
}

}  // namespace yad
