// Decides when a daemon is reconciled again. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_NEXT_LOOK_H_
#define OPERATOR_YURTAPPDAEMON_NEXT_LOOK_H_

#include <optional>

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/runtime/controller.h"

namespace yad {

// The work that a reconcile leaves for a later one. Times count from now. The defaults leave nothing.
struct LookReasons {
  // A status that may not be written yet, because the last one was written a moment ago; zero: none.
  Duration status_due{0};
  // Removals that are not decided yet; zero: none.
  Duration removals_due{0};
  // A write that failed and is retried.
  std::optional<Error> retry = std::nullopt;
  // A soak or a deadline that ends.
  Duration plan_due = Duration::max();
  // A write that its pace holds back; zero: none.
  Duration paced_due{0};
  // Pods of unhealthy pools that are read again.
  Duration diagnosis_due = Duration::max();
  // A workload that is being deleted and that no cache shows, so no event reports its end.
  bool unseen_removal = false;
};

// Returns the result of the reconcile. It is the Error `retry` if no other time bounds the key's backoff.
Result<ReconcileResult> NextLook(const LookReasons& reasons);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_NEXT_LOOK_H_
