// Rare cases of a rollout: an edit, a restart or a stale cache in the middle. Outages are in rollout_offline_test.cc.
#include <gtest/gtest.h>

#include "operator/yurtappdaemon/rollout/update_record.h"
#include "tests/unit/yurtappdaemon/rolling_update_fixture.h"

namespace yad {
namespace {

using namespace testing;

INSTANTIATE_TEST_SUITE_P(Kind, RolloutEdgeCasesTest,
                         ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet));

TEST_P(RolloutEdgeCasesTest, ANewTemplateDuringASoakUpdatesOnePoolAtATime) {
  const std::vector<std::string> pools = {"a", "b", "c", "d", "e"};
  world_.AddPools(pools);
  Json daemon = DaemonJson("app:1", GetParam());
  daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", {{"minReadySeconds", 4}}}};
  world_.CreateDaemon(daemon);
  Wait(seconds(1));
  for (const std::string& pool : pools) Heal(pool);
  Wait(seconds(2));
  world_.SetImage("app:2");
  Wait(seconds(1));
  EXPECT_EQ(Images(), "a=2 b=1 c=1 d=1 e=1");
  Heal("a");
  Wait(seconds(2));
  EXPECT_EQ(Images(), "a=2 b=1 c=1 d=1 e=1") << "pool a is soaking";
  Wait(seconds(4));
  EXPECT_EQ(Images(), "a=2 b=2 c=1 d=1 e=1");
}

TEST_P(RolloutEdgeCasesTest, AnOverrideOfAnotherPoolKeepsFailureDetectionEnabled) {
  for (const bool restarts : {false, true}) {
    StartOver();
    Deployed({"a", "b", "c", "d"}, {{"progressDeadlineSeconds", 30}, {"onFailure", "Rollback"}});
    world_.SetImage("app:bad");
    Look();
    EXPECT_EQ(Images(), "a=bad b=1 c=1 d=1");
    Override("d", "app:own");
    Look();
    if (restarts) world_.Restart();
    Wait(seconds(40));
    EXPECT_EQ(Images(), "a=1 b=1 c=1 d=1");
    EXPECT_EQ(Progressing(), "True RollingBack");
  }
}

TEST_P(RolloutEdgeCasesTest, FailuresOfAStoppedRevisionDoNotCountForTheNextOne) {
  Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 30}});
  world_.SetImage("app:bad");
  Wait(seconds(40));
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  world_.SetImage("app:2");
  Look();
  EXPECT_EQ(Images(), "a=2 b=1 c=1");
  EXPECT_EQ(Progressing(), "True RollingOut");
  Heal("a");
  Look();
  EXPECT_EQ(Images(), "a=2 b=2 c=1");
}

TEST_P(RolloutEdgeCasesTest, PoolThatWasUnhealthyBeforeTheUpdateDoesNotStopTheRollout) {
  Deployed({"a", "b", "c"},
           {{"progressDeadlineSeconds", 30},
            {"groups",
             {{{"name", "canary"}, {"pools", {"c"}}}, {{"name", "later"}, {"pools", {"a"}}, {"approval", "Manual"}}}}});
  Break("a");
  Wait(seconds(40));
  EXPECT_EQ(Phase("a"), "Failed ProgressDeadlineExceeded");
  world_.SetImage("app:2");
  Look();
  EXPECT_EQ(Images(), "a=1 b=1 c=2") << "the group of the unhealthy pool has not started, so the pool takes no slot";
}

TEST_P(RolloutEdgeCasesTest, UnhealthyPoolWithAnUnchangedRenderingDoesNotStopTheRollout) {
  Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 30}});
  Break("a");
  Wait(seconds(40));
  Override("b", "app:own");
  Look();
  EXPECT_EQ(Images(), "a=1 b=own c=1");
  Heal("b");
  Look();
  EXPECT_EQ(Progressing(), "True RolloutComplete");
}

TEST_P(RolloutEdgeCasesTest, UnhealthyPoolWithTheSameRenderingInThreeRevisionsDoesNotStopTheRollout) {
  Deployed({"a", "b"});
  Override("a", "app:2");
  Look();
  Heal("a");
  Look();
  EXPECT_EQ(Complete(), "True RolloutComplete");
  Break("b");
  Wait(seconds(1000));
  Override("a", "app:3");
  Look();
  EXPECT_EQ(Images(), "a=3 b=1");
  Heal("a");
  Look();
  EXPECT_NE(Progressing(), "False FailureBudgetExceeded");
  EXPECT_FALSE(IsMarkedFailed());
}

