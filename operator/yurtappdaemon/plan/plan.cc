#include "operator/yurtappdaemon/plan/plan.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "operator/api/names.h"
#include "operator/api/update_strategy.h"
#include "operator/api/well_known.h"
#include "operator/workload/merge.h"
#include "operator/workload/semantics.h"
#include "operator/workload/service.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "operator/yurtappdaemon/plan/rollout_pool_builder.h"
#include "operator/yurtappdaemon/rollout/percent_groups.h"

namespace yad {
namespace {

constexpr std::chrono::seconds kUnreadableRetry{5};
constexpr std::chrono::seconds kLongestWait = std::chrono::minutes(1);

bool IsOrphanOfOurs(const Snapshot& snapshot, const WorkloadRef& orphan, const PoolRef& pool) {
  const ObjectMeta& meta = orphan.object->meta();
  const std::string& name = pool.pool().name;
  if (meta.deleting() || meta.Annotation(kRefNodePoolAnnotation) != name) return false;
  if (!IsNamedFor(meta.key.name, snapshot.daemon.meta.key.name, name, snapshot.daemon.kind)) return false;
  const auto rendered = RenderWorkload({snapshot.update, InputsFor(snapshot.update->content, pool.pool())}, name);
  if (!rendered) return false;
  const Json live = orphan.object->Parse();
  const Schema& schema = *WorkloadSchema().Of("spec").schema;
  return SameMember(schema, "selector", MemberOf(*rendered, "spec"), MemberOf(live, "spec"));
}

// The revisions that are known to render successfully for pools without overrides. Success depends only on the
// revision, and on whether the pool has taints. The second member is true for pools without taints.
using Renderable = std::set<std::pair<const Revision*, bool>>;

// Plans the creation of a workload from the target.
void PlanCreation(const Snapshot& snapshot, const Target& target, const PoolRef& pool, Renderable& renderable,
                  PoolPlan& entry) {
  entry.action = WorkloadAction::kCreate;
  entry.to = {target.revision, InputsFor(target.revision->content, pool.pool())};
  entry.on_update = target.revision == snapshot.update;
  const std::pair kind(target.revision.get(), entry.to.inputs.tolerations.empty());
  const bool plain = entry.to.inputs.overrides.empty();
  if (plain && renderable.contains(kind)) return;
  if (const auto rendered = RenderWorkload(entry.to, entry.pool); !rendered) {
    entry.action = WorkloadAction::kNone;
    entry.on_update = false;
    entry.failure_reason = kInvalidOverride;
    entry.failure_message = rendered.error().message;
  } else if (plain) {
    renderable.insert(kind);
  }
}

// Plans to create the pool's workload from the current revision, because the pool must not be updated to the target
// now. Does nothing if the workloads of both revisions would differ at most in the replicas.
void CreateFromCurrent(const Snapshot& snapshot, const Target& target, const PoolRef& pool, Renderable& renderable,
                       PoolPlan& entry) {
  if (snapshot.current == nullptr || snapshot.current == target.revision) return;
  RenderSpec current{snapshot.current, InputsFor(snapshot.current->content, pool.pool())};
  const auto rendered = entry.failure_reason.empty() ? RenderWorkload(entry.to, entry.pool) : Fail(Error());
  const auto on_current = RenderWorkload(current, entry.pool);
  const Difference difference =
      rendered && on_current ? Compare(snapshot.current->content, *on_current, entry.to.revision->content, *rendered)
                             : Difference::kPodTemplate;
  if (difference == Difference::kNone || difference == Difference::kReplicasOnly) return;
  entry.failure_reason.clear();
  entry.failure_message.clear();
  PlanCreation(snapshot, {snapshot.current}, pool, renderable, entry);
  entry.waits_for_user = true;
}

std::set<std::string> ApprovedGroups(const YurtAppDaemon& daemon, const Revision& revision) {
  std::set<std::string> groups;
  const std::string prefix = revision.name + "/";
  for (const std::string& entry : ApprovalEntries(daemon.meta.Annotation(kApproveAnnotation))) {
    if (entry.starts_with(prefix)) groups.insert(entry.substr(prefix.size()));
  }
  return groups;
}

void WakeBy(std::optional<WallTime>& wake, WallTime then) { wake = wake ? std::min(*wake, then) : then; }

// Sets plan.wake to the time at which the pool's window opens, because no event reports this. The plan wakes after
// kLongestWait at the latest, because clocks may jump, and an unreadable time zone may become readable.
void AddOpening(const PoolPlan& entry, WallTime now, Plan& plan) {
  if (!entry.gate.window.opens) {
    WakeBy(plan.wake, now + kLongestWait);
    plan.rollout->window_error = entry.gate.window.fault;
    return;
  }
  WakeBy(plan.wake, std::min(*entry.gate.window.opens, now + kLongestWait));
  if (!plan.rollout->next_window || *entry.gate.window.opens < *plan.rollout->next_window->opens)
    plan.rollout->next_window = entry.gate.window;
}

// Sets plan.wake to the first time at which the state of a pool changes without an event.
void AddTimes(const Snapshot& snapshot, const RolloutPool& pool, const PoolPlan& entry, Plan& plan) {
  const RollingUpdate& strategy = snapshot.daemon.strategy.rolling;
  if (!entry.workload || (entry.offline && !entry.offline_after_update)) return;
  if (!pool.exists) {  // The workload is being deleted.
    if (!pool.overdue) WakeBy(plan.wake, entry.health.OverdueAt(strategy.progress_deadline));
    if (!pool.deletion_late) WakeBy(plan.wake, pool.deletion_due);
    return;
  }
  if (entry.checks.due) WakeBy(plan.wake, *entry.checks.due);
  if (entry.soaking) WakeBy(plan.wake, entry.health.since + strategy.min_ready);
  if (pool.healthy || entry.health.deadline_paused) return;
  if (!entry.overdue) WakeBy(plan.wake, entry.health.OverdueAt(strategy.progress_deadline));
  if (entry.may_be_stuck) WakeBy(plan.wake, snapshot.now + kStuckAfter);
  if (entry.workload->state().outdated_pods && !entry.may_be_stuck && !entry.offline)
    WakeBy(plan.wake, entry.health.since + kStuckAfter);
}

// Returns the update record that the write of `entry` stores in the workload. If the write does not change the pods,
// the time in the record stays the same, so that the pool's checks continue.
std::optional<UpdateRecord> RecordFor(const Snapshot& snapshot, const PoolPlan& entry, bool changes_pods) {
  const auto before = entry.workload ? UpdateRecordOf(entry.workload->object->meta()) : std::nullopt;
  if (!changes_pods) {
    if (!before) return std::nullopt;
    UpdateRecord kept = *before;
    if (kept.pods_revision.empty()) kept.pods_revision = before->revision;
    kept.revision = entry.to.revision->label;
    return kept;
  }
  UpdateRecord record;
  record.revision = entry.to.revision->label;
  record.at = snapshot.now;
  // A pool that is offline because of an earlier update counts as online, so it stays in state kOfflineAfterUpdate.
  record.online = !entry.offline || entry.offline_after_update;
  if (entry.workload) {
    // A Deployment keeps an old condition of an exceeded deadline for a moment. The record must not be older than this
    // condition.
    record.at = std::max(record.at, entry.workload->state().deadline_exceeded_at);
    record.joining = before && before->joining && before->revision == record.revision;
  }
  return record;
}

// Returns whether a new workload belongs to a joining pool: a pool that status does not list.
bool IsJoining(const Snapshot& snapshot, const std::string& pool) {
  const Json& listed = ListAt(snapshot.daemon.status, {"nodepools"});
  if (std::find(listed.begin(), listed.end(), Json(pool)) != listed.end()) return false;
  // A truncated list in status may omit a pool that is not new. In this case, `health` contains the pool.
  const bool truncated = StatusView(snapshot.daemon.status).pools_truncated();
  return !(truncated && snapshot.health != nullptr && snapshot.health->contains(pool));
}

// Applies the decision about one pool to its plan.
void Follow(const Snapshot& snapshot, const Target& target, const RolloutDecision::Pool& decided,
            const Assessment* assessment, PoolPlan& entry, Plan& plan) {
  entry.waits_for_user = decided.waits_for_user;
  entry.waits = decided.waits;
  entry.waiting_for = decided.waiting_for;
  if (decided.step == Step::kNone) {
    const auto& rejected = entry.health.rejected;
    if (rejected && entry.action == WorkloadAction::kNone && entry.failure_reason.empty()) {
      entry.failure_reason = rejected->reason;
      entry.failure_message = rejected->message;
    }
    if (entry.action == WorkloadAction::kUpdate) entry.record = RecordFor(snapshot, entry, false);
    return;
  }
  const bool to_target = decided.step == Step::kUpdate;
  const auto& spec = to_target ? assessment->for_target : assessment->adapted;
  if (!spec) return;  // The target can't be rendered for the pool.
  if (!entry.offline) WakeBy(plan.wake, snapshot.now + snapshot.daemon.strategy.rolling.progress_deadline);
  entry.to = *spec;
  if (to_target) entry.on_update = target.revision == snapshot.update;
  if (to_target && assessment->only_service) {
    entry.health.revision = entry.to.revision->name;  // An update of only the Service does not need a soak.
  } else {
    entry.health.replicas = 0;  // Pods may be new, so scaling does not explain why the workload is unhealthy.
  }
  if (entry.action != WorkloadAction::kAdopt) entry.action = WorkloadAction::kUpdate;
  if (to_target) entry.record = RecordFor(snapshot, entry, !assessment->only_service);
}

// Pauses the deadline of a pool during an outage. The time in which the pool was unhealthy before the outage counts.
void PauseDeadline(WallTime now, PoolHealth& health) {
  health.unhealthy_before += std::max(now - health.since, WallTime::duration::zero());
  health.since = now;
  health.deadline_paused = true;
}

// Returns whether the decision brings the new revision to a pool.
bool StartsUpdate(const Snapshot& snapshot, const RolloutInput& input, const RolloutDecision& decision) {
  if (input.target_is_current) return false;
  for (std::size_t i = 0; i < input.pools.size(); ++i) {
    const RolloutDecision::Pool& decided = decision.pools[i];
    const bool created = !input.pools[i].exists && decided.make_from_target && snapshot.current != nullptr;
    if (decided.step == Step::kUpdate || created) return true;
  }
  return false;
}

// Applies the decision about pulling the images of one pool before its update to the plan of the pool.
void FollowPrefetch(const RolloutDecision::Pool& decided, const Assessment* assessment, PoolPlan& entry, Plan& plan) {
  PoolPrefetch& prefetch = entry.prefetch;
  prefetch.ends = prefetch.current && decided.step == Step::kUpdate;
  if (!decided.prefetch) return;
  if (prefetch.due) WakeBy(plan.wake, *prefetch.due);
  if (prefetch.exists) return;
  auto pods = PodsOf({entry.pool, *entry.workload, assessment->from, *assessment->for_target});
  prefetch.starts = pods.has_value();
  if (pods) prefetch.pods = *std::move(pods);
}

// Plans the updates of a RollingUpdate. `assessments` has one entry for each pool; null: the pool has no workload.
void PlanRollout(const Snapshot& snapshot, const Target& target, const std::vector<const Assessment*>& assessments,
                 Renderable& renderable, Plan& plan) {
  const YurtAppDaemon& daemon = snapshot.daemon;
  RolloutInput input{daemon.strategy.rolling, daemon.paused};
  input.target_is_current = target.is_current;
  input.revision_failed = !snapshot.update->failed_at.empty();
  input.was_complete = WasCompleteOnce(daemon.status, target.revision->name);
  input.target_complete = target.is_current && !target.rolled_back && input.was_complete;
  input.all_updated = !target.is_current && WasRolledOut(daemon.status, target.revision->name);
  input.has_current = snapshot.current != nullptr;
  input.turn = snapshot.now.time_since_epoch() / kRetryTurn;
  input.approved = ApprovedGroups(daemon, *snapshot.update);
  input.approved.insert(snapshot.begun.begin(), snapshot.begun.end());
  RolloutPoolBuilder builder(snapshot, target);
  input.frozen = snapshot.freeze.has_value() || !ChecksError(snapshot).empty() || !snapshot.prefetch_error.empty();
  const PoolGroups groups = GroupsOf(snapshot);
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    input.pools.push_back(builder.Build(snapshot.pools[i], assessments[i], plan.pools[i]));
    input.pools.back().group = groups.of_pool[i];
  }
  plan.rollout = Rollout{target, DecideRollout(input)};
  const RolloutDecision& decision = plan.rollout->decision;
  plan.rollout->begun = snapshot.begun;
  plan.rollout->begun.insert(decision.begun.begin(), decision.begun.end());
  if (groups.percent_groups != snapshot.update->percent_groups && StartsUpdate(snapshot, input, decision))
    plan.rollout->percent_groups = groups.percent_groups;
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    PoolPlan& entry = plan.pools[i];
    entry.failed = decision.pools[i].failed;
    entry.excused = decision.pools[i].excused;
    Follow(snapshot, target, decision.pools[i], assessments[i], entry, plan);
    if (entry.offline_after_update && decision.outage()) PauseDeadline(snapshot.now, entry.health);
    FollowPrefetch(decision.pools[i], assessments[i], entry, plan);
    if (entry.checks.replaces_job) plan.outdated_jobs.push_back(snapshot.check_jobs.at(entry.checks.job));
    const RolloutPool& pool = input.pools[i];
    AddTimes(snapshot, pool, entry, plan);
    const bool is_retry = pool.update_blocked || pool.rejected || pool.write_failed;
    const bool waits = entry.waiting_for == WaitingFor::kWindow || pool.pool_changed || is_retry;
    if (waits && !entry.gate.window.open) AddOpening(entry, snapshot.now, plan);
    if (entry.waits && entry.gate.window.closes) WakeBy(plan.wake, *entry.gate.window.closes);
    if (entry.workload || entry.failure_reason == kInvalidPoolName) continue;
    if (!decision.pools[i].make_from_target) CreateFromCurrent(snapshot, target, snapshot.pools[i], renderable, entry);
    if (entry.action != WorkloadAction::kCreate) continue;
    WakeBy(plan.wake, snapshot.now + daemon.strategy.rolling.progress_deadline);
    entry.record = RecordFor(snapshot, entry, true);
    // In the first rollout, all pools are new, so no pool counts as joining. Otherwise, their health would be ignored,
    // and nothing would show whether the revision works.
    entry.record->created = true;
    entry.record->joining = entry.health.joins |= snapshot.current != nullptr && IsJoining(snapshot, entry.pool);
  }
}

