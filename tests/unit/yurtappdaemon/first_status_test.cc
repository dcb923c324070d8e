// The first status of a daemon while the caches might not show its NodePools yet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/yurtappdaemon/world.h"

namespace yad::testing {
namespace {

using ::testing::IsEmpty;

class FirstStatusTest : public ::testing::Test {
 protected:
  void CreateDaemonAt(WallTime created) {
    world_.CreateDaemon();
    world_.cluster.SetCreated(kYurtAppDaemonType, {kNs, "web"}, FormatTime(created));
  }

  World world_;
};

TEST_F(FirstStatusTest, StatusIsNotWrittenBeforeTheCacheShowsThePoolsOfANewDaemon) {
  CreateDaemonAt(world_.clock.WallNow());
  const auto waits = world_.Reconcile();
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->next, ReconcileResult::Next::kAfter);
  EXPECT_GT(waits->after, std::chrono::seconds(1));
  EXPECT_LE(waits->after, std::chrono::seconds(2));
  EXPECT_THAT(world_.Status(), IsEmpty());
  world_.AddPools({"a"});
  world_.clock.Advance(std::chrono::milliseconds(20));
  ASSERT_TRUE(world_.Reconcile());
  EXPECT_EQ(world_.Status()["desiredPools"], 1);
  EXPECT_EQ(world_.Status()["currentRevision"], "");
}

TEST_F(FirstStatusTest, DaemonWithoutPoolsIsReadyAfterTwoSeconds) {
  CreateDaemonAt(world_.clock.WallNow());
  ASSERT_TRUE(world_.Reconcile());
  world_.clock.Advance(std::chrono::seconds(2));
  EXPECT_EQ(world_.Reconcile()->next, ReconcileResult::Next::kDone);
  EXPECT_EQ(ConditionReason(world_.Status(), "Ready"), "True NoPools");
}

TEST_F(FirstStatusTest, DaemonWithAFutureCreationTimeDoesNotWaitForPools) {
  CreateDaemonAt(world_.clock.WallNow() + std::chrono::hours(1));
  EXPECT_EQ(world_.Reconcile()->next, ReconcileResult::Next::kDone);
  EXPECT_EQ(ConditionReason(world_.Status(), "Ready"), "True NoPools");
}

}  // namespace
}  // namespace yad::testing
