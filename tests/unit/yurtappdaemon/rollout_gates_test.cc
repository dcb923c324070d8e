// Gates that delay the start of an update: update windows, the freeze, and the failure limit of a group.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "operator/yurtappdaemon/rollout/rollout.h"

namespace yad {
namespace {

RolloutPool HealthyPool(const char* name, std::size_t group = 0) {
  RolloutPool pool;
  pool.name = name;
  pool.group = group;
  pool.exists = pool.healthy = pool.been_healthy = pool.soaked = true;
  return pool;
}

RolloutPool OutsideWindow(RolloutPool pool) {
  pool.outside_window = true;
  return pool;
}

// Returns the pool after its update by this rollout, healthy and soaked.
RolloutPool Updated(RolloutPool pool) {
  pool.on_target = pool.updated = pool.label_names_target = true;
  return pool;
}

// Returns the pool after its update by this rollout, not yet healthy.
RolloutPool Updating(RolloutPool pool) {
  pool = Updated(pool);
  pool.healthy = pool.been_healthy = pool.soaked = false;
  return pool;
}

RolloutPool Failed(RolloutPool pool) {
  pool = Updating(pool);
  pool.overdue = true;
  return pool;
}

// A strategy with groups "first" and "default", which updates one pool at a time.
class RolloutGatesTest : public ::testing::Test {
 protected:
  RolloutGatesTest() {
    strategy_.groups.resize(2);
    strategy_.groups[0].name = "first";
    strategy_.groups[1].name = kDefaultGroup;
    input_.has_current = true;
  }

  const RolloutDecision& Decide(std::vector<RolloutPool> pools) {
    input_.pools = std::move(pools);
    return Decide();
  }
  const RolloutDecision& Decide() { return decision_ = DecideRollout(input_); }

  // Returns one letter for each pool: U is updated to the target (the wanted revision), A keeps its revision and is
  // updated for a change of the pool, "." is not updated.
  std::string Steps() const {
    std::string steps;
    for (const RolloutDecision::Pool& pool : decision_.pools)
      steps += pool.step == Step::kNone ? '.' : pool.step == Step::kUpdate ? 'U' : 'A';
    return steps;
  }
  std::string WaitingFor(std::size_t pool) const { return std::string(ToString(decision_.pools[pool].waiting_for)); }
  bool IsHeldAndDoesNotWait(std::size_t pool) const {
    return decision_.pools[pool].waits_for_user && !decision_.pools[pool].waits;
  }

