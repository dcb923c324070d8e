#include "operator/yurtappdaemon/observer.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "operator/api/field_error.h"
#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/observe/check_jobs.h"
#include "operator/yurtappdaemon/observe/daemon_projection.h"
#include "operator/yurtappdaemon/observe/freeze.h"
#include "operator/yurtappdaemon/observe/lost_workloads.h"
#include "operator/yurtappdaemon/observe/maintenance.h"
#include "operator/yurtappdaemon/observe/ownership.h"
#include "operator/yurtappdaemon/observe/prefetches.h"
#include "operator/yurtappdaemon/observe/status_view.h"
#include "operator/yurtappdaemon/plan/assess.h"
#include "operator/yurtappdaemon/plan/services.h"

namespace yad {
namespace {

constexpr char kInvalidSpec[] = "InvalidSpec";
constexpr Duration kCachePoll = std::chrono::milliseconds(50);
constexpr Duration kServicesFailPoll = std::chrono::seconds(5);

bool IsTemporary(const Error& error) {
  return error.reason == Reason::kNotFound || error.reason == Reason::kConflict || error.reason == Reason::kCancelled ||
         error.reason == Reason::kUnauthorized || IsTransient(error);
}

std::set<std::string> RevisionLabels(const std::vector<WorkloadRef>& workloads) {
  std::set<std::string> labels;
  for (const WorkloadRef& workload : workloads) labels.insert(workload.object->meta().Label(kRevisionLabel));
  return labels;
}

void AddRevision(RevisionPtr revision, std::vector<RevisionPtr>& revisions) {
  if (revision != nullptr && std::find(revisions.begin(), revisions.end(), revision) == revisions.end())
    revisions.push_back(std::move(revision));
}

// Sets the times at which image pulls began, because their timeouts count from these times. A time from an earlier
// reconcile is corrected if the wall clock was set forward (by `leap`) or back since then.
void SetPullTimes(Duration leap, DaemonState& state, Snapshot& snapshot) {
  const auto corrected = [&](WallTime since) {
    return std::min(since + std::chrono::duration_cast<WallTime::duration>(leap), snapshot.now);
  };
  std::map<std::string, WallTime> times;
  for (auto& [name, daemon_set] : snapshot.prefetches) {
    const ObjectMeta& meta = daemon_set.object->meta();
    const auto known = state.prefetches_since.find(meta.uid);
    daemon_set.since = known != state.prefetches_since.end()
                           ? corrected(known->second)
                           : std::min(ParseTime(meta.creation_timestamp), snapshot.now);
    times.emplace(meta.uid, daemon_set.since);
  }
  state.prefetches_since = std::move(times);
  for (auto& [name, rejected] : state.rejected_prefetches) rejected.since = corrected(rejected.since);
  snapshot.rejected_prefetches = state.rejected_prefetches;
}

// Returns whether OpenYurt wrote a revision that is newer than a revision in use. A workload may then have a newer
// revision than its label shows.
bool HasNewerOfOpenYurt(const std::vector<ObjectPtr>& all, const std::vector<RevisionPtr>& in_use) {
  return std::any_of(all.begin(), all.end(), [&](const ObjectPtr& object) {
    const auto& revision = ProjectionOf<RevisionProjection>(object);
    const std::int64_t number = OpenYurtNumberOf(object->meta()).value_or(revision.number);
    return revision.openyurt_hash != 0 && std::any_of(in_use.begin(), in_use.end(), [&](const RevisionPtr& used) {
             return used->first_number() < number;
           });
  });
}

// Sets the revisions of the snapshot.
Status FindRevisions(Snapshot& snapshot, RevisionHistory& history, RevisionHistory::State& revisions,
                     std::stop_token stop) {
  const YurtAppDaemon& daemon = snapshot.daemon;
  snapshot.update = revisions.update;
  AddRevision(snapshot.update, snapshot.revisions);
  const std::set<std::string> labels = RevisionLabels(snapshot.workloads);
  bool all_known = true;
  for (const std::string& label : labels) {
    YAD_TRY(const auto revision, history.Find(daemon, revisions, label, stop));
    all_known = all_known && revision != nullptr;
    AddRevision(revision, snapshot.revisions);
  }
  // Adds the revisions of the orphans (workloads without a controller). A merge removes only values that a known
  // revision has set, so it also needs these revisions.
  for (const std::string& label : RevisionLabels(snapshot.orphans))
    AddRevision(history.Named(revisions, label), snapshot.revisions);

  // All revisions are needed in two cases, because a workload may have been rendered from any of them:
  // - The label of a workload does not refer to a revision, because a user has changed the label.
  // - OpenYurt wrote a workload, and there is a newer revision of OpenYurt than the label shows (see OriginOf).
  if (AnyWithoutRecord(snapshot.workloads) || AnyWithoutRecord(snapshot.orphans))
    all_known = all_known && !HasNewerOfOpenYurt(revisions.all, snapshot.revisions);
  for (std::size_t i = 0; !all_known && i < revisions.all.size(); ++i)
    AddRevision(history.Named(revisions, revisions.all[i]->meta().key.name), snapshot.revisions);

  const StatusView status(daemon.status);
  if (status.is_ours()) {
    // Find reads the server if the cache lacks the revision. If the revision no longer exists, Find reads the server
    // only once, because the next status does not name this revision.
    YAD_TRY(snapshot.current, history.Find(daemon, revisions, status.current_revision(), stop));
  } else if (!status.is_empty() && labels.size() == 1) {
    // OpenYurt wrote this status. Its currentRevision may be outdated, so it is ignored. If all workloads have the same
    // label, the label names the current revision. But if OpenYurt has made a newer revision than this, the label is
    // outdated too. The current revision is then the common origin of the workloads (see OriginOf), if they have one.
    const RevisionPtr named = history.Named(revisions, *labels.begin());
    const bool outdated = named != nullptr &&
                          std::any_of(snapshot.revisions.begin(), snapshot.revisions.end(), [&](const RevisionPtr& r) {
                            return r->content.of_openyurt && r->first_number() > named->first_number();
                          });
    snapshot.current = outdated ? CommonOrigin(snapshot) : named;
  }
  AddRevision(snapshot.current, snapshot.revisions);
  return {};
}

}  // namespace

Result<std::optional<Error>> Observer::FindOtherKind(const YurtAppDaemon& daemon) const {
  const WorkloadKind other =
      daemon.kind == WorkloadKind::kDeployment ? WorkloadKind::kStatefulSet : WorkloadKind::kDeployment;
  YAD_TRY(const auto others, ControlledObjects(stores_.WorkloadsOf(other), daemon.meta));
  const bool exists =
      std::any_of(others.begin(), others.end(), [](const ObjectPtr& o) { return !o->meta().deleting(); });
  if (!exists) return std::nullopt;
  return ToError(
      {{FieldError::Type::kForbidden, "spec.workloadTemplate", "",
        std::string("the kind of the workload can't be changed: the existing workloads are from ") +
            TemplateField(other) + ". Restore that template, or delete the YurtAppDaemon and create it again"}});
}

Status Observer::ClaimRevisions(const YurtAppDaemon& daemon, DaemonState& state, std::stop_token stop) const {
  const StatusView status(daemon.status);
  if (!status.is_ours() && !state.claimed) {
    YAD_TRY(const auto own, ControlledObjects(stores_.WorkloadsOf(daemon.kind), daemon.meta));
    if (!status.is_empty() || !own.empty()) {
      YAD_TRY_VOID(state.history.ClaimOpenYurtRevisions(daemon, stop));
      state.claimed = true;
    }
  }
  YAD_TRY(const auto orphaned, stores_.revisions.ByIndex(kOrphansByNamespace, daemon.meta.key.ns));
  return state.history.ClaimOrphans(daemon, orphaned, stop);
}

bool Observer::ReadGates(Snapshot& snapshot) const {
  // If a gate can't be read, no update starts, as in a freeze.
  const auto unknown = [](const char* question, const Error& error) {
    return Freeze{question + error.message, std::nullopt, /*known=*/false};
  };
  if (stores_.freeze != nullptr) {
    auto read = ReadFreeze(*stores_.freeze, no_freeze_, clock_);
    if (!read && stores_.freeze->last_error().empty()) return false;
    snapshot.freeze = read ? *std::move(read) : unknown("whether updates are frozen: ", read.error());
  }
  if (stores_.nodes == nullptr || snapshot.daemon.strategy.type != UpdateStrategyType::kRollingUpdate) return true;
  auto read = ReadMaintenance(*stores_.nodes, no_nodes_, clock_.Now());
  if (!read && stores_.nodes->last_error().empty()) return false;
  if (read) {
    snapshot.maintenance = *std::move(read);
  } else if (!snapshot.freeze) {
    snapshot.freeze = unknown("whether nodes are in maintenance: ", read.error());
  }
  return true;
}

Status Observer::ReadCaches(Snapshot& snapshot) const {
  const YurtAppDaemon& wanted = snapshot.daemon;
  const Store& store = stores_.WorkloadsOf(wanted.kind);
  YAD_TRY(auto pools, stores_.pools.List());
  YAD_TRY(auto workloads, ControlledObjects(store, wanted.meta));
  YAD_TRY(auto orphans, store.ByIndex(kOrphansByNamespace, wanted.meta.key.ns));

  for (ObjectPtr& object : pools) {
    PoolRef pool{std::move(object)};
    if (wanted.pools.Selects(pool.pool())) snapshot.pools.push_back(std::move(pool));
  }
  std::sort(snapshot.pools.begin(), snapshot.pools.end(),
            [](const PoolRef& a, const PoolRef& b) { return a.pool().name < b.pool().name; });
  for (ObjectPtr& object : workloads) snapshot.workloads.push_back(MakeWorkloadRef(std::move(object)));
  for (ObjectPtr& object : orphans) snapshot.orphans.push_back(MakeWorkloadRef(std::move(object)));
  return {};
}

Result<bool> Observer::ReadServices(const RevisionHistory::State& revisions, const Json& previous,
                                    Snapshot& snapshot) const {
  const auto pools = StatusView(previous).pools();
  const bool had =
      std::any_of(pools.begin(), pools.end(), [](const PoolStatusView& pool) { return !pool.service().empty(); }) ||
      std::any_of(revisions.all.begin(), revisions.all.end(),
                  [](const ObjectPtr& revision) { return ProjectionOf<RevisionProjection>(revision).has_service; });
  const bool needed = NeedsServices(snapshot);
  Informer* const informer = stores_.services;
  if (informer == nullptr || (!needed && !had)) return true;
  informer->Demand();
  if (!informer->synced()) {
    const std::string error = informer->last_error();
    if (error.empty()) return false;
    if (!needed) return true;  // No revision in use has a Service template.
    // A missing permission is an error to report. Other errors may be temporary.
    if (error.find("Forbidden") == std::string::npos) return false;
    return Fail(Reason::kNotSynced, "the Services can't be read: " + error);
  }
  YAD_TRY(const auto services, ControlledObjects(informer->store(), snapshot.daemon.meta));
  for (const ObjectPtr& object : services) snapshot.services.push_back({object, object->meta().Label(kPoolNameLabel)});
  return true;
}

// If no check is a Job, the operator does not watch Jobs, and may lack the permission to read them. So the Jobs are
// read from the server. Jobs remain if an earlier spec had a check that is a Job, and the spec changed before this
// process started.
void Observer::ReadLeftJobs(DaemonState& state, Snapshot& snapshot, std::stop_token stop) const {
  const Json& status = snapshot.daemon.status;
  if (!state.jobs_left) {
    state.jobs_left =
        StatusView(status).is_ours() && IntAt(status, {"observedGeneration"}) != snapshot.daemon.meta.generation;
  }
  if (!*state.jobs_left || !snapshot.check_jobs.empty()) return;
  const Status read = ListCheckJobs(client_, snapshot.daemon.meta, stop, [&](const ObjectPtr& job) {
    snapshot.check_jobs.emplace(job->meta().key.name, CheckJobRef{job});
  });
  state.jobs_left = read ? !snapshot.check_jobs.empty() : read.error().reason != Reason::kForbidden;
}

Result<bool> Observer::ReadChecks(DaemonState& state, Snapshot& snapshot, std::stop_token stop) const {
  YAD_TRY(const bool jobs_known, ReadCheckJobs(stores_.jobs, no_jobs_, clock_.Now(), snapshot));
  if (!jobs_known) return false;
  if (stores_.jobs != nullptr && !stores_.jobs->synced() && snapshot.jobs_error.empty())
    ReadLeftJobs(state, snapshot, stop);
  snapshot.rejected_jobs = state.rejected_jobs;
  const std::vector<Check>& checks = snapshot.daemon.strategy.rolling.checks;
  const bool samples =
      std::any_of(checks.begin(), checks.end(), [](const Check& check) { return check.prometheus.has_value(); });
  if (samples && sampler_ == nullptr)
    snapshot.queries_error =
        "the operator has no --prometheus-url; set checks.prometheus.url in the values of the chart";
  if (samples && sampler_ != nullptr) snapshot.samples = sampler_->SamplesOf(snapshot.daemon.meta.key, checks);
  return true;
}

// An earlier leader may have written a newer status than the cached one, for example because a check failed. Without
// this read, the next status would overwrite it.
Result<bool> Observer::ConfirmStatus(const Snapshot& snapshot, DaemonState& state, std::stop_token stop) const {
  const YurtAppDaemon& daemon = snapshot.daemon;
  if (state.status_confirmed || state.health || daemon.strategy.type != UpdateStrategyType::kRollingUpdate) return true;
  const bool is_complete = snapshot.current != nullptr && snapshot.current->name == snapshot.update->name;
  if (is_complete || StatusView(daemon.status).is_empty()) return true;
  const Result<Json> live = client_.Get(kYurtAppDaemonType, daemon.meta.key, stop);
  if (!live && live.error().reason != Reason::kNotFound) return Fail(live.error());
  state.status_confirmed = true;
  if (!live || ParseMeta(*live).resource_version == daemon.meta.resource_version) return true;
  stores_.daemons.Observe(std::make_shared<StoredObject>(*live, ProjectDaemon));
  return false;
}

void Observer::RestoreState(const StatusView& previous, DaemonState& state, Snapshot& snapshot) const {
  if (snapshot.daemon.strategy.type != UpdateStrategyType::kRollingUpdate) {
    state.health.reset();
    state.begun.reset();
    return;
  }
  const Duration leap = state.leap.Since(clock_.Now(), snapshot.now);
  if (!state.health) {
    state.health = RestoreHealth(previous);
    state.unlisted_have_soaked = previous.unlisted_have_soaked();
  } else if (leap > Duration::zero()) {
    ShiftTimes(leap, *state.health);
  }
  SetPullTimes(leap, state, snapshot);
  snapshot.health = &*state.health;
  snapshot.unlisted_have_soaked = state.unlisted_have_soaked;
  const std::string& update = snapshot.update->name;
  // After a restart, the begun groups are read from status. Later, each change of the update revision begins a new
  // rollout, in which no group has begun. So a return to an earlier revision is a new rollout, even if status has never
  // shown the revision in between.
  if (!state.begun) {
    state.begun.emplace(update, previous.BegunGroups(update));
  } else if (state.begun->first != update) {
    state.begun.emplace(update, std::set<std::string>());
  }
  snapshot.begun = state.begun->second;
}

Result<Observed> Observer::Observe(const StoredObject& stored, DaemonState& state, std::stop_token stop) const {
  Json object = stored.Parse();
  YAD_TRY_VOID(ConfirmSpecIsComplete(client_, events_, stored, object, state.known_spec, stop));
  auto daemon = ParseYurtAppDaemon(std::move(object));
  if (!daemon) return Blocked{kInvalidSpec, daemon.error()};
  Observation seen;
  Snapshot& snapshot = seen.snapshot;
  snapshot.daemon = *std::move(daemon);
  if (!ReadGates(snapshot)) return NotReady{kCachePoll};
  YAD_TRY(const auto other_kind, FindOtherKind(snapshot.daemon));
  if (other_kind) return Blocked{kInvalidSpec, *other_kind};
  YAD_TRY_VOID(ClaimRevisions(snapshot.daemon, state, stop));
  auto revisions = state.history.Sync(snapshot.daemon, stop);
  if (!revisions) {
    if (IsTemporary(revisions.error())) return Fail(revisions.error());
    return Blocked{"RevisionFailed", revisions.error(), true};
  }
  state.reported.clear();
  seen.revisions = *std::move(revisions);
  seen.written_status = state.written_status.is_null() ? nullptr : &state.written_status;
  YAD_TRY_VOID(ReadCaches(snapshot));
  YAD_TRY_VOID(FindRevisions(snapshot, state.history, seen.revisions, stop));
  YAD_TRY(const bool confirmed, ConfirmStatus(snapshot, state, stop));
  if (!confirmed) return NotReady{};

  const Json& previous = seen.previous();
  const auto services = ReadServices(seen.revisions, previous, snapshot);
  if (!services) return Blocked{"ServicesUnreadable", services.error(), true};
  if (!*services) return NotReady{stores_.services->last_error().empty() ? kCachePoll : kServicesFailPoll};
  YAD_TRY(const bool checks_known, ReadChecks(state, snapshot, stop));
  YAD_TRY(const bool pulls_known, ReadPrefetches(stores_.prefetches, previous, snapshot));
  if (!checks_known || !pulls_known) return NotReady{kCachePoll};
  YAD_TRY(auto unlabelled, FindLostWorkloads(client_, snapshot, previous, state.deleted, stop));
  for (WorkloadRef& workload : unlabelled) {
    seen.unseen.insert(workload.object->meta().key.name);
    snapshot.workloads.push_back(std::move(workload));
  }
  snapshot.image_volumes = image_volumes_.Known();
  snapshot.now = clock_.WallNow();
  RestoreState(StatusView(previous), state, snapshot);
  return seen;
}

}  // namespace yad