// Its failure does not count for the new revision, because it already had the same rendered workload.
TEST_P(RolloutEdgeCasesTest, NeverHealthyPoolWithAnUnchangedRenderingLetsTheRolloutComplete) {
  for (const bool joins : {false, true}) {
    SCOPED_TRACE(joins ? "a new pool" : "a workload that was created again");
    Play([&] {
      Deployed({"a", "b"}, {{"progressDeadlineSeconds", 30}});
      if (joins) world_.AddPool("x");
      if (!joins) DeleteWorkload("a");
      Step();
      Step(40);
      EXPECT_EQ(Phase(joins ? "x" : "a"), "Failed ProgressDeadlineExceeded");
      Override("b", "app:own");
      Step();
      EXPECT_EQ(Progressing(), "True RollingOut");
      Heal("b");
      for (int i = 0; i < 3; ++i) {
        Step(40);
        EXPECT_EQ(Complete(), "True CompleteWithFailures");
        EXPECT_EQ(Progressing(), "True RolloutComplete");
        EXPECT_EQ(Current(), StringAt(world_.Status(), {"updateRevision"}));
      }
    });
  }
}

TEST_P(RolloutEdgeCasesTest, AStaleCacheDoesNotMarkARevisionFailed) {
  if (GetParam() != WorkloadKind::kDeployment) return;  // World can delay only the cache of Deployments.
  Deployed({"a", "b"}, {{"progressDeadlineSeconds", 60}, {"onFailure", "Rollback"}});
  world_.SetImage("app:2");
  Look();
  Heal("a");
  // The watch lags by more than the deadline.
  for (int i = 0; i < 100; ++i) {
    world_.SyncAllButDeployments();
    ASSERT_TRUE(world_.ReconcileWithOldCaches());
    world_.clock.Advance(seconds(1));
  }
  EXPECT_FALSE(IsMarkedFailed());
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:2");
}

TEST_P(RolloutEdgeCasesTest, AnOldDeadlineConditionDoesNotFailTheNextRevision) {
  if (GetParam() != WorkloadKind::kDeployment) return;
  Deployed({"a", "b"}, {{"progressDeadlineSeconds", 600}});
  const auto exceed = [&](WallTime at) {
    world_.EditWorkload("a", [&](Json& workload) {
      workload["status"] = HealthyStatus(workload);
      workload["status"]["observedGeneration"] = 1000;
      workload["status"]["availableReplicas"] = 0;
      workload["status"]["conditions"].push_back({{"type", "Progressing"},
                                                  {"status", "False"},
                                                  {"reason", "ProgressDeadlineExceeded"},
                                                  {"lastUpdateTime", FormatTime(at)}});
    });
  };
  world_.SetImage("app:bad");
  Look();
  Wait(seconds(20));
  const WallTime then = world_.clock.WallNow();
  exceed(then);
  Look();
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  Strategy("onFailure", "Rollback");
  world_.SetImage("app:2");
  Wait(seconds(5));
  exceed(then);  // The Deployment controller has not reconciled yet, and keeps the condition.
  Wait(seconds(5));
  EXPECT_FALSE(IsMarkedFailed());
  EXPECT_EQ(Images(), "a=2 b=1");
  exceed(world_.clock.WallNow());
  Wait(seconds(5));
  EXPECT_TRUE(IsMarkedFailed());
}

TEST_P(RolloutEdgeCasesTest, RejectedWriteOfAPoolThatThePartitionExcludesIsNotAFailure) {
  Deployed({"a", "b", "c"});
  RejectUpdatesOf("c");
  Break("c");
  Look();
  world_.SetImage("app:2");
  Look();
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  Strategy("partition", 1);
  Heal("c");
  world_.cluster.SetFaults(nullptr);
  Look();
  EXPECT_EQ(Images(), "a=2 b=1 c=1") << "the partition excludes pool c, and pool a is updated";
}

