// A pool of the rollout simulator, and the status from which a new process restores the pool's health.
#ifndef TESTS_MODEL_SIMULATED_POOL_H_
#define TESTS_MODEL_SIMULATED_POOL_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "operator/yurtappdaemon/observe/pool_health.h"

namespace yad::testing {

struct SimulatedPool {
  std::string name;
  std::size_t group = 0;  // index of the group that lists the pool by name; unused if groups have percentages
  bool offline = false;
  bool exists = true;
  bool held = false;                    // its site holds it
  WallTime opens_at = {};               // its update window opens at this time
  bool cut_off = false;                 // its nodes are offline because of its revision
  bool updated_online = false;          // it was online when it was updated to its revision
  bool joining = false;                 // its workload was created with another revision than the current revision
  bool created = false;                 // its workload was created and not updated, so no check runs
  std::chrono::seconds check_takes{0};  // the time until its check passes or fails
  WallTime updated_at = {};
  WallTime goes_dark_at = WallTime::max();
  int revision = 0;  // of its workload
  int inputs = 0;    // the version of the pool for which its workload was rendered
  int wanted_inputs = 0;
  WallTime heals_at;             // it becomes healthy at this time; max: never
  bool broken_hardware = false;  // it stays unhealthy with any revision
};

// Returns the phase and the reason of the pool from MakeView.
inline Json PhaseOfHealth(const PoolHealth& health, const RollingUpdate& strategy, WallTime now) {
  const bool check_failed = health.check && !health.check->failure.empty();
  switch (health.state) {
    case PoolHealth::State::kOffline:
      if (check_failed) return {{"phase", "Offline"}, {"reason", "CheckFailed"}};
      return {{"phase", "Offline"}};
    case PoolHealth::State::kOfflineAfterUpdate:
      return {{"phase", "Offline"}, {"reason", health.deadline_paused ? "SitesOffline" : "WentDarkAfterUpdate"}};
    case PoolHealth::State::kHealthy:
    case PoolHealth::State::kUnhealthy:
      break;
  }
  if (check_failed) return {{"phase", "Failed"}, {"reason", "CheckFailed"}};
  if (health.state == PoolHealth::State::kHealthy)
    return {{"phase", !health.soaked ? "Soaking" : health.check ? "Verifying" : "Ready"}};
  if (health.Overdue(strategy.progress_deadline, now))
    return {{"phase", "Failed"}, {"reason", "ProgressDeadlineExceeded"}};
  return {{"phase", health.been_healthy ? "Unhealthy" : "Updating"}};
}

// Returns a status with only this pool.
inline Json StatusOfHealth(const std::string& name, const PoolHealth& health, const RollingUpdate& strategy,
                           WallTime now) {
  Json entry = {{"name", name}, {"revision", health.revision}, {"lastTransitionTime", FormatTime(health.since)}};
  if (!health.revision.empty()) entry["workload"] = name;
  entry.update(PhaseOfHealth(health, strategy, now));
  const auto unhealthy = std::chrono::ceil<std::chrono::seconds>(health.unhealthy_before).count();
  if (!health.soaked && entry["phase"] != "Updating") {
    entry["unhealthySeconds"] = std::max<std::int64_t>(unhealthy, 1);
  } else if (unhealthy > 0) {
    entry["unhealthySeconds"] = unhealthy;
  }
  if (health.check) {
    entry["check"] = health.check->name;
    entry["checkStartedAt"] = FormatTime(health.check->since);
    if (!health.check->failure.empty()) entry["message"] = "check " + health.check->name + ": " + health.check->failure;
  }
  const Json complete = {{"type", "Complete"}};
  return {{"pools", Json::array({entry})}, {"conditions", Json::array({complete})}};
}

}  // namespace yad::testing

#endif  // TESTS_MODEL_SIMULATED_POOL_H_
