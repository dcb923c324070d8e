#include "operator/yurtappdaemon/report/rollout_progress.h"

#include "operator/api/well_known.h"
#include "operator/base/join.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"

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

// Returns the end of a message, which lists the pools that are not on currentRevision after a rollback, or "" if all
// pools are on it.
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

// Returns the current group as the beginning of a message, such as "group \"north\" (2 of 3): ". Returns "" if there is
// only one group, and in a rollback.
std::string GroupAtWork(const RollingUpdate& strategy, const Rollout& rollout) {
  const RolloutDecision& decision = rollout.decision;
  if (strategy.groups.size() == 1 || rollout.target.is_current) return "";
  return "group \"" + strategy.groups[decision.group].name + "\" (" + std::to_string(decision.group_number) + " of " +
         std::to_string(decision.groups) + "): ";
}

std::string UpdatedPools(const RolloutNumbers& numbers) {
  std::string text = std::to_string(numbers.updated) + " of " + std::to_string(numbers.pools) + " pools are updated";
  if (numbers.failed > 0) text += ", " + std::to_string(numbers.failed) + " failed";
  if (numbers.held > 0) text += ", " + std::to_string(numbers.held) + " held";
  return text;
}

std::string InBrackets(const std::string& text) { return text.empty() ? "" : " (" + text + ")"; }

std::string BudgetExceeded(const YurtAppDaemon& daemon, const RolloutDecision& decision, const Revision& revision,
                           const RolloutNumbers& numbers) {
  if (!revision.failed_at.empty())
    return "revision " + revision.name + " failed at " + revision.failed_at + InBrackets(revision.failure) +
           ", and currentRevision is not known: no pool is updated until the template is changed";
  const std::vector<RolloutGroup>& groups = daemon.strategy.rolling.groups;
  const std::string on_revision = " failed on revision " + revision.name + InBrackets(numbers.failure);
  const std::string stops =
      ": no further pool is updated; run `kubectl yad undo " + daemon.meta.key.name + "`, fix the template, or raise ";
  if (decision.failed_group && decision.failed <= decision.failures_allowed)
    return "more pools of group \"" + groups[*decision.failed_group].name + "\"" + on_revision +
           " than its maxFailures allows" + stops +
           "maxFailures of the group in spec.updateStrategy.rollingUpdate.groups";
  return Pluralize(decision.failed, "pool") + on_revision + ", and maxFailures allows " +
         std::to_string(decision.failures_allowed) + stops + "spec.updateStrategy.rollingUpdate.maxFailures";
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

std::string DescribeFailure(std::string_view pool, const std::string& reason, const std::string& message,
                            std::size_t failed) {
  constexpr std::size_t kLongestFailure = 200;
  std::string text = "pool " + std::string(pool);
  if (!reason.empty()) text += ": " + reason;
  if (!message.empty()) text += ": " + Cut(message, kLongestFailure);
  if (failed > 1) text += ", and " + Pluralize(failed - 1, "more pool");
  return text;
}

std::optional<Condition> ProgressOf(const Snapshot& snapshot, const Rollout& rollout, const RolloutNumbers& numbers) {
  const RolloutDecision& decision = rollout.decision;
  const RollingUpdate& strategy = snapshot.daemon.strategy.rolling;
  const std::string update = snapshot.update->name;
  const std::string& name = snapshot.daemon.meta.key.name;
  const std::string failure = InBrackets(snapshot.update->failure);
  const bool rolled_back = rollout.target.rolled_back;
  const std::string updated =
      rolled_back ? "revision " + update + " failed" + failure + "; " + std::to_string(decision.back) + " of " +
                        std::to_string(decision.pools.size()) + " pools are back on " + rollout.target.revision->name
                  : GroupAtWork(strategy, rollout) + UpdatedPools(numbers);
  switch (decision.state) {
    case RolloutState::kProgressing:
      return Progress("True", rolled_back ? kRollingBack : kRollingOut,
                      updated + WaitsForPools(decision) + WaitsForImages(decision));
    case RolloutState::kWaitingForApproval: {
      const std::string& group = strategy.groups[decision.group].name;
      return Progress("Unknown", kWaitingForApproval,
                      GroupAtWork(strategy, rollout) + "waits for approval: kubectl yad approve " + name + " " + group +
                          ", or annotate " + kApproveAnnotation + "=" + update + "/" + group);
    }
    case RolloutState::kWaitingForWindow:
      return Progress("True", kWaitingForWindow,
                      updated + "; " + Pluralize(decision.delayed, "waits for its", "wait for their") +
                          " update window" + NextOpening(rollout));
    case RolloutState::kFrozen:
      if (!snapshot.freeze) {
        return Progress("False", ChecksError(snapshot).empty() ? kDaemonSetsUnreadable : kChecksUnavailable,
                        updated + "; " + DescribeBlockingError(snapshot));
      }
      return Progress("True", kFrozen, updated + "; " + DescribeFreeze(*snapshot.freeze));
    case RolloutState::kBudgetExceeded:
      return Progress("False", kBudgetExceeded, BudgetExceeded(snapshot.daemon, decision, *snapshot.update, numbers));
    case RolloutState::kOutage:
      return Progress(
          "True", kSitesOffline,
          Pluralize(decision.offline_after_update, "pool went offline after its", "pools went offline after their") +
              " update, and " + Pluralize(decision.control_offline, "pool that was", "pools that were") +
              " not updated went offline too: no update starts until these pools return");
    case RolloutState::kComplete:
      if (!rolled_back) break;
      return Progress("False", kRolledBack,
                      "revision " + update + " failed at " + snapshot.update->failed_at + failure +
                          ": the pools are on " + rollout.target.revision->name + Except(decision) +
                          "; the failed revision is not retried until the template is changed: `kubectl yad undo " +
                          name + "` restores the earlier spec, `kubectl yad restart " + name +
                          "` tries this template again");
    case RolloutState::kPaused:
      break;
  }
  return std::nullopt;
}

}  // namespace yad
