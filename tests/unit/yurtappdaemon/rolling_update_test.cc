// updateStrategy RollingUpdate, reconcile by reconcile:
// - this file and rolling_update_*_test.cc: the objects in the cluster
// - rollout_test and rollout_simulator_test: the choice of the pools that may be updated
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/yurtappdaemon/observe/pods.h"
#include "tests/unit/yurtappdaemon/rolling_update_fixture.h"

namespace yad {
namespace {

using namespace testing;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

INSTANTIATE_TEST_SUITE_P(Kind, RollingUpdateTest,
                         ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet));

TEST_P(RollingUpdateTest, UpdatesTheNextPoolOnlyWhenThePreviousOneIsHealthy) {
  Deployed({"a", "b", "c"});
  world_.SetImage("app:2");
  Look();
  EXPECT_EQ(Images(), "a=2 b=1 c=1");
  EXPECT_EQ(Phase("a"), "Updating");
  EXPECT_EQ(Phase("b"), "Ready");
  EXPECT_EQ(Progressing(), "True RollingOut");
  EXPECT_THAT(Message(), HasSubstr("0 of 3 pools are updated; waiting for a"));
  EXPECT_EQ(Ready(), "False PoolsNotReady");
  Look();
  EXPECT_EQ(Images(), "a=2 b=1 c=1");
  Heal("a");
  Look();
  EXPECT_EQ(Images(), "a=2 b=2 c=1");
  Heal("b");
  Look();
  Heal("c");
  Look();
  EXPECT_EQ(Images(), "a=2 b=2 c=2");
  EXPECT_EQ(Progressing(), "True RolloutComplete");
  EXPECT_EQ(Ready(), "True PoolsReady");
  EXPECT_EQ(Current(), StringAt(world_.Status(), {"updateRevision"}));
}

TEST_P(RollingUpdateTest, UnhealthyPoolIsUpdatedFirstAndTakesNoFurtherSlot) {
  Deployed({"a", "b", "c"}, {{"maxUnavailable", 1}});
  Break("c");
  Look();
  world_.SetImage("app:2");
  Look();
  EXPECT_EQ(Images(), "a=1 b=1 c=2");
  Heal("c");
  Look();
  EXPECT_EQ(Images(), "a=2 b=1 c=2");
}

TEST_P(RollingUpdateTest, NextPoolIsUpdatedAfterTheSoakWithoutAnEvent) {
  Deployed({"a", "b"}, {{"minReadySeconds", 60}});
  world_.SetImage("app:2");
  Look();
  Heal("a");
  Look();
  EXPECT_EQ(Phase("a"), "Soaking");
  EXPECT_EQ(world_.Status()["updatedPools"], 0);
  EXPECT_EQ(world_.Status()["readyPools"], 2) << "the updated pool is healthy";
  EXPECT_EQ(Images(), "a=2 b=1");
  Wait(seconds(50));
  EXPECT_EQ(Images(), "a=2 b=1");
  Wait(seconds(12));
  EXPECT_EQ(Images(), "a=2 b=2");
  EXPECT_EQ(Phase("a"), "Ready");
}

TEST_P(RollingUpdateTest, ARestartKeepsSoaksAndDeadlines) {
  Deployed({"a", "b"}, {{"minReadySeconds", 60}, {"maxFailures", 1}, {"progressDeadlineSeconds", 100}});
  world_.SetImage("app:2");
  Look();
  Heal("a");
  Wait(seconds(50));
  world_.Restart();
  Wait(seconds(12));
  EXPECT_EQ(Images(), "a=2 b=2");
  Wait(seconds(60));
  world_.Restart();
  Wait(seconds(30));
  EXPECT_EQ(Phase("b"), "Updating");
  Wait(seconds(12));
  EXPECT_EQ(Phase("b"), "Failed ProgressDeadlineExceeded");
  world_.Restart();
  Look();
  EXPECT_EQ(Phase("b"), "Failed ProgressDeadlineExceeded");
}

TEST_P(RollingUpdateTest, OfflinePoolBlocksNoOtherPoolAndItsHealthCountsWhenItReturns) {
  Deployed({"a", "b"}, {{"progressDeadlineSeconds", 30}});
  world_.cluster.Create(kNodePoolType, OfflinePoolJson("off"));
  Look();
  world_.SetImage("app:2");
  Look();
  EXPECT_EQ(Images(), "a=2 b=1 off=1") << "an offline pool must not get a revision that no pool has proved";
  EXPECT_EQ(Phase("off"), "Offline NoReadyNode");
  EXPECT_EQ(PoolStatus(world_.Status(), "off")["waitingFor"], "Group");
  Heal("a");
  Look();
  EXPECT_EQ(Images(), "a=2 b=2 off=1");
  Heal("b");
  Wait(seconds(200));
  EXPECT_EQ(Images(), "a=2 b=2 off=2");
  EXPECT_EQ(Progressing(), "True RolloutComplete");
  EXPECT_EQ(Ready(), "True PoolsReady");
  EXPECT_EQ(world_.Status()["updatedPools"], 3);
  EXPECT_EQ(Current(), StringAt(world_.Status(), {"updateRevision"}));
  world_.cluster.Edit(kNodePoolType, {"", "off"}, [](Json& pool) { pool["status"]["readyNodeNum"] = 2; });
  Wait(seconds(20));
  EXPECT_EQ(Phase("off"), "Updating");
  Wait(seconds(15));
  EXPECT_EQ(Phase("off"), "Failed ProgressDeadlineExceeded");
  Heal("off");
  Look();
  EXPECT_EQ(Phase("off"), "Ready");
}

TEST_P(RollingUpdateTest, NothingIsUpdatedWhilePaused) {
  Deployed({"a", "b"});
  world_.EditDaemon([](Json& daemon) { daemon["spec"]["paused"] = true; });
  world_.SetImage("app:2");
  world_.AddPool("c");
  Look();
  EXPECT_EQ(Images(), "a=1 b=1 c=1");
  EXPECT_EQ(Progressing(), "Unknown Paused");
  world_.EditDaemon([](Json& daemon) { daemon["spec"]["paused"] = false; });
  Heal("c");
  Look();
  EXPECT_EQ(Images(), "a=2 b=1 c=1");
}

TEST_P(RollingUpdateTest, ReplicasAreWrittenImmediatelyWithoutASoak) {
  Deployed({"a", "b", "c"}, {{"minReadySeconds", 60}, {"partition", 1}});
  world_.EditDaemon([](Json& daemon) { TemplateOf(daemon)["spec"]["replicas"] = 3; });
  Wait(seconds(0));
  for (const char* pool : {"a", "b", "c"}) {
    EXPECT_EQ(world_.Workload(pool)["spec"]["replicas"], 3) << pool;
    Heal(pool);
  }
  Look();
  for (const char* pool : {"a", "b", "c"}) EXPECT_EQ(Phase(pool), "Ready") << pool;
}

TEST_P(RollingUpdateTest, ReplicasOfAWaitingPoolChangeOnlyWithItsTemplate) {
  Deployed({"a", "b"});
  world_.EditDaemon([](Json& daemon) {
    PodSpecOf(TemplateOf(daemon))["containers"][0]["image"] = "app:2";
    TemplateOf(daemon)["spec"]["replicas"] = 3;
  });
  Step();
  EXPECT_EQ(Images(), "a=2 b=1");
  EXPECT_EQ(world_.Workload("a")["spec"]["replicas"], 3);
  EXPECT_EQ(WaitingFor("b"), "Slot");
  EXPECT_EQ(world_.Workload("b")["spec"]["replicas"], 1)
      << "a bad template must not change the replicas of a waiting pool";
}

TEST_P(RollingUpdateTest, NewTaintUpdatesPoolsOneAtATimeAndIgnoresTheOrderOfGroups) {
  Deployed({"a", "b", "c"}, {{"groups", {{{"name", "first"}, {"pools", {"c"}}, {"approval", "Manual"}}}}});
  for (const char* pool : {"a", "b"}) {
    world_.cluster.Edit(kNodePoolType, {"", pool}, [](Json& object) {
      object["spec"]["taints"].push_back({{"key", "gpu"}, {"effect", "NoSchedule"}});
    });
  }
  const auto tolerant = [&] {
    std::string pools;
    for (const char* pool : {"a", "b", "c"}) {
      if (world_.Workload(pool).contains("/spec/template/spec/tolerations"_json_pointer)) pools += pool;
    }
    return pools;
  };
  world_.SetImage("app:2");
  Look();
  EXPECT_EQ(tolerant(), "a");
  EXPECT_EQ(Images(), "a=1 b=1 c=1");
  Heal("a");
  Look();
  EXPECT_EQ(tolerant(), "ab");
  EXPECT_EQ(Images(), "a=1 b=1 c=1");
}

TEST_P(RollingUpdateTest, AnotherOrderOfTheTaintsUpdatesNoPool) {
  world_.AddPool("a", {"x", "y"});
  Deployed({"b"});
  world_.cluster.Edit(kNodePoolType, {"", "a"}, [](Json& object) {
    object["spec"]["taints"] = PoolJson("a", {"y", "x"})["spec"]["taints"];
  });
  Wait(seconds(100));
  EXPECT_THAT(world_.Writes(), ::testing::IsEmpty());
  EXPECT_EQ(world_.Status()["updatedPools"], 2);
  // The next update is written although the order differs.
  const Json tolerations = world_.Workload("a").at("/spec/template/spec/tolerations"_json_pointer);
  Override("a", "app:2");
  Wait(seconds(100));
  EXPECT_EQ(Images(), "a=2 b=1");
  EXPECT_EQ(world_.Workload("a").at("/spec/template/spec/tolerations"_json_pointer), tolerations);
}

// For example, the webhook of an image mirror does this if the old revision already has the mirror's image.
TEST_P(RollingUpdateTest, RolloutIsCompleteIfAWebhookRevertsEachPoolToTheOldImage) {
  Deployed({"a", "b", "c"});
  world_.cluster.SetMutation([](const ResourceType&, const Json&, Json& object) {
    if (object.contains("spec") && object["spec"].contains("template") && ImageOf(object) == "app:2")
      PodSpecOf(object)["containers"][0]["image"] = "app:1";
  });
  world_.SetImage("app:2");
  for (int i = 0; i < 6; ++i) {
    Look();
    world_.RunWorkloadControllers();
  }
  EXPECT_EQ(Images(), "a=1 b=1 c=1");
  EXPECT_EQ(Progressing(), "True RolloutComplete");
  EXPECT_EQ(Current(), StringAt(world_.Status(), {"updateRevision"}));
  world_.cluster.ClearWrites();
  Wait(seconds(1000));
  EXPECT_THAT(world_.Writes(), IsEmpty());
}

TEST_P(RollingUpdateTest, UndoIgnoresGroupsAndApprovals) {
  Deployed({"a", "b"}, {{"progressDeadlineSeconds", 30},
                        {"groups", {{{"name", "all"}, {"pools", {"a", "b"}}, {"approval", "Manual"}}}}});
  world_.SetImage("app:2");
  Look();
  Annotate(kApproveAnnotation, StringAt(world_.Status(), {"updateRevision"}) + "/all");
  Wait(seconds(40));
  EXPECT_EQ(Images(), "a=2 b=1");
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  world_.SetImage("app:1");
  Look();
  EXPECT_EQ(Images(), "a=1 b=1");
}

TEST_P(RollingUpdateTest, NothingIsRequeuedAfterARollout) {
  Deployed({"a", "b"}, {{"minReadySeconds", 5}});
  for (const char* pool : {"a", "b"}) {  // Because of its own partition, a StatefulSet keeps old pods.
    world_.EditWorkload(pool, [](Json& workload) {
      workload["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = 1;
      workload["status"]["observedGeneration"] = 99;
      workload["status"]["updatedReplicas"] = GetParam() == WorkloadKind::kDeployment ? 1 : 0;
    });
  }
  Wait(seconds(100));
  const auto result = world_.Reconcile();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->next, ReconcileResult::Next::kDone);
}

TEST(RollingUpdateWithStaleCachesTest, NewLeaderReadsTheWorkloadsBeforeItUpdatesAny) {
  World world;
  world.AddPools({"a", "b"});
  Json daemon = DaemonJson();
  daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}};
  world.CreateDaemon(daemon);
  world.Converge();
  world.Restart();
  world.Sync();
  // The caches of the new leader do not show that b is unhealthy.
  world.EditWorkload("b", [](Json& workload) { workload["status"]["availableReplicas"] = 0; });
  world.SetImage("app:2");
  for (int i = 0; i < 3; ++i) {
    world.SyncAllButDeployments();
    EXPECT_TRUE(world.ReconcileWithOldCaches());
  }
  EXPECT_EQ(ImageOf(world.Workload("a")), "app:1");
  EXPECT_EQ(ImageOf(world.Workload("b")), "app:2");
}

