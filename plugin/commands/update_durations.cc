#include "plugin/commands/update_durations.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "operator/api/conditions.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "operator/yurtappdaemon/observe/status_view.h"
#include "operator/yurtappdaemon/rollout/update_record.h"

namespace yad {
namespace {

using std::chrono::seconds;

// Returns the time at which the Deployment controller found the newest ReplicaSet available; WallTime() if it is
// unknown.
WallTime AvailableSince(const Json& deployment) {
  const Json* progressing = FindCondition(deployment, "Progressing");
  if (progressing == nullptr || StringAt(*progressing, {"reason"}) != "NewReplicaSetAvailable") return {};
  return ParseTime(StringAt(*progressing, {"lastUpdateTime"}));
}

// Returns the time at which the pool became healthy; WallTime() if it is unknown.
// - A Soaking pool became healthy when it entered this phase.
// - A Ready pool became healthy minReadySeconds before it entered this phase. If the daemon has checks, the time is
//   unknown, because the checks also ran in between.
WallTime HealthySince(const PoolStatusView& entry, const RollingUpdate& strategy) {
  if (entry.last_transition() == WallTime()) return {};
  if (entry.phase() == PoolPhase::kSoaking) return entry.last_transition();
  if (entry.phase() == PoolPhase::kReady && strategy.checks.empty())
    return entry.last_transition() - strategy.min_ready;
  return {};
}

}  // namespace

std::map<std::string, seconds> MeasureDurations(const Snapshot& snapshot) {
  const RollingUpdate& strategy = snapshot.daemon.strategy.rolling;
  const StatusView status(snapshot.daemon.status);
  const PoolStatusIndex entries(status);
  std::map<std::string, seconds> durations;
  for (const WorkloadRef& workload : snapshot.workloads) {
    const auto record = UpdateRecordOf(workload.object->meta());
    if (!record || record->at == WallTime()) continue;
    WallTime end;
    if (snapshot.daemon.kind == WorkloadKind::kDeployment) {
      end = AvailableSince(workload.object->Parse());
    } else if (const PoolStatusView* entry = entries.Find(workload.pool)) {
      end = HealthySince(*entry, strategy);
    }
    const auto took = std::chrono::duration_cast<seconds>(end - record->at);
    // Counts a duration of 0 as one second, because times in objects have a precision of one second.
    if (took >= seconds(0) && took <= strategy.progress_deadline) durations[workload.pool] = std::max(took, seconds(1));
  }
  return durations;
}

seconds MedianOf(const std::map<std::string, seconds>& durations) {
  std::vector<seconds> sorted;
  for (const auto& [pool, duration] : durations) sorted.push_back(duration);
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

}  // namespace yad
