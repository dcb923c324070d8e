// A new leader in the middle of a rollout, which restores its state from status, and from caches that lack a revision.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/yurtappdaemon/check_rollout_fixture.h"

namespace yad {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RolloutNewLeaderTest : public CheckRolloutTest {
 protected:
  // Returns more pools than status lists.
  static std::vector<std::string> ManyPools() {
    std::vector<std::string> pools;
    for (int i = 0; i < 510; ++i) pools.push_back("p" + std::to_string(1000 + i));
    return pools;
  }
  void DeleteRevision(const std::string& name) { world_.cluster.Delete(kControllerRevisionType, {kNs, name}); }
  // Returns the number of reads of the revision from now on.
  std::shared_ptr<int> CountReadsOf(const std::string& revision) {
    auto reads = std::make_shared<int>(0);
    world_.cluster.SetFaults([=](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
      *reads += request.method == "GET" && request.key.name == revision;
      return std::nullopt;
    });
    return reads;
  }
};

INSTANTIATE_TEST_SUITE_P(Kind, RolloutNewLeaderTest,
                         ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet));

TEST_P(RolloutNewLeaderTest, KeepsTheTimesThatAClockSetForwardHasMoved) {
  Deployed({"a", "b", "c", "d", "e"},
           {{"maxUnavailable", 4}, {"minReadySeconds", 30}, {"progressDeadlineSeconds", 60}});
  world_.SetImage("app:2");
  Look();
  Heal("a");
  Heal("c");
  GoOffline("d");
  Look();
  Break("c");
  Look();
  const auto expect_progress = [&] {
    EXPECT_EQ(Images(), "a=2 b=2 c=2 d=2 e=1");
    EXPECT_EQ(Phase("a"), "Soaking");
    EXPECT_EQ(Phase("b"), "Updating");
    EXPECT_EQ(Phase("c"), "Unhealthy");
    EXPECT_EQ(Phase("d"), "Offline WentDarkAfterUpdate");
    EXPECT_EQ(Progressing(), "True RollingOut");
  };
  expect_progress();
  world_.clock.SetWall(world_.clock.WallNow() + std::chrono::hours(1));
  Look();
  world_.cluster.ClearWrites();
  Wait(seconds(5));
  EXPECT_THAT(world_.Writes(), IsEmpty());
  world_.Restart();
  Wait(seconds(10));
  expect_progress();
  Wait(seconds(60));
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
}

TEST_P(RolloutNewLeaderTest, RollsBackToARevisionThatTheCacheLacks) {
  Deployed({"a", "b"}, {{"maxUnavailable", 2}, {"progressDeadlineSeconds", 30}, {"onFailure", "Rollback"}});
  const std::string good = Current();
  world_.SetImage("app:bad");
  Look();
  EXPECT_EQ(Images(), "a=bad b=bad");
  // The watch does not show a revision without its label.
  world_.cluster.Edit(kControllerRevisionType, {kNs, good},
                      [](Json& revision) { revision["metadata"]["labels"].erase(kOurRevisionLabel); });
  world_.Restart();
  Wait(seconds(10));
  EXPECT_EQ(Current(), good);
  Wait(seconds(35));
  EXPECT_EQ(Current(), good);
  EXPECT_TRUE(IsMarkedFailed());
  EXPECT_EQ(Images(), "a=1 b=1");
}

TEST_P(RolloutNewLeaderTest, DoesNotReadACurrentRevisionThatIsGoneAgain) {
  Deployed({"a", "b"}, {{"maxUnavailable", 2}});
  const std::string good = Current();
  world_.SetImage("app:2");
  Look();
  Heal("a");
  DeleteRevision(good);
  Look();
  EXPECT_EQ(Current(), "");
  const auto reads = CountReadsOf(good);
  Wait(seconds(30));
  Heal("b");
  Look();
  EXPECT_EQ(*reads, 0);
  EXPECT_EQ(Current(), StringAt(world_.Status(), {"updateRevision"}));
  EXPECT_EQ(Complete(), "True RolloutComplete");
}

TEST_P(RolloutNewLeaderTest, RevisionThatFailedIsNotRolledOutAgainWithoutACurrentRevision) {
  Play([&] {
    Deployed({"a", "b"}, {{"progressDeadlineSeconds", 30}, {"onFailure", "Rollback"}});
    const std::string good = Current();
    world_.SetImage("app:bad");
    Step(35);
    Heal("a");
    Step();
    EXPECT_EQ(Progressing(), "False RolledBack");
    DeleteRevision(good);
    Step();
    Step(100);
    EXPECT_EQ(Images(), "a=1 b=1");
    EXPECT_EQ(Current(), "");
    EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
    EXPECT_THAT(Message(), HasSubstr("failed at"));
    EXPECT_EQ(WaitingFor("a"), "Pause");
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Images(), "a=2 b=1");
  });
}

// The earlier leader updated a pool that the list in status omits, and then could no longer write status.
TEST_P(RolloutNewLeaderTest, ChecksAPoolWhoseUpdateATruncatedStatusDoesNotShow) {
  if (GetParam() != WorkloadKind::kDeployment) return;
  // The pool is one of the last in the order of names, so the list in status omits it.
  DeployedWithChecks(ManyPools(), Json::array({ConditionCheckJson()}),
                     {{"groups", {{{"name", "first"}, {"pools", {"p1505"}}}}}});
  world_.cluster.SetFaults([](const WriteRecord& write, const Json&) -> std::optional<FakeCluster::Fault> {
    if (write.subresource != "status") return std::nullopt;
    return FakeCluster::Fault{StatusResponse(500, "InternalError", "etcd is away"), false};
  });
  world_.SetImage("app:2");
  for (int i = 0; i < 3; ++i) static_cast<void>(world_.Reconcile());
  EXPECT_EQ(ImageOf(world_.Workload("p1505")), "app:2");
  Heal("p1505");
  world_.clock.Advance(seconds(30));
  world_.cluster.SetFaults(nullptr);
  world_.Restart();
  Look();
  EXPECT_EQ(Phase("p1505"), "Verifying");
  EXPECT_EQ(ImageOf(world_.Workload("p1000")), "app:1");
  SetCondition("p1505", "True");
  Look();
  EXPECT_EQ(ImageOf(world_.Workload("p1000")), "app:2");
}