// Plans the deletion of the DaemonSets that no update needs any more. If a gate can't be read, the pulls of this update
// continue.
void PlanPrefetchRemovals(const Snapshot& snapshot, Plan& plan) {
  std::set<std::string_view> needed;
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    const PoolPrefetch& prefetch = plan.pools[i].prefetch;
    const bool chosen = plan.rollout && plan.rollout->decision.pools[i].prefetch;
    if (prefetch.current && (chosen || prefetch.ends || IsGateUnknown(snapshot))) needed.insert(prefetch.name);
  }
  for (const auto& [name, daemon_set] : snapshot.prefetches) {
    if (!needed.contains(name) && !daemon_set.object->meta().deleting()) plan.outdated_prefetches.push_back(daemon_set);
  }
}

// Returns whether workload `a` is kept if a pool has both. A workload that is not being deleted is preferred, then the
// workload with more available replicas, then the older workload.
bool IsPreferred(const WorkloadRef& a, const WorkloadRef& b) {
  const auto rank = [](const WorkloadRef& w) {
    const ObjectMeta& meta = w.object->meta();
    return std::tuple(meta.deleting(), -w.state().available_replicas, meta.creation_timestamp, meta.key.name);
  };
  return rank(a) < rank(b);
}

// The workloads of a snapshot by pool.
class PoolWorkloads {
 public:
  explicit PoolWorkloads(const Snapshot& snapshot) : snapshot_(snapshot) {
    owned_.reserve(snapshot.workloads.size());
    for (const WorkloadRef& workload : snapshot.workloads) {
      const WorkloadRef*& best = owned_[workload.pool];
      if (best == nullptr || IsPreferred(workload, *best)) best = &workload;
    }
    for (const WorkloadRef& orphan : snapshot.orphans) orphans_.emplace(orphan.pool, &orphan);
  }

