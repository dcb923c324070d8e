#include "operator/yurtappdaemon/next_reconcile.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace yad {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Error Rejected(std::optional<milliseconds> retry_after = std::nullopt) {
  return Error{Reason::kForbidden, "exceeded quota", 403, retry_after, {}};
}

std::string Text(Duration time) {
  if (time == Duration::max()) return "any time";
  return std::to_string(std::chrono::duration_cast<milliseconds>(time).count()) + " ms";
}

std::string Text(const Result<ReconcileResult>& result) {
  if (!result) return "error: " + result.error().message;
  switch (result->next) {
    case ReconcileResult::Next::kDone:
      return "done";
    case ReconcileResult::Next::kNow:
      return "now";
    case ReconcileResult::Next::kAfter:
      return "after " + Text(result->after);
    case ReconcileResult::Next::kBackoff:
      return "backoff, at least " + Text(result->at_least) + ", at most " + Text(result->after);
  }
  return "";
}

Plan WithState(RolloutState state) {
  Plan plan;
  plan.pools.resize(2);
  plan.rollout = Rollout{};
  plan.rollout->decision.state = state;
  return plan;
}

struct LookRow {
  const char* situation;
  RequeueReasons reasons;
  const char* next;
};

TEST(NextReconcileTest, EachSituationHasItsNextReconcile) {
  const std::vector<LookRow> rows = {
      {"nothing is left", {}, "done"},
      {"a soak ends", {.plan_due = seconds(30)}, "after 30000 ms"},
      {"a write is paced", {.paced_due = seconds(8)}, "after 8000 ms"},
      {"a paced write is due before a soak ends", {.plan_due = seconds(30), .paced_due = seconds(8)}, "after 8000 ms"},
      {"pods are read again before a soak ends",
       {.plan_due = seconds(30), .diagnosis_due = seconds(5)},
       "after 5000 ms"},
      {"the status waits for its second", {.status_due = milliseconds(400)}, "after 400 ms"},
      {"the status waits, and a soak ends before",
       {.status_due = milliseconds(400), .plan_due = milliseconds(100)},
       "after 400 ms"},
      {"removals are undecided", {.removals_due = milliseconds(900)}, "after 900 ms"},
      {"a window opens while removals are undecided",
       {.removals_due = seconds(5), .plan_due = seconds(2)},
       "after 2000 ms"},
      {"the status waits while removals are undecided",
       {.status_due = milliseconds(400), .removals_due = milliseconds(900)},
       "after 400 ms"},
      {"a write failed", {.retry = Rejected()}, "error: exceeded quota"},
      {"a write failed, and a soak ends",
       {.retry = Rejected(), .plan_due = seconds(30)},
       "backoff, at least 0 ms, at most 30000 ms"},
      {"a write failed, and another one is paced",
       {.retry = Rejected(), .paced_due = seconds(8)},
       "backoff, at least 0 ms, at most 8000 ms"},
      {"a write failed, and pods are read again: the backoff is not cut short",
       {.retry = Rejected(), .diagnosis_due = seconds(5)},
       "error: exceeded quota"},
      {"the server wants a retry later, and a soak ends",
       {.retry = Rejected(seconds(3)), .plan_due = seconds(30)},
       "backoff, at least 3000 ms, at most 30000 ms"},
      {"a write failed, and the status waits",
       {.status_due = milliseconds(400), .retry = Rejected()},
       "backoff, at least 0 ms, at most 400 ms"},
      {"the server wants a retry later than the status is due",
       {.status_due = milliseconds(400), .retry = Rejected(seconds(3))},
       "backoff, at least 3000 ms, at most 3000 ms"},
      {"a removal that no cache shows", {.unseen_removal = true}, "backoff, at least 0 ms, at most any time"},
      {"a removal that no cache shows, and a soak ends",
       {.plan_due = seconds(30), .unseen_removal = true},
       "backoff, at least 0 ms, at most 30000 ms"},
  };
  for (const LookRow& row : rows) EXPECT_EQ(Text(NextReconcile(row.reasons)), row.next) << row.situation;
}

TEST(HealthPaceTest, HealthIsReadOftenDuringARolloutAndAfterWrites) {
  EXPECT_EQ(HealthPaceAfter(WithState(RolloutState::kProgressing)), kFastHealthPace);
  Plan writes = WithState(RolloutState::kComplete);
  writes.pools[1].action = WorkloadAction::kCreate;
  EXPECT_EQ(HealthPaceAfter(writes), kFastHealthPace);
  writes.rollout.reset();
  EXPECT_EQ(HealthPaceAfter(writes), kFastHealthPace);
}

TEST(HealthPaceTest, HealthIsReadSlowlyWithoutARunningRollout) {
  for (const RolloutState state : {RolloutState::kComplete, RolloutState::kWaitingForApproval,
                                   RolloutState::kWaitingForWindow, RolloutState::kFrozen, RolloutState::kPaused})
    EXPECT_GE(HealthPaceAfter(WithState(state)), kSlowHealthPace);
  EXPECT_EQ(HealthPaceAfter(Plan{}), kSlowHealthPace);
}

TEST(HealthPaceTest, HealthIsReadLessOftenForManyPools) {
  Plan plan;
  plan.pools.resize(500);
  EXPECT_EQ(HealthPaceAfter(plan), milliseconds(3100));
  plan.pools.resize(975);
  EXPECT_EQ(HealthPaceAfter(plan), seconds(5));
  plan.pools.resize(5000);
  EXPECT_EQ(HealthPaceAfter(plan), seconds(5));
}

}  // namespace
}  // namespace yad
