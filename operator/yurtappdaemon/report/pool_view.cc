#include "operator/yurtappdaemon/report/pool_view.h"

#include <algorithm>
#include <chrono>

#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "operator/yurtappdaemon/report/rollout_progress.h"

namespace yad {
namespace {

std::string RevisionNameOf(const PoolOutcome& result, const Revision& update) {
  if (!result.workload) {
    // The pool has no workload. If its creation was rejected, returns the revision of the rejected workload, except if
    // that is the update revision. RestoreHealth relies on this revision in status.
    const RevisionPtr& wanted = result.plan->to.revision;
    const bool is_other = wanted != nullptr && wanted->name != update.name;
    return is_other && !result.failure_reason.empty() ? wanted->name : "";
  }
  const bool written = result.plan->to.revision != nullptr &&
                       result.workload->object->meta().Label(kRevisionLabel) == result.plan->to.revision->label;
  if (written) return result.plan->to.revision->name;
  return result.plan->from.revision != nullptr ? result.plan->from.revision->name
                                               : result.workload->object->meta().Label(kRevisionLabel);
}

// Returns whether the old status shows that the pool was healthy on its current revision.
bool WasHealthy(const StatusInput& input, const PoolStatusView* old, std::string_view revision) {
  // A truncated list may have omitted the pool because it was Ready on the update revision.
  if (old == nullptr) {
    return StatusView(input.previous).unlisted_were_ready() &&
           WasRolledOut(input.previous, input.snapshot.update->name);
  }
  if (old->revision() != revision) return false;
  const PoolPhase phase = old->phase();
  return phase == PoolPhase::kReady || phase == PoolPhase::kSoaking || phase == PoolPhase::kVerifying ||
         phase == PoolPhase::kUnhealthy || (phase == PoolPhase::kOffline && old->scaled_from() > 0);
}

// Returns the message that describes how the wait will end.
std::string HowItEnds(const PoolPlan& plan, const StatusInput& input) {
  const YurtAppDaemon& daemon = input.snapshot.daemon;
  switch (plan.waiting_for) {
    case WaitingFor::kNone:
      return "";
    case WaitingFor::kSlot:
      return input.rollout && input.rollout->decision.state == RolloutState::kOutage
                 ? "the rollout continues when the sites that went offline return"
                 : "the pool is updated when fewer pools than maxUnavailable are unavailable";
    case WaitingFor::kGroup:
      return plan.offline ? "the pool is offline, and is updated after the online pools of its group"
                          : "the pool is updated after the pools of the earlier groups";
    case WaitingFor::kApproval: {
      const std::string& group = daemon.strategy.rolling.groups[input.rollout->decision.group].name;
      return "group " + group + " waits for approval: kubectl yad approve " + daemon.meta.key.name + " " + group;
    }
    case WaitingFor::kPartition:
      return "spec.updateStrategy.rollingUpdate.partition keeps the pool on its revision";
    case WaitingFor::kHold:
      if (plan.gate.invalid_windows) return "the update windows are invalid: " + plan.gate.hold;
      if (plan.gate.maintenance) return "a node condition holds the pool (" + plan.gate.hold + ")";
      return "the site holds the pool" + (plan.gate.hold.empty() ? "" : ": " + plan.gate.hold) +
             " (kubectl yad release " + plan.pool + ")";
    case WaitingFor::kFreeze:
      if (!input.snapshot.freeze) return DescribeBlockingError(input.snapshot);
      return DescribeFreeze(*input.snapshot.freeze);
    case WaitingFor::kWindow:
      if (!plan.gate.window.opens) return "no update window opens: " + plan.gate.window.fault;
      return "the update window opens at " + FormatTime(*plan.gate.window.opens) + " (" +
             plan.gate.window.opens_locally + ")";
    case WaitingFor::kPrefetch:
      return plan.prefetch.message;
    case WaitingFor::kPause:
      if (!daemon.paused) return "failures have stopped the rollout: see condition Progressing";
      return "spec.paused is true: kubectl yad resume " + daemon.meta.key.name;
    case WaitingFor::kDeletion:
      return "the pool is updated when its workload is deleted (updateStrategy OnDelete)";
  }
  return "";
}

// Adds the diagnosis of the pods to the pool's reason and message. The reason of a paused Deployment stays, because it
// explains why the pods do not change.
void AddDiagnosis(const Diagnosis& diagnosis, PoolView& view) {
  view.state = diagnosis.state;
  if (diagnosis.reason.empty() || view.reason == kDeploymentPaused) return;
  view.reason = diagnosis.reason;
  view.message =
      diagnosis.restored || view.message.empty() ? diagnosis.message : diagnosis.message + "; " + view.message;
}

class View {
 public:
  View(const PoolOutcome& result, const StatusInput& input, const PoolStatusIndex& old)
      : result_(result),
        plan_(*result.plan),
        input_(input),
        strategy_(input.snapshot.daemon.strategy.rolling),
        old_(old.Find(plan_.pool)) {}

