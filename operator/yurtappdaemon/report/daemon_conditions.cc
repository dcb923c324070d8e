#include "operator/yurtappdaemon/report/daemon_conditions.h"

#include "operator/base/join.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"

namespace yad {
namespace {

// The reason and the message of conditions if all pools are offline.
constexpr char kAllPoolsOffline[] = "AllPoolsOffline";
constexpr char kNoReadyNodeText[] = "no selected pool has a ready node";

// Returns whether more pools have failed on updateRevision than maxFailures of the daemon or of a group allows.
bool HasTooManyFailures(const PoolCounts& counts, const StatusInput& input) {
  if (!input.rollout) return counts.failures() > 0;
  const auto pools = static_cast<std::size_t>(counts.desired);
  const RollingUpdate& strategy = input.snapshot.daemon.strategy.rolling;
  return input.rollout->decision.failed_group ||
         counts.failures() > static_cast<std::int64_t>(strategy.max_failures.Of(pools));
}

// Returns whether the server rejects the workloads of pools that do not have updateRevision, for example of new pools,
// and more pools have failed than maxFailures allows.
//
// Returns false while currentRevision is not yet updateRevision, so condition Complete stays True. If Complete became
// False, failures after the rollout would cause a rollback (RolloutInput::all_updated).
bool RejectsTooMany(const StatusInput& input, const PoolCounts& counts) {
  if (counts.unwritten == 0 || (input.rollout && !input.rollout->target.is_current)) return false;
  return HasTooManyFailures(counts, input);
}

bool IsComplete(const StatusInput& input, const PoolCounts& counts) {
  if (input.rollout && input.rollout->target.rolled_back) return false;
  // Later changes of health are not part of the rollout.
  const bool was_complete = WasRolledOut(input.previous, input.snapshot.update->name) && !input.was_incomplete;
  if (was_complete && counts.unassigned == 0 && !RejectsTooMany(input, counts)) return true;
  return IsRolledOut(counts, input) && !counts.all_offline();
}

Condition Ready(const PoolCounts& counts) {
  if (counts.desired == 0) return {kReadyCondition, "True", "NoPools", "no NodePool is selected"};
  if (!counts.not_ready.empty()) {
    return {kReadyCondition, "False", "PoolsNotReady", "not ready: " + NameSome(counts.not_ready)};
  }
  if (counts.all_offline()) return {kReadyCondition, "Unknown", kAllPoolsOffline, kNoReadyNodeText};
  if (counts.waiting > 0) {
    return {kReadyCondition, "False", "PoolsWaiting",
            Pluralize(counts.waiting, "pool waits", "pools wait") + " to be updated to the update revision"};
  }
  return {kReadyCondition, "True", "PoolsReady", "every pool that is not offline is ready"};
}

Condition Progressing(const StatusInput& input, const PoolCounts& counts, bool complete) {
  const YurtAppDaemon& daemon = input.snapshot.daemon;
  const std::string progress =
      std::to_string(counts.updated) + " of " + std::to_string(counts.desired) + " pools are updated";
  const auto condition = [](const char* status, const char* reason, const std::string& message) {
    return Condition{kProgressingCondition, status, reason, message};
  };
  if (daemon.paused)
    return condition("Unknown", kPaused,
                     "spec.paused is true: no pool is updated to another revision (kubectl yad resume " +
                         daemon.meta.key.name + ")");
  if (complete) {
    return condition("True", kRolloutComplete,
                     std::to_string(counts.settled) + " of " + std::to_string(counts.desired) + " pools are updated");
  }
  if (input.rollout) {
    if (auto of_rollout = ProgressOf(input.snapshot, *input.rollout, counts.rollout)) return *of_rollout;
  }
  if (counts.on_their_way > 0) return condition("True", kRollingOut, progress);
  if (counts.waiting_for_user > 0 && !input.rollout && input.snapshot.freeze) {
    return condition("True", kFrozen, progress + "; " + DescribeFreeze(*input.snapshot.freeze));
  }
  if (HasTooManyFailures(counts, input))
    return condition("False", counts.deadline_exceeded > 0 ? kDeadlineExceeded : kBudgetExceeded, progress);
  if (counts.waiting_for_user > 0 && daemon.strategy.type == UpdateStrategyType::kOnDelete) {
    return condition("True", kWaitingForDeletion,
                     Pluralize(counts.waiting_for_user, "pool is updated when its", "pools are updated when their") +
                         " workload is deleted (OnDelete)");
  }
  if (input.rollout && !input.rollout->decision.held.empty()) {
    const auto& held = input.rollout->decision.held;
    return condition(
        "True", kPoolsHeld,
        progress + "; held: " + NameSome({held.begin(), held.end()}) +
            (counts.release_helps ? " (kubectl yad release " + (held.size() == 1 ? std::string(held[0]) : "POOL") + ")"
                                  : ""));
  }
  if (counts.waiting_for_user > 0) {
    return condition("True", kPartitionReached,
                     progress + "; updateStrategy.rollingUpdate.partition keeps " +
                         Pluralize(counts.waiting_for_user, "pool on its", "pools on their") + " current revision");
  }
  return condition("True", kRolloutComplete, progress);
}

Condition Complete(const StatusInput& input, const PoolCounts& counts, bool complete, const Condition& progressing) {
  if (complete) {
    const std::int64_t failed = counts.failures() + counts.other_cause;
    if (failed == 0)
      return {kCompleteCondition, "True", kRolloutComplete, "every selected pool has the update revision"};
    const PoolView& first = *counts.first_of_rollout;
    return {kCompleteCondition, "True", "CompleteWithFailures",
            Pluralize(failed, "pool has failed", "pools have failed") + " (" +
                DescribeFailure(first.name, first.reason, first.message, static_cast<std::size_t>(failed)) + "); " +
                (input.rollout ? "maxFailures allows this, or the revision is not the cause"
                               : "the revision is not the cause")};
  }
  if (counts.all_offline() && progressing.reason == kRolloutComplete) {
    return {kCompleteCondition, "False", kAllPoolsOffline, kNoReadyNodeText};
  }
  return {kCompleteCondition, "False", progressing.reason, progressing.message};
}

// Returns whether the pool is offline, and the server rejects the write of its workload for a reason that may last.
bool IsRejectedOffline(const PoolView& view, const PoolOutcome& result) {
  if (view.phase != PoolPhase::kOffline || result.failure_reason.empty()) return false;
  return view.other_cause || CountsAsFailure(result.failure_reason, result.failure_message);
}

// Returns whether a RollingUpdate waits for the pool because its update failed for a reason that may affect all pools:
// a webhook fails, or the operator lacks a permission. The pool is then neither done nor failed on the revision.
bool IsAwaitedAfterFailedWrite(const PoolView& view, const PoolOutcome& result) {
  return !view.assigned && !view.late && IsCausedByRevision(result.failure_reason) &&
         !CountsAsFailure(result.failure_reason, result.failure_message);
}

// Returns whether condition Reconciling (kstatus) is set. It is not set while only a user can continue the rollout,
// because tools would wait for its end forever.
bool IsReconciling(const StatusInput& input, const PoolCounts& counts, bool complete, const Condition& progressing) {
  if (complete) return false;
  const std::string& reason = progressing.reason;
  if (reason == kRollingOut || reason == kRollingBack || reason == kSitesOffline) return true;
  if (progressing.status == "False") return false;
  // After a rollback, no pool is updated to status.updateRevision. So updates to other revisions count instead.
  const bool rolled_back = input.rollout && input.rollout->target.rolled_back;
  return (rolled_back ? counts.in_motion : counts.on_their_way) > 0;
}

// Returns whether messages about the rollout count the pool: it is in the current group, or the rollout has no groups.
bool IsShown(const Rollout& rollout, std::size_t pool) {
  return rollout.target.is_current || rollout.decision.pools[pool].group == rollout.decision.group;
}

}  // namespace

PoolCounts CountPools(const std::vector<PoolView>& views, const StatusInput& input) {
  const std::vector<PoolOutcome>& results = input.pools;
  const std::optional<Rollout>& rollout = input.rollout;
  PoolCounts counts;
  const PoolView* first_on_target = nullptr;  // the first pool whose failure stops the rollout
  std::size_t failed_on_target = 0;
  counts.desired = static_cast<std::int64_t>(views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    const PoolView& view = views[i];
    const PoolPlan& plan = *results[i].plan;
    const bool offline = view.phase == PoolPhase::kOffline;
    const bool failed = view.phase == PoolPhase::kFailed || (plan.offline_after_update && view.late) ||
                        (offline && view.reason == kCheckFailed) || IsRejectedOffline(view, results[i]);
    counts.updated += view.updated;
    counts.ready += view.ready && !offline;
    counts.failed += failed;
    counts.offline += offline;
    counts.invalid_names += results[i].failure_reason == kInvalidPoolName;
    counts.provisioned += view.workload != nullptr;
    counts.waiting_for_user += plan.waits_for_user;
    counts.release_helps |= plan.waiting_for == WaitingFor::kHold && plan.gate.by_annotation();
    counts.waiting += plan.waits;
    // A pool that waits for its update has not failed on the update revision.
    const bool waits = plan.waiting_for != WaitingFor::kNone;
    const bool awaited = rollout && IsAwaitedAfterFailedWrite(view, results[i]);
    const bool revision_failed = view.revision_failed && failed && !waits && !awaited;
    if (revision_failed) ++(view.late ? counts.deadline_exceeded : counts.rejected);
    counts.unwritten += revision_failed && !view.late && !view.assigned;
    const bool of_other_cause = view.other_cause && failed && !view.settled;
    counts.other_cause += of_other_cause;
    if ((revision_failed || of_other_cause) && counts.first_of_rollout == nullptr) counts.first_of_rollout = &view;
    const bool gave_up = revision_failed || (view.other_cause && !waits);
    counts.settled += view.settled;
    counts.unsettled += !view.settled && !gave_up;
    counts.unassigned += !view.assigned && !gave_up;
    counts.on_their_way += !view.settled && !gave_up && (!failed || awaited) && !plan.waits_for_user;
    counts.in_motion +=
        view.phase == PoolPhase::kUpdating || view.phase == PoolPhase::kSoaking || view.phase == PoolPhase::kVerifying;
    if (failed && counts.first_failure == nullptr) counts.first_failure = &view;
    if (!offline && view.phase != PoolPhase::kReady && view.phase != PoolPhase::kSoaking &&
        view.phase != PoolPhase::kVerifying) {
      counts.not_ready.push_back(std::string(view.name) + " (" + std::string(ToString(view.phase)) + ")");
    }
    if (rollout && rollout->decision.StopsRollout(rollout->decision.pools[i]) && failed_on_target++ == 0)
      first_on_target = &view;
    if (rollout && IsShown(*rollout, i)) {
      ++counts.rollout.pools;
      counts.rollout.updated += view.updated;
      counts.rollout.failed += failed;
      counts.rollout.held += plan.waiting_for == WaitingFor::kHold;
    }
  }
  if (first_on_target != nullptr) {
    const PoolView& first = *first_on_target;
    counts.rollout.failure = DescribeFailure(first.name, first.reason, first.message, failed_on_target);
  }
  return counts;
}

bool IsRolledOut(const PoolCounts& counts, const StatusInput& input) {
  return counts.unsettled == 0 && !HasTooManyFailures(counts, input);
}

void SetConditions(const StatusInput& input, const PoolCounts& counts, Conditions& conditions) {
  const bool paused = input.snapshot.daemon.paused;
  const bool complete = IsComplete(input, counts);
  const Condition progressing = Progressing(input, counts, complete);
  conditions.Set(Ready(counts));
  conditions.Set(Complete(input, counts, complete, progressing));
  conditions.Set(progressing);
  const auto set_if = [&](bool is_true, const char* type) {
    is_true ? conditions.Set({type, "True", progressing.reason, progressing.message}) : conditions.Remove(type);
  };
  set_if(IsReconciling(input, counts, complete, progressing), kReconcilingCondition);
  set_if(progressing.status == "False", kStalledCondition);
  if (counts.failed > 0) {
    conditions.Set({"Degraded", "True", "PoolsFailed",
                    std::to_string(counts.failed) + " of " + std::to_string(counts.desired) + " pools failed"});
  } else {
    conditions.Set({"Degraded", "False", "NoFailures", "no pool has failed"});
  }
  conditions.Set({"Paused", paused ? "True" : "False", paused ? "SpecPaused" : "NotPaused",
                  paused ? "spec.paused is true" : "spec.paused is not true"});
}

void SetBlockedConditions(const std::string& reason, const std::string& message, Conditions& conditions) {
  const std::string stays = "the spec is not applied; the workloads are not changed";
  conditions.Set({kReadyCondition, "False", reason, message});
  conditions.Set({kCompleteCondition, "False", reason, stays});
  conditions.Set({kProgressingCondition, "False", reason, stays});
  conditions.Set({kStalledCondition, "True", reason, message});
  conditions.Remove(kReconcilingCondition);
}

}  // namespace yad
