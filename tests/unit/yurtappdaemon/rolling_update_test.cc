// updateStrategy RollingUpdate, reconcile by reconcile. rollout_test and rollout_simulator_test check which pool may be
// updated when; this file checks the objects in the cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/yurtappdaemon/observe/pods.h"
#include "tests/unit/yurtappdaemon/pods.h"
#include "tests/unit/yurtappdaemon/rolling_update_fixture.h"

namespace yad {
namespace {

using namespace testing;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

INSTANTIATE_TEST_SUITE_P(Kind, RollingUpdateTest,
                         ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet));

TEST_P(RollingUpdateTest, UpdatesTheNextPoolOnlyWhenTheLastIsHealthy) {
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

TEST_P(RollingUpdateTest, APoolThatIsUnhealthyAnywayGoesFirstAndTakesNoFurtherSlot) {
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

TEST_P(RollingUpdateTest, APoolSoaksBeforeTheNextAndTheOperatorWakesByItself) {
  Deployed({"a", "b"}, {{"minReadySeconds", 60}});
  world_.SetImage("app:2");
  Look();
  Heal("a");
  Look();
  EXPECT_EQ(Phase("a"), "Soaking");
  EXPECT_EQ(world_.Status()["updatedPools"], 0);
  EXPECT_EQ(world_.Status()["readyPools"], 2) << "it is healthy";
  EXPECT_EQ(Images(), "a=2 b=1");
  Wait(seconds(50));
  EXPECT_EQ(Images(), "a=2 b=1");
  Wait(seconds(12));
  EXPECT_EQ(Images(), "a=2 b=2");
  EXPECT_EQ(Phase("a"), "Ready");
}

TEST_P(RollingUpdateTest, ARestartForgetsNeitherASoakNorADeadline) {
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

TEST_P(RollingUpdateTest, ABadRevisionIsStoppedAfterOnePool) {
  Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 30}});
  const std::string good = Current();
  world_.SetImage("app:bad");
  Wait(seconds(29));
  EXPECT_EQ(Progressing(), "True RollingOut");
  Wait(seconds(5));
  EXPECT_EQ(Images(), "a=bad b=1 c=1");
  EXPECT_EQ(Phase("a"), "Failed ProgressDeadlineExceeded");
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  EXPECT_EQ(Ready(), "False PoolsNotReady");
  EXPECT_EQ(ConditionReason(world_.Status(), "Degraded"), "True PoolsFailed");
  EXPECT_EQ(Current(), good);
  Wait(seconds(1000));
  EXPECT_EQ(Images(), "a=bad b=1 c=1");
  // The pool was only slow.
  Heal("a");
  Look();
  EXPECT_EQ(Images(), "a=bad b=bad c=1");
}

TEST_P(RollingUpdateTest, APoolThatCrashesAgainAndAgainBeforeItHasSoakedFails) {
  Deployed({"a", "b"}, {{"minReadySeconds", 60}, {"progressDeadlineSeconds", 100}});
  world_.SetImage("app:2");
  Look();
  const auto crash_and_come_back = [&](int times) {
    for (int i = 0; i < times; ++i) {
      Heal("a");
      Wait(seconds(30));
      Break("a");
      Wait(seconds(20));
      EXPECT_EQ(Images(), "a=2 b=1");
    }
  };
  crash_and_come_back(4);
  EXPECT_EQ(Phase("a"), "Unhealthy");
  Wait(seconds(8));
  EXPECT_EQ(Phase("a"), "Unhealthy") << "92 of 100 s";
  Wait(seconds(12));
  EXPECT_EQ(Phase("a"), "Failed ProgressDeadlineExceeded");
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  // A pool that recovers has its whole time again, with the old leader and with a new one.
  for (int i = 0; i < 2; ++i) {
    Heal("a");
    Wait(seconds(10));
    Break("a");
    Wait(seconds(98));
    EXPECT_EQ(Phase("a"), "Unhealthy");
    Wait(seconds(4));
    EXPECT_EQ(Phase("a"), "Failed ProgressDeadlineExceeded");
    world_.Restart();
  }
  // A pool that has soaked may be unhealthy for the whole time again.
  Heal("a");
  Wait(seconds(62));
  EXPECT_EQ(Images(), "a=2 b=2");
  Break("a");
  Wait(seconds(98));
  EXPECT_EQ(Phase("a"), "Unhealthy");
  Wait(seconds(4));
  EXPECT_EQ(Phase("a"), "Failed ProgressDeadlineExceeded");
}

TEST_P(RollingUpdateTest, ClockThatIsSetForwardFailsAndSoaksNoPool) {
  Deployed({"a", "b", "c"}, {{"maxUnavailable", 2}, {"minReadySeconds", 30}, {"progressDeadlineSeconds", 60}});
  world_.SetImage("app:2");
  Look();
  Heal("a");
  Look();
  EXPECT_EQ(Images(), "a=2 b=2 c=1");
  world_.clock.SetWall(world_.clock.WallNow() + std::chrono::hours(1));
  Wait(seconds(20));
  EXPECT_EQ(Images(), "a=2 b=2 c=1");
  EXPECT_EQ(Progressing(), "True RollingOut");
  Wait(seconds(60));
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
}

TEST_P(RollingUpdateTest, AFailureThatItsPodsExplainIsOneForTheNextLeaderToo) {
  Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 30}});
  world_.SetImage("app:bad");
  Look();
  Break("a");
  world_.EditWorkload("a", [](Json& w) { w["status"]["observedGeneration"] = w["metadata"]["generation"]; });
  Json pod = CrashingPod(3);
  pod["metadata"].update({{"namespace", kNs}, {"labels", {{"app", "web"}, {kPoolNameLabel, "a"}}}});
  pod["metadata"]["ownerReferences"] = {{{"apiVersion", "apps/v1"},
                                         {"kind", world_.type().kind},
                                         {"name", world_.NameOf("a")},
                                         {"uid", StringAt(world_.Workload("a"), {"metadata", "uid"})},
                                         {"controller", true}}};
  world_.cluster.Create(kPodType, pod);
  Wait(seconds(33));
  EXPECT_EQ(Phase("a"), "Failed CrashLoopBackOff");
  EXPECT_EQ(PoolStatus(world_.Status(), "a")["message"],
            "container \"main\" ended with exit code 3; not healthy within 30 s on its revision");
  EXPECT_EQ(PoolStatus(world_.Status(), "a")["state"], "Error");
  EXPECT_EQ(ConditionReason(world_.Status(), "WorkLoadFailure"), "True CrashLoopBackOff");
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  const Json before = world_.Status();
  for (int i = 0; i < 2; ++i) {
    world_.Restart();
    Wait(seconds(20));
    EXPECT_EQ(world_.Status(), before);
    EXPECT_EQ(Images(), "a=bad b=1 c=1");
  }
}