  PoolView Make() {
    view_.name = plan_.pool;
    view_.revision = RevisionNameOf(result_, *input_.snapshot.update);
    if (!result_.service.empty()) view_.details["service"] = result_.service;
    view_.workload = result_.workload ? &*result_.workload : nullptr;
    state_ = view_.workload != nullptr ? &view_.workload->state() : nullptr;
    if (view_.workload == nullptr && plan_.health.joins) view_.details["joining"] = true;
    deleting_ = view_.workload != nullptr && view_.workload->object->meta().deleting();
    SetHealth();
    SetFailure();
    SetUpdate();
    SetPhase();
    SetWait();
    SetCheck();
    SetCountedSince();
    // A pool without a ready node does not make progress.
    if (state_ != nullptr) view_.state = StateOf({*state_, deleting_, plan_.offline || plan_.overdue});
    if (input_.diagnoses != nullptr && view_.reason != kCheckFailed) {
      const auto found = input_.diagnoses->find(plan_.pool);
      if (found != input_.diagnoses->end()) AddDiagnosis(found->second, view_);
    }
    if (input_.misplaced != nullptr) {
      const auto found = input_.misplaced->find(plan_.pool);
      if (found != input_.misplaced->end()) view_.details["misplacedReplicas"] = found->second;
    }
    return std::move(view_);
  }

 private:
  bool rolling() const { return input_.rollout.has_value(); }

  void SetHealth() {
    written_ = view_.workload != nullptr && !result_.outstanding && !deleting_;
    update_outstanding_ =
        result_.outstanding && (plan_.action == WorkloadAction::kUpdate || plan_.action == WorkloadAction::kAdopt);
    // An outstanding repair does not show the health of the workload.
    const bool change_outstanding = result_.outstanding && plan_.action != WorkloadAction::kRepair;
    const bool healthy = view_.workload != nullptr && !deleting_ && state_->healthy;
    healthy_ = healthy && !change_outstanding;
    view_.ready = healthy && (!change_outstanding || !result_.failure_reason.empty());
    updated_now_ = UpdatesWorkload(plan_) && !result_.outstanding;
    const bool begins = updated_now_ && (!rolling() || plan_.health.revision != plan_.to.revision->name);
    fresh_ = begins || plan_.action == WorkloadAction::kCreate;
    if (rolling()) {
      been_healthy_ = !fresh_ && plan_.health.been_healthy;
      soaked_ = !fresh_ && plan_.health.soaked;
    } else {
      been_healthy_ = !fresh_ && (healthy_ || WasHealthy(input_, old_, view_.revision));
      soaked_ = been_healthy_;
    }
    soaking_ = rolling() && healthy_ && (plan_.soaking || (begins && strategy_.min_ready.count() > 0));
    const bool checks_follow = rolling() && begins && !input_.rollout->target.is_current && !strategy_.checks.empty();
    verifying_ = rolling() && (checks_follow || (!fresh_ && plan_.checks.verifying));
  }

