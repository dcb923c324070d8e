// Rollouts while sites are offline: outages, sites that a revision has disconnected, and sites that return.
#include <gtest/gtest.h>

#include "tests/unit/yurtappdaemon/rolling_update_fixture.h"

namespace yad {
namespace {

using namespace testing;

TEST_P(RolloutEdgeCasesTest, RolloutStopsAndRollsBackIfAPoolGoesOfflineDuringItsSoak) {
  for (const bool restarts : {false, true}) {
    StartOver();
    Deployed({"a", "b", "c", "d"},
             {{"progressDeadlineSeconds", 100}, {"minReadySeconds", 60}, {"onFailure", "Rollback"}});
    world_.SetImage("app:2");
    Look();
    Heal("a");
    Wait(seconds(30));
    GoOffline("a");
    Look();
    EXPECT_EQ(Phase("a"), "Offline WentDarkAfterUpdate");
    EXPECT_EQ(world_.Status()["updatedPools"], 0);
    if (restarts) world_.Restart();
    Wait(seconds(90));
    EXPECT_EQ(Images(), "a=2 b=1 c=1 d=1") << "pool a keeps its slot";
    Wait(seconds(20));
    EXPECT_EQ(Images(), "a=1 b=1 c=1 d=1");
    EXPECT_TRUE(IsMarkedFailed());
    EXPECT_EQ(Progressing(), "False RolledBack");
  }
}

TEST_P(RolloutEdgeCasesTest, AnOfflinePoolThatReturnsGetsNoNewDeadline) {
  Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 100}});
  world_.SetImage("app:2");
  Wait(seconds(30));
  GoOffline("a");
  Wait(seconds(50));
  Return("a");
  Wait(seconds(10));
  EXPECT_EQ(Phase("a"), "Updating");
  world_.Restart();
  Wait(seconds(20));
  EXPECT_EQ(Phase("a"), "Failed ProgressDeadlineExceeded");
}

TEST_P(RolloutEdgeCasesTest, AnOutageOfOtherPoolsIsNotAFailureOfTheRevision) {
  for (const bool restarts : {false, true}) {
    StartOver();
    Deployed({"a", "b", "c", "d"}, {{"progressDeadlineSeconds", 60}, {"onFailure", "Rollback"}});
    world_.SetImage("app:2");
    Look();
    GoOffline("a");
    GoOffline("c");
    Look();
    EXPECT_EQ(Progressing(), "True SitesOffline");
    EXPECT_EQ(Phase("a"), "Offline SitesOffline");
    Wait(seconds(500));
    EXPECT_FALSE(IsMarkedFailed());
    EXPECT_EQ(Images(), "a=2 b=1 c=1 d=1");
    Return("c");
    if (restarts) world_.Restart();
    Look();
    EXPECT_EQ(Progressing(), "True RollingOut");
    EXPECT_FALSE(IsMarkedFailed()) << "the time of the outage does not count";
    Return("a");
    Heal("a");
    Look();
    EXPECT_EQ(Images(), "a=2 b=2 c=1 d=1");
  }
}

// The cache still shows pools as online whose nodes are gone.
TEST_P(RolloutEdgeCasesTest, AStaleCacheOfNodePoolsDoesNotMarkARevisionFailed) {
  Deployed({"a", "b", "c", "d"},
           {{"minReadySeconds", 60}, {"progressDeadlineSeconds", 120}, {"onFailure", "Rollback"}});
  world_.SetImage("app:2");
  Look();
  Heal("a");
  Wait(seconds(70));
  Heal("b");
  Look();
  world_.pools_readable = false;
  for (const char* pool : {"b", "c", "d"}) GoOffline(pool);
  Break("b");
  const auto reconcile_for_200_s = [&] {
    for (int i = 0; i < 100; ++i) {
      static_cast<void>(world_.Reconcile());  // It fails while the caches differ from the server.
      world_.clock.Advance(seconds(2));
    }
  };
  reconcile_for_200_s();
  EXPECT_FALSE(IsMarkedFailed());
  EXPECT_EQ(Images(), "a=2 b=2 c=1 d=1");
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  world_.RemovePool("b");
  reconcile_for_200_s();
  EXPECT_FALSE(IsMarkedFailed()) << "the pool no longer exists";
  world_.AddPool("b");
  GoOffline("b");
  world_.pools_readable = true;
  Look();
  EXPECT_EQ(Progressing(), "True SitesOffline");
  for (const char* pool : {"b", "c", "d"}) Return(pool);
  Wait(seconds(200));
  EXPECT_TRUE(IsMarkedFailed()) << "pool b is online, and still not healthy";
}

