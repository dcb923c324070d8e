#include "operator/yurtappdaemon/rollout.h"

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

// One pool at a time, two groups.
RollingUpdate TwoGroups() {
  RollingUpdate strategy;
  strategy.groups.resize(2);
  return strategy;
}

TEST(RolloutTest, OneThatIsRefusedForNoFaultOfTheRevisionHoldsUpNobody) {
  const RollingUpdate strategy = TwoGroups();
  RolloutInput input{strategy};
  input.pools = {Healthy("a"), Healthy("b"), Healthy("c", 1)};
  input.pools[0].blocked = true;
  RolloutDecision decision = DecideRollout(input);
  EXPECT_EQ(decision.pools[0].step, Step::kNone) << "the slot is another's";
  EXPECT_EQ(decision.pools[1].step, Step::kMove);
  EXPECT_EQ(decision.pools[2].step, Step::kNone);

  input.pools[1].on_goal = input.pools[1].updated = true;
  decision = DecideRollout(input);
  EXPECT_EQ(decision.pools[2].step, Step::kMove) << "its group is done";
  EXPECT_EQ(decision.pools[0].step, Step::kNone);

  input.pools[2].on_goal = input.pools[2].updated = true;
  decision = DecideRollout(input);
  EXPECT_EQ(decision.pools[0].step, Step::kMove) << "it is tried again when nobody else needs the slot";
  EXPECT_EQ(decision.failed, 0U);
}

TEST(RolloutTest, OneThatHasFailedBeforeItWasMovedTakesNoSlotFromTheOthers) {
  RollingUpdate strategy = TwoGroups();
  strategy.max_failures = {1, false};
  RolloutInput input{strategy};
  input.pools = {Healthy("a"), Healthy("b")};
  for (const bool exists : {false, true}) {
    for (const bool refused : {false, true}) {
      RolloutPool& failed = input.pools[0] = RolloutPool{.name = "a"};
      failed.exists = exists;
      (refused ? failed.refused : failed.unrenderable) = true;
      const RolloutDecision decision = DecideRollout(input);
      EXPECT_EQ(decision.failed, 1U);
      EXPECT_EQ(decision.pools[0].step, Step::kNone) << "it is tried again when nobody else needs the slot";
      EXPECT_EQ(decision.pools[1].step, Step::kMove) << exists << refused;
    }
  }
}

TEST(RolloutTest, APercentageOfAGroupIsOneOfAllItsPools) {
  RollingUpdate strategy = TwoGroups();
  strategy.max_unavailable = {100, true};
  strategy.groups[0].max_unavailable = {50, true};
  RolloutInput input{strategy};
  input.pools = {Healthy("a"), Healthy("b"), Healthy("c"), Healthy("d")};
  for (RolloutPool& pool : input.pools) pool.offline = pool.name < "c";
  RolloutDecision both = DecideRollout(input);
  EXPECT_EQ(both.pools[2].step, Step::kMove);
  EXPECT_EQ(both.pools[3].step, Step::kMove);
  input.pools[0].offline = false;
  const RolloutDecision decision = DecideRollout(input);
  EXPECT_EQ(decision.pools[2].step, Step::kMove);
  EXPECT_EQ(decision.pools[3].step, Step::kNone) << "two of four";
}

}  // namespace
}  // namespace yad