  // Returns whether the workload missed its deadline. After an update, a Deployment has its old condition for a moment.
  // Only a condition that is newer than the update counts.
  bool HasGivenUp() const {
    if (state_ == nullptr || !state_->progress_deadline_exceeded || result_.outstanding) return false;
    if (rolling()) return plan_.overdue;
    if (fresh_) return false;
    const bool updating =
        old_ != nullptr && old_->phase() == PoolPhase::kUpdating && old_->revision() == view_.revision;
    return !updating || state_->deadline_exceeded_at == WallTime() ||
           state_->deadline_exceeded_at > old_->last_transition();
  }

  void SetFailure() {
    view_.reason = result_.failure_reason;
    view_.message = result_.failure_message;
    if (view_.reason.empty() && CheckHasFailed()) {
      view_.reason = kCheckFailed;
      view_.message = plan_.checks.message;
    }
    if (view_.reason.empty() && HasGivenUp()) {
      view_.reason = kDeadlineExceeded;
      view_.message = state_->failure_message;
    }
    // If a pool that has finished its soak is updated because of a change of the pool, such as a new taint, it has the
    // full deadline again.
    if (view_.reason.empty() && plan_.overdue && written_ && !fresh_ && !(updated_now_ && soaked_)) {
      view_.reason = kDeadlineExceeded;
      view_.message =
          "not healthy within " + std::to_string(strategy_.progress_deadline.count()) + " s on its revision";
      if (state_->paused) view_.message += "; " + DescribePause();
    }
    view_.late = view_.reason == kDeadlineExceeded;
    view_.revision_failed = IsCausedByRevision(view_.reason) && !(view_.late && IsExcused());
    view_.other_cause = !view_.reason.empty() && !view_.revision_failed;
  }

  bool CheckHasFailed() const {
    return written_ && !fresh_ && plan_.checks.verifying && plan_.health.check && !plan_.health.check->failure.empty();
  }

  // Returns whether the revision is not the cause although the pool missed its deadline. There are two cases:
  // - An earlier revision already rendered the same workload, so the update changed nothing in this pool.
  // - The pool is new, and its first workload has never been healthy.
  bool IsExcused() const {
    if (plan_.failed) return false;
    return (rolling() && plan_.on_update) || (plan_.joining && !plan_.health.been_healthy);
  }

  // Returns whether the server rejected the update of the pool, and the rollout continues without the pool because it
  // is new and has never been healthy. During a rollout, the plan shows this only from the second rejection on.
  bool IsExcusedRejection() const {
    if (!plan_.excused || view_.assigned || view_.late || !CountsAsFailure(view_.reason, view_.message)) return false;
    return input_.rollout->target.is_current || plan_.health.rejected || !plan_.failure_reason.empty();
  }

  void SetUpdate() {
    const bool excused_offline = plan_.offline && !plan_.offline_after_update;
    const bool on_update = written_ && plan_.on_update;
    view_.assigned = view_.workload != nullptr && !deleting_ && plan_.on_update && !fresh_ && !update_outstanding_;
    view_.updated = on_update && (excused_offline || (!plan_.offline && healthy_ && !soaking_ && !verifying_));
    view_.settled = on_update && (excused_offline || (soaked_ && !verifying_) || view_.updated);
    if (view_.settled) view_.revision_failed = view_.revision_failed && !view_.late;
    if (IsExcusedRejection()) {
      view_.revision_failed = false;
      view_.other_cause = true;
    }
  }