TEST_P(RolloutEdgeCasesTest, PoolsThatWereOfflineBeforeTheUpdateAreNotAnOutage) {
  Deployed({"a", "b", "c", "d"}, {{"progressDeadlineSeconds", 60}});
  GoOffline("c");
  GoOffline("d");
  Wait(seconds(10));
  world_.SetImage("app:2");
  Look();
  GoOffline("a");
  Wait(seconds(100));
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  EXPECT_EQ(Phase("a"), "Offline WentDarkAfterUpdate");
}

TEST_P(RolloutEdgeCasesTest, OfflinePoolsGetTheRevisionAfterTheOnlinePoolsOfTheirGroup) {
  Deployed({"a", "b", "c"});
  GoOffline("a");
  Wait(seconds(10));
  world_.SetImage("app:2");
  Look();
  EXPECT_EQ(Images(), "a=1 b=2 c=1");
  EXPECT_EQ(PoolStatus(world_.Status(), "a")["waitingFor"], "Group");
  Heal("b");
  Look();
  EXPECT_EQ(Images(), "a=1 b=2 c=2");
  Heal("c");
  Look();
  EXPECT_EQ(Images(), "a=2 b=2 c=2");
  Look();
  EXPECT_EQ(Complete(), "True RolloutComplete");
}

TEST_P(RolloutEdgeCasesTest, ChangesOfAPoolWaitForTheEndOfAnOutage) {
  Deployed({"a", "b", "c", "d"}, {{"progressDeadlineSeconds", 60}, {"maxUnavailable", 2}});
  world_.SetImage("app:2");
  Look();
  EXPECT_EQ(Images(), "a=2 b=2 c=1 d=1");
  Heal("b");
  GoOffline("a");
  GoOffline("c");
  world_.cluster.Edit(kNodePoolType, {"", "d"}, [](Json& pool) {
    pool["spec"]["taints"] = {{{"key", "edge"}, {"effect", "NoSchedule"}}};
  });
  Look();
  const auto tolerates = [&](const std::string& pool) {
    return world_.Workload(pool)["spec"]["template"]["spec"].contains("tolerations");
  };
  EXPECT_EQ(Progressing(), "True SitesOffline");
  EXPECT_FALSE(tolerates("d"));
  Return("c");
  Look();
  Heal("c");
  Look();
  EXPECT_TRUE(tolerates("d"));
}

TEST_P(RolloutEdgeCasesTest, APoolThatWasOfflineBeforeItsUpdateIsNotAFailure) {
  Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 60}, {"onFailure", "Rollback"}});
  GoOffline("c");
  Look();
  world_.SetImage("app:2");
  Look();
  Heal("a");
  Look();
  Heal("b");
  Look();
  EXPECT_EQ(Images(), "a=2 b=2 c=2");
  EXPECT_EQ(Phase("c"), "Offline NoReadyNode");
  Wait(seconds(500));
  EXPECT_FALSE(IsMarkedFailed());
  EXPECT_EQ(Complete(), "True RolloutComplete");
}

