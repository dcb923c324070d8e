// Decides when a daemon is reconciled again. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_NEXT_RECONCILE_H_
#define OPERATOR_YURTAPPDAEMON_NEXT_RECONCILE_H_

#include <optional>

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/runtime/controller.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// The reasons for another reconcile. Each Duration counts from now. A field with its default value is not a reason.
struct RequeueReasons {
  // The time until a delayed status may be written.
  Duration status_due{0};
  // The time until the RemovalGate can decide whether it blocks removals of workloads.
  Duration removals_due{0};
  // The error of a write that must be retried.
  std::optional<Error> retry = std::nullopt;
  // The time until the plan may change without an event, such as the end of a soak or a deadline.
  Duration plan_due = Duration::max();
  // The time until the first write that WritePace delays.
  Duration paced_due{0};
  // The time until the pods of unhealthy pools are read again.
  Duration diagnosis_due = Duration::max();
  // True if a workload that no cache shows is being deleted. No event will report the end of its deletion.
  bool unseen_removal = false;
};

// Returns when the daemon must be reconciled again. If `reasons.retry` has an error and nothing else is due, returns
// this error. The controller's backoff then decides.
Result<ReconcileResult> NextReconcile(const RequeueReasons& reasons);

// The shortest time between two writes of a daemon's status.
inline constexpr Duration kStatusInterval = std::chrono::seconds(1);

inline constexpr Duration kFastHealthPace = std::chrono::milliseconds(200);
// A little longer than kStatusInterval, so that each reconcile at this pace may write the status.
inline constexpr Duration kSlowHealthPace = kStatusInterval + std::chrono::milliseconds(100);
// Each pool of the daemon adds this time to kSlowHealthPace, because a reconcile examines all pools.
inline constexpr Duration kHealthPacePerPool = std::chrono::milliseconds(4);
inline constexpr Duration kLongestHealthPace = std::chrono::seconds(5);
// Returns the shortest time between two reconciles that only health events cause. It is kFastHealthPace while the
// rollout waits for pools, or if the plan writes workloads.
Duration HealthPaceAfter(const Plan& plan);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_NEXT_RECONCILE_H_
