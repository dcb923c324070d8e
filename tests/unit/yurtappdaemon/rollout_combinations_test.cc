// Two simultaneous events in a rollout, with one leader and with a new leader at each step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/yurtappdaemon/rolling_update_fixture.h"

namespace yad {
namespace {

using namespace testing;

class RolloutCombinationsTest : public RollingUpdateTest {
 protected:
  void Type(const std::string& type, Json rolling = nullptr) {
    world_.EditDaemon([&](Json& daemon) {
      daemon["spec"]["updateStrategy"] = {{"type", type}};
      if (!rolling.is_null()) daemon["spec"]["updateStrategy"]["rollingUpdate"] = rolling;
    });
  }
  void GiveUp(const std::string& pool) {  // as the Deployment controller does
    world_.EditWorkload(pool, [&](Json& workload) {
      workload["status"] = HealthyStatus(workload);
      workload["status"]["availableReplicas"] = 0;
      workload["status"]["conditions"] = {{{"type", "Progressing"},
                                           {"status", "False"},
                                           {"reason", "ProgressDeadlineExceeded"},
                                           {"lastUpdateTime", FormatTime(world_.clock.WallNow())}}};
    });
  }
  std::string Update() { return StringAt(world_.Status(), {"updateRevision"}); }
  bool deployment() const { return GetParam() == WorkloadKind::kDeployment; }
};
INSTANTIATE_TEST_SUITE_P(Kind, RolloutCombinationsTest,
                         ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet));

TEST_P(RolloutCombinationsTest, UpdatesOnePoolAtATimeIfTheTemplateChangesDuringTheFirstSoak) {
  Play([&] {
    const std::vector<std::string> pools = {"a", "b", "c", "d", "e"};
    world_.AddPools(pools);
    Json daemon = DaemonJson("app:1", GetParam());
    daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"},
                                        {"rollingUpdate", {{"minReadySeconds", 4}, {"maxUnavailable", 1}}}};
    world_.CreateDaemon(daemon);
    Step(1);
    for (const std::string& pool : pools) Heal(pool);
    Step(2);
    world_.SetImage("app:2");
    std::string story;
    for (int second = 0; second < 60; ++second) {
      Step(1);
      const std::string images = Images();
      if (!story.ends_with(images + "\n")) story += std::to_string(second) + ": " + images + "\n";
      int unavailable = 0;
      for (const std::string& pool : pools) {
        if (ImageOf(world_.Workload(pool)) != "app:2") continue;
        const std::string phase = Phase(pool);
        unavailable += phase != "Ready";
        if (phase == "Updating") Heal(pool);
      }
      EXPECT_LE(unavailable, 1) << story;
    }
    EXPECT_EQ(Images(), "a=2 b=2 c=2 d=2 e=2") << story;
    EXPECT_EQ(Complete(), "True RolloutComplete");
    EXPECT_EQ(Current(), Update());
  });
}

TEST_P(RolloutCombinationsTest, ThirdTemplateAndItsUndoDuringARollbackRespectMaxUnavailable) {
  Play([&] {
    Deployed({"a", "b", "c", "d", "e"}, {{"progressDeadlineSeconds", 30}, {"onFailure", "Rollback"}});
    world_.SetImage("app:2");
    Step();
    Heal("a");
    Step();
    Heal("b");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=2 d=1 e=1");
    Step(35);
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=1 d=1 e=1") << "one pool after the other, the unhealthy pool first";
    Heal("c");
    Step();
    EXPECT_EQ(Images(), "a=1 b=2 c=1 d=1 e=1");
    world_.SetImage("app:3");
    Step();
    EXPECT_EQ(Images(), "a=3 b=2 c=1 d=1 e=1");
    Heal("a");
    Step();
    EXPECT_EQ(Images(), "a=3 b=3 c=1 d=1 e=1");
    // A user reverts the third template in the middle of its rollout.
    world_.SetImage("app:1");
    Step();
    EXPECT_EQ(Images(), "a=3 b=1 c=1 d=1 e=1");
    EXPECT_EQ(Progressing(), "True RollingOut");
    Heal("b");
    Step();
    EXPECT_EQ(Images(), "a=1 b=1 c=1 d=1 e=1");
    Heal("a");
    Step();
    EXPECT_EQ(Complete(), "True RolloutComplete");
  });
}