TEST_P(RolloutEdgeCasesTest, PoolThatGoesOfflineAfterItsSoakDoesNotCountAsFailed) {
  Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 60}});
  world_.SetImage("app:2");
  Look();
  Heal("a");
  Look();
  EXPECT_EQ(Images(), "a=2 b=2 c=1");
  GoOffline("a");
  Look();
  EXPECT_EQ(Phase("a"), "Offline NoReadyNode");
  Heal("b");
  Wait(seconds(100));
  EXPECT_EQ(Images(), "a=2 b=2 c=2");
  Heal("c");
  Look();
  EXPECT_EQ(Complete(), "True RolloutComplete");
}

TEST_P(RolloutEdgeCasesTest, RevisionThatOnlyOfflinePoolsHaveIsJudgedWhenTheyReturn) {
  for (const bool has_invalid_name : {false, true}) {
    SCOPED_TRACE(has_invalid_name);
    Play([&] {
      Deployed({"a", "b"}, {{"onFailure", "Rollback"}, {"progressDeadlineSeconds", 60}});
      if (has_invalid_name) world_.AddPool(std::string(64, 'x'));
      const std::string before = Current();
      for (const char* pool : {"a", "b"}) GoOffline(pool);
      Look();
      world_.SetImage("app:2");
      Look();
      Look();
      EXPECT_EQ(Images(), "a=2 b=2");
      EXPECT_EQ(Complete(), "False AllPoolsOffline");
      EXPECT_EQ(Current(), before);
      for (const char* pool : {"a", "b"}) {
        Return(pool);
        Break(pool);
      }
      Look();
      Wait(seconds(100));
      EXPECT_TRUE(IsMarkedFailed());
    });
  }
}

TEST_P(RolloutEdgeCasesTest, RolloutStaysCompleteIfAPoolGoesOfflineAfterIt) {
  Deployed({"a", "b"}, {{"progressDeadlineSeconds", 60}, {"onFailure", "Rollback"}});
  world_.SetImage("app:2");
  Look();
  Heal("a");
  Look();
  Heal("b");
  Look();
  GoOffline("a");
  Wait(seconds(500));
  EXPECT_EQ(Phase("a"), "Offline NoReadyNode");
  EXPECT_EQ(Complete(), "True RolloutComplete");
  EXPECT_EQ(Ready(), "True PoolsReady");
  EXPECT_FALSE(IsMarkedFailed());
}

TEST_P(RolloutEdgeCasesTest, AStaleCacheWithAnOfflinePoolDoesNotMarkTheRevisionFailed) {
  if (GetParam() != WorkloadKind::kDeployment) return;
  Deployed({"a", "b"}, {{"progressDeadlineSeconds", 60}, {"onFailure", "Rollback"}});
  world_.SetImage("app:2");
  Look();
  GoOffline("a");
  Wait(seconds(50));
  world_.Sync();
  Return("a");
  for (int i = 0; i < 30; ++i) {
    static_cast<void>(world_.ReconcileWithOldCaches());
    world_.clock.Advance(seconds(1));
  }
  EXPECT_FALSE(IsMarkedFailed());
}

TEST_P(RolloutEdgeCasesTest, OutageDoesNotResetTheDeadlineOfAPoolThatWentDark) {
  Play([&] {
    Deployed({"a", "b", "c", "d"}, {{"progressDeadlineSeconds", 60}, {"maxUnavailable", 2}});
    world_.SetImage("app:2");
    Step();
    Heal("b");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=2 d=1");
    Heal("c");
    GoOffline("a");
    Strategy("maxUnavailable", 1);
    Step(70);
    Step();
    EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
    Strategy("maxUnavailable", 2);
    GoOffline("d");
    Step();
    EXPECT_EQ(Progressing(), "True SitesOffline");
    Step(20);
    Return("d");
    Step();
    Step();
    EXPECT_EQ(Progressing(), "False FailureBudgetExceeded") << "pool a exceeded its deadline before the outage";
    EXPECT_EQ(Images(), "a=2 b=2 c=2 d=1");
  });
}

