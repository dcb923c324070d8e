#include "operator/yurtappdaemon/plan/rollout_pool_builder.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "operator/workload/service.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "operator/yurtappdaemon/observe/status_view.h"

namespace yad {
namespace {

// Status may lack an update that is younger than this time, because a leader may have made the update and stopped
// before it wrote status.
constexpr std::chrono::seconds kStatusLag = std::chrono::minutes(2);

// Returns whether the workload is unhealthy only because it scales: the replicas that it keeps are available. If it was
// scaled and scaled back, this is true until its controller has observed the last change.
bool OnlyScales(const PoolHealth& before, const WorkloadState& state) {
  return before.state == PoolHealth::State::kHealthy && before.replicas > 0 &&
         (state.wanted != before.replicas || !state.observed) &&
         state.steady_replicas >= std::min(before.replicas, state.wanted);
}

}  // namespace

PoolHealth RolloutPoolBuilder::HealthOf(const PoolPlan& entry, const UpdateRecord* record) const {
  PoolObservation observation;
  observation.offline = entry.offline;
  observation.revision = entry.from.revision == nullptr ? "" : entry.from.revision->name;
  observation.updated_online = record != nullptr && record->online;
  const PoolHealth* before = nullptr;
  if (snapshot_.health != nullptr) {
    const auto found = snapshot_.health->find(entry.pool);
    if (found != snapshot_.health->end()) before = &found->second;
  }
  const WorkloadState* state = entry.workload ? &entry.workload->state() : nullptr;
  if (state != nullptr && !entry.workload->object->meta().deleting()) {
    observation.replicas = state->wanted;
    observation.healthy = state->healthy;
    if (!state->healthy && before != nullptr && before->revision == observation.revision &&
        OnlyScales(*before, *state)) {
      observation.healthy = true;
      observation.replicas = before->replicas;
    }
  }
  const WallTime now = snapshot_.now;
  const RollingUpdate& strategy = snapshot_.daemon.strategy.rolling;
  PoolHealth health = Observe(before, observation, strategy, now);
  // The workload may have been updated after status.pools was written, or less than minReadySeconds ago. Then it might
  // not have soaked, although the list omits its pool.
  const bool is_new = record != nullptr && record->at + std::max(strategy.min_ready, kStatusLag) > now;
  if (before == nullptr && snapshot_.unlisted_have_soaked && health.been_healthy && !is_new) {
    health.soaked = health.verified = true;
    health.since = {};
  }
  if (before == nullptr && health.state == PoolHealth::State::kOffline) {
    // A truncated list may omit a pool that has been offline for a long time. If `since` is in the past, the pool does
    // not count as a pool that went offline in an outage.
    const StatusView status(snapshot_.daemon.status);
    if (status.pools_truncated() && !status.unlisted_were_ready()) health.since = {};
  }
  return health;
}

bool RolloutPoolBuilder::IsOverdue(const PoolPlan& entry, const UpdateRecord* record) const {
  const PoolHealth& health = entry.health;
  if (health.Overdue(snapshot_.daemon.strategy.rolling.progress_deadline, snapshot_.now)) return true;
  if (!entry.workload || health.state != PoolHealth::State::kUnhealthy) return false;
  const WorkloadState& state = entry.workload->state();
  // After an update, a Deployment keeps an old condition for a moment. Only a condition that was set after the update
  // counts.
  return state.progress_deadline_exceeded &&
         state.deadline_exceeded_at > (record != nullptr ? record->at : health.since);
}

bool RolloutPoolBuilder::IsLikeCurrent(const PoolRef& pool, const RenderSpec& from) {
  const RevisionPtr& current = snapshot_.current;
  RenderSpec on_current{current, InputsFor(current->content, pool.pool())};
  on_current.inputs.tolerations = from.inputs.tolerations;
  on_current.inputs.rules = from.inputs.rules;
  const auto compare = [&] {
    const auto a = RenderWorkload(on_current, pool.pool().name);
    const auto b = RenderWorkload(from, pool.pool().name);
    return a && b && Compare(current->content, *a, from.revision->content, *b) < Difference::kWithoutPods;
  };
  if (!from.inputs.overrides.empty() || !on_current.inputs.overrides.empty()) return compare();
  const auto [known, is_new] =
      like_current_.try_emplace({from.revision.get(), on_current.inputs.ToAnnotation()}, false);
  if (is_new) known->second = compare();
  return known->second;
}

bool RolloutPoolBuilder::IsUpdated(const PoolRef& pool, const Assessment& assessment, const PoolHealth& health) {
  const bool label_names_target = IsOfRevision(assessment.from, target_.revision);
  // In a rollback, the target is currentRevision. A pool that has not soaked on currentRevision was updated by the
  // rollback.
  if (target_.is_current) return label_names_target && !health.soaked;
  if (snapshot_.current == nullptr) return label_names_target;
  if (!assessment.on_target && !label_names_target) return false;
  // If OpenYurt created the workload, or if the workload's revision is unknown, this rollout has not updated it.
  if (assessment.from.revision == nullptr || assessment.from.inputs.rules == 0) return false;
  if (IsOfRevision(assessment.from, snapshot_.current)) return false;
  return !IsLikeCurrent(pool, assessment.from);
}

// Checks do not run after the creation of a workload. They also do not begin in a rollback, because all pools have
// already had the revision.
void RolloutPoolBuilder::Verify(const RenderSpec& from, const UpdateRecord* record, RolloutPool& result,
                                PoolPlan& entry) const {
  PoolHealth& health = entry.health;
  const bool created = record != nullptr && (record->created || record->joining);
  // If only label_names_target is true, the pool has changed, so its workload is updated to the target again, and its
  // checks continue.
  const bool on_target = result.on_target || result.label_names_target;
  // In a rollback or after the rollout, no check begins, but checks that have begun continue. These may be checks of
  // pools that were offline, because a rollout does not wait for them. If they fail, status shows CheckFailed.
  const bool checked = on_target && !created && (target_.is_current ? health.check.has_value() : result.updated);
  const std::vector<Check>& checks = snapshot_.daemon.strategy.rolling.checks;
  const bool unfinished = snapshot_.current != nullptr && !IsOfRevision(from, snapshot_.current);
  if (!checks.empty() && !on_target && !created && (health.check || unfinished)) {
    // The pool waits for another revision, so its checks pause. If the spec is reverted, their timeout starts again.
    if (!health.soaked || health.verified) return;
    if (!health.check) health.check = CheckProgress{checks.front().name, {}, 0, ""};
    health.check->since = {};
    return;
  }
  if (!checked || checks.empty()) {
    if (health.soaked) {
      health.verified = true;
      health.check.reset();
    }
    return;
  }
  entry.checks = checks_.Run({entry.pool, entry.offline, *entry.workload, record}, health);
  if (target_.is_current) return;
  result.verified = health.verified;
  result.check_failed = health.check && !health.check->failure.empty();
}

// Sets the members of `result` that depend on the pool's rejected write. Keeps the rejected write in `entry` until it
// is retried. The update of a held pool is not retried, so its rejected write is dropped.
void RolloutPoolBuilder::KeepRejection(RolloutPool& result, PoolPlan& entry) const {
  auto& rejected = entry.health.rejected;
  const bool held = result.held && result.exists;
  // The rejected creation may have used currentRevision and not the target. A quota rejects both revisions.
  const bool is_creation = rejected && !result.exists && !IsCausedByRevision(rejected->reason);
  const bool is_of_target = rejected && (is_creation || rejected->revision == target_.revision->name);
  if (result.on_target || held || !is_of_target) rejected.reset();
  const bool blocked = rejected && !IsCausedByRevision(rejected->reason);
  result.creation_blocked = !result.exists && (blocked || entry.failure_reason == kInvalidPoolName);
  if (!rejected || !entry.failure_reason.empty()) return;
  result.rejected = CountsAsFailure(rejected->reason, rejected->message);
  result.update_blocked = result.exists && blocked;
  result.write_failed = result.exists && !blocked && !result.rejected;
}

RolloutPool RolloutPoolBuilder::Build(const PoolRef& pool, const Assessment* assessment, PoolPlan& entry) {
  RolloutPool result;
  result.name = entry.pool;
  result.offline = entry.offline;
  entry.gate = gates_.Of(pool.pool());
  result.held = entry.gate.held;
  result.outside_window = !entry.gate.window.open;
  result.window_opens = entry.gate.window.opens.value_or(WallTime::max());
  result.exists = assessment != nullptr && !entry.workload->object->meta().deleting();
  if (entry.workload && entry.workload->object->meta().deleting()) {
    const WallTime since = ParseTime(entry.workload->object->meta().deletion_timestamp);
    result.deletion_due = since + snapshot_.daemon.strategy.rolling.progress_deadline;
    result.deletion_late = snapshot_.now >= result.deletion_due;
  }
  result.unrenderable = entry.failure_reason == kInvalidOverride;
  const std::optional<UpdateRecord> found =
      entry.workload ? UpdateRecordOf(entry.workload->object->meta()) : std::nullopt;
  const UpdateRecord* record = found ? &*found : nullptr;
  entry.health = HealthOf(entry, record);
  result.overdue = IsOverdue(entry, record);
  result.offline_since = entry.health.since;
  if (result.exists) {
    result.on_target = assessment->on_target;
    result.label_names_target = IsOfRevision(assessment->from, target_.revision);
    result.pool_changed = assessment->adapted || (result.label_names_target && assessment->for_target);
    result.healthy = entry.health.state == PoolHealth::State::kHealthy;
    result.been_healthy = entry.health.been_healthy;
    result.soaked = entry.health.soaked;
    result.updated = IsUpdated(pool, *assessment, entry.health);
    result.joining = record != nullptr && record->joining && (result.updated || target_.is_current);
    result.offline_after_update =
        !target_.is_current && result.updated && entry.health.state == PoolHealth::State::kOfflineAfterUpdate;
    if (result.offline && !result.offline_after_update) result.overdue = false;
    if (record != nullptr && record->created) result.created_at = record->at;
    // The time in the record comes from another machine's clock, so it may be in the future.
    if (result.offline_after_update)
      result.updated_at = std::min(record != nullptr ? record->at : WallTime::max(), entry.health.since);
    entry.may_be_stuck = entry.workload->state().outdated_pods && entry.health.UnhealthyFor(kStuckAfter, snapshot_.now);
    Verify(assessment->from, record, result, entry);
    entry.soaking = result.healthy && !result.soaked;
    entry.overdue = result.overdue;
    entry.offline_after_update = result.offline_after_update;
    entry.joining = result.joining;
    if (assessment->for_target && !target_.is_current && !result.offline) {
      entry.prefetch = prefetches_.Of({entry.pool, *entry.workload, assessment->from, *assessment->for_target});
      result.images = entry.prefetch.images;
    }
    // An update of only replicas does not need a soak.
    if (assessment->action == WorkloadAction::kUpdate) entry.health.revision = target_.revision->name;
  }
  KeepRejection(result, entry);
  return result;
}

}  // namespace yad