TEST_P(RolloutCombinationsTest, ApprovalDuringASoakStartsTheGroupAfterTheSoak) {
  Play([&] {
    Deployed({"a", "b", "c"}, {{"minReadySeconds", 60},
                               {"maxUnavailable", 2},
                               {"groups",
                                {{{"name", "canary"}, {"pools", {"c"}}},
                                 {{"name", "north"}, {"pools", {"a", "b"}}, {"approval", "Manual"}}}}});
    world_.SetImage("app:2");
    Step();
    Heal("c");
    Step(20);
    EXPECT_EQ(Phase("c"), "Soaking");
    EXPECT_EQ(WaitingFor("a"), "Group");
    Annotate(kApproveAnnotation, Update() + "/north");
    Step();
    EXPECT_EQ(Images(), "a=1 b=1 c=2");
    EXPECT_FALSE(world_.Status().contains("begunGroups"));
    Annotate(kApproveAnnotation, "");
    Step(50);
    EXPECT_EQ(Images(), "a=1 b=1 c=2") << "the approval was withdrawn before the group began";
    EXPECT_EQ(Progressing(), "Unknown WaitingForApproval");
    Annotate(kApproveAnnotation, Update() + "/north");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=2");
    EXPECT_EQ(world_.Status()["begunGroups"], Json({"north"}));
    // A pool breaks after its group has begun; the group does not need another approval.
    Break("c");
    Step();
    EXPECT_EQ(Phase("c"), "Unhealthy");
  });
}

TEST_P(RolloutCombinationsTest, NewPoolThatGoesOfflineIsNotAFailureOfTheRevision) {
  Play([&] {
    Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 100}, {"onFailure", "Rollback"}});
    world_.SetImage("app:2");
    Step();
    world_.AddPool("new");
    Step(5);
    GoOffline("new");
    Step();
    EXPECT_EQ(Phase("new"), "Offline WentDarkAfterUpdate");
    Heal("a");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=1 new=2") << "the new pool takes no slot";
    Heal("b");
    Step();
    Heal("c");
    Step();
    EXPECT_EQ(Complete(), "False RollingOut");
    Step(150);
    Step();
    EXPECT_FALSE(IsMarkedFailed());
    // Once the revision is current, the site counts like any other offline pool.
    EXPECT_EQ(Complete(), "True RolloutComplete") << Progressing() << Message();
    EXPECT_EQ(Current(), Update());
  });
}

TEST_P(RolloutCombinationsTest, FailureOfAnOfflinePoolIsReportedInEachCondition) {
  Play([&] {
    Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 30}});
    world_.SetImage("app:2");
    Step();
    GoOffline("a");
    Step(35);
    EXPECT_EQ(world_.Status()["failedPools"], 1);
    EXPECT_EQ(ConditionReason(world_.Status(), "WorkLoadFailure"), "True WentDarkAfterUpdate");
    EXPECT_EQ(ConditionReason(world_.Status(), "Degraded"), "True PoolsFailed");
    EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  });
}

TEST_P(RolloutCombinationsTest, PoolThatGoesOfflineBeforeTheStatusWriteCountsAsFailed) {
  Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 60}, {"onFailure", "Rollback"}});
  world_.cluster.SetFaults([&](const WriteRecord& write, const Json&) -> std::optional<FakeCluster::Fault> {
    if (write.subresource != "status") return std::nullopt;
    return FakeCluster::Fault{StatusResponse(500, "InternalError", "no"), false};
  });
  world_.SetImage("app:2");
  for (int i = 0; i < 3; ++i) static_cast<void>(world_.Reconcile());
  EXPECT_EQ(Images(), "a=2 b=1 c=1");
  EXPECT_EQ(Phase("a"), "Ready") << "no status was written";
  world_.cluster.SetFaults(nullptr);
  GoOffline("a");
  world_.Restart();
  Look();
  EXPECT_EQ(Phase("a"), "Offline WentDarkAfterUpdate");
  EXPECT_EQ(Images(), "a=2 b=1 c=1");
  Wait(seconds(70));
  EXPECT_TRUE(IsMarkedFailed());
  EXPECT_EQ(Images(), "a=1 b=1 c=1");
}

TEST_P(RolloutCombinationsTest, TimeOfAnOutageIsNotCountedWhilePaused) {
  Play([&] {
    Deployed({"a", "b", "c", "d"}, {{"progressDeadlineSeconds", 60}, {"onFailure", "Rollback"}});
    world_.SetImage("app:2");
    Step();
    GoOffline("a");
    GoOffline("b");
    Step();
    Pause(true);
    Step(200);
    Return("b");
    Step();
    Pause(false);
    Step();
    Step(30);
    EXPECT_FALSE(IsMarkedFailed()) << "the time of the outage does not count";
    Return("a");
    Heal("a");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=1 d=1");
  });
}

TEST_P(RolloutCombinationsTest, FailureWithinTheBudgetTakesNoSlotAfterTheRollout) {
  Play([&] {
    Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 30}, {"maxFailures", 1}});
    world_.SetImage("app:2");
    Step(35);
    Heal("b");
    Step();
    Heal("c");
    Step();
    EXPECT_EQ(Complete(), "True CompleteWithFailures");
    Taint("c", "gpu");
    Step();
    EXPECT_TRUE(Tolerates("c")) << "pool a failed on the new revision, so it takes no slot";
  });
}