TEST_P(RolloutEdgeCasesTest, APoolWithAnInvalidNameNeedsNoApproval) {
  const std::string bad(64, 'x');
  Deployed({"a", "b"}, {{"groups", {{{"name", "north"}, {"pools", {bad}}, {"approval", "Manual"}}}}});
  world_.AddPool(bad);
  Look();
  Override("b", "app:own");
  Look();
  EXPECT_EQ(Images(), "a=1 b=own");
}

TEST_P(RolloutEdgeCasesTest, ANewPoolThatStartsSlowlyCausesNoRollback) {
  Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 30}, {"onFailure", "Rollback"}});
  world_.SetImage("app:2");
  Look();
  Heal("a");
  Look();
  world_.AddPool("new");
  Look();
  EXPECT_EQ(Images(), "a=2 b=2 c=1 new=2");
  world_.Restart();
  Heal("b");
  Look();
  EXPECT_EQ(Images(), "a=2 b=2 c=2 new=2") << "the new pool takes no slot";
  Heal("c");
  Wait(seconds(60));
  EXPECT_FALSE(IsMarkedFailed());
  EXPECT_EQ(Images(), "a=2 b=2 c=2 new=2");
  EXPECT_EQ(Phase("new"), "Failed ProgressDeadlineExceeded");
  EXPECT_EQ(Complete(), "True CompleteWithFailures");
}

TEST_P(RolloutEdgeCasesTest, ANewPoolWhoseCreationIsRetriedIsStillNew) {
  for (const bool quota : {false, true}) {
    SCOPED_TRACE(quota);
    Play([&] {
      Deployed({"a", "b"}, {{"progressDeadlineSeconds", 30}, {"onFailure", "Rollback"}});
      world_.SetImage("app:2");
      Look();
      world_.cluster.SetFaults([quota](const WriteRecord& write, const Json&) -> std::optional<FakeCluster::Fault> {
        if (write.method != "POST") return std::nullopt;
        return FakeCluster::Fault{quota ? StatusResponse(403, "Forbidden", "exceeded quota: compute")
                                        : StatusResponse(500, "InternalError", "etcd is away"),
                                  false};
      });
      world_.AddPool("new");
      StepDespiteErrors();
      EXPECT_EQ(Phase("new"), quota ? "Failed QuotaExceeded" : "Pending");
      world_.cluster.SetFaults(nullptr);
      Step();
      EXPECT_EQ(Images(), "a=2 b=1 new=2");
      Heal("a");
      Step();
      EXPECT_EQ(Images(), "a=2 b=2 new=2") << "the new pool takes no slot";
      Heal("b");
      Wait(seconds(60));
      EXPECT_FALSE(IsMarkedFailed());
      EXPECT_EQ(Complete(), "True CompleteWithFailures");
      // A pool that had a workload before is not new.
      DeleteWorkload("new");
      Step();
      EXPECT_EQ(StringAt(world_.Workload("new"), {"metadata", "annotations", kUpdateRecordAnnotation}).find("joining"),
                std::string::npos);
    });
  }
}

TEST_P(RolloutEdgeCasesTest, ANewPoolThatBecomesUnhealthyAfterItWasHealthyCountsAsAFailure) {
  Deployed({"a", "b"}, {{"progressDeadlineSeconds", 30}, {"minReadySeconds", 20}, {"onFailure", "Rollback"}});
  world_.SetImage("app:2");
  Look();
  world_.AddPool("new");
  Look();
  Heal("new");
  Look();
  Break("new");
  Heal("a");
  world_.Restart();
  Wait(seconds(45));
  EXPECT_TRUE(IsMarkedFailed());
}

TEST_P(RolloutEdgeCasesTest, FailuresCountInAGroupThatHasOnlyNewPools) {
  Deployed({"b"}, {{"progressDeadlineSeconds", 30},
                   {"onFailure", "Rollback"},
                   {"groups", {{{"name", "canary"}, {"pools", {"x", "y"}}}}}});
  world_.SetImage("app:2");
  world_.AddPools({"x", "y"});
  Wait(seconds(45));
  EXPECT_TRUE(IsMarkedFailed());
  EXPECT_EQ(Images().substr(0, 3), "b=1");
}

