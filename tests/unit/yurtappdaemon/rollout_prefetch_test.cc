// The pull of images before updates: which pools wait for it, and which pools pull now.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "operator/yurtappdaemon/rollout/rollout.h"

namespace yad {
namespace {

RolloutPool Pool(const char* name, NewImages images = NewImages::kMissing, std::size_t group = 1) {
  RolloutPool pool;
  pool.name = name;
  pool.group = group;
  pool.exists = pool.healthy = pool.been_healthy = pool.soaked = true;
  pool.images = images;
  return pool;
}

RolloutPool ShutUntil(int hour, RolloutPool pool) {
  pool.outside_window = true;
  pool.window_opens = WallTime(std::chrono::hours(hour));
  return pool;
}

RolloutPool UpdatedPool(RolloutPool pool) {
  pool.on_target = pool.updated = pool.label_names_target = true;
  pool.images = NewImages::kNone;
  return pool;
}

RolloutPool Canary() { return UpdatedPool(Pool("0", NewImages::kNone, 0)); }

// Three pools may be updated at a time, and two more may pull ahead. Pool "0" is in group "first", the others are in
// "default".
class RolloutPrefetchTest : public ::testing::Test {
 protected:
  RolloutPrefetchTest() {
    strategy_.groups.resize(2);
    strategy_.groups[0].name = "first";
    strategy_.groups[1].name = kDefaultGroup;
    strategy_.max_unavailable = {3, false};
    strategy_.prefetch.emplace();
    input_.has_current = true;
  }

  const RolloutDecision& Decide(std::vector<RolloutPool> pools) {
    input_.pools = std::move(pools);
    return decision_ = DecideRollout(input_);
  }
  // Returns one letter for each pool: U is updated, P pulls its images, "." is neither.
  std::string Steps() const {
    std::string steps;
    for (const RolloutDecision::Pool& pool : decision_.pools) {
      EXPECT_FALSE(pool.prefetch && pool.step == Step::kUpdate);
      steps += pool.step == Step::kUpdate ? 'U' : pool.prefetch ? 'P' : '.';
    }
    return steps;
  }
  std::string WaitingFor(std::size_t pool) const { return std::string(ToString(decision_.pools[pool].waiting_for)); }

