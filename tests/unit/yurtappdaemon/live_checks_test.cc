#include "operator/yurtappdaemon/apply/live_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/unit/yurtappdaemon/world.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr std::size_t kParallel = 4;
constexpr int kMany = 20;

std::string PoolNumber(int i) { return (i < 10 ? "pool-0" : "pool-") + std::to_string(i); }

// A plan that removes workloads. The tests count the reads of the checks before the removals.
class LiveChecksTest : public ::testing::Test {
 protected:
  explicit LiveChecksTest(const Json& daemon = DaemonJson()) {
    world_.CreateDaemon(daemon);
    world_.cluster.SetAfterwards([this](const WriteRecord& request) { ++reads_[request.resource]; });
  }

  void Removing(int pools) {
    for (int i = 0; i < pools; ++i) plan_.removals.push_back({WorkloadRef{nullptr, PoolNumber(i)}});
  }
  LiveChecks Checks() {
    daemon_ = *ParseYurtAppDaemon(world_.Daemon());
    return {world_.client, world_.clock, kNodePoolType, daemon_, plan_, kParallel, {}};
  }
  static int Allowed(LiveChecks& checks, int pools, const std::string& mark = "") {
    int allowed = 0;
    for (int i = 0; i < pools; ++i) allowed += checks.MayRemove(PoolNumber(i), mark) ? 1 : 0;
    return allowed;
  }

  World world_;
  YurtAppDaemon daemon_;
  Plan plan_;
  std::map<std::string, int> reads_;  // by resource
};

TEST_F(LiveChecksTest, ManyRemovalsShareOneListOfPoolsAndEachBatchReadsTheDaemonOnce) {
  Removing(kMany);
  LiveChecks checks = Checks();
  EXPECT_EQ(Allowed(checks, kMany), kMany);
  EXPECT_THAT(reads_, ElementsAre(Pair("nodepools", 1), Pair("yurtappdaemons", kMany / kParallel)));
}

TEST_F(LiveChecksTest, FewPoolsAreReadByName) {
  world_.AddPool("another");
  Removing(3);
  LiveChecks checks = Checks();
  EXPECT_EQ(Allowed(checks, 3), 3);
  EXPECT_THAT(reads_, ElementsAre(Pair("nodepools", 3), Pair("yurtappdaemons", 1)));
}

TEST_F(LiveChecksTest, PoolsThatTheDaemonStillSelectsKeepTheirWorkloads) {
  world_.AddPools({PoolNumber(3), PoolNumber(7)});
  Removing(kMany);
  LiveChecks checks = Checks();
  EXPECT_EQ(Allowed(checks, kMany), kMany - 2);
  const Status selected = checks.MayRemove(PoolNumber(3), "");
  ASSERT_FALSE(selected);
  EXPECT_EQ(selected.error().reason, Reason::kConflict);
}

TEST_F(LiveChecksTest, AListThatFailsAllowsNoRemoval) {
  Removing(kMany);
  for (const int code : {403, 404, 410, 500, 503}) {
    world_.cluster.SetFaults([&](const WriteRecord& r, const Json&) -> std::optional<FakeCluster::Fault> {
      if (r.resource != "nodepools") return std::nullopt;
      return FakeCluster::Fault{StatusResponse(code, "", "no"), false};
    });
    LiveChecks checks = Checks();
    EXPECT_EQ(Allowed(checks, kMany), 0) << code;
  }
}

TEST_F(LiveChecksTest, AnEditOfTheDaemonBlocksTheRemovalsOfLaterBatches) {
  Removing(kMany);
  LiveChecks checks = Checks();
  EXPECT_EQ(Allowed(checks, 2), 2);
  world_.SetImage("app:2");
  EXPECT_EQ(Allowed(checks, kMany), static_cast<int>(kParallel) - 2);
}

TEST_F(LiveChecksTest, ChangedTokenBlocksTheRemovalsOfLaterBatches) {
  const auto allow = [&](const std::string& mark) {
    world_.EditDaemon([&](Json& daemon) { daemon["metadata"]["annotations"][kAllowRemovalAnnotation] = mark; });
  };
  allow("token");
  Removing(kMany);
  LiveChecks checks = Checks();
  EXPECT_EQ(Allowed(checks, kParallel, "token"), static_cast<int>(kParallel));
  allow("another");
  EXPECT_EQ(Allowed(checks, kMany, "token"), 0);
}

TEST_F(LiveChecksTest, APoolThatReturnsIsDetectedAfterTheSharedListExpires) {
  Removing(kMany);
  LiveChecks checks = Checks();
  EXPECT_TRUE(checks.MayRemove(PoolNumber(0), ""));
  world_.AddPool(PoolNumber(1));
  world_.clock.Advance(kSharedResponseAge + std::chrono::milliseconds(1));
  EXPECT_FALSE(checks.MayRemove(PoolNumber(1), ""));
  EXPECT_TRUE(checks.MayRemove(PoolNumber(2), ""));
}

// The daemon selects pools by their type. A list of metadata does not contain the type.
class LiveChecksByTypeTest : public LiveChecksTest {
 protected:
  LiveChecksByTypeTest() : LiveChecksTest(OnlyEdge()) {}
  static Json OnlyEdge() {
    Json daemon = DaemonJson();
    daemon["spec"]["nodePools"]["type"] = "Edge";
    return daemon;
  }
};

TEST_F(LiveChecksByTypeTest, APoolOfTheSelectedTypeKeepsItsWorkload) {
  Json edge = PoolJson(PoolNumber(1)), cloud = PoolJson(PoolNumber(2));
  edge["spec"]["type"] = "Edge";
  cloud["spec"]["type"] = "Cloud";
  world_.cluster.Create(kNodePoolType, edge);
  world_.cluster.Create(kNodePoolType, cloud);
  Removing(kMany);
  LiveChecks checks = Checks();
  EXPECT_FALSE(checks.MayRemove(PoolNumber(1), ""));
  EXPECT_TRUE(checks.MayRemove(PoolNumber(2), ""));
  EXPECT_EQ(reads_["nodepools"], 1);
}

TEST_F(LiveChecksTest, UpdatesForTheTaintsOfManyPoolsShareOneList) {
  const RevisionPtr revision = MakeRevision(world_.Daemon());
  for (int i = 0; i < kMany; ++i) {
    world_.AddPool(PoolNumber(i), {"shop"});
    PoolPlan& pool = plan_.pools.emplace_back();
    pool.pool = PoolNumber(i);
    pool.action = WorkloadAction::kUpdate;
    pool.from = {revision, {}};
    pool.to = {revision, InputsFor(revision->content, MakePool(PoolJson(pool.pool, {"shop"})).pool())};
  }
  world_.cluster.Edit(kNodePoolType, {"", PoolNumber(5)}, [](Json& pool) { pool["spec"].erase("taints"); });
  world_.RemovePool(PoolNumber(6));
  LiveChecks checks = Checks();
  int as_planned = 0;
  for (const PoolPlan& pool : plan_.pools) as_planned += checks.InputsAreAsPlanned(pool) ? 1 : 0;
  EXPECT_EQ(as_planned, kMany - 2);
  EXPECT_EQ(reads_["nodepools"], 1);
}

}  // namespace
}  // namespace yad::testing
