#include "operator/yurtappdaemon/reconciler.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <unordered_set>

#include "operator/api/well_known.h"
#include "operator/base/log.h"
#include "operator/base/metrics.h"
#include "operator/base/parallel.h"
#include "operator/nodepool/nodepool_type.h"
#include "operator/yurtappdaemon/controlled.h"
#include "operator/yurtappdaemon/daemon_events.h"
#include "operator/yurtappdaemon/daemon_index.h"
#include "operator/yurtappdaemon/next_look.h"
#include "operator/yurtappdaemon/plan.h"
#include "operator/yurtappdaemon/service_reader.h"
#include "operator/yurtappdaemon/services.h"
#include "operator/yurtappdaemon/stuck_pods.h"
#include "operator/yurtappdaemon/unlabelled.h"
#include "operator/yurtappdaemon/write_pace.h"

namespace yad {
namespace {

constexpr Duration kStatusInterval = std::chrono::seconds(1);
constexpr Duration kShortestWake = std::chrono::milliseconds(100);
constexpr Duration kServicesPoll = std::chrono::milliseconds(50);
constexpr Duration kServicesFailPoll = std::chrono::seconds(5);
constexpr Duration kConfirmedFor = std::chrono::seconds(5);
constexpr char kInvalidSpec[] = "InvalidSpec";

constexpr const char* kPoolCounters[] = {"desired", "updated", "ready", "failed", "offline"};

metrics::Labels PoolLabels(const ObjectKey& key, const char* state) {
  return {{"namespace", key.ns}, {"name", key.name}, {"state", state}};
}

void ShowPools(const ObjectKey& key, const Json& status) {
  for (const char* state : kPoolCounters) {
    metrics::GetGauge("yurtappdaemon_pools", "Pools of a YurtAppDaemon, as its status counts them.",
                      PoolLabels(key, state))
        .Set(static_cast<double>(IntAt(status, {std::string(state) + "Pools"})));
  }
}

// Returns false if OpenYurt wrote the status, which then has no updateRevision, or if there is none yet.
bool IsOurStatus(const Json& status) { return status.is_object() && status.contains("updateRevision"); }

bool MayHealByItself(const Error& error) {
  switch (error.reason) {
    case Reason::kNotFound:
    case Reason::kConflict:
    case Reason::kCancelled:
    case Reason::kUnauthorized:
      return true;
    default:
      return IsTransient(error);
  }
}

// Returns the record of the pools that the next plan needs.
HealthRecord RecordHealth(const std::vector<PoolResult>& results, WallTime now) {
  HealthRecord record;
  record.reserve(results.size());
  for (const PoolResult& result : results) {
    PoolHealth health = result.plan->health;
    if (result.plan->write != Write::kNone) {
      health.refused.reset();
      const bool begins = result.workload && !result.outstanding && result.plan->to.revision != nullptr &&
                          health.revision != result.plan->to.revision->name;
      if (begins && !result.plan->offline) {
        health = PoolHealth{};
        health.revision = result.plan->to.revision->name;
        health.since = now;
      }
      if (!result.failure_reason.empty() && result.plan->to.revision != nullptr)
        health.refused = {result.plan->to.revision->name, result.failure_reason, result.failure_message};
    }
    record.emplace(result.plan->pool, std::move(health));
  }
  return record;
}

// Returns the names of the revisions that must not be pruned: the update revision, the current one (of the old status
// too if `old_status_counts`), and those of workloads. `named` returns the revision that a label names.
std::set<std::string> LiveRevisions(const Snapshot& snapshot, const Applied& applied, const Json& status,
                                    bool old_status_counts,
                                    const std::function<RevisionPtr(const std::string& label)>& named) {
  std::set<std::string> live{snapshot.update->name, StringAt(status, {"currentRevision"})};
  if (snapshot.current != nullptr && old_status_counts) live.insert(snapshot.current->name);
  std::set<std::string_view> labels;          // few
  std::unordered_set<std::string_view> seen;  // names of workloads after the writes
  for (const PoolResult& result : applied.pools) {
    if (result.plan->to.revision != nullptr) live.insert(result.plan->to.revision->name);
    if (!result.workload) continue;
    labels.insert(result.workload->object->meta().Label(kRevisionLabel));
    seen.insert(result.workload->object->meta().key.name);
  }
  for (const WorkloadRef& workload : snapshot.workloads) {  // workloads that are removed, and duplicates
    const ObjectMeta& meta = workload.object->meta();
    if (!seen.contains(meta.key.name)) labels.insert(meta.Label(kRevisionLabel));
  }
  for (const std::string_view label : labels) {
    if (const RevisionPtr revision = named(std::string(label))) live.insert(revision->name);
  }
  return live;
}

PlanExecutor::Options Completed(PlanExecutor::Options options, const ReconcilerStores& stores, Clock& clock) {
  if (stores.services != nullptr) options.services = &stores.services->store();
  options.clock = &clock;
  return options;
}

}  // namespace

void AddIndexes(Store& store) {
  Controller::AddControllerUidIndex(store);
  store.AddIndex(kOrphansByNamespace, [](const StoredObject& object) -> std::vector<std::string> {
    if (object.meta().controller() != nullptr) return {};
    return {object.meta().key.ns};
  });
}

// The state that is kept between two reconciles of one daemon. A loss costs time, never correctness.
struct Reconciler::DaemonState {
  DaemonState(std::string daemon_uid, Client& client, Store& revisions)
      : uid(std::move(daemon_uid)), history(client, revisions) {}

