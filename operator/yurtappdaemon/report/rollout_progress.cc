#include "operator/yurtappdaemon/report/rollout_progress.h"

#include "operator/api/well_known.h"
#include "operator/base/join.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "operator/yurtappdaemon/observe/status_view.h"

namespace yad {
namespace {

Condition Progress(const char* status, const char* reason, std::string message) {
  return {kProgressingCondition, status, reason, std::move(message)};
}

std::string WaitsForPools(const RolloutDecision& decision) {
  if (decision.waiting.empty()) return "";
  return "; waiting for " + NameSome({decision.waiting.begin(), decision.waiting.end()});
}

std::string WaitsForImages(const RolloutDecision& decision) {
  if (decision.without_images == 0) return "";
  return "; " + Pluralize(decision.without_images, "waits until its", "wait until their") +
         " nodes have the new images";
}

// Returns the end of a message, which lists the pools that are not on currentRevision after a rollback. Returns "" if
// all pools are.
std::string Except(const RolloutDecision& decision) {
  std::string text;
  const auto add = [&](const char* why, const std::vector<std::string_view>& pools) {
    if (pools.empty()) return;
    text += (text.empty() ? ", except for those " : ", and those ") + std::string(why) + ": " +
            NameSome({pools.begin(), pools.end()});
  };
  add("that are held", decision.held);
  add("whose update the server rejects", decision.rejected);
  return text;
}

std::string NextOpening(const Rollout& rollout) {
  if (!rollout.next_window) return rollout.window_error.empty() ? "" : "; no window opens: " + rollout.window_error;
  return "; the next one opens at " + FormatTime(*rollout.next_window->opens) + " (" +
         rollout.next_window->opens_locally + ")";
}

// Returns a phrase such as: group "north" (2 of 3). Returns "" if there is only one group.
std::string GroupAtWork(const RollingUpdate& strategy, const RolloutDecision& decision) {
  if (strategy.groups.size() == 1) return "";
  return "group \"" + strategy.groups[decision.group].name + "\" (" + std::to_string(decision.group_number) + " of " +
         std::to_string(decision.groups) + "): ";
}

std::string BudgetExceeded(const RollingUpdate& strategy, const RolloutDecision& decision, const Revision& revision) {
  if (!revision.failed_at.empty())
    return "revision " + revision.name + " failed at " + revision.failed_at +
           ", and currentRevision is not known: no pool is updated until the template is changed";
  if (decision.failed_group && decision.failed <= decision.failures_allowed)
    return "more pools of group \"" + strategy.groups[*decision.failed_group].name + "\" failed on revision " +
           revision.name +
           " than its maxFailures allows: no further pool is updated; run `kubectl yad undo`, fix the template, or "
           "raise "
           "maxFailures of the group in spec.updateStrategy.rollingUpdate.groups";
  return Pluralize(decision.failed, "pool") + " failed on revision " + revision.name + ", and maxFailures allows " +
         std::to_string(decision.failures_allowed) +
         ": no further pool is updated; run `kubectl yad undo`, fix the template, or raise "
         "spec.updateStrategy.rollingUpdate.maxFailures";
}

}  // namespace

std::string DescribeFreeze(const Freeze& freeze) {
  if (!freeze.known) return "no update starts, because the operator can't check " + freeze.reason;
  std::string text = "updates of all YurtAppDaemons are frozen";
  if (freeze.until) text += " until " + FormatTime(*freeze.until);
  if (!freeze.reason.empty()) text += ": " + freeze.reason;
  return text + " (kubectl yad unfreeze)";
}

std::string DescribeBlockingError(const Snapshot& snapshot) {
  const std::string checks = ChecksError(snapshot);
  if (!checks.empty()) return "no update starts, because checks can't run: " + checks;
  return "no update starts, because images can't be prefetched: " + snapshot.prefetch_error;
}

std::optional<Condition> ProgressOf(const Snapshot& snapshot, const Rollout& rollout) {
  const RolloutDecision& decision = rollout.decision;
  const RollingUpdate& strategy = snapshot.daemon.strategy.rolling;
  const std::string update = snapshot.update->name;
  const std::string done =
      std::to_string(decision.group_done) + " of " + std::to_string(decision.group_pools) + " pools are ";
  switch (decision.state) {
    case RolloutState::kProgressing:
      if (rollout.target.rolled_back) {
        return Progress("True", kRollingBack,
                        "revision " + update + " failed; " + done + "back on " + rollout.target.revision->name +
                            WaitsForPools(decision));
      }
      return Progress("True", kRollingOut,
                      (rollout.target.is_current ? "" : GroupAtWork(strategy, decision)) + done + "updated" +
                          WaitsForPools(decision) + WaitsForImages(decision));
    case RolloutState::kWaitingForApproval: {
      const std::string& group = strategy.groups[decision.group].name;
      return Progress("Unknown", kWaitingForApproval,
                      GroupAtWork(strategy, decision) + "waits for approval: kubectl yad approve " +
                          snapshot.daemon.meta.key.name + " " + group + ", or annotate " + kApproveAnnotation + "=" +
                          update + "/" + group);
    }
    case RolloutState::kWaitingForWindow:
      return Progress("True", kWaitingForWindow,
                      GroupAtWork(strategy, decision) + done + "updated; " +
                          Pluralize(decision.delayed, "waits for its", "wait for their") + " update window" +
                          NextOpening(rollout));
    case RolloutState::kFrozen:
      if (!snapshot.freeze) {
        return Progress("False", ChecksError(snapshot).empty() ? kDaemonSetsUnreadable : kChecksUnavailable,
                        done + "updated; " + DescribeBlockingError(snapshot));
      }
      return Progress("True", kFrozen, done + "updated; " + DescribeFreeze(*snapshot.freeze));
    case RolloutState::kBudgetExceeded:
      return Progress("False", kBudgetExceeded, BudgetExceeded(strategy, decision, *snapshot.update));
    case RolloutState::kOutage:
      return Progress(
          "True", kSitesOffline,
          Pluralize(decision.offline_after_update, "pool went offline after its", "pools went offline after their") +
              " update, and " + Pluralize(decision.control_offline, "pool that was", "pools that were") +
              " not updated went offline too: no update starts until these pools return");
    case RolloutState::kComplete:
      if (!rollout.target.rolled_back) break;
      return Progress("False", kRolledBack,
                      "revision " + update + " failed at " + snapshot.update->failed_at + ": the pools are on " +
                          rollout.target.revision->name + Except(decision) +
                          "; the failed revision is not retried until the template is changed");
    case RolloutState::kPaused:
      break;
  }
  return std::nullopt;
}

}  // namespace yad