TEST(RollingUpdateWithStaleCachesTest, NewLeaderReadsTheFailedMarkBeforeItUpdatesAny) {
  World world;
  world.AddPools({"a", "b"});
  Json daemon = DaemonJson();
  daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", {{"onFailure", "Rollback"}}}};
  world.CreateDaemon(daemon);
  world.Converge();
  world.EditDaemon([](Json& d) { d["spec"]["paused"] = true; });
  world.SetImage("app:2");
  world.Converge();
  world.EditDaemon([](Json& d) { d["spec"]["paused"] = false; });
  world.Restart();
  world.Sync();
  const std::string update = StringAt(world.Status(), {"updateRevision"});
  world.cluster.Edit(kControllerRevisionType, {kNs, update}, [](Json& revision) {
    revision["metadata"]["annotations"][kFailedAnnotation] = "2026-01-01T00:00:00Z";
  });
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(world.ReconcileWithOldCaches());
  EXPECT_EQ(ImageOf(world.Workload("a")), "app:1");
  EXPECT_EQ(ImageOf(world.Workload("b")), "app:1");
}

TEST_P(RollingUpdateTest, FailedPruningDelaysNoSoak) {
  Deployed({"a"}, {{"minReadySeconds", 30}});
  world_.SetImage("app:2");
  Look();
  Heal("a");
  Wait(seconds(40));
  EXPECT_EQ(Progressing(), "True RolloutComplete");
  world_.cluster.SetFaults([](const WriteRecord& write, const Json&) -> std::optional<FakeCluster::Fault> {
    if (write.method != "DELETE" || write.resource != kControllerRevisionType.resource) return std::nullopt;
    return FakeCluster::Fault{StatusResponse(403, "Forbidden", "no"), false};
  });
  world_.EditDaemon([](Json& daemon) { daemon["spec"]["revisionHistoryLimit"] = 0; });
  world_.SetImage("app:3");
  for (int i = 0; i < 4; ++i) static_cast<void>(world_.Reconcile());
  Heal("a");
  world_.clock.Advance(seconds(2));
  const auto result = world_.Reconcile();
  EXPECT_EQ(Phase("a"), "Soaking");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->next, ReconcileResult::Next::kBackoff);
  EXPECT_LE(result->after, Duration(seconds(30)));
}