TEST_P(RolloutEdgeCasesTest, ANewLeaderKeepsTheSoaksOfMoreThan500Pools) {
  if (GetParam() != WorkloadKind::kDeployment) return;
  std::vector<std::string> pools;
  for (int i = 0; i < 510; ++i) pools.push_back("p" + std::to_string(1000 + i));
  Deployed(pools, {{"minReadySeconds", 300}});
  ASSERT_EQ(world_.Status()["updatedPools"], 510);
  world_.Restart();
  Look();
  EXPECT_EQ(world_.Status()["updatedPools"], 510);
  EXPECT_EQ(Ready(), "True PoolsReady");
  EXPECT_EQ(Progressing(), "True RolloutComplete");

  // If more than 500 pools soak, the list in status also omits some of them.
  Strategy("maxUnavailable", "100%");
  world_.SetImage("app:2");
  Look();
  for (const std::string& pool : pools) Heal(pool);
  Look();
  world_.Restart();
  Look();
  EXPECT_EQ(world_.Status()["updatedPools"], 0);
  Wait(seconds(310));
  EXPECT_EQ(world_.Status()["updatedPools"], 510);
}

TEST_P(RolloutEdgeCasesTest, RolloutContinuesAfterAnUpgradeFromTheStatusOfThePreviousVersion) {
  Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 100}, {"minReadySeconds", 60}});
  world_.SetImage("app:2");
  Look();
  Heal("a");
  Wait(seconds(30));
  // The previous version did not write records, the new conditions and the new phases.
  for (const std::string pool : {"a", "b", "c"}) {
    world_.EditWorkload(pool,
                        [](Json& workload) { workload["metadata"]["annotations"].erase(kUpdateRecordAnnotation); });
  }
  world_.EditDaemon([](Json& daemon) {
    Json& conditions = daemon["status"]["conditions"];
    for (auto it = conditions.begin(); it != conditions.end();) {
      const std::string type = (*it)["type"];
      it = type == "Complete" || type == "Reconciling" || type == "Stalled" ? conditions.erase(it) : it + 1;
    }
    for (Json& pool : daemon["status"]["pools"]) {
      for (const char* field : {"waitingFor", "unhealthySeconds", "message"}) pool.erase(field);
    }
  });
  world_.Restart();
  world_.cluster.ClearWrites();
  Wait(seconds(20));
  EXPECT_EQ(Images(), "a=2 b=1 c=1");
  EXPECT_EQ(Phase("a"), "Soaking");
  Wait(seconds(20));
  EXPECT_EQ(Images(), "a=2 b=2 c=1") << "the soak continued during the upgrade";
}

TEST(UpdateRecordTest, IgnoresRecordsOfOtherRevisionsAndMalformedOnes) {
  UpdateRecord record{"web-1", ParseTime("2026-11-23T10:00:00Z"), true, true};
  ObjectMeta meta;
  meta.labels[kRevisionLabel] = "web-1";
  EXPECT_EQ(UpdateRecordOf(meta), std::nullopt);
  meta.annotations[kUpdateRecordAnnotation] = record.ToAnnotation();
  EXPECT_EQ(UpdateRecordOf(meta), record);
  record.pods_revision = "web-0";
  meta.annotations[kUpdateRecordAnnotation] = record.ToAnnotation();
  EXPECT_EQ(UpdateRecordOf(meta), record);
  meta.labels[kRevisionLabel] = "web-2";
  EXPECT_EQ(UpdateRecordOf(meta), std::nullopt);
  meta.labels.erase(kRevisionLabel);
  for (const char* text : {"", "{", "[]", "null", "{}", R"({"revision": 1})"}) {
    meta.annotations[kUpdateRecordAnnotation] = text;
    EXPECT_EQ(UpdateRecordOf(meta), std::nullopt) << text;
  }
}