TEST_P(RolloutCombinationsTest, OfflinePoolDoesNotCountAsFailedAfterAnotherTemplate) {
  Play([&] {
    Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 30}});
    world_.SetImage("app:2");
    Step();
    GoOffline("a");
    Step();
    world_.SetImage("app:3");
    Step(60);
    EXPECT_EQ(Phase("a"), "Offline NoReadyNode");
    EXPECT_EQ(world_.Status()["failedPools"], 1) << "b";
    EXPECT_EQ(Images(), "a=2 b=3 c=1");
  });
}

TEST_P(RolloutCombinationsTest, FailedRepairLeavesTheRolloutComplete) {
  for (const char* type : {"All", "RollingUpdate"}) {
    Play([&] {
      Deployed({"a", "b"});
      Type(type);
      Step();
      EXPECT_EQ(Complete(), "True RolloutComplete");
      world_.cluster.SetFaults([&](const WriteRecord& write, const Json&) -> std::optional<FakeCluster::Fault> {
        if (write.method != "PUT") return std::nullopt;
        return FakeCluster::Fault{StatusResponse(500, "InternalError", "no"), false};
      });
      world_.EditWorkload("a", [](Json& w) { PodSpecOf(w)["containers"][0]["image"] = "app:hand"; });
      for (int i = 0; i < 3; ++i) {
        if (restarts_) world_.Restart();
        static_cast<void>(world_.Reconcile());
        world_.clock.Advance(seconds(2));
      }
      EXPECT_EQ(Complete(), "True RolloutComplete") << Progressing();
    });
  }
}

TEST_P(RolloutCombinationsTest, PoolsOfTheFirstRolloutCanFailDespiteARetriedCreation) {
  Play([&] {
    world_.AddPools({"a", "b", "c"});
    Json daemon = DaemonJson("app:bad", GetParam());
    daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"},
                                        {"rollingUpdate", {{"progressDeadlineSeconds", 30}}}};
    world_.CreateDaemon(daemon);
    const std::string rejected = world_.NameOf("b");
    world_.cluster.SetFaults([=](const WriteRecord& write, const Json&) -> std::optional<FakeCluster::Fault> {
      if (write.method != "POST" || write.key.name != rejected) return std::nullopt;
      return FakeCluster::Fault{StatusResponse(500, "InternalError", "no"), false};
    });
    for (int i = 0; i < 3; ++i) static_cast<void>(world_.Reconcile());
    world_.clock.Advance(seconds(2));
    static_cast<void>(world_.Reconcile());
    EXPECT_EQ(Images(), "a=bad c=bad");
    world_.cluster.SetFaults(nullptr);
    world_.clock.Advance(seconds(2));
    Step();
    EXPECT_EQ(Images(), "a=bad b=bad c=bad");
    Heal("b");
    Step(60);
    EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
    EXPECT_EQ(Current(), "");
    EXPECT_EQ(Complete(), "False FailureBudgetExceeded");
  });
}

TEST_P(RolloutCombinationsTest, ChangeFromStrategyAllToRollingUpdateCountsTheFailedPools) {
  if (!deployment()) return;
  Play([&] {
    Deployed({"a", "b", "c"});
    Type("All");
    Step();
    const std::string good = Current();
    world_.SetImage("app:bad");
    Step();
    GiveUp("a");
    Heal("b");
    Heal("c");
    Step();
    Type("RollingUpdate", {{"progressDeadlineSeconds", 30}});
    Step();
    Step();
    EXPECT_EQ(Current(), good) << Complete();
    EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  });
}

TEST_P(RolloutCombinationsTest, UnhealthyPoolOfAGroupThatWaitsForApprovalIsNotAFailureOfTheRevision) {
  Play([&] {
    Deployed({"a", "b"},
             {{"progressDeadlineSeconds", 30},
              {"maxFailures", 1},
              {"groups",
               {{{"name", "first"}, {"pools", {"a"}}}, {{"name", "last"}, {"pools", {"b"}}, {"approval", "Manual"}}}}});
    const std::string before = Current();
    Break("b");
    Step();
    Step(35);
    world_.SetImage("app:2");
    Step();
    Heal("a");
    Step();
    EXPECT_EQ(Images(), "a=2 b=1");
    EXPECT_EQ(Complete(), "False WaitingForApproval");
    EXPECT_EQ(Current(), before);
  });
}

