// Plans the writes of one reconcile. Before a risky write, live reads confirm the state of the caches.
#ifndef OPERATOR_YURTAPPDAEMON_PLANNER_H_
#define OPERATOR_YURTAPPDAEMON_PLANNER_H_

#include <optional>
#include <stop_token>

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/yurtappdaemon/apply/executor.h"
#include "operator/yurtappdaemon/daemon_state.h"
#include "operator/yurtappdaemon/observer.h"
#include "operator/yurtappdaemon/plan/plan.h"
#include "operator/yurtappdaemon/removal_gate.h"

namespace yad {

// The plan that the executor carries out.
struct FinalPlan {
  Plan plan;
  Duration paced_due{0};  // the time until the first write that WritePace delays; zero: no write is delayed
  // The error of a failed read or write that must succeed before an update or a rollback may start. It must be retried.
  std::optional<Error> retry = std::nullopt;
};

// Thread-safe if only one thread at a time uses each DaemonState.
class Planner {
 public:
  Planner(const RemovalGate& removals, const PlanExecutor& executor, Clock& clock)
      : removals_(removals), executor_(executor), clock_(clock) {}

  // Returns nullopt if the planner first had to read or write objects, which made `seen` outdated. The reconcile must
  // then start again.
  //
  // Stores which pools belong to the groups with `percent`. If this fails, no update may start. The planner then sets a
  // freeze in `seen`, as the Observer does if it can't read whether updates are frozen.
  Result<std::optional<FinalPlan>> MakePlan(Observation& seen, DaemonState& state, std::stop_token stop) const;

 private:
  // Confirms by live reads that the pools have failed. If an earlier call has confirmed this, marks the revision as
  // failed.
  Status PrepareRollback(const Observation& seen, const Plan& plan, DaemonState& state, std::stop_token stop) const;
  // The next two functions return false if a read or a write has made the plan outdated. ConfirmRollout prepares a
  // rollback, and makes the live reads before the first update.
  Result<bool> ConfirmRollout(const Observation& seen, FinalPlan& final, DaemonState& state,
                              std::stop_token stop) const;
  // Stores the pools of groups with `percent`.
  Result<bool> StoreGroups(Observation& seen, FinalPlan& final, DaemonState& state, std::stop_token stop) const;

  const RemovalGate& removals_;
  const PlanExecutor& executor_;
  Clock& clock_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLANNER_H_