  RollingUpdate strategy_;
  RolloutInput input_{strategy_};
  RolloutDecision decision_;
};

TEST_F(RolloutGatesTest, PoolOutsideItsWindowTakesNoSlotAndIsNotAFailure) {
  Decide({OutsideWindow(HealthyPool("a")), HealthyPool("b"), HealthyPool("c")});
  EXPECT_EQ(Steps(), ".U.");
  EXPECT_EQ(WaitingFor(0), "Window");
  EXPECT_EQ(WaitingFor(2), "Slot");
  EXPECT_TRUE(IsHeldAndDoesNotWait(0));
  EXPECT_TRUE(decision_.pools[2].waits);
  EXPECT_EQ(decision_.failed, 0U);
  EXPECT_EQ(decision_.delayed, 1U);
  EXPECT_EQ(decision_.state, RolloutState::kProgressing) << "pool b is updated";
}

TEST_F(RolloutGatesTest, RolloutWaitsForWindowsIfOnlyPoolsWithClosedWindowsRemain) {
  Decide({OutsideWindow(HealthyPool("a")), Updated(HealthyPool("b")), OutsideWindow(HealthyPool("c"))});
  EXPECT_EQ(Steps(), "...");
  EXPECT_EQ(decision_.state, RolloutState::kWaitingForWindow);
  EXPECT_EQ(decision_.delayed, 2U);
  EXPECT_TRUE(decision_.waiting.empty());
  input_.pools[2].outside_window = false;
  EXPECT_EQ(Decide().state, RolloutState::kProgressing);
  EXPECT_EQ(Steps(), "..U");
}

TEST_F(RolloutGatesTest, UpdatedPoolsIgnoreTheirWindows) {
  Decide({OutsideWindow(Updated(HealthyPool("a"))), OutsideWindow(Updated(HealthyPool("b", 1)))});
  EXPECT_EQ(decision_.state, RolloutState::kComplete);
  EXPECT_EQ(decision_.delayed, 0U);
  Decide({OutsideWindow(Updating(HealthyPool("a"))), HealthyPool("b", 1)});
  EXPECT_EQ(decision_.state, RolloutState::kProgressing) << "a window does not interrupt an update";
  EXPECT_EQ(decision_.waiting, std::vector<std::string_view>{"a"});
  EXPECT_EQ(WaitingFor(0), "");
}

TEST_F(RolloutGatesTest, NoUpdateStartsDuringAFreeze) {
  input_.frozen = true;
  Decide({HealthyPool("a"), OutsideWindow(HealthyPool("b")), HealthyPool("c", 1)});
  EXPECT_EQ(Steps(), "...");
  EXPECT_EQ(decision_.state, RolloutState::kFrozen);
  EXPECT_EQ(WaitingFor(0), "Freeze");
  EXPECT_EQ(WaitingFor(1), "Freeze") << "the freeze comes before the window";
  EXPECT_EQ(WaitingFor(2), "Group");
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(IsHeldAndDoesNotWait(i)) << i;
  EXPECT_EQ(decision_.failed, 0U);
  EXPECT_EQ(decision_.delayed, 2U);
  input_.frozen = false;
  EXPECT_EQ(Decide().state, RolloutState::kProgressing);
  EXPECT_EQ(Steps(), "U..");
}

TEST_F(RolloutGatesTest, FreezeDoesNotInterruptAnUpdate) {
  input_.frozen = true;
  Decide({Updating(HealthyPool("a")), HealthyPool("b")});
  EXPECT_EQ(decision_.state, RolloutState::kProgressing);
  EXPECT_EQ(decision_.waiting, std::vector<std::string_view>{"a"});
  EXPECT_EQ(WaitingFor(1), "Freeze");
  Decide({Updated(HealthyPool("a")), HealthyPool("b")});
  EXPECT_EQ(decision_.state, RolloutState::kFrozen);
  Decide({Updated(HealthyPool("a")), Updated(HealthyPool("b"))});
  EXPECT_EQ(decision_.state, RolloutState::kComplete) << "a freeze that delays nothing is not reported";
}

TEST_F(RolloutGatesTest, GroupWaitsForItsPoolsOutsideTheirWindows) {
  Decide({OutsideWindow(HealthyPool("a")), HealthyPool("b", 1)});
  EXPECT_EQ(Steps(), "..");
  EXPECT_EQ(decision_.state, RolloutState::kWaitingForWindow);
  EXPECT_EQ(decision_.group, 0U);
  EXPECT_EQ(WaitingFor(1), "Group");
  EXPECT_TRUE(IsHeldAndDoesNotWait(1)) << "only the closed gate of the other group delays this pool";
  Decide({OutsideWindow(HealthyPool("a")), Updating(HealthyPool("b")), HealthyPool("c", 1)});
  EXPECT_EQ(decision_.state, RolloutState::kProgressing);
  EXPECT_TRUE(decision_.pools[2].waits) << "pool b makes progress";
  EXPECT_FALSE(decision_.pools[2].waits_for_user);
}

TEST_F(RolloutGatesTest, PoolOfALaterGroupWaitsForItsGroupBeforeItsWindow) {
  Decide({HealthyPool("a"), OutsideWindow(HealthyPool("b", 1))});
  EXPECT_EQ(Steps(), "U.");
  EXPECT_EQ(WaitingFor(1), "Group");
  EXPECT_EQ(decision_.delayed, 0U) << "the pool's group has not started";
}

TEST_F(RolloutGatesTest, OfflinePoolWaitsForItsWindowToo) {
  RolloutPool offline = OutsideWindow(HealthyPool("a"));
  offline.offline = true;
  offline.healthy = false;
  Decide({offline, Updated(HealthyPool("b")), Updated(HealthyPool("c", 1))});
  EXPECT_EQ(Steps(), "...");
  EXPECT_EQ(WaitingFor(0), "Window");
  EXPECT_EQ(decision_.state, RolloutState::kWaitingForWindow);
  Decide({offline, Updated(HealthyPool("b")), HealthyPool("c", 1)});
  EXPECT_EQ(Steps(), "..U") << "the group is done without the offline pool";
  offline.outside_window = false;
  Decide({offline, Updated(HealthyPool("b")), Updated(HealthyPool("c", 1))});
  EXPECT_EQ(Steps(), "U..");
  input_.frozen = true;
  Decide();
  EXPECT_EQ(Steps(), "...");
  EXPECT_EQ(WaitingFor(0), "Freeze");
}

TEST_F(RolloutGatesTest, RollbackIgnoresWindowsAndTheFreezeButNotAHold) {
  strategy_.max_unavailable = {3, false};
  input_.target_is_current = input_.revision_failed = true;
  RolloutPool held = OutsideWindow(HealthyPool("c"));
  held.held = true;
  for (const bool frozen : {false, true}) {
    input_.frozen = frozen;
    Decide({OutsideWindow(HealthyPool("a")), OutsideWindow(HealthyPool("b", 1)), held});
    EXPECT_EQ(Steps(), "UU.") << frozen;
    EXPECT_EQ(decision_.state, RolloutState::kProgressing);
    EXPECT_EQ(WaitingFor(2), "Hold");
    EXPECT_TRUE(decision_.pools[0].make_from_target);
    EXPECT_EQ(decision_.delayed, 0U);
  }
}

TEST_F(RolloutGatesTest, RejectedUpdateIsRetriedDespiteClosedGatesOnlyInARollback) {
  strategy_.max_failures = {1, false};
  for (RolloutPool pool : {HealthyPool("a"), OutsideWindow(HealthyPool("a"))}) {
    const bool outside = pool.outside_window;
    for (const bool rejected : {false, true}) {
      (rejected ? pool.rejected : pool.update_blocked) = true;
      input_.target_is_current = false;
      Decide({pool, Updated(HealthyPool("b"))});
      EXPECT_EQ(Steps(), outside ? ".." : "U.") << outside << rejected;
      EXPECT_EQ(WaitingFor(0), "") << "the pool's write was rejected";
      EXPECT_EQ(decision_.delayed, 0U);
      EXPECT_NE(decision_.state, RolloutState::kWaitingForWindow);
      input_.target_is_current = true;
      Decide();
      EXPECT_EQ(Steps(), "U.") << outside << rejected;
      pool.rejected = pool.update_blocked = false;
    }
  }
}

// The other pools have finished, so `target_is_current` is true. This pool's update was rejected earlier, and is not a
// rollback. The operator may no longer have the information that the update failed, for example after a change of the
// leader.
TEST_F(RolloutGatesTest, FailedUpdateIsRetriedAfterTheRolloutOnlyIfItsGateIsOpen) {
  input_.target_is_current = true;
  for (bool RolloutPool::*failure :
       {&RolloutPool::rejected, &RolloutPool::update_blocked, &RolloutPool::write_failed, &RolloutPool::exists}) {
    RolloutPool late = HealthyPool("a");
    late.*failure = true;
    input_.target_complete = true;
    Decide({OutsideWindow(late), Updated(HealthyPool("b"))});
    EXPECT_EQ(Steps(), "..");
    Decide({late, Updated(HealthyPool("b"))});
    EXPECT_EQ(Steps(), "U.");
    input_.frozen = true;
    Decide();
    EXPECT_EQ(Steps(), "..");
    input_.target_complete = false;
    Decide();
    EXPECT_EQ(Steps(), "U.") << "a rollback waits for no gate";
    input_.frozen = false;
  }
}

TEST_F(RolloutGatesTest, PoolWhoseWriteFailedShowsItsClosedGate) {
  RolloutPool failed = OutsideWindow(HealthyPool("a"));
  failed.write_failed = true;
  for (const bool is_current : {false, true}) {
    input_.target_is_current = input_.target_complete = is_current;
    Decide({failed, Updated(HealthyPool("b"))});
    EXPECT_EQ(Steps(), "..");
    EXPECT_EQ(WaitingFor(0), "Window");
    EXPECT_TRUE(IsHeldAndDoesNotWait(0));
    EXPECT_EQ(decision_.state, RolloutState::kWaitingForWindow);
  }
  input_.target_is_current = input_.target_complete = false;
  failed.outside_window = false;
  Decide({HealthyPool("c"), failed});
  EXPECT_EQ(Steps(), "U.") << "a failed write is retried last";
  EXPECT_EQ(WaitingFor(1), "");
  input_.paused = true;
  Decide();
  EXPECT_EQ(WaitingFor(1), "Pause");
}

TEST_F(RolloutGatesTest, ApprovedGroupDoesNotBeginWhileItsGatesAreClosed) {
  strategy_.groups[0].manual = true;
  input_.approved = {"first"};
  Decide({OutsideWindow(HealthyPool("a")), HealthyPool("b", 1)});
  EXPECT_EQ(decision_.state, RolloutState::kWaitingForWindow);
  EXPECT_TRUE(decision_.begun.empty()) << "a user may still withdraw the approval";
  Decide({HealthyPool("a"), HealthyPool("b", 1)});
  EXPECT_EQ(decision_.begun, std::set<std::string>{"first"});
}

TEST_F(RolloutGatesTest, OfflinePoolThatWaitsBehindAClosedWindowDoesNotCountAsProgress) {
  RolloutPool offline = HealthyPool("z");
  offline.offline = true;
  offline.healthy = false;
  Decide({OutsideWindow(HealthyPool("a")), offline});
  EXPECT_EQ(decision_.state, RolloutState::kWaitingForWindow);
  EXPECT_EQ(Steps(), "..");
  EXPECT_TRUE(IsHeldAndDoesNotWait(1)) << "a tool must not wait until the window opens";
}

TEST_F(RolloutGatesTest, RejectedPoolThatExceedsTheBudgetIsRetriedWhenItsGateOpens) {
  RolloutPool rejected = OutsideWindow(HealthyPool("a"));
  rejected.rejected = true;
  Decide({rejected, HealthyPool("b")});
  EXPECT_EQ(decision_.state, RolloutState::kBudgetExceeded);
  EXPECT_EQ(Steps(), "..");
  input_.pools[0].outside_window = false;
  Decide();
  EXPECT_EQ(Steps(), "U.");
}

TEST_F(RolloutGatesTest, HoldIsReportedBeforeOtherGates) {
  RolloutPool held = OutsideWindow(HealthyPool("a"));
  held.held = true;
  input_.frozen = true;
  Decide({held, Updated(HealthyPool("b")), HealthyPool("c", 1)});
  EXPECT_EQ(WaitingFor(0), "Hold");
  EXPECT_EQ(WaitingFor(2), "Freeze") << "the group is done without the held pool";
  EXPECT_EQ(decision_.delayed, 1U);
}

TEST_F(RolloutGatesTest, PauseApprovalAndPartitionAreReportedBeforeTheGates) {
  input_.frozen = true;
  input_.paused = true;
  Decide({HealthyPool("a")});
  EXPECT_EQ(decision_.state, RolloutState::kPaused);
  EXPECT_EQ(WaitingFor(0), "Pause");
  input_.paused = false;
  strategy_.groups[0].manual = true;
  Decide();
  EXPECT_EQ(decision_.state, RolloutState::kWaitingForApproval);
  EXPECT_EQ(WaitingFor(0), "Approval");
  input_.approved = {"first"};
  Decide();
  EXPECT_EQ(decision_.state, RolloutState::kFrozen);
  strategy_.partition = {1, false};
  Decide();
  EXPECT_EQ(decision_.state, RolloutState::kComplete);
  EXPECT_EQ(WaitingFor(0), "Partition");
  EXPECT_EQ(decision_.delayed, 0U);
}

TEST_F(RolloutGatesTest, PoolsWhoseGatesAreOpenGetTheSlots) {
  strategy_.max_unavailable = {2, false};
  Decide({OutsideWindow(HealthyPool("a")), HealthyPool("b"), OutsideWindow(HealthyPool("c")), HealthyPool("d"),
          HealthyPool("e")});
  EXPECT_EQ(Steps(), ".U.U.");
  EXPECT_EQ(WaitingFor(4), "Slot");
}

TEST_F(RolloutGatesTest, PoolThatWasAlreadyUnhealthyTakesNoSlotWhileItsGateIsClosed) {
  RolloutPool broken = HealthyPool("a");
  broken.healthy = false;
  broken.overdue = true;
  Decide({broken, HealthyPool("b")});
  EXPECT_EQ(Steps(), "U.") << "the unhealthy pool is updated first, in the slot that it takes";
  Decide({OutsideWindow(broken), HealthyPool("b")});
  EXPECT_EQ(Steps(), ".U");
  EXPECT_EQ(decision_.failed, 0U);
  broken.overdue = false;
  Decide({OutsideWindow(broken), HealthyPool("b")});
  EXPECT_EQ(Steps(), "..") << "the unavailable pool takes the slot";
}

TEST_F(RolloutGatesTest, MissingWorkloadIsCreatedFromTheNewRevisionOnlyIfTheGatesAreOpen) {
  RolloutPool missing;
  missing.name = "a";
  Decide({missing, Updated(HealthyPool("b"))});
  EXPECT_TRUE(decision_.pools[0].make_from_target);
  Decide({OutsideWindow(missing), Updated(HealthyPool("b"))});
  EXPECT_FALSE(decision_.pools[0].make_from_target);
  input_.frozen = true;
  Decide({missing, Updated(HealthyPool("b"))});
  EXPECT_FALSE(decision_.pools[0].make_from_target);
  input_.target_is_current = true;
  Decide();
  EXPECT_TRUE(decision_.pools[0].make_from_target) << "the target is the current revision";
}

// A change of the pool itself, such as a new taint, restarts pods as an update does.
TEST_F(RolloutGatesTest, ChangeOfAPoolWaitsForItsGates) {
  for (const bool back : {false, true}) {  // true: the daemon is at rest, and the target is its current revision
    for (const bool label_names_target : {false, true}) {
      SCOPED_TRACE(::testing::Message() << "back " << back << ", labelled " << label_names_target);
      if (back && !label_names_target) continue;
      input_.target_is_current = back;
      input_.frozen = false;
      RolloutPool changed = HealthyPool("a");
      changed.pool_changed = true;
      changed.label_names_target = label_names_target;
      // A workload of an old revision is updated for the change of its pool (A) before the update of its group begins.
      changed.group = label_names_target ? 0 : 1;
      const std::string other = label_names_target ? "" : ".";
      std::vector<RolloutPool> pools = {changed};
      if (!label_names_target) pools.push_back(Updating(HealthyPool("b")));
      strategy_.max_unavailable = {2, false};
      Decide(pools);
      EXPECT_EQ(Steps(), (label_names_target ? "U" : "A") + other);
      input_.pools[0].outside_window = true;
      Decide();
      EXPECT_EQ(Steps(), "." + other);
      input_.pools[0].outside_window = false;
      input_.frozen = true;
      Decide();
      EXPECT_EQ(Steps(), "." + other);
    }
  }
}

TEST_F(RolloutGatesTest, ChangeOfAPoolAfterTheRolloutIsReportedAsWaiting) {
  input_.target_is_current = true;
  RolloutPool changed = OutsideWindow(HealthyPool("a"));
  changed.pool_changed = changed.label_names_target = true;
  Decide({changed, Updated(HealthyPool("b"))});
  EXPECT_EQ(decision_.state, RolloutState::kWaitingForWindow);
  EXPECT_EQ(WaitingFor(0), "Window");
  EXPECT_TRUE(IsHeldAndDoesNotWait(0));
  input_.frozen = true;
  Decide();
  EXPECT_EQ(decision_.state, RolloutState::kFrozen);
  EXPECT_EQ(WaitingFor(0), "Freeze");
}

TEST_F(RolloutGatesTest, ChangedPoolIsRolledBackWhileItsGatesAreClosed) {
  input_.target_is_current = true;
  input_.frozen = true;
  RolloutPool changed = OutsideWindow(HealthyPool("a"));
  changed.pool_changed = true;
  Decide({changed});
  EXPECT_EQ(Steps(), "U") << "the pool has the failed revision";
}

class GroupBudgetTest : public RolloutGatesTest {
 protected:
  GroupBudgetTest() {
    strategy_.max_failures = {10, false};
    strategy_.max_unavailable = {10, false};
  }
};

TEST_F(GroupBudgetTest, GroupWithMoreFailuresThanItsOwnLimitStopsTheRollout) {
  strategy_.groups[0].max_failures = {1, false};
  Decide({Failed(HealthyPool("a")), HealthyPool("b"), HealthyPool("c", 1)});
  EXPECT_EQ(Steps(), ".U.") << "one failure is allowed";
  EXPECT_FALSE(decision_.failed_group);
  Decide({Failed(HealthyPool("a")), Failed(HealthyPool("b")), HealthyPool("c"), HealthyPool("d", 1)});
  EXPECT_EQ(Steps(), "....");
  EXPECT_EQ(decision_.state, RolloutState::kBudgetExceeded);
  EXPECT_EQ(decision_.failed_group, 0U);
  EXPECT_EQ(decision_.failed, 2U);
  EXPECT_LE(decision_.failed, decision_.failures_allowed) << "the limit of all groups is not exceeded";
  EXPECT_EQ(WaitingFor(2), "Pause");
  EXPECT_FALSE(decision_.roll_back);
  strategy_.rollback = true;
  EXPECT_TRUE(Decide().roll_back);
}

TEST_F(GroupBudgetTest, NextGroupStartsAfterAGroupWithinItsLimit) {
  strategy_.groups[0].max_failures = {1, false};
  Decide({Failed(HealthyPool("a")), Updated(HealthyPool("b")), HealthyPool("c", 1)});
  EXPECT_EQ(Steps(), "..U");
}

TEST_F(GroupBudgetTest, NextGroupDoesNotStartAfterAGroupThatExceededItsLimit) {
  strategy_.groups[0].max_failures = {0, false};
  Decide({Failed(HealthyPool("a")), Updated(HealthyPool("b")), HealthyPool("c", 1)});
  EXPECT_EQ(Steps(), "...");
  EXPECT_EQ(decision_.failed_group, 0U);
  EXPECT_EQ(decision_.group, 0U) << "messages name this group";
  EXPECT_FALSE(decision_.pools[2].make_from_target);
}

TEST_F(GroupBudgetTest, PercentageCountsThePoolsOfTheGroup) {
  strategy_.groups[1].max_failures = {50, true};
  strategy_.groups[0].max_failures = {100, true};
  Decide({Failed(HealthyPool("a")), Failed(HealthyPool("b", 1)), HealthyPool("c", 1), HealthyPool("d", 1)});
  EXPECT_FALSE(decision_.failed_group) << "two of three pools may fail, rounded up";
  Decide({Failed(HealthyPool("a")), Failed(HealthyPool("b", 1)), Failed(HealthyPool("c", 1)), HealthyPool("d", 1)});
  EXPECT_FALSE(decision_.failed_group);
  Decide({Failed(HealthyPool("a")), Failed(HealthyPool("b", 1)), Failed(HealthyPool("c", 1)),
          Failed(HealthyPool("d", 1))});
  EXPECT_EQ(decision_.failed_group, 1U);
}

TEST_F(GroupBudgetTest, LimitForAllGroupsIsCheckedToo) {
  strategy_.max_failures = {0, false};
  strategy_.groups[0].max_failures = {100, true};
  Decide({Failed(HealthyPool("a")), HealthyPool("b")});
  EXPECT_EQ(decision_.state, RolloutState::kBudgetExceeded);
  EXPECT_FALSE(decision_.failed_group);
}

TEST_F(GroupBudgetTest, FailuresDoNotStopARollback) {
  strategy_.groups[0].max_failures = {0, false};
  input_.target_is_current = true;
  Decide({Failed(HealthyPool("a")), HealthyPool("b")});
  EXPECT_EQ(Steps(), ".U");
  EXPECT_NE(decision_.state, RolloutState::kBudgetExceeded);
}

TEST_F(GroupBudgetTest, PoolsOutsideTheirWindowsAreNotFailuresOfTheirGroup) {
  strategy_.groups[0].max_failures = {0, false};
  RolloutPool broken = OutsideWindow(HealthyPool("a"));
  broken.healthy = false;
  broken.overdue = true;
  Decide({broken, HealthyPool("b")});
  EXPECT_FALSE(decision_.failed_group);
  EXPECT_EQ(Steps(), ".U");
}

}  // namespace
}  // namespace yad
