#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/yurtappdaemon/world.h"

// Writes that the server keeps rejecting. Writes that another client reverts are in reconciler_test and services_test.
namespace yad {
namespace {

using namespace testing;

class WritePaceTest : public ::testing::Test {
 protected:
  WritePaceTest() {
    world_.AddPools({"a", "b", "c"});
    world_.CreateDaemon();
    world_.Sync();
  }
  // Rejects writes of these pools' workloads from now on, and counts them.
  void Reject(const std::vector<std::string>& pools) {
    std::vector<std::string> names;
    for (const std::string& pool : pools) names.push_back(world_.NameOf(pool));
    world_.cluster.SetFaults([this, names](const WriteRecord& r, const Json&) -> std::optional<FakeCluster::Fault> {
      if (r.resource != "deployments" || std::find(names.begin(), names.end(), r.key.name) == names.end())
        return std::nullopt;
      ++tries_;
      return FakeCluster::Fault{StatusResponse(403, "Forbidden", "exceeded quota: few"), false};
    });
  }
  // Changes one pool's workload as a flapping node does, and reconciles.
  void Flap() {
    world_.EditWorkload("a", [&](Json& w) { w["status"]["readyReplicas"] = ++flaps_ % 2; });
    world_.Reconcile();
  }
  int TriesAfter(std::chrono::seconds time) {
    tries_ = 0;
    for (int i = 0; i < time.count(); ++i) {
      world_.clock.Advance(std::chrono::seconds(1));
      Flap();
    }
    return tries_;
  }

  World world_;
  int tries_ = 0;
  int flaps_ = 0;
};

TEST_F(WritePaceTest, EventsOfOtherPoolsDoNotRetryARejectedWrite) {
  Reject({"b", "c"});
  EXPECT_FALSE(world_.Reconcile());
  EXPECT_EQ(tries_, 2);
  for (int i = 0; i < 10; ++i) Flap();
  EXPECT_EQ(tries_, 2);
  EXPECT_EQ(PoolStatus(world_.Status(), "c")["reason"], "QuotaExceeded");
  EXPECT_EQ(world_.Status()["failedPools"], 2);
  EXPECT_EQ(TriesAfter(std::chrono::seconds(62)), 2 * 5) << "after 1, 3, 7, 15, 31 s";
  const auto result = world_.Reconcile();
  ASSERT_EQ(result->next, ReconcileResult::Next::kAfter);
  EXPECT_EQ(result->after, std::chrono::seconds(1));
  world_.cluster.SetFaults(nullptr);
  world_.clock.Advance(std::chrono::seconds(1));
  world_.Converge();
  EXPECT_EQ(world_.Status()["readyPools"], 3);
}

TEST_F(WritePaceTest, SlowRejectionsAreRetriedLessAndLessOften) {
  world_.cluster.SetFaults([&](const WriteRecord& r, const Json&) -> std::optional<FakeCluster::Fault> {
    if (r.key.name != world_.NameOf("b")) return std::nullopt;
    ++tries_;
    world_.clock.Advance(std::chrono::seconds(70));
    return FakeCluster::Fault{StatusResponse(500, "InternalError", "failed calling webhook \"x\": timeout"), false};
  });
  for (const SteadyTime end = world_.clock.Now() + std::chrono::hours(1); world_.clock.Now() < end;) {
    static_cast<void>(world_.Reconcile());
    world_.clock.Advance(std::chrono::seconds(5));
  }
  EXPECT_GE(tries_, 10);
  EXPECT_LE(tries_, 20) << "the delay grows to 5 minutes";
}

TEST_F(WritePaceTest, AChangedWriteIsSentImmediately) {
  Reject({"b"});
  TriesAfter(std::chrono::seconds(40));
  tries_ = 0;
  world_.Reconcile();
  EXPECT_EQ(tries_, 0);
  world_.SetImage("app:2");
  world_.Reconcile();
  EXPECT_EQ(tries_, 1);
  world_.Reconcile();
  EXPECT_EQ(tries_, 1);
  world_.clock.Advance(std::chrono::seconds(1));
  world_.Reconcile();
  EXPECT_EQ(tries_, 2) << "the changed write starts with a short delay";
}

TEST_F(WritePaceTest, RejectedUpdateDoesNotCountAsUpdated) {
  world_.Converge();
  Reject({"b"});
  world_.SetImage("app:2");
  world_.Reconcile();
  world_.RunWorkloadControllers();
  world_.clock.Advance(std::chrono::milliseconds(1100));
  world_.Reconcile();
  EXPECT_EQ(tries_, 2);
  world_.clock.Advance(std::chrono::milliseconds(1100));
  world_.RunWorkloadControllers();
  world_.Reconcile();
  EXPECT_EQ(tries_, 2);
  EXPECT_EQ(world_.Status()["updatedPools"], 2);
  EXPECT_EQ(world_.Status()["failedPools"], 1);
}

TEST_F(WritePaceTest, WriteForAPoolThatReturnsIsSentImmediately) {
  Reject({"b"});
  TriesAfter(std::chrono::seconds(40));
  world_.RemovePool("b");
  world_.Reconcile();
  world_.AddPool("b");
  tries_ = 0;
  world_.Reconcile();
  EXPECT_EQ(tries_, 1);
}

TEST_F(WritePaceTest, RejectedCreateIsRetriedSoonAfterARemovalFreesQuota) {
  world_.AddPool("d");
  Reject({"b", "d"});
  TriesAfter(std::chrono::seconds(200));
  EXPECT_EQ(TriesAfter(std::chrono::seconds(5)), 0);
  world_.RemovePool("c");
  world_.Reconcile();
  EXPECT_EQ(TriesAfter(std::chrono::seconds(4)), 2 * 2) << "after 1 and 3 s";
}

TEST_F(WritePaceTest, RejectedUpdateThatLosesItsSlotIsNotRetriedImmediately) {
  world_.EditDaemon([](Json& daemon) {
    daemon["spec"]["updateStrategy"] = R"({"type": "RollingUpdate",
                                           "rollingUpdate": {"maxUnavailable": 1, "maxFailures": 1}})"_json;
  });
  world_.Converge();
  Reject({"a"});
  world_.SetImage("app:2");
  world_.Converge();
  tries_ = 0;
  for (int second = 0; second < 40; ++second) {
    world_.clock.Advance(std::chrono::seconds(1));
    world_.EditWorkload("b", [&](Json& workload) { workload["status"]["availableReplicas"] = second % 2; });
    world_.Reconcile();
  }
  EXPECT_GE(tries_, 1);
  EXPECT_LE(tries_, 5) << "the delay doubles, even if other pools have the slot in between";
}

