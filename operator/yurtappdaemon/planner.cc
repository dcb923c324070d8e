#include "operator/yurtappdaemon/planner.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "operator/yurtappdaemon/plan/services.h"

namespace yad {
namespace {

// How long a confirmation is valid. The next reconcile of the daemon uses it, and with many daemons in the queue, that
// one may come late.
constexpr Duration kConfirmedFor = std::chrono::minutes(1);

// Returns whether the error only shows that the plan is outdated, or that the process stops.
bool IsOutdated(const Error& error) { return error.reason == Reason::kConflict || error.reason == Reason::kCancelled; }

// Confirms failures by live reads before their revision is marked as failed. Puts the server's workloads into the
// store. Fails with kConflict if a failed pool that went offline after its update is online again.
Status ConfirmFailures(const YurtAppDaemon& daemon, const Plan& plan, const PlanExecutor& executor,
                       std::stop_token stop) {
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    if (!plan.rollout->decision.pools[i].failed || !plan.pools[i].offline_after_update) continue;
    YAD_TRY_VOID(executor.ConfirmOffline(plan.pools[i].pool, stop));
  }
  return executor.ReadWorkloads(daemon, stop);
}

}  // namespace

Result<bool> Planner::ConfirmRollout(const Observation& seen, const Plan& plan, const PlanExecutor& executor,
                                     DaemonState& state, std::stop_token stop) const {
  const YurtAppDaemon& daemon = seen.snapshot.daemon;
  const bool confirmed = state.failures_confirmed && clock_.Now() < *state.failures_confirmed + kConfirmedFor;
  if (plan.rollout->decision.roll_back && !confirmed) {
    // The caches may lag. A pool that they show as unhealthy may have been healthy for a long time.
    YAD_TRY_VOID(ConfirmFailures(daemon, plan, executor, stop));
    YAD_TRY_VOID(check_jobs_.ReadFailed(seen.snapshot, plan, stop));
    state.failures_confirmed = clock_.Now();
    return false;
  }
  if (plan.rollout->decision.roll_back) {
    YAD_TRY_VOID(state.history.MarkFailed(daemon, seen.revisions, seen.snapshot.now, stop));
    state.failures_confirmed.reset();
    return false;
  }
  state.failures_confirmed.reset();
  const bool updates = std::any_of(plan.pools.begin(), plan.pools.end(),
                                   [](const PoolPlan& p) { return p.action == WorkloadAction::kUpdate; });
  if (updates && !state.caches_confirmed) {
    // The caches may not show the updates of an earlier leader, or that it marked the revision as failed. Further
    // updates could make too many pools unavailable.
    YAD_TRY_VOID(executor.ReadWorkloads(daemon, stop));
    YAD_TRY_VOID(state.history.Reread(daemon, seen.revisions, stop));
    state.caches_confirmed = true;
    return false;
  }
  if (const std::string& groups = plan.rollout->percent_groups; !groups.empty()) {
    YAD_TRY_VOID(state.history.StorePercentGroups(daemon, seen.revisions, groups, stop));
    return false;
  }
  return true;
}

Result<std::optional<FinalPlan>> Planner::MakePlan(const Observation& seen, const PlanExecutor& executor,
                                                   DaemonState& state, std::stop_token stop) const {
  FinalPlan final{yad::MakePlan(seen.snapshot, state.memo)};
  Plan& plan = final.plan;
  if (plan.rollout) {
    YAD_TRY(const auto current, ConfirmRollout(seen, plan, executor, state, stop));
    if (!current) return std::nullopt;
    state.begun->second = plan.rollout->begun;
  }
  const YurtAppDaemon& daemon = seen.snapshot.daemon;
  YAD_TRY_VOID(removals_.BlockRemovals(daemon, plan, state.removals, stop));
  PlanServices(seen.snapshot, state.services, plan);
  final.paced_due = state.pace.Defer(daemon, plan, clock_.Now());
  return final;
}

}  // namespace yad