TEST_P(RollingUpdateTest, FailureStaysConfirmedUntilTheNextReconcileOfABusyOperator) {
  Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 30}, {"onFailure", "Rollback"}});
  world_.SetImage("app:bad");
  Look();
  world_.clock.Advance(seconds(40));
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(world_.Reconcile());
    world_.clock.Advance(seconds(6));
  }
  EXPECT_TRUE(IsMarkedFailed());
}

// The operator waits for Retry-After, although another reconcile is due earlier.
TEST(RollingUpdateWithStaleCachesTest, RejectedWriteWaitsForTheServersRetryAfter) {
  World world;
  world.AddPools({"a", "b"});
  Json daemon = DaemonJson();
  daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxUnavailable", 2}}}};
  world.CreateDaemon(daemon);
  world.Converge();
  world.SetImage("app:2");
  world.cluster.SetFaults([&](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
    if (request.method != "PUT" || request.key.name != world.NameOf("b")) return std::nullopt;
    HttpResponse response = StatusResponse(429, "TooManyRequests", "slow down");
    response.headers["retry-after"] = "7";
    return FakeCluster::Fault{response, false};
  });
  Result<ReconcileResult> result = ReconcileResult::RequeueNow();
  while (result && result->next == ReconcileResult::Next::kNow) result = world.Reconcile();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->next, ReconcileResult::Next::kBackoff);
  EXPECT_EQ(result->at_least, Duration(seconds(7)));
}

}  // namespace
}  // namespace yad
