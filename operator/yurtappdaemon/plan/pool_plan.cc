#include "operator/yurtappdaemon/plan/pool_plan.h"

namespace yad {

bool WritesAnything(const PoolPlan& pool) {
  return pool.write != WorkloadAction::kNone || (pool.service && pool.service->write != ServiceWrite::kNone);
}

bool IsForThePool(const PoolPlan& pool) {
  return (pool.write == WorkloadAction::kUpdate || pool.write == WorkloadAction::kAdopt) &&
         pool.from.revision != nullptr && pool.to.revision != nullptr && !(pool.from.inputs == pool.to.inputs);
}

}  // namespace yad