TEST_P(RolloutEdgeCasesTest, DarkTimesBeforeAndAfterAnOutageAddUp) {
  Play([&] {
    Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 100}});
    world_.SetImage("app:2");
    Step();
    GoOffline("a");
    Step(60);
    GoOffline("c");
    Step();
    EXPECT_EQ(Progressing(), "True SitesOffline");
    Step(200);
    Return("c");
    Step();
    Step(20);
    EXPECT_EQ(Progressing(), "True RollingOut");
    Step(30);
    Step();
    EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  });
}

TEST_P(RolloutEdgeCasesTest, ChangeOfAPoolThatWentDarkDoesNotExcuseIt) {
  Play([&] {
    Deployed({"a", "b"}, {{"progressDeadlineSeconds", 60}});
    world_.SetImage("app:2");
    Step();
    GoOffline("a");
    Step(10);
    Taint("a", "gpu");
    Step();
    EXPECT_TRUE(Tolerates("a"));
    Step();
    EXPECT_EQ(Phase("a"), "Offline WentDarkAfterUpdate");
    EXPECT_EQ(Images(), "a=2 b=1") << "pool a keeps its slot";
    Step(60);
    Step();
    EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  });
}

TEST_P(RolloutEdgeCasesTest, PoolThatJoinsWithoutNodesIsNotAnOutage) {
  Play([&] {
    Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 60}, {"groups", {{{"name", "canary"}, {"pools", {"a"}}}}}});
    world_.SetImage("app:2");
    Step();
    GoOffline("a");
    Step(10);
    world_.AddPool("new");
    GoOffline("new");
    Step();
    EXPECT_EQ(Images(), "a=2 b=1 c=1 new=1");
    EXPECT_EQ(Phase("a"), "Offline WentDarkAfterUpdate");
    Step(60);
    Step();
    EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  });
}

TEST_P(RolloutEdgeCasesTest, NewPoolThatGoesOfflineMakesNoOutage) {
  Play([&] {
    Deployed({"a", "b", "c"});
    world_.SetImage("app:2");
    Step();
    world_.AddPool("new");
    Step(5);
    EXPECT_EQ(Images(), "a=2 b=1 c=1 new=2");
    GoOffline("new");
    GoOffline("c");
    Step();
    Heal("a");
    Step();
    EXPECT_EQ(Progressing(), "True RollingOut");
    EXPECT_EQ(Images(), "a=2 b=2 c=1 new=2");
  });
}

TEST_P(RolloutEdgeCasesTest, ClockThatIsSetForwardMakesNoOutage) {
  Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 60}});
  GoOffline("c");
  Wait(seconds(10));
  world_.SetImage("app:2");
  Look();
  world_.clock.SetWall(world_.clock.WallNow() + std::chrono::hours(1));
  Look();
  GoOffline("a");
  Look();
  EXPECT_EQ(Phase("a"), "Offline WentDarkAfterUpdate") << "pool c was offline before the update";
}

TEST_P(RolloutEdgeCasesTest, RejectedWriteOfAnOfflinePoolEndsTheRolloutWithAFailure) {
  for (const int budget : {0, 1}) {
    SCOPED_TRACE(budget);
    Play([&] {
      Deployed({"a", "b"}, {{"maxFailures", budget}});
      const std::string before = Current();
      GoOffline("b");
      Step();
      RejectUpdatesOf("b");
      world_.SetImage("app:2");
      StepDespiteErrors();
      Heal("a");
      StepDespiteErrors();
      EXPECT_EQ(Images(), "a=2 b=1");
      EXPECT_EQ(Phase("b"), "Offline Invalid");
      EXPECT_EQ(Progressing(), budget == 0 ? "False FailureBudgetExceeded" : "True RolloutComplete");
      EXPECT_EQ(Complete(), budget == 0 ? "False FailureBudgetExceeded" : "True CompleteWithFailures");
      EXPECT_EQ(Current() == before, budget == 0);
      EXPECT_EQ(ConditionReason(world_.Status(), "Reconciling"), "absent");
      EXPECT_EQ(ConditionReason(world_.Status(), "WorkLoadFailure"), "True Invalid");
      EXPECT_EQ(world_.Status()["failedPools"], 1);
      EXPECT_EQ(world_.Status()["updatedPools"], 1);
      world_.cluster.SetFaults(nullptr);
      Step(600);
      EXPECT_EQ(Images(), "a=2 b=2") << "the write is retried";
      Step();
      EXPECT_EQ(Complete(), "True RolloutComplete");
    });
  }
}

