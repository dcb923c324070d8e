#include "operator/yurtappdaemon/planner.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/observe/pod_facts.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "operator/yurtappdaemon/observe/status_view.h"
#include "operator/yurtappdaemon/plan/services.h"
#include "operator/yurtappdaemon/report/rollout_progress.h"

namespace yad {
namespace {

// The time for which the confirmation of failures is valid. The next reconcile of the daemon uses the confirmation. It
// may start late if many daemons are in the queue.
constexpr Duration kConfirmedFor = std::chrono::minutes(1);

// Returns whether the error shows that the plan is outdated, or that the process stops.
bool IsOutdated(const Error& error) { return error.reason == Reason::kConflict || error.reason == Reason::kCancelled; }

// Returns the reason and the message of the pool's failure on the update revision. `shown` is the pool's entry in the
// last status, which may contain a problem of the pods. Null: the status does not list the pool.
std::pair<std::string, std::string> CauseOf(const PoolPlan& pool, const PoolStatusView* shown,
                                            std::chrono::seconds deadline) {
  const PoolHealth& health = pool.health;
  if (health.check && !health.check->failure.empty())
    return {kCheckFailed, CheckMessage(health.check->name, health.check->failure)};
  if (health.rejected) return {health.rejected->reason, health.rejected->message};
  if (!pool.failure_reason.empty()) return {pool.failure_reason, pool.failure_message};
  const bool is_shown = shown != nullptr && pool.from.revision != nullptr &&
                        shown->revision() == pool.from.revision->name && IsPodProblem(shown->reason());
  if (is_shown) return {std::string(shown->reason()), std::string(shown->message())};
  if (pool.offline_after_update) return {kWentDarkAfterUpdate, "the pool went offline after its update"};
  if (pool.workload && pool.workload->state().progress_deadline_exceeded)
    return {kDeadlineExceeded, pool.workload->state().failure_message};
  return {kDeadlineExceeded, "not healthy within " + std::to_string(deadline.count()) + " s on its revision"};
}

// Returns the value of kFailureAnnotation.
std::string FirstFailure(const Observation& seen, const Plan& plan) {
  const PoolStatusIndex shown{StatusView(seen.previous())};
  const RolloutDecision& decision = plan.rollout->decision;
  const auto stops = [&](const RolloutDecision::Pool& pool) { return decision.StopsRollout(pool); };
  const auto first = std::find_if(decision.pools.begin(), decision.pools.end(), stops);
  if (first == decision.pools.end()) return "";
  const PoolPlan& pool = plan.pools[first - decision.pools.begin()];
  const auto [reason, message] =
      CauseOf(pool, shown.Find(pool.pool), seen.snapshot.daemon.strategy.rolling.progress_deadline);
  return DescribeFailure(pool.pool, reason, message, std::count_if(first, decision.pools.end(), stops));
}

// Checks that the cache has the revisions of the workloads that the plan adopts and updates, unless a revision does not
// exist. The update removes the values that the workload's revision has and the new revision lacks. If the workload's
// revision were not in the cache, these values would stay.
Status ConfirmRevisionsOfOrphans(const Observation& seen, const Plan& plan, RevisionHistory& history,
                                 std::stop_token stop) {
  std::set<std::string> labels;
  for (const PoolPlan& pool : plan.pools) {
    if (pool.action == WorkloadAction::kAdopt && pool.to.revision != nullptr)
      labels.insert(pool.workload->object->meta().Label(kRevisionLabel));
  }
  for (const std::string& label : labels)
    YAD_TRY_VOID(history.ConfirmUnknown(seen.snapshot.daemon, seen.revisions, label, stop));
  return {};
}

}  // namespace

Status Planner::PrepareRollback(const Observation& seen, const Plan& plan, DaemonState& state,
                                std::stop_token stop) const {
  const YurtAppDaemon& daemon = seen.snapshot.daemon;
  if (!state.failures_confirmed || clock_.Now() >= *state.failures_confirmed + kConfirmedFor) {
    // The caches may be stale. A pool that they show as unhealthy may have been healthy for a long time.
    YAD_TRY_VOID(executor_.ConfirmFailures(seen.snapshot, plan, stop));
    state.failures_confirmed = clock_.Now();
    return {};
  }
  YAD_TRY_VOID(state.history.MarkFailed(daemon, seen.revisions, seen.snapshot.now, FirstFailure(seen, plan), stop));
  state.failures_confirmed.reset();
  return {};
}

Result<bool> Planner::ConfirmRollout(const Observation& seen, FinalPlan& final, DaemonState& state,
                                     std::stop_token stop) const {
  const YurtAppDaemon& daemon = seen.snapshot.daemon;
  const Plan& plan = final.plan;
  if (plan.rollout->decision.roll_back) {
    const Status prepared = PrepareRollback(seen, plan, state, stop);
    if (prepared) return false;
    if (IsOutdated(prepared.error())) return Fail(prepared.error());
    final.retry = prepared.error();  // Until the retry succeeds, the rollout stays stopped, as without onFailure.
  } else {
    state.failures_confirmed.reset();
  }
  const bool updates = std::any_of(plan.pools.begin(), plan.pools.end(), UpdatesWorkload);
  if (updates && !state.caches_confirmed) {
    // The caches may be stale. An earlier leader may have updated further workloads, or may have marked the revision as
    // failed. More updates could then make too many pools unavailable.
    YAD_TRY_VOID(executor_.ReadWorkloads(daemon, stop));
    YAD_TRY_VOID(state.history.Reread(daemon, seen.revisions, stop));
    state.caches_confirmed = true;
    return false;
  }
  return true;
}

Result<bool> Planner::StoreGroups(Observation& seen, FinalPlan& final, DaemonState& state, std::stop_token stop) const {
  const std::string& groups = final.plan.rollout->percent_groups;
  if (groups.empty()) return true;
  Snapshot& snapshot = seen.snapshot;
  const Status stored = state.history.StorePercentGroups(snapshot.daemon, seen.revisions, groups, stop);
  if (stored) return false;
  if (IsOutdated(stored.error())) return Fail(stored.error());
  final.retry = stored.error();
  snapshot.freeze = Freeze{"whether the groups with percent keep their pools: " + stored.error().message, std::nullopt,
                           /*known=*/false, /*delays_replicas=*/true};
  const std::optional<WallTime> wake = final.plan.wake;
  std::vector<PrefetchRef> prefetches = std::move(final.plan.outdated_prefetches);
  final.plan = yad::MakePlan(snapshot, state.memo);
  // Because of the unknown freeze, the new plan would cause a reconcile soon (Plan::wake). This is not necessary,
  // because the failed write is retried with backoff.
  final.plan.wake = wake;
  // The new plan starts no update, so it considers the DaemonSets of all updates as outdated.
  final.plan.outdated_prefetches = std::move(prefetches);
  return true;
}

Result<std::optional<FinalPlan>> Planner::MakePlan(Observation& seen, DaemonState& state, std::stop_token stop) const {
  FinalPlan final{yad::MakePlan(seen.snapshot, state.memo)};
  Plan& plan = final.plan;
  YAD_TRY_VOID(ConfirmRevisionsOfOrphans(seen, plan, state.history, stop));
  if (plan.rollout) {
    YAD_TRY(const bool confirmed, ConfirmRollout(seen, final, state, stop));
    if (!confirmed) return std::nullopt;
    YAD_TRY(const bool stored, StoreGroups(seen, final, state, stop));
    if (!stored) return std::nullopt;
    state.begun->second = plan.rollout->begun;
  }
  const YurtAppDaemon& daemon = seen.snapshot.daemon;
  YAD_TRY_VOID(removals_.BlockRemovals(daemon, plan, state.removals, stop));
  PlanServices(seen.snapshot, state.services, plan);
  final.paced_due = state.pace.Defer(daemon, plan, clock_.Now());
  return final;
}

}  // namespace yad
