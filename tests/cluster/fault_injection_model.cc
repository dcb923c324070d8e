#include "tests/cluster/fault_injection_model.h"

#include <algorithm>

namespace yad::testing {

bool FaultInjectionModel::Selects(const ModelDaemon& daemon, const ModelPool& pool) const {
  return pool.exists && pool.labelled && (daemon.ring.empty() || daemon.ring == pool.ring);
}

std::vector<std::string> FaultInjectionModel::PoolsOf(const std::string& daemon) const {
  std::vector<std::string> selected;
  for (const auto& [name, pool] : pools) {
    if (Selects(daemons.at(daemon), pool)) selected.push_back(name);
  }
  return selected;
}

void FaultInjectionModel::Note(std::int64_t before, std::int64_t after) {
  for (const auto& [daemon_name, daemon] : daemons) {
    for (const auto& [pool_name, pool] : pools) {
      auto& absences = absences_[{daemon_name, pool_name}];
      const bool absent = !absences.empty() && absences.back().end == 0;
      if (absent && Selects(daemon, pool)) absences.back().end = after;
      if (!absent && !Selects(daemon, pool)) absences.push_back({before, 0});
    }
  }
}

bool FaultInjectionModel::MayHaveGone(const std::string& daemon, const WorkloadWatch::Life& life) const {
  if (by_hand_.contains(life.uid) || dead_.contains(life.owner)) return true;
  const auto absences = absences_.find({daemon, life.pool});
  // The removal is permitted if the workload existed while its pool was not selected. It may happen later, because a
  // reconcile may use an earlier read of the pool.
  return absences != absences_.end() &&
         std::any_of(absences->second.begin(), absences->second.end(), [&](const Absence& absence) {
           return absence.begin <= life.end && (absence.end == 0 || life.begin < absence.end);
         });
}

std::vector<std::string> FaultInjectionModel::Judge(const std::string& daemon,
                                                    const std::vector<WorkloadWatch::Life>& lives) const {
  std::vector<std::string> faults;
  for (auto life = lives.begin(); life != lives.end(); ++life) {
    const std::string what = "workload " + life->name + " (" + life->uid + ", version " + std::to_string(life->begin) +
                             " to " + std::to_string(life->end) + ")";
    if (life->end != 0 && !MayHaveGone(daemon, *life)) faults.push_back(what + " was removed");
    for (auto other = lives.begin(); other != life; ++other) {
      if (other->pool != life->pool || !other->SharesATimeWith(*life)) continue;
      if (dead_.contains(other->owner) || dead_.contains(life->owner)) continue;  // being removed
      faults.push_back(what + " was created beside " + other->name + " (" + other->uid + ")");
    }
  }
  return faults;
}

}  // namespace yad::testing
