#include "operator/yurtappdaemon/rollout/rollout.h"

#include <gtest/gtest.h>

namespace yad {
namespace {

RolloutPool Healthy(const char* name, std::size_t group = 0) {
  RolloutPool pool;
  pool.name = name;
  pool.group = group;
  pool.exists = pool.healthy = pool.soaked = true;
  return pool;
}

// Returns a strategy that has two groups and updates one pool at a time.
RollingUpdate TwoGroups() {
  RollingUpdate strategy;
  strategy.groups.resize(2);
  return strategy;
}

TEST(RolloutTest, PoolBlockedByAProblemOutsideTheRevisionDoesNotBlockTheOthers) {
  const RollingUpdate strategy = TwoGroups();
  RolloutInput input{strategy};
  input.pools = {Healthy("a"), Healthy("b"), Healthy("c", 1)};
  input.pools[0].update_blocked = true;
  RolloutDecision decision = DecideRollout(input);
  EXPECT_EQ(decision.pools[0].step, Step::kNone) << "pool b has the slot";
  EXPECT_EQ(decision.pools[1].step, Step::kUpdate);
  EXPECT_EQ(decision.pools[2].step, Step::kNone);

  input.pools[1].on_target = input.pools[1].updated = true;
  decision = DecideRollout(input);
  EXPECT_EQ(decision.pools[2].step, Step::kUpdate) << "the group before it is done";
  EXPECT_EQ(decision.pools[0].step, Step::kNone);

  input.pools[2].on_target = input.pools[2].updated = true;
  decision = DecideRollout(input);
  EXPECT_EQ(decision.pools[0].step, Step::kUpdate) << "the failed update is retried when no other pool needs the slot";
  EXPECT_EQ(decision.failed, 0U);
}

// A held pool is ignored in its group, in each state of the pool.
TEST(RolloutTest, HeldPoolNeverBlocksTheOthersAndIsNotAFailure) {
  const auto held = [](auto change) {
    RolloutPool pool = Healthy("a");
    pool.held = true;
    change(pool);
    return pool;
  };
  const std::vector<std::pair<const char*, RolloutPool>> states = {
      {"healthy", held([](RolloutPool&) {})},
      {"late", held([](RolloutPool& pool) { pool.healthy = pool.soaked = false, pool.overdue = true; })},
      {"missing, or being deleted", held([](RolloutPool& pool) { pool.exists = pool.healthy = false; })},
      {"can't be created",
       held([](RolloutPool& pool) { pool.exists = pool.healthy = false, pool.creation_blocked = true; })},
      {"rejected", held([](RolloutPool& pool) { pool.rejected = true; })},
      {"unrenderable", held([](RolloutPool& pool) { pool.unrenderable = true; })},
      {"offline", held([](RolloutPool& pool) { pool.offline = true, pool.healthy = false; })},
      {"changed", held([](RolloutPool& pool) { pool.pool_changed = true; })},
  };
  for (const bool manual : {false, true}) {
    RollingUpdate strategy = TwoGroups();
    strategy.max_unavailable = {2, false};
    strategy.groups[0].name = "first";
    strategy.groups[0].manual = manual;
    for (const auto& [name, pool] : states) {
      SCOPED_TRACE(::testing::Message() << name << (manual ? ", its group needs an approval" : ""));
      RolloutInput input{strategy};
      input.has_current = true;
      input.pools = {pool, Healthy("b", 1)};
      const RolloutDecision decision = DecideRollout(input);
      EXPECT_EQ(decision.pools[0].step, Step::kNone);
      EXPECT_EQ(decision.pools[1].step, Step::kUpdate);
      EXPECT_EQ(decision.failed, 0U);
      EXPECT_TRUE(decision.begun.empty());
      EXPECT_EQ(decision.pools[0].make_from_target, pool.on_target || pool.creation_blocked);
      input.target_is_current = true;
      EXPECT_EQ(DecideRollout(input).pools[0].step, Step::kNone) << "back";
    }
  }
}

TEST(RolloutTest, PoolThatFailedBeforeItsUpdateTakesNoSlot) {
  RollingUpdate strategy = TwoGroups();
  strategy.max_failures = {1, false};
  RolloutInput input{strategy};
  input.pools = {Healthy("a"), Healthy("b")};
  for (const bool exists : {false, true}) {
    for (const bool rejected : {false, true}) {
      RolloutPool& failed = input.pools[0] = RolloutPool{.name = "a"};
      failed.exists = exists;
      (rejected ? failed.rejected : failed.unrenderable) = true;
      const RolloutDecision decision = DecideRollout(input);
      EXPECT_EQ(decision.failed, 1U);
      EXPECT_EQ(decision.pools[0].step, Step::kNone)
          << "the failed update is retried when no other pool needs the slot";
      EXPECT_EQ(decision.pools[1].step, Step::kUpdate) << exists << rejected;
    }
  }
}

TEST(RolloutTest, DeletionThatDoesNotEndWithinTheDeadlineKeepsNoGroupWaiting) {
  const RollingUpdate strategy = TwoGroups();
  RolloutInput input{strategy};
  input.has_current = true;
  input.pools = {Healthy("a"), Healthy("b", 1)};
  input.pools[0].exists = input.pools[0].healthy = input.pools[0].soaked = false;
  EXPECT_EQ(DecideRollout(input).pools[1].waiting_for, WaitingFor::kGroup);
  input.pools[0].overdue = true;  // It may have been unhealthy before the deletion.
  EXPECT_EQ(DecideRollout(input).pools[1].waiting_for, WaitingFor::kGroup);
  input.pools[0].deletion_late = true;
  const RolloutDecision decision = DecideRollout(input);
  EXPECT_EQ(decision.pools[1].step, Step::kUpdate);
  EXPECT_EQ(decision.failed, 0U) << "the revision is not the cause";
}

TEST(RolloutTest, NextGroupDoesNotStartIfAGroupHasTooManyFailures) {
  RollingUpdate strategy = TwoGroups();
  strategy.max_failures = {2, false};
  strategy.groups[0].max_failures = {0, false};
  RolloutInput input{strategy};
  input.pools = {Healthy("a"), Healthy("b", 1)};
  input.pools[0].on_target = input.pools[0].updated = input.pools[0].overdue = true;
  input.pools[0].healthy = input.pools[0].soaked = false;
  input.pools[1].rejected = true;
  const RolloutDecision decision = DecideRollout(input);
  EXPECT_EQ(decision.state, RolloutState::kBudgetExceeded);
  EXPECT_EQ(decision.failed_group, 0U);
  EXPECT_EQ(decision.group, 0U);
  EXPECT_EQ(decision.failed, 1U) << "the rejected update is not retried, so it does not count as a failure";
  EXPECT_EQ(decision.pools[1].step, Step::kNone);
}

TEST(RolloutTest, APercentageOfAGroupCountsAllItsPools) {
  RollingUpdate strategy = TwoGroups();
  strategy.max_unavailable = {100, true};
  strategy.groups[0].max_unavailable = {50, true};
  RolloutInput input{strategy};
  input.pools = {Healthy("a"), Healthy("b"), Healthy("c"), Healthy("d")};
  for (RolloutPool& pool : input.pools) pool.offline = pool.name < "c";
  RolloutDecision both = DecideRollout(input);
  EXPECT_EQ(both.pools[2].step, Step::kUpdate);
  EXPECT_EQ(both.pools[3].step, Step::kUpdate);
  input.pools[0].offline = false;
  const RolloutDecision decision = DecideRollout(input);
  EXPECT_EQ(decision.pools[2].step, Step::kUpdate);
  EXPECT_EQ(decision.pools[3].step, Step::kNone) << "50 % of a group of four pools is two";
}

TEST(RolloutTest, PoolThatWasUnhealthyBeforeAProblemOutsideTheRevisionBlockedItTakesNoSlot) {
  const RollingUpdate strategy = TwoGroups();
  RolloutInput input{strategy};
  input.pools = {Healthy("a"), Healthy("b")};
  input.pools[0].update_blocked = input.pools[0].overdue = true;
  input.pools[0].healthy = input.pools[0].soaked = false;
  EXPECT_EQ(DecideRollout(input).pools[1].step, Step::kUpdate);
}

TEST(RolloutTest, RejectedUpdateIsNotRetriedIfOtherFailuresHaveStoppedTheRollout) {
  RollingUpdate strategy = TwoGroups();
  strategy.max_unavailable = {2, false};
  RolloutInput input{strategy};
  input.pools = {Healthy("a"), Healthy("b"), Healthy("c", 1)};
  input.pools[0].rejected = true;
  EXPECT_EQ(DecideRollout(input).pools[0].step, Step::kUpdate) << "only this rejection has stopped the rollout";
  RolloutPool& failed = input.pools[1];
  failed.on_target = failed.updated = failed.overdue = true;
  failed.healthy = failed.soaked = false;
  EXPECT_EQ(DecideRollout(input).state, RolloutState::kBudgetExceeded);
  EXPECT_EQ(DecideRollout(input).pools[0].step, Step::kNone);
  // The limit of a group has the same effect.
  strategy.max_failures = {2, false};
  EXPECT_EQ(DecideRollout(input).pools[0].step, Step::kUpdate);
  strategy.groups[0].max_failures = {0, false};
  EXPECT_EQ(DecideRollout(input).pools[0].step, Step::kNone);
  strategy.groups[0].max_failures = {1, false};
  EXPECT_EQ(DecideRollout(input).pools[0].step, Step::kUpdate);
}

TEST(RolloutTest, RejectedUpdateOfAnOfflinePoolIsNotRetriedInAStoppedRollout) {
  RollingUpdate strategy = TwoGroups();
  RolloutInput input{strategy};
  input.pools = {Healthy("a"), Healthy("b")};
  for (RolloutPool& pool : input.pools) pool.rejected = true;
  input.pools[0].offline = true;
  input.pools[0].healthy = false;
  const RolloutDecision decision = DecideRollout(input);
  EXPECT_EQ(decision.state, RolloutState::kBudgetExceeded);
  EXPECT_EQ(decision.pools[0].step, Step::kNone);
  EXPECT_EQ(decision.pools[1].step, Step::kUpdate);
}

TEST(RolloutTest, UnhealthyPoolWhoseWritesFailTakesNoSlot) {
  const RollingUpdate strategy = TwoGroups();
  RolloutInput input{strategy};
  input.has_current = true;
  input.pools = {Healthy("a"), Healthy("b")};
  input.pools[0].healthy = input.pools[0].soaked = false;
  input.pools[0].overdue = input.pools[0].write_failed = true;
  EXPECT_EQ(DecideRollout(input).pools[0].step, Step::kNone);
  EXPECT_EQ(DecideRollout(input).pools[1].step, Step::kUpdate);
  input.pools[1].on_target = input.pools[1].updated = true;
  EXPECT_EQ(DecideRollout(input).pools[0].step, Step::kUpdate) << "no other pool needs the slot";
}

TEST(RolloutTest, ChangedPoolWhoseWritesFailTakesNoSlotOfAStoppedRollout) {
  const RollingUpdate strategy = TwoGroups();
  RolloutInput input{strategy};
  input.has_current = true;
  input.pools = {Healthy("a"), Healthy("b"), Healthy("c")};
  for (const std::size_t i : {0u, 1u})
    input.pools[i].label_names_target = input.pools[i].updated = input.pools[i].pool_changed = true;
  input.pools[0].write_failed = true;
  input.pools[2].on_target = input.pools[2].updated = input.pools[2].overdue = true;
  input.pools[2].healthy = input.pools[2].soaked = false;
  const RolloutDecision decision = DecideRollout(input);
  EXPECT_EQ(decision.state, RolloutState::kBudgetExceeded);
  EXPECT_EQ(decision.pools[0].step, Step::kNone);
  EXPECT_EQ(decision.pools[1].step, Step::kUpdate);
}

// Pool a failed on the revision, and the update of pool b was rejected. maxFailures allowed both.
TEST(RolloutTest, FailedPoolTakesNoSlotOfAnUpdateAfterTheRollout) {
  RollingUpdate strategy = TwoGroups();
  strategy.max_failures = {2, false};
  RolloutInput input{strategy};
  input.has_current = input.target_is_current = true;
  input.was_complete = input.target_complete = true;
  input.pools = {Healthy("a"), Healthy("b")};
  RolloutPool& failed = input.pools[0];
  failed.on_target = failed.updated = failed.overdue = true;
  failed.healthy = failed.soaked = false;
  for (const bool is_retry : {true, false}) {
    input.pools[1].rejected = is_retry;
    EXPECT_EQ(DecideRollout(input).pools[1].step, Step::kUpdate) << is_retry;
  }
  strategy.max_failures = {0, false};
  EXPECT_EQ(DecideRollout(input).pools[1].step, Step::kNone) << "maxFailures does not allow the failure";
  strategy.max_failures = {2, false};
  input.target_complete = false;
  EXPECT_EQ(DecideRollout(input).pools[1].step, Step::kNone) << "maxFailures does not limit a rollback";
  failed.held = true;
  EXPECT_EQ(DecideRollout(input).pools[1].step, Step::kUpdate) << "a held pool releases its slot at its deadline";
  failed.overdue = false;
  EXPECT_EQ(DecideRollout(input).pools[1].step, Step::kNone) << "it keeps its slot until then";
}

// The writes of pool a always fail. The writes of the other pools failed only for a while.
TEST(RolloutTest, FailedUpdatesAreRetriedInTurn) {
  const RollingUpdate strategy = TwoGroups();
  RolloutInput input{strategy};
  input.has_current = true;
  input.pools = {Healthy("a"), Healthy("b"), Healthy("c")};
  for (RolloutPool& pool : input.pools) pool.write_failed = true;
  for (std::size_t turn = 0; turn < 6; ++turn) {
    input.turn = turn;
    const RolloutDecision decision = DecideRollout(input);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(decision.pools[i].step == Step::kUpdate, i == turn % 3) << "pool " << i << ", turn " << turn;
  }
}

// Pool a and pool c, which was not updated, are offline. The update of pool b was rejected.
TEST(RolloutTest, RejectedUpdateIsNotRetriedDuringAnOutage) {
  RollingUpdate strategy = TwoGroups();
  strategy.max_unavailable = {2, false};
  RolloutInput input{strategy};
  input.pools = {Healthy("a"), Healthy("b"), Healthy("c")};
  RolloutPool& dark = input.pools[0];
  dark.on_target = dark.updated = dark.offline = dark.offline_after_update = true;
  dark.healthy = dark.soaked = false;
  input.pools[1].rejected = true;
  RolloutPool& control = input.pools[2];
  control.offline = true;
  control.offline_since = dark.updated_at + std::chrono::seconds(1);
  const RolloutDecision decision = DecideRollout(input);
  ASSERT_TRUE(decision.outage());
  EXPECT_EQ(decision.state, RolloutState::kBudgetExceeded);
  EXPECT_EQ(decision.pools[1].step, Step::kNone);
  control.offline = false;
  EXPECT_EQ(DecideRollout(input).pools[1].step, Step::kUpdate);
}

// Pool new was created from the target. It has changed before it was healthy, and can't get the target again.
TEST(RolloutTest, NewPoolThatCannotBeUpdatedAgainKeepsNoGroupWaiting) {
  const RollingUpdate strategy = TwoGroups();
  RolloutInput input{strategy};
  input.has_current = true;
  input.pools = {Healthy("a"), Healthy("b", 1), Healthy("new")};
  input.pools[0].on_target = input.pools[0].updated = true;
  for (const bool rejected : {false, true}) {
    RolloutPool& changed = input.pools[2] = RolloutPool{.name = "new"};
    changed.exists = changed.joining = changed.updated = changed.label_names_target = changed.pool_changed = true;
    EXPECT_EQ(DecideRollout(input).pools[1].waiting_for, WaitingFor::kGroup);
    changed.write_failed = true;
    EXPECT_EQ(DecideRollout(input).pools[1].waiting_for, WaitingFor::kGroup) << "the cause may affect all pools";
    changed.write_failed = false;
    (rejected ? changed.rejected : changed.unrenderable) = true;
    const RolloutDecision decision = DecideRollout(input);
    EXPECT_EQ(decision.pools[1].step, Step::kUpdate) << rejected;
    EXPECT_EQ(decision.failed, 0U);
    input.pools[0].joining = true;
    input.pools[0].been_healthy = true;
    EXPECT_EQ(DecideRollout(input).state, RolloutState::kBudgetExceeded) << "the group has only new pools";
    input.pools[0].joining = false;
  }
}

}  // namespace
}  // namespace yad
