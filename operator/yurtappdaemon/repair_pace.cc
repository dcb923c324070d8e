#include "operator/yurtappdaemon/repair_pace.h"

#include <algorithm>

namespace yad {

Duration HoldBackRepairs(Plan& plan, const RepairPace& pace, SteadyTime now) {
  Duration due = Duration::zero();
  for (PoolPlan& pool : plan.pools) {
    if (pool.write != Write::kRepair) continue;
    const Duration wait = pace.Wait(pool.workload->object->meta().key.name, now);
    if (wait == Duration::zero()) continue;
    pool.write = Write::kNone;
    due = due == Duration::zero() ? wait : std::min(due, wait);
  }
  return due;
}

std::vector<std::string> CountRepairs(const Applied& applied, RepairPace& pace, SteadyTime now) {
  std::vector<std::string> fought;
  for (const PoolResult& result : applied.pools) {
    if (result.plan->write == Write::kRepair && result.workload && !result.outstanding &&
        pace.Repaired(result.workload->object->meta().key.name, now)) {
      fought.push_back(result.plan->pool);
    }
  }
  return fought;
}

}  // namespace yad