  // Returns the workload of the daemon that is kept for the pool, or nullptr if the pool has no workload.
  const WorkloadRef* Owned(const std::string& pool) const {
    const auto known = owned_.find(pool);
    return known == owned_.end() ? nullptr : known->second;
  }
  // Returns the best workload without a controller that the daemon may adopt, or nullptr.
  const WorkloadRef* Adoptable(const PoolRef& pool) const {
    const WorkloadRef* best = nullptr;
    const auto [begin, end] = orphans_.equal_range(pool.pool().name);
    for (auto orphan = begin; orphan != end; ++orphan) {
      if (!IsOrphanOfOurs(snapshot_, *orphan->second, pool)) continue;
      if (best == nullptr || IsPreferred(*orphan->second, *best)) best = orphan->second;
    }
    return best;
  }

 private:
  const Snapshot& snapshot_;
  std::unordered_map<std::string_view, const WorkloadRef*> owned_;
  std::unordered_multimap<std::string_view, const WorkloadRef*> orphans_;
};

// Returns the reason why a pool waits if the strategy is All or OnDelete.
WaitingFor WaitWithoutRollout(const Snapshot& snapshot) {
  if (snapshot.daemon.paused) return WaitingFor::kPause;
  return snapshot.freeze ? WaitingFor::kFreeze : WaitingFor::kDeletion;
}

