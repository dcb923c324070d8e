#include "operator/yurtappdaemon/plan/pool_plan.h"

namespace yad {

bool WritesAnything(const PoolPlan& pool) {
  return pool.action != WorkloadAction::kNone || (pool.service && pool.service->action != ServiceAction::kNone);
}

bool UpdatesWorkload(const PoolPlan& pool) {
  return pool.action == WorkloadAction::kUpdate || (pool.action == WorkloadAction::kAdopt && pool.from != pool.to);
}

bool ChangesRenderInputs(const PoolPlan& pool) {
  return (pool.action == WorkloadAction::kUpdate || pool.action == WorkloadAction::kAdopt) &&
         pool.from.revision != nullptr && pool.to.revision != nullptr && !(pool.from.inputs == pool.to.inputs);
}

bool KeepsPodTemplate(const PoolPlan& pool) {
  if (pool.from.revision == nullptr || pool.to.revision == nullptr) return false;
  if (pool.from == pool.to) return pool.action == WorkloadAction::kAdopt;
  const auto from = RenderWorkload(pool.from, pool.pool);
  const auto to = RenderWorkload(pool.to, pool.pool);
  return from && to && Compare(*from, *to) != Difference::kPodTemplate;
}

}  // namespace yad