  const std::string uid;
  PlanMemo memo;
  ServiceMemo services;
  WritePace pace;
  RevisionHistory history;
  bool claimed = false;  // OpenYurt's revisions are labelled
  std::optional<SteadyTime> last_status_write;
  std::optional<HealthRecord> health;            // only for RollingUpdate
  bool unlisted_have_soaked = false;             // Snapshot::unlisted_have_soaked
  std::optional<SteadyTime> failures_confirmed;  // the last live read before a revision is marked as failed
  ClockLeap leap;
  std::optional<std::pair<std::string, std::set<std::string>>> begun;  // a revision, and the groups begun on it
  bool caches_confirmed = false;  // workloads were read live before the first update
  Json unkept_status;  // the status as it was written, if the server drops fields that an old CRD lacks; otherwise null
  RemovalGate::Memory removals;
  DaemonEvents::Memory told;
  Diagnostician::Memory patients;
  MisplacedPods::Memory misplaced;
  std::set<std::string> deleted;  // names of workloads that status lists and that the operator has deleted
  std::string reported;           // the last message of ReportBlocked
  std::string last_stuck;         // the argument of NextStuckPools
};

Reconciler::Reconciler(Client& client, ReconcilerStores stores, EventSink& events, Clock& clock,
                       std::optional<RemovalLimit> limit, PlanExecutor::Options apply,
                       std::shared_ptr<MisplacedPods> misplaced)
    : client_(client),
      stores_(stores),
      events_(events),
      clock_(clock),
      removals_(client, stores.pools, events, clock, limit),
      daemon_events_(events),
      diagnostician_(client, clock),
      misplaced_(std::move(misplaced)),
      deployments_(client, stores.deployments, ProjectDeployment, Completed(apply, stores, clock)),
      stateful_sets_(client, stores.stateful_sets, ProjectStatefulSet, Completed(apply, stores, clock)) {}

Reconciler::~Reconciler() = default;

std::shared_ptr<Reconciler::DaemonState> Reconciler::StateOf(const ObjectMeta& meta) {
  return states_.With([&](auto& states) {
    auto& state = states[meta.key];
    // A daemon that was recreated under the same name is another daemon.
    if (state == nullptr || state->uid != meta.uid)
      state = std::make_shared<DaemonState>(meta.uid, client_, stores_.revisions);
    return state;
  });
}

void Reconciler::Forget(const ObjectKey& key) {
  status_versions_.With([&](auto& versions) { versions.erase(key); });
  const bool known = states_.With([&](auto& states) { return states.erase(key) > 0; });
  if (!known) return;
  for (const char* state : kPoolCounters) metrics::Remove("yurtappdaemon_pools", PoolLabels(key, state));
  RemovalGate::Forget(key);
  DaemonEvents::Forget(key);
  if (misplaced_ != nullptr) MisplacedPods::Forget(key);
}

bool Reconciler::HasWrittenStatus(const ObjectMeta& daemon) const {
  return status_versions_.With([&](const auto& versions) {
    const auto found = versions.find(daemon.key);
    return found != versions.end() && CompareResourceVersions(daemon.resource_version, found->second).value_or(1) <= 0;
  });
}

Result<ReconcileResult> Reconciler::Reconcile(const Request& request, std::stop_token stop) {
  const auto stored = stores_.daemons.Get(request);
  if (!stored) {
    if (stored.error().reason != Reason::kNotFound) return Fail(stored.error());
    Forget(request);
    return ReconcileResult::Done();
  }
  const ObjectMeta& meta = (*stored)->meta();
  if (meta.deleting()) {  // Kubernetes' garbage collector deletes its objects.
    Forget(request);
    return ReconcileResult::Done();
  }
  const std::shared_ptr<DaemonState> state = StateOf(meta);
  auto parsed = ParseYurtAppDaemon((*stored)->Parse());
  if (!parsed) return ReportBlocked(**stored, kInvalidSpec, parsed.error(), *state, stop);
  YurtAppDaemon daemon = *std::move(parsed);
  const bool is_deployment = daemon.kind == WorkloadKind::kDeployment;
  const auto of_other_kind = ControlledObjects(is_deployment ? stores_.stateful_sets : stores_.deployments, meta);
  if (!of_other_kind) return Fail(of_other_kind.error());
  if (std::any_of(of_other_kind->begin(), of_other_kind->end(),
                  [](const ObjectPtr& o) { return !o->meta().deleting(); })) {
    return ReportBlocked(
        **stored, kInvalidSpec,
        ToError({{FieldError::Type::kForbidden, "spec.workloadTemplate", "",
                  std::string("the kind can't be switched; its workloads are of the kind in ") +
                      TemplateField(is_deployment ? WorkloadKind::kStatefulSet : WorkloadKind::kDeployment) +
                      ": put that back, or delete the YurtAppDaemon and create it anew"}}),
        *state, stop);
  }

  if (!IsOurStatus(daemon.status) && !state->claimed) {
    const auto own = ControlledObjects(is_deployment ? stores_.deployments : stores_.stateful_sets, meta);
    if (!own) return Fail(own.error());
    const bool has_status = daemon.status.is_object() && !daemon.status.empty();
    if (has_status || !own->empty()) {
      if (const Status claimed = state->history.ClaimOpenYurtRevisions(daemon, stop); !claimed)
        return Fail(claimed.error());
      state->claimed = true;
    }
  }
  const auto orphaned = stores_.revisions.ByIndex(kOrphansByNamespace, meta.key.ns);
  if (!orphaned) return Fail(orphaned.error());
  if (const Status claimed = state->history.ClaimOrphans(daemon, *orphaned, stop); !claimed)
    return Fail(claimed.error());
  auto revisions = state->history.Sync(daemon, stop);
  if (!revisions) {
    const Error error = revisions.error();
    if (MayHealByItself(error)) return Fail(error);
    const auto reported = ReportBlocked(**stored, "RevisionFailed", error, *state, stop);
    if (!reported) return Fail(reported.error());
    return Fail(error);
  }
  state->reported.clear();
  auto snapshot = TakeSnapshot(std::move(daemon), state->history, *revisions, stop);
  if (!snapshot) return Fail(snapshot.error());

  const Json& previous = state->unkept_status.is_null() ? snapshot->daemon.status : state->unkept_status;
  const auto services = ReadServices(stores_.services, *revisions, previous, *snapshot);
  if (!services) {
    const auto reported = ReportBlocked(**stored, "ServicesUnreadable", services.error(), *state, stop);
    if (!reported) return Fail(reported.error());
    return Fail(services.error());
  }
  if (!*services) {
    return ReconcileResult::RequeueAfter(stores_.services->last_error().empty() ? kServicesPoll : kServicesFailPoll);
  }
  auto unlabelled = FindUnlabelled(client_, *snapshot, previous, state->deleted, stop);
  if (!unlabelled) return Fail(unlabelled.error());
  std::set<std::string> unseen;  // names of workloads that the caches do not show
  for (WorkloadRef& workload : *unlabelled) {
    unseen.insert(workload.object->meta().key.name);
    snapshot->workloads.push_back(std::move(workload));
  }

  snapshot->now = clock_.WallNow();
  auto planned = MakePlanFor(*snapshot, *revisions, previous, *state, stop);
  if (!planned) return Fail(planned.error());
  if (!*planned) return ReconcileResult::RequeueNow();
  Plan& plan = **planned;
  if (const Status held = removals_.Hold(snapshot->daemon, plan, state->removals, stop); !held)
    return Fail(held.error());
  PlanServices(*snapshot, state->services, plan);
  const Duration held_back = state->pace.HoldBack(snapshot->daemon, plan, clock_.Now());
  const Applied applied = ExecutorFor(snapshot->daemon).Apply(snapshot->daemon, plan, state->memo, stop);
  if (stop.stop_requested()) return Fail(Reason::kCancelled, "stopped in the middle of a reconcile");
  if (applied.refused) return Fail(*applied.refused);

  ReleaseStuck(snapshot->daemon, plan, state->last_stuck, stop);
  if (state->health) state->health = RecordHealth(applied.pools, snapshot->now);
  state->unlisted_have_soaked = false;
  state->deleted.insert(applied.deleted.begin(), applied.deleted.end());
  daemon_events_.Tell(*snapshot, applied, state->pace.Note(snapshot->daemon, applied, clock_.Now()), state->told);
  const Diagnostician::Answer examined =
      diagnostician_.Examine(snapshot->daemon, applied.pools, previous, state->patients, stop);
  if (stop.stop_requested()) return Fail(Reason::kCancelled, "stopped in the middle of a reconcile");
  MisplacedCounts misplaced;
  if (misplaced_ != nullptr) misplaced = misplaced_->CountsOf(meta.key, applied.pools, previous, state->misplaced);
  const DaemonStatus built =
      BuildStatus({*snapshot, applied.pools, applied.leaving, previous, revisions->collision_count, plan.held,
                   plan.rollout, &examined.diagnoses, &misplaced});
  const Json& status = built.fields;
  if (plan.rollout) daemon_events_.TellRollout(snapshot->daemon, previous, status, state->told);
  removals_.Tell(snapshot->daemon, plan.held, previous, state->removals);
  if (revisions->created) {
    events_.Record(Regarding(meta), EventType::kNormal, "RevisionCreated", "Record",
                   "created ControllerRevision " + snapshot->update->name);
  }
  const auto status_due = WriteStatus(meta, snapshot->daemon.status, built, *state, stop);
  if (!status_due) return Fail(status_due.error());
  ShowPools(meta.key, status);

  // The cluster names currentRevision of the old status until the new status is written.
  const bool old_status_counts = *status_due > Duration::zero();
  const std::set<std::string> live =
      LiveRevisions(*snapshot, applied, status, old_status_counts,
                    [&](const std::string& label) { return state->history.Named(*revisions, label); });
  if (const Status pruned = state->history.Prune(snapshot->daemon, *revisions, live, stop); !pruned)
    return Fail(pruned.error());

  LookReasons reasons;
  reasons.status_due = *status_due;
  if (plan.held.undecided()) reasons.removals_due = removals_.UntilSettled(state->removals);
  reasons.retry = applied.retry;
  if (plan.wake) reasons.plan_due = std::max<Duration>(*plan.wake - snapshot->now, kShortestWake);
  reasons.paced_due = held_back;
  reasons.diagnosis_due = examined.again.value_or(Duration::max());
  reasons.unseen_removal =
      std::any_of(applied.leaving.begin(), applied.leaving.end(),
                  [&](const WorkloadRef& workload) { return unseen.contains(workload.object->meta().key.name); });
  const Result<ReconcileResult> next = NextLook(reasons);
  if (next && applied.retry)
    log::Warn("some pools could not be written", {{"yurtappdaemon", meta.key.ToString()}, {"error", *applied.retry}});
  return next;
}

Result<std::optional<Plan>> Reconciler::MakePlanFor(Snapshot& snapshot, RevisionHistory::State& revisions,
                                                    const Json& previous, DaemonState& state, std::stop_token stop) {
  if (snapshot.daemon.strategy.type != UpdateStrategyType::kRollingUpdate) {
    state.health.reset();
    state.begun.reset();
    return MakePlan(snapshot, state.memo);
  }
  const Duration leap = state.leap.Since(clock_.Now(), snapshot.now);
  if (!state.health) {
    state.health = RestoreHealth(previous);
    state.unlisted_have_soaked = BoolAt(previous, {"poolsTruncated"});
  } else if (leap > Duration::zero()) {
    MoveBy(leap, *state.health);
  }
  snapshot.health = &*state.health;
  snapshot.unlisted_have_soaked = state.unlisted_have_soaked;
  const std::string& update = snapshot.update->name;
  if (!state.begun || state.begun->first != update) state.begun.emplace(update, BegunGroups(previous, update));
  snapshot.begun = state.begun->second;
  Plan plan = MakePlan(snapshot, state.memo);
  const bool confirmed = state.failures_confirmed && clock_.Now() < *state.failures_confirmed + kConfirmedFor;
  if (plan.rollout->decision.roll_back && !confirmed) {
    // The caches may lag: a pool that they show as unhealthy may have been healthy for a long time.
    if (const auto fresh = ConfirmFailures(snapshot, plan, stop); !fresh) return Fail(fresh.error());
    state.failures_confirmed = clock_.Now();
    return std::nullopt;
  }
  state.failures_confirmed.reset();
  if (plan.rollout->decision.roll_back) {
    auto marked = state.history.MarkFailed(snapshot.daemon, revisions, snapshot.now, stop);
    if (!marked) return Fail(marked.error());
    return std::nullopt;
  }
  const bool moves =
      std::any_of(plan.pools.begin(), plan.pools.end(), [](const PoolPlan& p) { return p.write == Write::kMove; });
  if (moves && !state.caches_confirmed) {
    // An earlier leader may have started updates that the caches do not show yet, and too many pools would be
    // unavailable. It may also have marked the revision as failed.
    if (const auto fresh = ExecutorFor(snapshot.daemon).ReadWorkloads(snapshot.daemon, stop); !fresh)
      return Fail(fresh.error());
    if (const auto fresh = state.history.Reread(snapshot.daemon, revisions, stop); !fresh) return Fail(fresh.error());
    state.caches_confirmed = true;
    return std::nullopt;
  }
  snapshot.begun.insert(plan.rollout->decision.begun.begin(), plan.rollout->decision.begun.end());
  state.begun->second = snapshot.begun;
  return plan;
}

Status Reconciler::ConfirmFailures(const Snapshot& snapshot, const Plan& plan, std::stop_token stop) {
  const PlanExecutor& executor = ExecutorFor(snapshot.daemon);
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    if (!plan.rollout->decision.pools[i].failed || !plan.pools[i].dark) continue;
    if (const Status dark = executor.ConfirmOffline(plan.pools[i].pool, stop); !dark) return dark;
  }
  return executor.ReadWorkloads(snapshot.daemon, stop);
}