// Plans one pool independently of the others. Returns the assessment of its workload, or nullptr if it has no workload.
const Assessment* PlanPool(const Snapshot& snapshot, const Target& target, const PoolRef& pool,
                           const PoolWorkloads& workloads, PlanMemo& memo, Renderable& renderable, PoolPlan& entry) {
  entry.pool = pool.pool().name;
  if (std::string error = CheckLabelValue(entry.pool); !error.empty()) {
    entry.failure_reason = kInvalidPoolName;
    entry.failure_message =
        "no node can belong to this pool, because the pool's name is not a valid label value: " + error;
    return nullptr;  // The pool can't have nodes, and must not also be reported as Offline.
  }
  entry.offline = pool.pool().offline;
  const WorkloadRef* const owned = workloads.Owned(entry.pool);
  const WorkloadRef* const workload = owned != nullptr ? owned : workloads.Adoptable(pool);
  if (workload == nullptr) {
    PlanCreation(snapshot, target, pool, renderable, entry);
    const bool rolling = snapshot.daemon.strategy.type == UpdateStrategyType::kRollingUpdate;
    if ((snapshot.daemon.paused || snapshot.freeze) && !rolling)
      CreateFromCurrent(snapshot, target, pool, renderable, entry);
    return nullptr;
  }
  entry.workload = *workload;
  const Assessment& assessment = Assess(snapshot, target, pool, *workload, memo);
  entry.from = assessment.from;
  entry.to = assessment.to;
  entry.on_update = target.rolled_back ? IsOfRevision(assessment.from, snapshot.update) : assessment.on_target;
  entry.waits_for_user = assessment.for_target.has_value();
  if (entry.waits_for_user) entry.waiting_for = WaitWithoutRollout(snapshot);
  entry.failure_reason = assessment.failure_reason;
  entry.failure_message = assessment.failure_message;
  entry.action = assessment.action;
  if (owned == nullptr && entry.failure_reason.empty()) entry.action = WorkloadAction::kAdopt;
  // A workload that is being deleted cannot be repaired. The operator creates another workload when the name is free.
  if (workload->object->meta().deleting()) entry.action = WorkloadAction::kNone;
  return &assessment;
}