// The pool has never soaked, so only its own health can show a new leader that its failure counts.
TEST_P(RolloutEdgeCasesTest, JoiningPoolThatFailsDuringItsSoakIsAFailureForTheNextLeaderToo) {
  for (const bool goes_offline : {false, true}) {
    SCOPED_TRACE(goes_offline ? "the pool goes offline" : "the pool becomes unhealthy");
    Play([&] {
      Deployed({"a", "b"}, {{"minReadySeconds", 20}, {"progressDeadlineSeconds", 30}});
      world_.SetImage("app:2");
      Step();
      world_.AddPool("c");
      Step();
      EXPECT_EQ(Images(), "a=2 b=1 c=2");
      Heal("c");
      Step(10);
      EXPECT_EQ(Phase("c"), "Soaking");
      if (goes_offline)
        GoOffline("c");
      else
        Break("c");
      Step(10);
      Heal("a");
      Step(25);
      EXPECT_EQ(Phase("c"), goes_offline ? "Offline WentDarkAfterUpdate" : "Failed ProgressDeadlineExceeded");
      EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
      Step();
      const Json before = world_.Status();
      Step(30);
      EXPECT_EQ(Images(), "a=2 b=1 c=2");
      EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
      EXPECT_EQ(PoolStatus(world_.Status(), "c"), PoolStatus(before, "c"));
    });
  }
}

// A pool without pods does not show whether the revision works.
TEST_P(RolloutEdgeCasesTest, PoolThatIsScaledFromZeroSoaksAgain) {
  Play([&] {
    Deployed({"a", "b"}, {{"minReadySeconds", 60}, {"progressDeadlineSeconds", 90}});
    HandOverReplicas();
    Step();
    world_.SetImage("app:2");
    Step();
    Scale("a", 0);
    Heal("a");
    Step(50);
    EXPECT_EQ(Phase("a"), "Soaking");
    Scale("a", 2);
    Step();
    EXPECT_EQ(Phase("a"), "Unhealthy") << "the reason must not be Scaling";
    Heal("a");
    Step(50);
    EXPECT_EQ(Phase("a"), "Soaking");
    Step(12);
    EXPECT_EQ(Phase("a"), "Ready");
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

// The pool had soaked without a pod, so the failure of its first pods is a failure of the revision.
TEST_P(RolloutEdgeCasesTest, PoolThatFailsAfterItWasScaledFromZeroIsAFailure) {
  Play([&] {
    Deployed({"a", "b"}, {{"progressDeadlineSeconds", 30}});
    HandOverReplicas();
    Step();
    AnnotatePool("b", kHoldAnnotation, "stocktaking");  // so that the rollout is not complete
    world_.SetImage("app:2");
    Step();
    Scale("a", 0);
    Heal("a");
    Step();
    EXPECT_EQ(Phase("a"), "Ready");
    Scale("a", 2);
    Step(35);
    EXPECT_EQ(Phase("a"), "Failed ProgressDeadlineExceeded");
    EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  });
}

// The time for which the pool only scaled does not count for its deadline.
TEST_P(RolloutEdgeCasesTest, DeadlineOfAPoolThatFailsWhileItScalesBeginsWithTheFailure) {
  Play([&] {
    Deployed({"a", "b"}, {{"progressDeadlineSeconds", 60}});
    HandOverReplicas();
    Step();
    Scale("a", 3);
    Step();
    EXPECT_EQ(Phase("a"), "Unhealthy Scaling");
    Step(50);
    Break("a");
    Step();
    Step(40);
    EXPECT_EQ(Phase("a"), "Unhealthy");
    Step(30);
    Step();
    EXPECT_EQ(Phase("a"), "Failed ProgressDeadlineExceeded");
  });
}

TEST_P(RolloutEdgeCasesTest, WorkloadOfTheCurrentRevisionThatAQuotaRejectsTakesNoSlot) {
  Play([&] {
    Deployed({"a", "b", "c"}, {{"groups", {{{"name", "first"}, {"pools", {"a", "b"}}}}}});
    world_.SetImage("app:2");
    Step();
    world_.cluster.SetFaults([](const WriteRecord& write, const Json&) -> std::optional<FakeCluster::Fault> {
      if (write.method != "POST" || write.key.name.find("web-c-") != 0) return std::nullopt;
      return FakeCluster::Fault{StatusResponse(403, "Forbidden", "exceeded quota: few, requested: 1"), false};
    });
    DeleteWorkload("c");
    StepDespiteErrors();
    EXPECT_EQ(Phase("c"), "Failed QuotaExceeded");
    Heal("a");
    StepDespiteErrors();
    EXPECT_EQ(Images(), "a=2 b=2");
    world_.cluster.SetFaults(nullptr);
    Step(400);
    EXPECT_EQ(Images(), "a=2 b=2 c=1");
  });
}

}  // namespace
}  // namespace yad