TEST_P(RolloutCombinationsTest, ScalingUpAndDownResetsNoSoak) {
  for (const bool between : {false, true})
    Play([&] {
      Deployed({"a", "b"}, {{"minReadySeconds", 60}});
      HandOverReplicas();
      Step(70);
      world_.SetImage("app:2");
      Step();
      Heal("a");
      Step(30);
      Scale("a", 3);
      Step(5);
      if (between) {
        world_.EditWorkload("a", [&](Json& w) {
          w["status"]["observedGeneration"] = w["metadata"]["generation"];
          w["status"]["replicas"] = w["status"]["updatedReplicas"] = 3;
        });
        Step(1);
      }
      Scale("a", 1);
      Step(1);
      EXPECT_NE(Phase("a"), "Updating");
      Heal("a");
      Step(30);
      EXPECT_EQ(Images(), "a=2 b=2") << "scaling resets no soak; " << between;
    });
}

// The autoscaler adds pods, and a new leader starts before they are ready.
TEST_P(RolloutCombinationsTest, ScalingUpResetsNoSoak) {
  for (const int replicas_before : {1, 2})
    Play([&] {
      Deployed({"a", "b"}, {{"minReadySeconds", 60}});
      HandOverReplicas();
      Scale("a", replicas_before);
      Heal("a");
      Step(70);
      world_.SetImage("app:2");
      Step();
      Heal("a");
      Step(30);
      Scale("a", 3);
      Step(1);
      world_.EditWorkload("a", [&](Json& workload) {
        Json& status = workload["status"];
        status["observedGeneration"] = workload["metadata"]["generation"];
        status["replicas"] = status["updatedReplicas"] = status["readyReplicas"] = 3;
      });
      Step(10);
      EXPECT_EQ(Phase("a"), "Unhealthy Scaling");
      EXPECT_EQ(Images(), "a=2 b=1") << "30 of 60 s have passed";
      Step(15);
      Heal("a");
      Step(10);
      EXPECT_EQ(Images(), "a=2 b=2") << "scaling resets no soak";
    });
}

TEST_P(RolloutCombinationsTest, RejectedChangeOfReplicasResetsNoSoak) {
  Deployed({"a", "b"}, {{"minReadySeconds", 60}});
  RejectUpdatesOf("a");
  world_.EditDaemon([](Json& daemon) { TemplateOf(daemon)["spec"]["replicas"] = 3; });
  static_cast<void>(world_.Reconcile());  // It fails, because the write is rejected.
  world_.cluster.SetFaults(nullptr);
  Step(10);
  for (const char* pool : {"a", "b"}) {
    EXPECT_EQ(world_.Workload(pool)["spec"]["replicas"], 3);
    Heal(pool);
  }
  Step();
  EXPECT_EQ(Phase("b"), "Ready");
  EXPECT_EQ(Phase("a"), "Ready");
}

TEST_P(RolloutCombinationsTest, ChangeOfAPoolTakesASlotWhileItsWorkloadScales) {
  if (!deployment()) return;
  Play([&] {
    Deployed({"a", "b", "c"});
    HandOverReplicas();
    Step(5);
    Scale("a", 3);
    Step();
    Taint("a", "gpu");
    Taint("b", "gpu");
    Step();
    EXPECT_TRUE(Tolerates("a"));
    EXPECT_FALSE(Tolerates("b"));
    Step(5);
    EXPECT_FALSE(Tolerates("b")) << "pool a replaces its pods, so it takes the slot";
  });
}

TEST_P(RolloutCombinationsTest, PauseStopsARollbackUntilTheDaemonIsResumed) {
  Play([&] {
    Deployed({"a", "b", "c", "d"}, {{"progressDeadlineSeconds", 30}, {"onFailure", "Rollback"}});
    const std::string good = Current();
    world_.SetImage("app:2");
    Step();
    Heal("a");
    Step();
    Heal("b");
    Step();
    Step(35);
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=1 d=1");
    Pause(true);
    Heal("c");
    world_.AddPool("e");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=1 d=1 e=1");
    EXPECT_EQ(Progressing(), "Unknown Paused");
    EXPECT_EQ(Complete(), "False Paused");
    EXPECT_EQ(WaitingFor("a"), "Pause");
    Heal("e");
    Step();
    EXPECT_EQ(Ready(), "True PoolsReady");
    EXPECT_EQ(ConditionReason(world_.Status(), "Reconciling"), "absent");
    Pause(false);
    Step();
    EXPECT_EQ(Images(), "a=1 b=2 c=1 d=1 e=1");
    Heal("a");
    Step();
    Heal("b");
    Step();
    EXPECT_EQ(Progressing(), "False RolledBack");
    EXPECT_EQ(Current(), good);
    Pause(true);
    Step();
    EXPECT_EQ(Progressing(), "Unknown Paused");
    EXPECT_EQ(Complete(), "False Paused");
    world_.AddPool("f");
    Step();
    EXPECT_EQ(Images(), "a=1 b=1 c=1 d=1 e=1 f=1");
  });
}

}  // namespace
}  // namespace yad