void Reconciler::ReleaseStuck(const YurtAppDaemon& daemon, const Plan& plan, std::string& last, std::stop_token stop) {
  const std::vector<const PoolPlan*> stuck = NextStuckPools(plan, last);
  std::vector<Result<std::vector<std::string>>> results(stuck.size());
  const WallTime since = clock_.WallNow() - kStuckAfter;
  ParallelFor(stuck.size(), kStuckPoolsInParallel, [&](std::size_t i) {
    const ObjectMeta& meta = stuck[i]->workload->object->meta();
    results[i] = ReplaceStuckPods(client_, meta.key, meta.uid, since, stop);
  });
  for (std::size_t i = 0; i < stuck.size(); ++i) {
    const ObjectMeta& meta = stuck[i]->workload->object->meta();
    const auto& deleted = results[i];
    if (!deleted) {
      log::Warn("pods that never become ready could not be replaced",
                {{"statefulset", meta.key.ToString()}, {"error", deleted.error()}});
      continue;
    }
    for (const std::string& name : *deleted) {
      events_.Record(Regarding(daemon.meta), EventType::kWarning, "StuckPodDeleted", "Replace",
                     "pod " + name + " of an older template is not ready, and StatefulSet " + meta.key.name +
                         " would wait for it: deleted, so that it is made anew");
    }
  }
}

