// Decides when a daemon is reconciled again. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_NEXT_LOOK_H_
#define OPERATOR_YURTAPPDAEMON_NEXT_LOOK_H_

#include <optional>

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/runtime/controller.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// The work that a reconcile leaves for a later one. Each Duration counts from now. The defaults mean that no work is
// left.
struct LookReasons {
  // The time until a waiting status may be written (the last write was too recent); zero: no status waits.
  Duration status_due{0};
  // The time until undecided removals can be decided; zero: there are none.
  Duration removals_due{0};
  // The error of a write that has to be retried.
  std::optional<Error> retry = std::nullopt;
  // The time until a soak or a deadline of the plan ends.
  Duration plan_due = Duration::max();
  // The time until the first write that WritePace has postponed; zero: there is none.
  Duration paced_due{0};
  // The time until the pods of unhealthy pools are read again.
  Duration diagnosis_due = Duration::max();
  // True if a workload that no cache shows is being deleted. No event will report the end of that deletion.
  bool unseen_removal = false;
};

// Returns the requeue of the daemon. Fails with `retry` if only the key's backoff determines its time.
Result<ReconcileResult> NextLook(const LookReasons& reasons);

// The shortest time between two writes of a daemon's status.
inline constexpr Duration kStatusInterval = std::chrono::seconds(1);

inline constexpr Duration kFastHealthPace = std::chrono::milliseconds(200);
// A little longer than kStatusInterval, so that each reconcile at this pace may write the status.
inline constexpr Duration kSlowHealthPace = kStatusInterval + std::chrono::milliseconds(100);
// Each reconcile examines all pools, and each write of the status contains all pools. So each pool adds this time to
// the time between two reconciles.
inline constexpr Duration kHealthPaceOfAPool = std::chrono::milliseconds(4);
inline constexpr Duration kLongestHealthPace = std::chrono::seconds(5);
// Returns the shortest time between two reconciles that are caused only by the health of workloads. If the plan starts
// nothing when a pool becomes healthy, health changes only the status, so the time is longer.
Duration HealthPaceAfter(const Plan& plan);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_NEXT_LOOK_H_