  RollingUpdate strategy_;
  RolloutInput input_{strategy_};
  RolloutDecision decision_;
};

TEST_F(RolloutPrefetchTest, NextPoolsPullTheirImagesAndTheOthersWait) {
  Decide({Canary(), Pool("a"), Pool("b"), Pool("c")});
  EXPECT_EQ(Steps(), ".PP.");
  EXPECT_EQ(WaitingFor(1), "Prefetch");
  EXPECT_EQ(WaitingFor(3), "Prefetch");
  EXPECT_TRUE(decision_.pools[1].waits);
  EXPECT_FALSE(decision_.pools[1].waits_for_user);
  EXPECT_EQ(decision_.state, RolloutState::kProgressing);
  EXPECT_EQ(decision_.without_images, 3U);
  EXPECT_EQ(decision_.failed, 0U);
}

TEST_F(RolloutPrefetchTest, PoolIsUpdatedWhenItHasItsImagesAndTheNextOnePulls) {
  Decide({Canary(), Pool("a", NewImages::kPulled), Pool("b"), Pool("c"), Pool("d")});
  EXPECT_EQ(Steps(), ".UPP.");
}

TEST_F(RolloutPrefetchTest, PoolWithItsImagesKeepsThemWhileItWaitsForASlot) {
  strategy_.max_unavailable = {1, false};
  RolloutPool updating = UpdatedPool(Pool("a"));
  updating.healthy = updating.soaked = false;
  Decide({Canary(), updating, Pool("b", NewImages::kPulled), Pool("c"), Pool("d")});
  EXPECT_EQ(Steps(), "..PP.");
  EXPECT_EQ(WaitingFor(2), "Slot");
}

TEST_F(RolloutPrefetchTest, PoolWithoutNewImagesDoesNotWaitForAPull) {
  Decide({Canary(), Pool("a", NewImages::kNone), Pool("b")});
  EXPECT_EQ(Steps(), ".UP");
}

TEST_F(RolloutPrefetchTest, FirstGroupWithPoolsDoesNotWaitForImages) {
  Decide({Pool("0", NewImages::kMissing, 0), Pool("a")});
  EXPECT_EQ(Steps(), "U.");
  EXPECT_EQ(WaitingFor(1), "Group");
  Decide({Pool("a"), Pool("b")});
  EXPECT_EQ(Steps(), "UU") << "their group is the first one with pools";
}

TEST_F(RolloutPrefetchTest, PoolsOfLaterGroupsPullWhenTheFirstGroupHasSucceeded) {
  strategy_.groups.insert(strategy_.groups.begin() + 1, RolloutGroup());
  strategy_.groups[1].name = "second";
  const RolloutPool third = Pool("b", NewImages::kMissing, 2);
  Decide({Pool("0", NewImages::kMissing, 0), Pool("a"), third});
  EXPECT_EQ(Steps(), "U..");
  Decide({Canary(), Pool("a"), third});
  EXPECT_EQ(Steps(), ".PP");
  EXPECT_EQ(WaitingFor(1), "Prefetch");
  EXPECT_EQ(WaitingFor(2), "Group");
  EXPECT_EQ(decision_.without_images, 1U) << "pool b waits for its group";
  strategy_.prefetch->ahead = 1;
  Decide({Canary(), ShutUntil(7, Pool("a")), third});
  EXPECT_EQ(Steps(), ".P.") << "the order of the groups is before the order of the windows";
  strategy_.partition = {1, false};
  Decide({Canary(), Pool("a", NewImages::kLate), third});
  EXPECT_EQ(Steps(), ".P.");
}

TEST_F(RolloutPrefetchTest, GroupThatWaitsForItsApprovalPulls) {
  strategy_.groups[1].manual = true;
  Decide({Canary(), Pool("a")});
  EXPECT_EQ(Steps(), ".P");
  EXPECT_EQ(WaitingFor(1), "Approval");
  EXPECT_EQ(decision_.state, RolloutState::kWaitingForApproval);
  Decide({Canary(), Pool("a", NewImages::kPulled)});
  EXPECT_EQ(Steps(), ".P") << "the images stay until the update";
  input_.approved = {kDefaultGroup};
  Decide({Canary(), Pool("a")});
  EXPECT_EQ(Steps(), ".P");
  EXPECT_TRUE(decision_.begun.empty()) << "no update has started, so the approval may be withdrawn";
  Decide({Canary(), Pool("a", NewImages::kPulled)});
  EXPECT_EQ(decision_.begun, std::set<std::string>{kDefaultGroup});
}

TEST_F(RolloutPrefetchTest, PoolsOutsideTheirWindowsPullInTheOrderOfTheOpenings) {
  Decide({Canary(), ShutUntil(9, Pool("a")), ShutUntil(7, Pool("b")), ShutUntil(8, Pool("c"))});
  EXPECT_EQ(Steps(), "..PP");
  EXPECT_EQ(WaitingFor(2), "Window");
  EXPECT_EQ(decision_.state, RolloutState::kWaitingForWindow);
  EXPECT_EQ(decision_.without_images, 0U) << "the pools wait for their windows";
}

TEST_F(RolloutPrefetchTest, PoolsWhoseWindowsAreOpenPullFirst) {
  Decide({Canary(), ShutUntil(7, Pool("a", NewImages::kPulled)), ShutUntil(7, Pool("b")), Pool("c"), Pool("d")});
  EXPECT_EQ(Steps(), "...PP");
}

TEST_F(RolloutPrefetchTest, APullThatExceedsItsTimeoutDelaysNoOtherPool) {
  Decide({Canary(), Pool("a", NewImages::kLate), Pool("b", NewImages::kLate), Pool("c"), Pool("d"), Pool("e")});
  EXPECT_EQ(Steps(), ".PPPP.");
  EXPECT_EQ(WaitingFor(1), "Prefetch");
}

TEST_F(RolloutPrefetchTest, OfflinePoolsDoNotWaitForImages) {
  RolloutPool offline = Pool("a");
  offline.offline = true;
  offline.healthy = false;
  Decide({Canary(), offline});
  EXPECT_EQ(Steps(), ".U");
  Decide({Canary(), offline, Pool("b")});
  EXPECT_EQ(Steps(), "..P") << "offline pools are updated after the online pools of their group";
  EXPECT_EQ(WaitingFor(1), "Group");
}

TEST_F(RolloutPrefetchTest, RollbackDoesNotWaitForImages) {
  input_.target_is_current = true;
  Decide({Canary(), Pool("a"), Pool("b")});
  EXPECT_EQ(Steps(), ".UU");
  input_.revision_failed = true;
  Decide({Canary(), Pool("a"), Pool("b")});
  EXPECT_EQ(Steps(), ".UU");
}

TEST_F(RolloutPrefetchTest, NothingIsPulledWhileNoUpdateMayStart) {
  input_.frozen = true;
  Decide({Canary(), Pool("a")});
  EXPECT_EQ(Steps(), "..");
  EXPECT_EQ(WaitingFor(1), "Freeze");
  input_.frozen = false;
  input_.paused = true;
  Decide({Canary(), Pool("a")});
  EXPECT_EQ(Steps(), "..");
  input_.paused = false;
  RolloutPool failed = UpdatedPool(Pool("b"));
  failed.healthy = failed.soaked = false;
  failed.overdue = true;
  Decide({Canary(), Pool("a"), failed});
  EXPECT_EQ(Steps(), "...");
  EXPECT_EQ(decision_.state, RolloutState::kBudgetExceeded);
}

TEST_F(RolloutPrefetchTest, HeldRejectedAndPartitionedPoolsPullNothing) {
  RolloutPool held = Pool("a"), rejected = Pool("b");
  held.held = true;
  rejected.update_blocked = true;
  strategy_.partition = {1, false};
  Decide({Canary(), held, rejected, Pool("c"), Pool("d")});
  EXPECT_EQ(Steps(), "..UP.");
  EXPECT_EQ(WaitingFor(1), "Hold");
  EXPECT_EQ(WaitingFor(4), "Partition");
}

TEST_F(RolloutPrefetchTest, PoolThatWasAlreadyUnhealthyTakesNoSlotWhileItWaitsForImages) {
  strategy_.max_unavailable = {1, false};
  RolloutPool broken = Pool("a");
  broken.healthy = broken.soaked = false;
  broken.overdue = true;
  Decide({Canary(), broken, Pool("b", NewImages::kPulled)});
  EXPECT_EQ(Steps(), ".PU");
  broken.images = NewImages::kPulled;
  Decide({Canary(), broken, Pool("b", NewImages::kPulled)});
  EXPECT_EQ(Steps(), ".UP");
}

}  // namespace
}  // namespace yad