TEST_P(RollingUpdateTest, ARevisionThatIsReadOnceMoreIsStillTheOneThatFailed) {
  Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 30}});
  world_.SetImage("app:bad");
  Look();
  Look();  // observes its own writes
  const std::string update = StringAt(world_.Status(), {"updateRevision"});
  world_.cluster.Edit(kControllerRevisionType, {kNs, update},
                      [](Json& revision) { revision["metadata"]["annotations"]["somebody"] = "was here"; });
  Wait(seconds(1000));
  EXPECT_EQ(Images(), "a=bad b=1 c=1");
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
}

TEST_P(RollingUpdateTest, BadRevisionIsRolledBackAndNotRetried) {
  Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 30}, {"onFailure", "Rollback"}});
  const std::string good = Current();
  world_.SetImage("app:bad");
  Wait(seconds(35));
  EXPECT_EQ(Images(), "a=1 b=1 c=1");
  EXPECT_EQ(Progressing(), "True RollingBack");
  std::vector<std::string> moves;
  for (const RecordedEvent& event : world_.events.Take()) {
    if (event.reason == "WorkloadUpdated") moves.push_back(event.note);
  }
  EXPECT_THAT(moves, ElementsAre(HasSubstr(StringAt(world_.Status(), {"updateRevision"}) + " in 1 pool: a"),
                                 HasSubstr(good + " in 1 pool: a")));
  Heal("a");
  Look();
  EXPECT_EQ(Progressing(), "False RolledBack");
  EXPECT_EQ(Ready(), "True PoolsReady");
  EXPECT_EQ(Current(), good);
  world_.Restart();
  world_.cluster.ClearWrites();
  Wait(seconds(1000));
  EXPECT_THAT(world_.Writes(), IsEmpty());
  // A new pool gets the revision of the others.
  world_.AddPool("d");
  Look();
  EXPECT_EQ(Images(), "a=1 b=1 c=1 d=1");
  Heal("d");
  Look();
  // A user sets the good template, and then the bad one again.
  world_.SetImage("app:1");
  Look();
  EXPECT_EQ(Progressing(), "True RolloutComplete");
  world_.SetImage("app:bad");
  Look();
  EXPECT_EQ(Images(), "a=bad b=1 c=1 d=1");
}

TEST_P(RollingUpdateTest, RollbackPausesWithoutACurrentRevision) {
  world_.AddPools({"a", "b"});
  Json daemon = DaemonJson("app:bad", GetParam());
  daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"},
                                      {"rollingUpdate", {{"progressDeadlineSeconds", 30}, {"onFailure", "Rollback"}}}};
  world_.CreateDaemon(daemon);
  Wait(seconds(40));
  EXPECT_EQ(Images(), "a=bad b=bad");
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
}