// Returns whether the pool waits at a gate, or because of spec.paused and not because failures have stopped the
// rollout.
bool WaitsAtGate(const Snapshot& snapshot, const PoolPlan& entry) {
  const WaitingFor reason = entry.waiting_for;
  if (reason == WaitingFor::kFreeze) return !snapshot.freeze || !snapshot.freeze->delays_replicas;
  if (reason == WaitingFor::kPause) return snapshot.daemon.paused;
  return reason == WaitingFor::kHold || reason == WaitingFor::kWindow || reason == WaitingFor::kPrefetch;
}

// If the pool's update waits at a gate, plans a write of only the target's replicas. Gates do not delay replicas.
void PlanScaling(const Snapshot& snapshot, const Assessment* assessment, PoolPlan& entry) {
  if (assessment == nullptr || !assessment->scaled || !WaitsAtGate(snapshot, entry)) return;
  const bool free = entry.action == WorkloadAction::kNone || entry.action == WorkloadAction::kRepair;
  if (!free || entry.workload->object->meta().deleting()) return;
  entry.to = *assessment->scaled;
  entry.action = WorkloadAction::kScale;
}

// Plans the removal of workloads whose pool is not selected, and of duplicate workloads of a pool.
void PlanRemovals(const Snapshot& snapshot, const PoolWorkloads& workloads, Plan& plan) {
  std::unordered_set<std::string_view> selected;
  selected.reserve(plan.pools.size());
  for (const PoolPlan& pool : plan.pools) selected.insert(pool.pool);
  for (const WorkloadRef& workload : snapshot.workloads) {
    const bool is_selected = selected.contains(workload.pool);
    if (workload.object->meta().deleting()) {
      if (!is_selected) plan.leaving.push_back(workload);
      continue;
    }
    const WorkloadRef* const best = workloads.Owned(workload.pool);
    if (!is_selected) {
      plan.removals.push_back({workload, std::nullopt});
    } else if (best != &workload && best->state().available()) {
      plan.removals.push_back({workload, *best});
    }
  }
  // Caches have no order. The sort keeps removals and their events in the same order each time.
  std::sort(plan.removals.begin(), plan.removals.end(), [](const Removal& a, const Removal& b) {
    return a.workload.object->meta().key < b.workload.object->meta().key;
  });
}

}  // namespace