Result<Snapshot> Reconciler::TakeSnapshot(YurtAppDaemon daemon, RevisionHistory& history,
                                          RevisionHistory::State& revisions, std::stop_token stop) const {
  Snapshot snapshot;
  snapshot.daemon = std::move(daemon);
  const YurtAppDaemon& wanted = snapshot.daemon;
  Store& store = wanted.kind == WorkloadKind::kDeployment ? stores_.deployments : stores_.stateful_sets;

  // A failed read ends the reconcile, because it is never an empty answer.
  auto pools = stores_.pools.List();
  if (!pools) return Fail(pools.error());
  auto workloads = ControlledObjects(store, wanted.meta);
  if (!workloads) return Fail(workloads.error());
  auto orphans = store.ByIndex(kOrphansByNamespace, wanted.meta.key.ns);
  if (!orphans) return Fail(orphans.error());

  for (ObjectPtr& object : *pools) {
    PoolRef pool{std::move(object)};
    if (wanted.pools.Selects(pool.pool())) snapshot.pools.push_back(std::move(pool));
  }
  std::sort(snapshot.pools.begin(), snapshot.pools.end(),
            [](const PoolRef& a, const PoolRef& b) { return a.pool().name < b.pool().name; });
  for (ObjectPtr& object : *workloads) snapshot.workloads.push_back(MakeWorkloadRef(std::move(object)));
  for (ObjectPtr& object : *orphans) snapshot.orphans.push_back(MakeWorkloadRef(std::move(object)));

  snapshot.update = revisions.update;
  const auto add = [&](RevisionPtr revision) {
    if (revision != nullptr &&
        std::find(snapshot.revisions.begin(), snapshot.revisions.end(), revision) == snapshot.revisions.end()) {
      snapshot.revisions.push_back(std::move(revision));
    }
  };
  add(snapshot.update);
  const auto labels_of = [](const std::vector<WorkloadRef>& list) {
    std::set<std::string> labels;
    for (const WorkloadRef& workload : list) labels.insert(workload.object->meta().Label(kRevisionLabel));
    return labels;
  };
  const std::set<std::string> labels = labels_of(snapshot.workloads);
  bool all_known = true;
  for (const std::string& label : labels) {
    const auto revision = history.Find(wanted, revisions, label, stop);
    if (!revision) return Fail(revision.error());
    all_known = all_known && *revision != nullptr;
    add(*revision);
  }
  // The revisions of the orphans must be known: a merge removes only values that a known revision has set.
  for (const std::string& label : labels_of(snapshot.orphans)) add(history.Named(revisions, label));

  if (IsOurStatus(wanted.status)) {
    snapshot.current = history.Named(revisions, StringAt(wanted.status, {"currentRevision"}));
  } else if (wanted.status.is_object() && !wanted.status.empty() && labels.size() == 1) {
    // OpenYurt does not keep currentRevision up to date. The revision of all workloads counts instead.
    snapshot.current = history.Named(revisions, *labels.begin());
  }
  add(snapshot.current);
  // A label that names no revision was changed by hand, so any revision may have made that workload.
  for (std::size_t i = 0; !all_known && i < revisions.all.size(); ++i) {
    add(history.Named(revisions, revisions.all[i]->meta().key.name));
  }
  return snapshot;
}