TEST_P(RollingUpdateTest, PartitionHoldsBackTheLastPools) {
  Deployed({"a", "b", "c"}, {{"partition", 2}});
  const std::string good = Current();
  world_.SetImage("app:2");
  Look();
  Heal("a");
  Look();
  EXPECT_EQ(Images(), "a=2 b=1 c=1");
  EXPECT_EQ(Progressing(), "True PartitionReached");
  EXPECT_EQ(Ready(), "True PoolsReady");
  EXPECT_EQ(Current(), good);
  Strategy("partition", 0);
  Look();
  EXPECT_EQ(Images(), "a=2 b=2 c=1");
}

TEST_P(RollingUpdateTest, GroupsGoOneAfterTheOtherAndAManualOneWaitsForItsApproval) {
  Deployed(
      {"a", "b", "c", "d"},
      {{"maxUnavailable", "100%"},
       {"groups",
        {{{"name", "canary"}, {"pools", {"c"}}}, {{"name", "north"}, {"pools", {"a", "c"}}, {"approval", "Manual"}}}}});
  world_.SetImage("app:2");
  Look();
  EXPECT_EQ(Images(), "a=1 b=1 c=2 d=1");
  EXPECT_THAT(Message(), HasSubstr("group \"canary\" (1 of 3): 0 of 1 pools are updated"));
  Heal("c");
  Look();
  EXPECT_EQ(Images(), "a=1 b=1 c=2 d=1");
  EXPECT_EQ(Progressing(), "Unknown WaitingForApproval");
  EXPECT_EQ(Ready(), "True PoolsReady");
  const std::string update = StringAt(world_.Status(), {"updateRevision"});
  EXPECT_THAT(Message(), HasSubstr(update + "/north"));
  // A new pool of the group waits with the others.
  world_.AddPool("e");
  Strategy("groups", {{{"name", "canary"}, {"pools", {"c"}}},
                      {{"name", "north"}, {"pools", {"a", "e"}}, {"approval", "Manual"}}});
  Look();
  Heal("e");
  EXPECT_EQ(Images(), "a=1 b=1 c=2 d=1 e=1");
  Annotate(kApproveAnnotation, "web-other/north, " + Current() + "/north");
  Look();
  EXPECT_EQ(Images(), "a=1 b=1 c=2 d=1 e=1");
  Annotate(kApproveAnnotation, "web-other/north, " + update + "/north");
  Look();
  EXPECT_EQ(Images(), "a=2 b=1 c=2 d=1 e=2");
  // The group has begun, and stays approved for the next leader too.
  EXPECT_EQ(world_.Status()["begunGroups"], Json({"north"}));
  Annotate(kApproveAnnotation, "");
  world_.Restart();
  Heal("a");
  Heal("e");
  Look();
  EXPECT_EQ(Images(), "a=2 b=2 c=2 d=2 e=2");
}

// An update in another group does not approve this one.
TEST_P(RollingUpdateTest, APoolThatJoinsAGroupWithTheNewRevisionDoesNotBeginIt) {
  Deployed(
      {"a", "b", "c"},
      {{"maxUnavailable", "100%"},
       {"groups",
        {{{"name", "canary"}, {"pools", {"c"}}}, {{"name", "north"}, {"pools", {"a", "b"}}, {"approval", "Manual"}}}}});
  world_.SetImage("app:2");
  Look();
  Heal("c");
  Look();
  EXPECT_EQ(Images(), "a=1 b=1 c=2");
  EXPECT_FALSE(world_.Status().contains("begunGroups"));
  Strategy("groups", {{{"name", "canary"}, {"pools", {"x"}}},
                      {{"name", "north"}, {"pools", {"a", "b", "c"}}, {"approval", "Manual"}}});
  Look();
  EXPECT_EQ(Images(), "a=1 b=1 c=2");
  EXPECT_EQ(Progressing(), "Unknown WaitingForApproval");
  Annotate(kApproveAnnotation, StringAt(world_.Status(), {"updateRevision"}) + "/north");
  Look();
  EXPECT_EQ(Images(), "a=2 b=2 c=2");
  // Another revision starts again at the first group.
  Heal("a");
  Heal("b");
  Look();
  world_.SetImage("app:3");
  Look();
  EXPECT_EQ(Images(), "a=2 b=2 c=2");
  EXPECT_FALSE(world_.Status().contains("begunGroups"));
}

