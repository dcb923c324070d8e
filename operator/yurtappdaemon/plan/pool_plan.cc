#include "operator/yurtappdaemon/plan/pool_plan.h"

namespace yad {

bool WritesAnything(const PoolPlan& pool) {
  return pool.action != WorkloadAction::kNone || (pool.service && pool.service->action != ServiceAction::kNone);
}

bool ChangesRenderInputs(const PoolPlan& pool) {
  return (pool.action == WorkloadAction::kUpdate || pool.action == WorkloadAction::kAdopt) &&
         pool.from.revision != nullptr && pool.to.revision != nullptr && !(pool.from.inputs == pool.to.inputs);
}

}  // namespace yad
