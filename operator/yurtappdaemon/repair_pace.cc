#include "operator/yurtappdaemon/repair_pace.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace yad {
namespace {

constexpr int kAtOnce = 5;
constexpr Duration kFirstDelay = std::chrono::seconds(1);
constexpr Duration kLongestDelay = std::chrono::minutes(5);
const std::string kService = "service/";              // before the name of one, to tell it from its workload
constexpr Duration kQuiet = std::chrono::minutes(1);  // Beyond its delay; then the next repair is a first one.

bool RepairsService(const PoolPlan& pool) { return pool.service && pool.service->write == ServiceWrite::kRepair; }

}  // namespace

Duration RepairPace::Delay(const Entry& entry) {
  if (entry.in_a_row < kAtOnce) return Duration::zero();
  const int doublings = std::min(entry.in_a_row - kAtOnce, 16);
  return std::min(kFirstDelay * (1 << doublings), kLongestDelay);
}

bool RepairPace::IsOver(const Entry& entry, SteadyTime now) { return now >= entry.last + Delay(entry) + kQuiet; }

Duration RepairPace::Wait(const std::string& workload, SteadyTime now) const {
  const auto found = entries_.find(workload);
  if (found == entries_.end()) return Duration::zero();
  return std::max<Duration>(found->second.last + Delay(found->second) - now, Duration::zero());
}

bool RepairPace::Repaired(const std::string& workload, SteadyTime now) {
  std::erase_if(entries_, [&](const auto& entry) { return IsOver(entry.second, now); });
  Entry& entry = entries_[workload];
  entry.last = now;
  return ++entry.in_a_row == kAtOnce;
}

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