TEST_F(WritePaceTest, RejectedRepairOfAWaitingPoolIsNotRetriedWithEachEvent) {
  world_.EditDaemon([](Json& daemon) { daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}}; });
  world_.Converge();
  world_.SetImage("app:2");
  for (int i = 0; i < 2; ++i) world_.Reconcile();  // The first reconcile only reads the workloads live.
  ASSERT_EQ(world_.Workload("a")["spec"]["template"]["spec"]["containers"][0]["image"], "app:2");
  Reject({"b"});
  world_.EditWorkload(
      "b", [](Json& workload) { workload["spec"]["template"]["spec"]["containers"][0]["image"] = "another:1"; });
  // The pool stays healthy. An unhealthy pool does not take an additional slot, so the operator would update it
  // immediately.
  world_.EditWorkload("b", [](Json& workload) { workload["status"] = HealthyStatus(workload); });
  const int tries = TriesAfter(std::chrono::seconds(40));
  EXPECT_GE(tries, 4);
  EXPECT_LE(tries, 6);
}

TEST_F(WritePaceTest, UpdateThatTheServerRevertsIsRetriedWithBackoff) {
  world_.Converge();
  world_.cluster.SetMutation([](const ResourceType& type, const Json& old, Json& object) {
    if (type.resource == "deployments" && old.is_object()) object = old;
  });
  world_.SetImage("app:2");
  world_.cluster.ClearWrites();
  TriesAfter(std::chrono::seconds(62));
  const auto writes = world_.Writes();
  EXPECT_EQ(PoolStatus(world_.Status(), "a")["reason"], "UpdateUndone");
  EXPECT_EQ(std::count_if(writes.begin(), writes.end(),
                          [&](const std::string& w) { return w.find(world_.NameOf("b")) != std::string::npos; }),
            6);
}

}  // namespace
}  // namespace yad