  void SetPhase() {
    if (plan_.offline) {
      view_.phase = PoolPhase::kOffline;
      // With phase Offline, a new leader knows only from scaledFrom that the pool has been healthy on its revision.
      if (!rolling() && been_healthy_ && state_ != nullptr)
        view_.scaled_from = std::max<std::int64_t>(state_->wanted, 1);
      if (plan_.offline_after_update) {
        SetOfflineAfterUpdate();
      } else if (view_.reason.empty()) {
        view_.reason = kNoReadyNode;
      }
    } else if (!view_.reason.empty()) {
      view_.phase = PoolPhase::kFailed;
      if (IsHealthyBehindRejection()) SetSoak();
    } else if (view_.workload == nullptr) {
      view_.phase = PoolPhase::kPending;
    } else if (!healthy_) {
      view_.phase = been_healthy_ && !update_outstanding_ ? PoolPhase::kUnhealthy : PoolPhase::kUpdating;
      if (deleting_) view_.reason = "WorkloadTerminating";
      const bool scales = rolling() && !deleting_ && plan_.health.state == PoolHealth::State::kHealthy;
      if (view_.phase == PoolPhase::kUnhealthy && scales) {
        view_.reason = kScaling;
        SetSoak();
      }
      if (view_.reason.empty() && state_->paused && plan_.waiting_for == WaitingFor::kNone) {
        view_.reason = kDeploymentPaused;
        view_.message = DescribePause();
      }
    } else {
      view_.phase = soaking_ ? PoolPhase::kSoaking : verifying_ ? PoolPhase::kVerifying : PoolPhase::kReady;
    }
    if (view_.phase == PoolPhase::kVerifying && plan_.checks.unavailable) view_.reason = kChecksUnavailable;
    // scaledFrom shows a new leader that the pool has been healthy, because the phase does not.
    const bool counts_as_failed = plan_.offline_after_update || IsLate();
    if (rolling() && !fresh_ && !plan_.health.soaked && plan_.joining && been_healthy_ && counts_as_failed)
      view_.scaled_from = std::max<std::int64_t>(plan_.health.replicas, 1);
    if (const std::int64_t seconds = UnhealthySeconds(); seconds > 0) view_.details["unhealthySeconds"] = seconds;
  }

  // Returns the message about a paused Deployment. If the template sets `paused`, the user can't resume the Deployment,
  // because the operator would restore the field.
  std::string DescribePause() const {
    const RevisionPtr& revision = plan_.to.revision;
    if (revision != nullptr && BoolAt(revision->content.workload_template, {"spec", "paused"}))
      return "the Deployment is paused: remove paused from spec.workloadTemplate.deploymentTemplate.spec";
    const ObjectKey& key = view_.workload->object->meta().key;
    return "the Deployment is paused: `kubectl rollout resume deployment/" + key.name + " -n " + key.ns +
           "` continues it";
  }

  void SetOfflineAfterUpdate() {
    const bool outage = plan_.health.deadline_paused;
    view_.reason = outage ? kSitesOffline : kWentDarkAfterUpdate;
    view_.late = plan_.overdue && !outage;
    view_.revision_failed = view_.late && !IsExcused();
    view_.other_cause = view_.late && !view_.revision_failed;
    if (outage) {
      view_.message = "the pool went offline after its update, but pools that were not updated went offline too";
    } else if (plan_.overdue) {
      view_.message = "the pool went offline after its update, and has failed on the revision";
    } else {
      view_.message =
          "the pool went offline after its update; it counts as failed on the revision if it does not return before "
          "its deadline";
    }
  }

  // Returns whether the pool is healthy, and has phase Failed only because the server rejected a write other than the
  // pool's update.
  bool IsHealthyBehindRejection() const {
    const PoolHealth& health = plan_.health;
    const bool checks_are_known = !health.soaked || health.verified || health.check.has_value();
    return rolling() && !fresh_ && !deleting_ && !result_.failure_reason.empty() &&
           plan_.action != WorkloadAction::kUpdate && health.state == PoolHealth::State::kHealthy && checks_are_known;
  }

  // Puts into status the data with which a new leader continues the pool's soak (minReadySeconds).
  void SetSoak() {
    view_.scaled_from = plan_.health.replicas;
    if (!plan_.health.soaked) view_.details["healthySince"] = FormatTime(plan_.health.since);
  }