TEST_P(RolloutEdgeCasesTest, MissingPermissionToWriteAnOfflinePoolIsNotAFailureOfTheRevision) {
  Deployed({"a", "b"});
  GoOffline("b");
  Look();
  RejectUpdatesOf("b", StatusResponse(403, "Forbidden",
                                      "deployments.apps \"b\" is forbidden: User \"yad\" cannot update resource"));
  world_.SetImage("app:2");
  StepDespiteErrors();
  Heal("a");
  StepDespiteErrors();
  EXPECT_EQ(Phase("b"), "Offline Forbidden");
  EXPECT_EQ(Progressing(), "True RollingOut");
}

TEST_P(RolloutEdgeCasesTest, OfflinePoolWhoseWorkloadAQuotaRejectsIsReported) {
  Play([&] {
    Deployed({"a"});
    world_.cluster.SetFaults([](const WriteRecord& write, const Json&) -> std::optional<FakeCluster::Fault> {
      if (write.method != "POST") return std::nullopt;
      return FakeCluster::Fault{StatusResponse(403, "Forbidden", "exceeded quota: few"), false};
    });
    world_.AddPool("b");
    GoOffline("b");
    StepDespiteErrors();
    EXPECT_EQ(Phase("b"), "Offline QuotaExceeded");
    EXPECT_EQ(Complete(), "True CompleteWithFailures");
    EXPECT_EQ(world_.Status()["failedPools"], 1);
    EXPECT_EQ(ConditionReason(world_.Status(), "WorkLoadFailure"), "True QuotaExceeded");
  });
}

TEST_P(RolloutEdgeCasesTest, RejectedOfflinePoolIsWrittenAfterTheOnlinePoolsOfItsGroup) {
  Deployed({"a", "b", "c"}, {{"maxFailures", 1}});
  RejectUpdatesOf("a");
  world_.SetImage("app:2");
  Look();
  EXPECT_EQ(Phase("a"), "Failed Invalid");
  GoOffline("a");
  world_.cluster.SetFaults(nullptr);
  Wait(seconds(400));
  EXPECT_EQ(Images(), "a=1 b=2 c=1");
  Heal("b");
  Look();
  Heal("c");
  Wait(seconds(400));
  EXPECT_EQ(Images(), "a=2 b=2 c=2");
}

// The deadline does not approach during the outage.
TEST_P(RolloutEdgeCasesTest, DeadlineOfADarkPoolCausesNoReconcileDuringAnOutage) {
  Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 30}});
  world_.SetImage("app:2");
  Look();
  GoOffline("a");
  Wait(seconds(25));
  GoOffline("b");
  Look();
  EXPECT_EQ(Progressing(), "True SitesOffline");
  const auto result = world_.Reconcile();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->next, kReconcileDone);
}

TEST_P(RolloutEdgeCasesTest, OutdatedPodsOfADarkPoolCauseNoReconcileAfterItsDeadline) {
  Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 30}});
  world_.SetImage("app:2");
  Look();
  world_.EditWorkload("a", [](Json& workload) {
    workload["status"] = HealthyStatus(workload);
    workload["status"]["updatedReplicas"] = workload["status"]["availableReplicas"] = 0;
    if (GetParam() == WorkloadKind::kStatefulSet) workload["status"]["updateRevision"] = "r2";
  });
  GoOffline("a");
  Wait(seconds(40));
  EXPECT_EQ(Phase("a"), "Offline WentDarkAfterUpdate");
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  world_.clock.Advance(seconds(2));
  const auto result = world_.Reconcile();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->next, kReconcileDone);
}

}  // namespace
}  // namespace yad