TEST_P(RolloutNewLeaderTest, ChecksUpdatedPoolsThatATruncatedStatusDoesNotShow) {
  if (GetParam() != WorkloadKind::kDeployment) return;
  const std::vector<std::string> pools = ManyPools();
  DeployedWithChecks(pools, Json::array({ConditionCheckJson()}), {{"maxUnavailable", 510}});
  world_.SetImage("app:2");
  Look();
  world_.RunWorkloadControllers();
  Wait(seconds(180));
  EXPECT_EQ(Phase("p1000"), "Verifying");
  world_.Restart();
  Look();
  for (std::size_t i = 0; i < 500; ++i) SetCondition(pools[i], "True");
  Look();
  EXPECT_EQ(Phase("p1509"), "Verifying");
  EXPECT_EQ(Complete(), "False RollingOut");
  for (std::size_t i = 500; i < pools.size(); ++i) SetCondition(pools[i], "True");
  Look();
  EXPECT_EQ(Complete(), "True RolloutComplete");
}

TEST_P(RolloutNewLeaderTest, SitesThatATruncatedStatusDoesNotShowHaveNotJustGoneOffline) {
  if (GetParam() != WorkloadKind::kDeployment) return;
  std::vector<std::string> pools = ManyPools();
  pools.push_back("canary");
  Deployed(pools, {{"progressDeadlineSeconds", 60}, {"groups", {{{"name", "first"}, {"pools", {"canary"}}}}}});
  for (const std::string& pool : ManyPools()) GoOffline(pool);
  Look();
  world_.clock.Advance(std::chrono::hours(100));
  world_.SetImage("app:2");
  Look();
  GoOffline("canary");
  Look();
  ASSERT_EQ(Phase("canary"), "Offline WentDarkAfterUpdate");
  world_.Restart();
  Look();
  EXPECT_EQ(Phase("canary"), "Offline WentDarkAfterUpdate");
  Wait(seconds(60));
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
}

// A failed repair does not change the health of the pool in status. So the next leader reads that the pool has soaked.
TEST_P(RolloutNewLeaderTest, AFailedRepairLosesNoSoak) {
  for (const int status : {500, 409}) {
    SCOPED_TRACE(status);
    StartOver();
    Deployed({"a", "b", "c"}, {{"minReadySeconds", 60}, {"progressDeadlineSeconds", 120}, {"onFailure", "Rollback"}});
    world_.SetImage("app:2");
    Look();
    Heal("a");
    Wait(seconds(70));
    Look();
    Heal("b");
    Look();
    world_.EditWorkload("a", [](Json& workload) { workload["spec"]["template"]["spec"]["hostIPC"] = true; });
    Heal("a");
    RejectUpdatesOf("a", StatusResponse(status, status == 409 ? "Conflict" : "InternalError", "leader changed"));
    for (int i = 0; i < 3; ++i) {
      static_cast<void>(world_.Reconcile());
      world_.clock.Advance(seconds(1));
    }
    EXPECT_EQ(Phase("a"), "Ready");
    world_.cluster.SetFaults(nullptr);
    GoOffline("a");
    world_.Restart();
    Look();
    EXPECT_EQ(Phase("a"), "Offline NoReadyNode");
    Wait(seconds(150));
    EXPECT_FALSE(IsMarkedFailed());
  }
}

// The earlier leader stopped the rollout, because a check failed. The cache shows the status before that.
TEST_P(RolloutNewLeaderTest, ReadsTheLastStatusOfTheEarlierLeader) {
  double errors = 0.07;
  world_.prometheus = [&](const std::string&, WallTime, const std::stop_token&) -> Result<std::optional<double>> {
    return errors;
  };
  world_.Restart();
  const Json query = {{"query", "errors"}, {"max", "0.05"}, {"durationSeconds", 60}};
  DeployedWithChecks({"a", "b", "c"}, Json::array({Json{{"name", "errors"}, {"prometheus", query}}}));
  UpdateA();
  const Json verifying = world_.Status();
  EXPECT_TRUE(world_.sampler().Sample({kNs, "web"}, {}));
  Look();
  const Json failed = world_.Status();
  ASSERT_EQ(Phase("a"), "Failed CheckFailed");
  world_.EditDaemon([&](Json& daemon) { daemon["status"] = verifying; });
  world_.Restart();
  world_.Sync();
  world_.EditDaemon([&](Json& daemon) { daemon["status"] = failed; });
  errors = 0.01;
  for (int i = 0; i < 6; ++i) {
    static_cast<void>(world_.ReconcileWithOldCaches());
    static_cast<void>(world_.sampler().Sample({kNs, "web"}, {}));
    world_.clock.Advance(seconds(30));
  }
  EXPECT_EQ(Images(), "a=2 b=1 c=1");
  Look();
  EXPECT_EQ(Phase("a"), "Failed CheckFailed");
}

}  // namespace
}  // namespace yad