PoolGroups GroupsOf(const Snapshot& snapshot) {
  std::vector<const NodePool*> pools;
  pools.reserve(snapshot.pools.size());
  for (const PoolRef& pool : snapshot.pools) pools.push_back(&pool.pool());
  return AssignGroups(snapshot.daemon.strategy.rolling, pools, snapshot.update->name, snapshot.update->percent_groups);
}

Plan MakePlan(const Snapshot& snapshot, PlanMemo& memo) {
  Plan plan;
  plan.pools.reserve(snapshot.pools.size());
  plan.frozen = snapshot.freeze.has_value();
  const Target target = TargetOf(snapshot);
  memo.BeginPlan(target.revision->name);
  Renderable renderable;
  const PoolWorkloads workloads(snapshot);
  std::vector<const Assessment*> assessments;
  for (const WorkloadRef& orphan : snapshot.orphans) plan.orphans.insert(orphan.object->meta().uid);
  for (const PoolRef& pool : snapshot.pools) {
    PoolPlan& entry = plan.pools.emplace_back();
    assessments.push_back(PlanPool(snapshot, target, pool, workloads, memo, renderable, entry));
  }
  plan.outdated_jobs = OutdatedCheckJobs(snapshot);
  if (snapshot.daemon.strategy.type == UpdateStrategyType::kRollingUpdate)
    PlanRollout(snapshot, target, assessments, renderable, plan);
  for (std::size_t i = 0; i < plan.pools.size(); ++i) PlanScaling(snapshot, assessments[i], plan.pools[i]);
  if (snapshot.freeze && snapshot.freeze->until)
    WakeBy(plan.wake, std::min(*snapshot.freeze->until, snapshot.now + kLongestWait));
  // No event reports that the freeze, the Jobs or the DaemonSets can be read again.
  if ((snapshot.freeze && !snapshot.freeze->known) || !snapshot.jobs_error.empty() ||
      !snapshot.prefetch_error.empty() || snapshot.jobs_outdated)
    WakeBy(plan.wake, snapshot.now + kUnreadableRetry);
  PlanPrefetchRemovals(snapshot, plan);
  PlanRemovals(snapshot, workloads, plan);
  return plan;
}

Result<Json> MergedWorkload(const YurtAppDaemon& daemon, const PoolPlan& plan, Json live) {
  if (plan.to.revision != nullptr) {
    YAD_TRY(const Json now, RenderWorkload(plan.to, plan.pool));
    const bool updates = plan.from != plan.to;
    // If the old revision can no longer be rendered, its values are unknown, so the merge does not remove them.
    const auto last = updates && plan.from.revision != nullptr ? RenderWorkload(plan.from, plan.pool) : Fail(Error());
    const bool keeps = updates ? last && Compare(*last, now) != Difference::kPodTemplate : KeepsPodTemplate(plan);
    Json merged = ThreeWayMerge(last ? *last : now, now, keeps ? Json(live) : std::move(live));
    if (keeps) KeepPodTemplate(live, merged);
    live = std::move(merged);
  }
  StampMetadata(live, daemon, plan.to);
  if (plan.record) live["metadata"]["annotations"][kUpdateRecordAnnotation] = plan.record->ToAnnotation();
  return live;
}

bool NeedsNoWrite(const YurtAppDaemon& daemon, const PoolPlan& plan, const Json& live) {
  if (plan.to.revision != nullptr) {
    const auto now = RenderWorkload(plan.to, plan.pool);
    if (!now || !IsMerged(*now, live)) return false;
  }
  return HasStamp(live, daemon, plan.to);
}

Result<Json> NewWorkload(const YurtAppDaemon& daemon, const PoolPlan& plan) {
  YAD_TRY(Json rendered, RenderWorkload(plan.to, plan.pool));
  const std::string name = WorkloadName(daemon.meta.key.name, daemon.meta.uid, plan.pool, daemon.kind);
  if (daemon.kind == WorkloadKind::kStatefulSet && plan.to.revision->content.service_template.is_object() &&
      StringAt(rendered, {"spec", "serviceName"}).empty()) {
    rendered["spec"]["serviceName"] = ServiceName(name);
  }
  Json workload = CompleteWorkload(std::move(rendered), daemon, name, plan.to.inputs, plan.to.revision->label);
  if (plan.record) workload["metadata"]["annotations"][kUpdateRecordAnnotation] = plan.record->ToAnnotation();
  return workload;
}

}  // namespace yad