  // Sets the time from which the pool's soak or deadline counts. If it is later than lastTransitionTime, BuildStatus
  // sets lastTransitionTime to it, because a new leader counts from lastTransitionTime. The time of an outage does not
  // count.
  void SetCountedSince() {
    const bool is_dark = view_.phase == PoolPhase::kOffline && IsOfflineAfterUpdate(view_.reason);
    const bool counts = is_dark || view_.phase == PoolPhase::kUpdating || view_.phase == PoolPhase::kSoaking ||
                        view_.phase == PoolPhase::kUnhealthy;
    if (rolling() && counts && !fresh_) view_.counted_since = plan_.health.since;
  }

  bool IsLate() const { return view_.phase == PoolPhase::kFailed && view_.late; }

  // Returns unhealthySeconds, which a new leader reads from status, or 0. It is set:
  // - until the pool has soaked
  // - after its soak, while checks run, if the pool has been unhealthy or offline
  std::int64_t UnhealthySeconds() const {
    // If the strategy is not RollingUpdate, the value 1 marks a pool that exceeded its deadline. The pool must still
    // count as failed if a user changes the strategy to RollingUpdate.
    if (!rolling()) return IsLate() && !soaked_ ? 1 : 0;
    if (fresh_ || (plan_.health.soaked && plan_.health.verified)) return 0;
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(plan_.health.unhealthy_before).count();
    if (plan_.health.soaked || view_.phase == PoolPhase::kUpdating) return seconds;
    const bool counts = view_.phase == PoolPhase::kSoaking || view_.phase == PoolPhase::kUnhealthy ||
                        plan_.offline_after_update || IsLate();
    return counts ? std::max<std::int64_t>(seconds, 1) : 0;
  }

  void SetWait() {
    if (plan_.waiting_for == WaitingFor::kNone || view_.workload == nullptr) return;
    view_.details["waitingFor"] = ToString(plan_.waiting_for);
    const std::string end = HowItEnds(plan_, input_);
    // A new leader restores the failure of a check from the message, so nothing is added to this message.
    if (!end.empty() && view_.reason != kCheckFailed) view_.message += (view_.message.empty() ? "" : "; ") + end;
    if (plan_.waiting_for != WaitingFor::kHold || !view_.reason.empty()) return;
    if (plan_.gate.invalid_windows) view_.reason = kInvalidWindow;
    if (plan_.gate.maintenance) view_.reason = kNodeMaintenance;
  }

  // Puts into status the data with which a new leader continues the pool's checks.
  void SetCheck() {
    if (fresh_ || !plan_.health.check) return;
    const CheckProgress& check = *plan_.health.check;
    view_.details["check"] = check.name;
    if (check.since != WallTime()) view_.details["checkStartedAt"] = FormatTime(check.since);
    if (check.failures > 0) view_.details["checkFailures"] = check.failures;
    if (view_.phase == PoolPhase::kVerifying && view_.message.empty()) view_.message = plan_.checks.message;
  }

  const PoolOutcome& result_;
  const PoolPlan& plan_;
  const StatusInput& input_;
  const RollingUpdate& strategy_;
  const PoolStatusView* old_;
  PoolView view_;
  const WorkloadState* state_ = nullptr;
  bool deleting_ = false;
  bool written_ = false;             // the pool has a workload, and no write is outstanding
  bool update_outstanding_ = false;  // an update or an adoption of the workload is outstanding
  bool updated_now_ = false;         // this reconcile has updated the workload
  bool fresh_ = false;               // this reconcile has created the workload, or changed its pods
  bool healthy_ = false;       // the workload is healthy in its current generation; no change of it is outstanding
  bool soaking_ = false;       // healthy, but not for minReadySeconds yet
  bool verifying_ = false;     // not all checks of the update have passed
  bool been_healthy_ = false;  // on the pool's revision, at least once
  bool soaked_ = false;        // healthy for minReadySeconds on this revision, at least once
};

}  // namespace

PoolView MakeView(const PoolOutcome& result, const StatusInput& input, const PoolStatusIndex& old) {
  return View(result, input, old).Make();
}

}  // namespace yad