Result<ReconcileResult> Reconciler::ReportBlocked(const StoredObject& stored, const std::string& reason,
                                                  const Error& error, DaemonState& state, std::stop_token stop) {
  const Json object = stored.Parse();
  const Json before = object.value("status", Json());
  if (state.reported != error.message && !SaysBlocked(before, reason, error)) {
    log::Warn("YurtAppDaemon is left as it is",
              {{"yurtappdaemon", stored.meta().key.ToString()}, {"reason", reason}, {"error", error}});
    events_.Record(Regarding(stored.meta()), EventType::kWarning, reason, "Validate", error.message);
  }
  state.reported = error.message;
  const DaemonStatus status{BuildBlockedStatus(stored.meta(), object, reason, error, clock_.WallNow()), std::nullopt};
  const auto due = WriteStatus(stored.meta(), before, status, state, stop);
  if (!due) return Fail(due.error());
  if (*due > Duration::zero()) return ReconcileResult::RequeueAfter(*due);
  return ReconcileResult::Done();  // An edit causes another event.
}

Result<Duration> Reconciler::WriteStatus(const ObjectMeta& meta, const Json& before, const DaemonStatus& after,
                                         DaemonState& state, std::stop_token stop) {
  if (after.IsShownBy(before)) return Duration::zero();
  if (!state.unkept_status.is_null() && after.IsShownBy(state.unkept_status)) return Duration::zero();
  const SteadyTime now = clock_.Now();
  if (state.last_status_write && now < *state.last_status_write + kStatusInterval) {
    return *state.last_status_write + kStatusInterval - now;
  }
  Json patch = after.PatchFrom(before, meta.uid);
  patch["metadata"]["resourceVersion"] = meta.resource_version;  // The write fails if the daemon has changed.
  WriteOptions options;
  options.subresource = "status";
  // CrdCheck reports missing fields of a CRD once. The warnings of each write are discarded.
  std::vector<std::string> told;
  options.warnings = &told;
  auto written = client_.Patch(kYurtAppDaemonType, meta.key, PatchType::kMerge, patch, options, stop);
  if (!written) {
    if (written.error().reason == Reason::kNotFound) return Duration::zero();  // The watch reports the deletion.
    return Fail(written.error());
  }
  state.last_status_write = now;
  status_versions_.With([&](auto& versions) { versions[meta.key] = ParseMeta(*written).resource_version; });
  const bool kept = after.IsShownBy(written->value("status", Json::object()));
  state.unkept_status = kept ? Json() : after.ToJson();
  stores_.daemons.Observe(std::make_shared<StoredObject>(*written, ProjectDaemon));
  return Duration::zero();
}

}  // namespace yad
