// Plans the writes of one reconcile, and confirms live what must not rest on a cache that lags.
#ifndef OPERATOR_YURTAPPDAEMON_PLANNER_H_
#define OPERATOR_YURTAPPDAEMON_PLANNER_H_

#include <optional>
#include <stop_token>

#include "operator/base/clock.h"
#include "operator/yurtappdaemon/apply/executor.h"
#include "operator/yurtappdaemon/daemon_state.h"
#include "operator/yurtappdaemon/observer.h"
#include "operator/yurtappdaemon/plan/plan.h"
#include "operator/yurtappdaemon/removal_gate.h"

namespace yad {

// The plan of one reconcile, as it is executed.
struct FinalPlan {
  Plan plan;
  Duration paced_due{0};  // until the first write that its pace holds back; zero: none waits
};

// Thread-safe if only one thread at a time uses each DaemonState.
class Planner {
 public:
  Planner(const RemovalGate& removals, Clock& clock) : removals_(removals), clock_(clock) {}

  // Returns the plan. nullopt: something was read or written first, and the reconcile starts again. `executor` is that
  // of the daemon's kind.
  Result<std::optional<FinalPlan>> MakePlan(const Observation& seen, const PlanExecutor& executor, DaemonState& state,
                                            std::stop_token stop) const;

 private:
  // Returns false if something was read or written, and the plan is outdated.
  Result<bool> ConfirmRollout(const Observation& seen, const Plan& plan, const PlanExecutor& executor,
                              DaemonState& state, std::stop_token stop) const;

  const RemovalGate& removals_;
  Clock& clock_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLANNER_H_
