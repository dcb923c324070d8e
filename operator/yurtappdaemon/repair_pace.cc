#include "operator/yurtappdaemon/repair_pace.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace yad {
namespace {

const std::string kService = "service/";  // before the name of one, to tell it from its workload

bool RepairsService(const PoolPlan& pool) { return pool.service && pool.service->write == ServiceWrite::kRepair; }

}  // namespace

Duration HoldBackRepairs(Plan& plan, const RepairPace& pace, SteadyTime now) {
  Duration due = Duration::zero();
  const auto holds_back = [&](const std::string& name) {
    const Duration wait = pace.Wait(name, now);
    if (wait == Duration::zero()) return false;
    due = due == Duration::zero() ? wait : std::min(due, wait);
    return true;
  };
  for (PoolPlan& pool : plan.pools) {
    if (pool.write == Write::kRepair && holds_back(pool.workload->object->meta().key.name)) pool.write = Write::kNone;
    if (RepairsService(pool) && holds_back(kService + pool.service->name)) pool.service->write = ServiceWrite::kNone;
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
  const std::set<std::string_view> services(applied.services_repaired.begin(), applied.services_repaired.end());
  for (const PoolResult& result : applied.pools) {
    if (services.contains(result.plan->pool) && pace.Repaired(kService + result.service, now))
      fought.push_back(result.plan->pool);
  }
  return fought;
}

}  // namespace yad
