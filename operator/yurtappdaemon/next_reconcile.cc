#include "operator/yurtappdaemon/next_reconcile.h"

#include <algorithm>

namespace yad {

Result<ReconcileResult> NextReconcile(const RequeueReasons& reasons) {
  const Duration retry_after =
      reasons.retry ? Duration(reasons.retry->retry_after.value_or(std::chrono::milliseconds(0))) : Duration::zero();
  // A delayed status takes precedence over the backoff after a failed write, which may last minutes.
  Duration due = reasons.status_due;
  // The plan may change before the gate can decide about removals, for instance because an update window opens.
  if (due == Duration::zero() && reasons.removals_due > Duration::zero())
    due = std::min(reasons.removals_due, reasons.plan_due);
  if (due > Duration::zero()) {
    if (!reasons.retry) return ReconcileResult::RequeueAfter(due);
    return ReconcileResult::RequeueWithBackoff(std::max(due, retry_after), retry_after);
  }
  Duration wake = reasons.plan_due;
  if (reasons.paced_due > Duration::zero()) wake = std::min(wake, reasons.paced_due);
  if (reasons.retry) {
    if (wake == Duration::max()) return Fail(*reasons.retry);
    return ReconcileResult::RequeueWithBackoff(wake, retry_after);
  }
  wake = std::min(wake, reasons.diagnosis_due);
  if (reasons.unseen_removal) return ReconcileResult::RequeueWithBackoff(wake);
  return wake < Duration::max() ? ReconcileResult::RequeueAfter(wake) : ReconcileResult::Done();
}

Duration HealthPaceAfter(const Plan& plan) {
  if (plan.rollout && plan.rollout->decision.state == RolloutState::kProgressing) return kFastHealthPace;
  const bool writes = std::any_of(plan.pools.begin(), plan.pools.end(),
                                  [](const PoolPlan& pool) { return pool.action != WorkloadAction::kNone; });
  if (writes) return kFastHealthPace;
  return std::min(kSlowHealthPace + kHealthPacePerPool * static_cast<int>(plan.pools.size()), kLongestHealthPace);
}

}  // namespace yad