// The first rollout is not complete, so a new workload is created from the spec.
TEST_P(RollingUpdateTest, ANewPoolWithoutACurrentRevisionDoesNotBeginItsGroup) {
  world_.AddPools({"a", "b"});
  Json daemon = DaemonJson("app:1", GetParam());
  daemon["spec"]["updateStrategy"] = {
      {"type", "RollingUpdate"},
      {"rollingUpdate",
       {{"maxUnavailable", "100%"},
        {"groups", {{{"name", "north"}, {"nodepoolSelector", Json::object()}, {"approval", "Manual"}}}}}}};
  world_.CreateDaemon(daemon);
  Look();
  Heal("a");
  Break("b");
  Look();
  EXPECT_EQ(Current(), "");
  world_.SetImage("app:2");
  Look();
  EXPECT_EQ(Images(), "a=1 b=1");
  world_.AddPool("c");
  Look();
  Heal("c");
  Look();
  EXPECT_EQ(Images(), "a=1 b=1 c=2");
}

TEST_P(RollingUpdateTest, GroupsWithoutPoolsAreNotCounted) {
  Deployed({"a", "b"}, {{"groups",
                         {{{"name", "none"}, {"pools", {"later"}}},
                          {{"name", "north"}, {"pools", {"a"}}},
                          {{"name", "south"}, {"pools", {"b"}}, {"approval", "Manual"}}}}});
  world_.SetImage("app:2");
  Look();
  EXPECT_THAT(Message(), HasSubstr("group \"north\" (1 of 2): "));
  Heal("a");
  Look();
  EXPECT_THAT(Message(), HasSubstr("group \"south\" (2 of 2): waits for approval"));
}

TEST_P(RollingUpdateTest, OfflinePoolBlocksNoOtherPoolAndIsJudgedWhenItReturns) {
  Deployed({"a", "b"}, {{"progressDeadlineSeconds", 30}});
  world_.cluster.Create(kNodePoolType, OfflinePoolJson("off"));
  Look();
  world_.SetImage("app:2");
  Look();
  EXPECT_EQ(Images(), "a=2 b=1 off=1") << "it must not wake up to an unproven revision";
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

TEST_P(RollingUpdateTest, ReplicasAreWrittenAtOnceAndTakeNoSoak) {
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

TEST_P(RollingUpdateTest, NewTaintUpdatesAPoolWithASlotOutsideOfGroups) {
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

// An example is the webhook of an image mirror, if the old revision already names the mirror.
TEST_P(RollingUpdateTest, ARevisionThatAWebhookTurnsIntoTheOldOneIsRolledOutToo) {
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

TEST_P(RollingUpdateTest, UndoGoesBackWithoutGroupsAndApprovals) {
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

TEST_P(RollingUpdateTest, RejectedWriteCountsAsAFailureAndIsRetried) {
  Deployed({"a", "b"});
  RefuseUpdatesOf("a");
  world_.SetImage("app:2");
  Look();
  EXPECT_EQ(Images(), "a=1 b=1");
  EXPECT_EQ(Phase("a"), "Failed Invalid");
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  world_.Restart();
  Look();
  EXPECT_EQ(Images(), "a=1 b=1");
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  world_.cluster.SetFaults(nullptr);
  Look();
  EXPECT_EQ(Images(), "a=2 b=1");
}

TEST_P(RollingUpdateTest, RejectedWriteWithinTheBudgetBlocksNoOtherPool) {
  Deployed({"a", "b", "c"}, {{"maxFailures", 1}});
  RefuseUpdatesOf("a");
  world_.SetImage("app:2");
  Look();
  EXPECT_EQ(Phase("a"), "Failed Invalid");
  EXPECT_EQ(Images(), "a=1 b=2 c=1");
  Heal("b");
  Look();
  EXPECT_EQ(Images(), "a=1 b=2 c=2");
  EXPECT_EQ(Phase("a"), "Failed Invalid");
  Heal("c");
  world_.cluster.SetFaults(nullptr);
  Wait(seconds(301));
  EXPECT_EQ(Images(), "a=2 b=2 c=2");
}

TEST_P(RollingUpdateTest, NothingIsRequeuedAtRest) {
  Deployed({"a", "b"}, {{"minReadySeconds", 5}});
  for (const char* pool : {"a", "b"}) {  // A StatefulSet's own partition leaves it with old pods for good.
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

TEST(RollingUpdateOfLateCachesTest, NewLeaderReadsTheWorkloadsBeforeItUpdatesAny) {
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

TEST(RollingUpdateOfLateCachesTest, NewLeaderReadsTheFailedMarkBeforeItUpdatesAny) {
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

// The operator waits for Retry-After, although the passing of time would start a reconcile earlier.
TEST(RollingUpdateOfLateCachesTest, RejectedWriteWaitsForTheServersRetryAfter) {
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
