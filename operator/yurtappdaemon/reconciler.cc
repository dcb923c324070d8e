#include "operator/yurtappdaemon/reconciler.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>

#include "operator/api/well_known.h"
#include "operator/base/log.h"
#include "operator/base/parallel.h"
#include "operator/yurtappdaemon/diagnose/stuck_pods.h"
#include "operator/yurtappdaemon/next_reconcile.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "operator/yurtappdaemon/observe/regarding.h"
#include "operator/yurtappdaemon/report/status.h"

namespace yad {
namespace {

constexpr Duration kShortestWake = std::chrono::milliseconds(100);
constexpr std::size_t kStuckPoolsInParallel = 10;

// Returns whether the stored rejection of an earlier write stays valid after the write `result`. It stays valid if the
// server rejected another revision than the revision of this write, and one of these is true:
// - The write does not change the workload's revision.
// - The write creates the workload from currentRevision, because the server rejected the new revision. Without the
//   rejection, the next plan would not count the failure.
bool KeepsRejection(const PoolOutcome& result) {
  const PoolPlan& plan = *result.plan;
  const auto& rejected = plan.health.rejected;
  if (!rejected || plan.to.revision == nullptr || rejected->revision == plan.to.revision->name) return false;
  if (plan.action != WorkloadAction::kCreate) return IsOfRevision(plan.from, plan.to.revision);
  return plan.waits_for_user && (result.outstanding || CountsAsFailure(rejected->reason, rejected->message));
}

// Returns the health of the pools, which the next plan needs.
HealthRecord RecordHealth(const std::vector<PoolOutcome>& results, WallTime now) {
  HealthRecord record;
  record.reserve(results.size());
  for (const PoolOutcome& result : results) {
    PoolHealth health = result.plan->health;
    if (result.plan->action != WorkloadAction::kNone) {
      const bool keeps = KeepsRejection(result);
      if (!keeps) health.rejected.reset();
      const bool begins = result.workload && !result.outstanding && result.plan->to.revision != nullptr &&
                          health.revision != result.plan->to.revision->name;
      if (begins && !result.plan->offline) {
        auto rejected = std::move(health.rejected);
        health = {.revision = result.plan->to.revision->name, .since = now, .rejected = std::move(rejected)};
      }
      // True if the write adapts the workload to its pool, for example to new taints. A pool that had finished its soak
      // may have exceeded its deadline while it waited for this write. The deadline then starts again.
      const bool is_for_pool = result.workload && !result.outstanding && ChangesRenderInputs(*result.plan);
      if (is_for_pool && result.plan->overdue && !result.plan->offline && health.soaked) health.since = now;
      // The write has not succeeded. The workload still has its old revision, and its soak continues.
      if (result.outstanding && result.plan->from.revision != nullptr)
        health.revision = result.plan->from.revision->name;
      if (!result.failure_reason.empty() && result.plan->to.revision != nullptr && !keeps)
        health.rejected = {result.plan->to.revision->name, result.failure_reason, result.failure_message};
    }
    record.emplace(result.plan->pool, std::move(health));
  }
  return record;
}

// Returns the names of the revisions that must not be pruned:
// - the update revision
// - the current revision in `status`
// - the current revision in the old status, if `old_status_counts`
// - the revisions in the plans and in the labels of the workloads
std::set<std::string> LiveRevisions(const Snapshot& snapshot, const Outcome& outcome, const Json& status,
                                    bool old_status_counts, const RevisionHistory::State& revisions,
                                    RevisionHistory& history) {
  std::set<std::string> live{snapshot.update->name, StatusView(status).current_revision()};
  if (snapshot.current != nullptr && old_status_counts) live.insert(snapshot.current->name);
  std::set<std::string_view> labels;          // distinct values of the revision label
  std::unordered_set<std::string_view> seen;  // names of workloads after the writes
  for (const PoolOutcome& result : outcome.pools) {
    if (result.plan->to.revision != nullptr) live.insert(result.plan->to.revision->name);
    if (!result.workload) continue;
    labels.insert(result.workload->object->meta().Label(kRevisionLabel));
    seen.insert(result.workload->object->meta().key.name);
  }
  for (const WorkloadRef& workload : snapshot.workloads) {  // includes workloads to remove, and duplicates
    const ObjectMeta& meta = workload.object->meta();
    if (!seen.contains(meta.key.name)) labels.insert(meta.Label(kRevisionLabel));
  }
  for (const std::string_view label : labels) {
    if (const RevisionPtr revision = history.Named(revisions, std::string(label))) live.insert(revision->name);
  }
  return live;
}

}  // namespace

Reconciler::Reconciler(Client& client, ReconcilerStores stores, EventSink& events, Clock& clock, Options options)
    : client_(client),
      stores_(stores),
      events_(events),
      clock_(clock),
      options_(std::move(options)),
      removals_(client, stores.pools, events, clock, options_.max_removals),
      image_volumes_(client, clock),
      observer_(client, stores, events, clock, options_.sampler.get(), image_volumes_),
      executor_(client, stores, clock, options_.apply),
      planner_(removals_, executor_, clock),
      reporter_(client, stores.daemons, events, clock),
      pod_diagnoser_(client, clock),
      prefetches_(client, stores.prefetches, image_volumes_, options_.prefetch_image, options_.apply.parallel_writes) {}

std::shared_ptr<DaemonState> Reconciler::StateOf(const ObjectMeta& meta) {
  return states_.With([&](auto& states) {
    auto& state = states[meta.key];
    // A daemon that was recreated under the same name starts without the earlier state.
    if (state == nullptr || state->uid != meta.uid) {
      auto fresh = std::make_shared<DaemonState>(meta.uid, client_, stores_.revisions);
      if (state != nullptr) fresh->waits_shown = state->waits_shown;  // metrics are by the daemon's name, not its uid
      state = std::move(fresh);
    }
    return state;
  });
}

Duration Reconciler::HealthPaceOf(const ObjectKey& daemon) const {
  return states_.With([&](const auto& states) {
    const auto found = states.find(daemon);
    return found != states.end() ? found->second->health_pace.load() : kFastHealthPace;
  });
}

void Reconciler::Forget(const ObjectKey& key) {
  states_.With([&](auto& states) { states.erase(key); });
  reporter_.Forget(key);
  RemovalGate::Forget(key);
  ForgetStopped(key);
  MisplacedPods::Forget(key);
  if (options_.sampler != nullptr) options_.sampler->SetChecks(key, {});
}

Result<ReconcileResult> Reconciler::Reconcile(const Request& request, std::stop_token stop) {
  const auto stored = stores_.daemons.Get(request);
  if (!stored && stored.error().reason != Reason::kNotFound) return Fail(stored.error());
  // Kubernetes' garbage collector deletes the objects of a daemon that is being deleted.
  if (!stored || (*stored)->meta().deleting()) {
    Forget(request);
    return ReconcileResult::Done();
  }
  const std::shared_ptr<DaemonState> state = StateOf((*stored)->meta());
  YAD_TRY(auto observed, observer_.Observe(**stored, *state, stop));
  if (const auto* not_ready = std::get_if<NotReady>(&observed)) {
    if (not_ready->poll == Duration::zero()) return ReconcileResult::RequeueNow();
    return ReconcileResult::RequeueAfter(not_ready->poll);
  }
  if (const auto* blocked = std::get_if<Blocked>(&observed)) return ReportBlocked(**stored, *blocked, *state, stop);
  Observation& seen = std::get<Observation>(observed);

  YAD_TRY(const auto planned, planner_.MakePlan(seen, *state, stop));
  if (!planned) return ReconcileResult::RequeueNow();
  const Plan& plan = planned->plan;
  state->health_pace = HealthPaceAfter(plan);
  const Outcome outcome = executor_.Apply(seen.snapshot.daemon, plan, state->memo, stop);
  if (stop.stop_requested()) return Fail(Reason::kCancelled, "the reconcile was stopped");
  if (outcome.rejected) return Fail(*outcome.rejected);
  ReleaseStuck(seen.snapshot.daemon, plan, state->stuck_pools, stop);
  const CheckJobOutcome jobs = RunChecks(seen.snapshot, plan, *state, stop);
  const PrefetchOutcome pulls = prefetches_.Apply(seen.snapshot, plan, outcome, stop);
  state->rejected_prefetches = pulls.rejected;
  RecordOutcome(seen, outcome, *state);

  const PodDiagnoser::Findings examined =
      pod_diagnoser_.Examine(seen.snapshot.daemon, outcome.pools, seen.previous(), state->pod_diagnoser, stop);
  if (stop.stop_requested()) return Fail(Reason::kCancelled, "the reconcile was stopped");
  RequeueReasons reasons;
  const Status reported = Report(seen, plan, outcome, examined.diagnoses, *state, reasons.status_due, stop);
  if (stop.stop_requested()) return Fail(Reason::kCancelled, "the reconcile was stopped");
  if (plan.postponed.undecided()) reasons.removals_due = removals_.UntilSettled(state->removals);
  for (const auto& retry : {outcome.retry, jobs.retry, pulls.retry, planned->retry}) {
    if (!reasons.retry) reasons.retry = retry;
  }
  if (!reasons.retry && !reported) reasons.retry = reported.error();
  if (jobs.invalid || pulls.dropped)
    reasons.plan_due = kShortestWake;
  else if (plan.wake)
    reasons.plan_due = std::max<Duration>(*plan.wake - seen.snapshot.now, kShortestWake);
  reasons.paced_due = planned->paced_due;
  // A diagnosis changes only the status, so it has the same rate limit as health events.
  if (examined.again) reasons.diagnosis_due = std::max(*examined.again, state->health_pace.load());
  reasons.unseen_removal =
      std::any_of(outcome.leaving.begin(), outcome.leaving.end(),
                  [&](const WorkloadRef& workload) { return seen.unseen.contains(workload.object->meta().key.name); });
  const Result<ReconcileResult> next = NextReconcile(reasons);
  if (next && reasons.retry)
    log::Warn("some objects of a YurtAppDaemon could not be written",
              {{"yurtappdaemon", request.ToString()}, {"error", *reasons.retry}});
  return next;
}

CheckJobOutcome Reconciler::RunChecks(const Snapshot& snapshot, const Plan& plan, DaemonState& state,
                                      std::stop_token stop) const {
  if (options_.sampler != nullptr) options_.sampler->SetChecks(snapshot.daemon.meta.key, RunningChecks(snapshot, plan));
  CheckJobOutcome outcome = WriteCheckJobs(client_, stores_.jobs, snapshot, plan, options_.apply.parallel_writes, stop);
  std::map<std::string, RejectedJob> rejected = outcome.rejected;
  for (const auto& [name, job] : rejected) state.pace.RecordRejectedJob(name, clock_.Now());
  // Keeps the rejections of invalid Jobs (`final`), so that the operator does not create these Jobs again, and the
  // rejections of Jobs whose retry is not due yet.
  for (const PoolPlan& pool : plan.pools) {
    const auto before = state.rejected_jobs.find(pool.checks.job);
    if (before != state.rejected_jobs.end() && (before->second.final || pool.checks.job_waits))
      rejected.insert(*before);
  }
  state.rejected_jobs = std::move(rejected);
  return outcome;
}

void Reconciler::RecordOutcome(const Observation& seen, const Outcome& outcome, DaemonState& state) const {
  if (state.health) state.health = RecordHealth(outcome.pools, seen.snapshot.now);
  state.unlisted_have_soaked = false;
  state.deleted.insert(outcome.deleted.begin(), outcome.deleted.end());
  const auto contested = state.pace.Record(seen.snapshot.daemon, outcome, clock_.Now());
  ReportOutcome(events_, seen.snapshot, outcome, contested, state.events);
}

Status Reconciler::Report(const Observation& seen, const Plan& plan, const Outcome& outcome, const Diagnoses& diagnoses,
                          DaemonState& state, Duration& due, std::stop_token stop) {
  const Snapshot& snapshot = seen.snapshot;
  const ObjectMeta& meta = snapshot.daemon.meta;
  const Json& previous = seen.previous();
  MisplacedCounts misplaced;
  if (options_.misplaced != nullptr)
    misplaced = options_.misplaced->CountsOf(meta.key, outcome.pools, previous, state.misplaced_restored);
  std::optional<std::string> missing_fields;
  if (options_.missing_fields != nullptr)
    missing_fields = options_.missing_fields->With([](const auto& known) { return known; });
  const Json status = BuildStatus({snapshot, outcome.pools, outcome.leaving, previous, seen.revisions.collision_count,
                                   plan.postponed, plan.rollout, &diagnoses, &misplaced, image_volumes_.Known(),
                                   std::move(missing_fields), state.was_incomplete});
  state.was_incomplete = !WasRolledOut(status, snapshot.update->name);
  if (plan.rollout) {
    ReportRollout(events_, snapshot.daemon, previous, status, state.events);
  } else {
    ForgetStopped(meta.key);
  }
  removals_.Report(snapshot.daemon, plan.postponed, previous, state.removals);
  if (seen.revisions.created) {
    events_.Record(Regarding(meta), EventType::kNormal, "RevisionCreated", "Record",
                   "created ControllerRevision " + snapshot.update->name);
  }
  YAD_TRY(due, reporter_.WriteStatus(meta, snapshot.daemon.status, status, state, stop));
  Reporter::ShowPools(meta.key, status, outcome.pools, state.waits_shown);
  // The listeners are called only after the status is written, because a later process reads from status which stages
  // were already reported.
  const auto& [notices, trace] = options_.listeners;
  if (due == Duration::zero() && notices)
    ReportNotices(notices, snapshot, seen.revisions, previous, status, state.notices);
  if (due == Duration::zero() && trace)
    ReportSpans(trace, snapshot, seen.revisions, plan.rollout, previous, status, state.trace);

  // While the write of the new status is delayed, the server still has the old status. The revisions in the old status
  // must not be pruned.
  const bool old_status_counts = due > Duration::zero();
  const std::set<std::string> live =
      LiveRevisions(snapshot, outcome, status, old_status_counts, seen.revisions, state.history);
  return state.history.Prune(snapshot.daemon, seen.revisions, live, stop);
}

Result<ReconcileResult> Reconciler::ReportBlocked(const StoredObject& stored, const Blocked& blocked,
                                                  DaemonState& state, std::stop_token stop) {
  const bool is_rolling = StringAt(stored.Parse(), {"spec", "updateStrategy", "type"}) == "RollingUpdate";
  is_rolling ? ShowStopped(stored.meta().key, true) : ForgetStopped(stored.meta().key);
  YAD_TRY(const auto due, reporter_.ReportBlocked(stored, blocked, state, stop));
  if (blocked.retry) return Fail(blocked.error);
  if (due > Duration::zero()) return ReconcileResult::RequeueAfter(due);
  return ReconcileResult::Done();  // A user's edit causes the next reconcile.
}

void Reconciler::ReleaseStuck(const YurtAppDaemon& daemon, const Plan& plan, ExaminedPools& examined,
                              std::stop_token stop) {
  const std::vector<const PoolPlan*> stuck = NextStuckPools(plan, examined, stuck_reads_, clock_.Now());
  std::vector<Result<std::vector<std::string>>> results(stuck.size());
  const WallTime since = clock_.WallNow() - kStuckAfter;
  ParallelFor(stuck.size(), kStuckPoolsInParallel, [&](std::size_t i) {
    const ObjectMeta& meta = stuck[i]->workload->object->meta();
    results[i] = ReplaceStuckPods(client_, daemon.meta, meta.key, meta.uid, since, stop);
  });
  for (std::size_t i = 0; i < stuck.size(); ++i) {
    const ObjectMeta& meta = stuck[i]->workload->object->meta();
    const auto& deleted = results[i];
    if (!deleted) {
      log::Warn("could not delete the pods that block the update of a StatefulSet",
                {{"statefulset", meta.key.ToString()}, {"error", deleted.error()}});
      continue;
    }
    for (const std::string& name : *deleted) {
      events_.Record(Regarding(daemon.meta), EventType::kWarning, "StuckPodDeleted", "Replace",
                     "pod " + name + " of an older template is not ready and blocks StatefulSet " + meta.key.name +
                         ": the operator deleted the pod, so that it is recreated");
    }
  }
}

}  // namespace yad
