// updateStrategy RollingUpdate: failed pools, rollbacks and rejected writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/base/metrics.h"
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

TEST_P(RollingUpdateTest, MetricOfAStoppedRolloutIsRemovedWithTheStrategy) {
  const std::string metric = R"(yurtappdaemon_rollout_stopped{name="web",namespace="ns"})";
  Deployed({"a", "b"}, {{"progressDeadlineSeconds", 30}});
  world_.SetImage("app:bad");
  Wait(seconds(40));
  EXPECT_THAT(metrics::Render(), HasSubstr(metric + " 1\n"));
  world_.EditDaemon([](Json& daemon) { daemon["spec"]["updateStrategy"] = {{"type", "OnDelete"}}; });
  Look();
  EXPECT_THAT(metrics::Render(), ::testing::Not(HasSubstr(metric)));
}

TEST_P(RollingUpdateTest, StoppedRolloutChangesNoReplicasInTheOtherPools) {
  Deployed({"a", "b"}, {{"progressDeadlineSeconds", 30}});
  world_.EditDaemon([](Json& daemon) {
    PodSpecOf(TemplateOf(daemon))["containers"][0]["image"] = "app:bad";
    TemplateOf(daemon)["spec"]["replicas"] = 3;
  });
  Wait(seconds(60));
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  EXPECT_EQ(WaitingFor("b"), "Pause");
  EXPECT_EQ(world_.Workload("b")["spec"]["replicas"], 1) << "the replicas are a part of the failed revision";
  EXPECT_EQ(Images(), "a=bad b=1");
}

TEST_P(RollingUpdateTest, APoolThatCrashesRepeatedlyDuringItsSoakCountsAsFailed) {
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
  EXPECT_EQ(Phase("a"), "Unhealthy") << "the pool was unhealthy for 92 of 100 s";
  Wait(seconds(12));
  EXPECT_EQ(Phase("a"), "Failed ProgressDeadlineExceeded");
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  // A pool that recovers has its full deadline again, with the old leader and with a new leader.
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
  // A pool that has soaked may be unhealthy for the full deadline again.
  Heal("a");
  Wait(seconds(62));
  EXPECT_EQ(Images(), "a=2 b=2");
  Break("a");
  Wait(seconds(98));
  EXPECT_EQ(Phase("a"), "Unhealthy");
  Wait(seconds(4));
  EXPECT_EQ(Phase("a"), "Failed ProgressDeadlineExceeded");
}

TEST_P(RollingUpdateTest, AClockThatIsSetForwardFailsNoPoolAndEndsNoSoak) {
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

TEST_P(RollingUpdateTest, FailureWithAProblemOfPodsCountsForTheNextLeaderToo) {
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

TEST_P(RollingUpdateTest, RolloutIsStoppedIfAnotherClientAnnotatesItsRevision) {
  Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 30}});
  world_.SetImage("app:bad");
  Look();
  Look();  // observes its own writes
  const std::string update = StringAt(world_.Status(), {"updateRevision"});
  world_.cluster.Edit(kControllerRevisionType, {kNs, update},
                      [](Json& revision) { revision["metadata"]["annotations"]["another-tool"] = "x"; });
  Wait(seconds(1000));
  EXPECT_EQ(Images(), "a=bad b=1 c=1");
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
}

TEST_P(RollingUpdateTest, FailedRevisionIsRolledBackAndNotRetried) {
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
  // A new pool receives the revision of the other pools.
  world_.AddPool("d");
  Look();
  EXPECT_EQ(Images(), "a=1 b=1 c=1 d=1");
  Heal("d");
  Look();
  // A user sets the good template, and then the bad template again.
  world_.SetImage("app:1");
  Look();
  EXPECT_EQ(Progressing(), "True RolloutComplete");
  world_.SetImage("app:bad");
  Look();
  EXPECT_EQ(Images(), "a=bad b=1 c=1 d=1");
}

TEST_P(RollingUpdateTest, RolloutStopsWithoutARollbackIfThereIsNoCurrentRevision) {
  world_.AddPools({"a", "b"});
  Json daemon = DaemonJson("app:bad", GetParam());
  daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"},
                                      {"rollingUpdate", {{"progressDeadlineSeconds", 30}, {"onFailure", "Rollback"}}}};
  world_.CreateDaemon(daemon);
  Wait(seconds(40));
  EXPECT_EQ(Images(), "a=bad b=bad");
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
}

TEST_P(RollingUpdateTest, RejectedWriteCountsAsAFailureAndIsRetried) {
  Deployed({"a", "b"});
  RejectUpdatesOf("a");
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

TEST_P(RollingUpdateTest, MissingPermissionOfTheOperatorIsNotAFailureOfTheRevision) {
  Play([&] {
    Deployed({"a", "b"}, {{"onFailure", "Rollback"}});
    RejectUpdatesOf("a", StatusResponse(403, "Forbidden",
                                        "deployments.apps \"web\" is forbidden: User \"system:serviceaccount:sys:yad\" "
                                        "cannot update resource \"deployments\" in API group \"apps\""));
    world_.SetImage("app:2");
    Step();
    Step();
    EXPECT_EQ(Phase("a"), "Failed Forbidden");
    EXPECT_FALSE(IsMarkedFailed());
    world_.cluster.SetFaults(nullptr);
    Heal("b");
    Step(10);
    EXPECT_EQ(Images(), "a=2 b=2");
    EXPECT_EQ(Progressing(), "True RollingOut");
  });
}

TEST_P(RollingUpdateTest, RejectedRepairOfAPoolThatWaitsIsNotAFailureOfTheRevision) {
  Play([&] {
    Deployed({"a", "b"}, {{"onFailure", "Rollback"}});
    world_.SetImage("app:2");
    Step();
    RejectUpdatesOf("b");
    world_.EditWorkload("b", [](Json& workload) { workload["metadata"]["labels"]["app"] = "other"; });
    Step();
    EXPECT_EQ(Phase("b"), "Failed Invalid");
    EXPECT_EQ(WaitingFor("b"), "Slot");
    Step();
    EXPECT_FALSE(IsMarkedFailed());
    EXPECT_EQ(Images(), "a=2 b=1");
    world_.cluster.SetFaults(nullptr);
    Heal("a");
    Step(400);
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

TEST_P(RollingUpdateTest, RejectedRepairResetsNoSoak) {
  for (const bool has_soaked : {false, true}) {
    Play([&] {
      Deployed({"a", "b"}, {{"minReadySeconds", 3000}, {"progressDeadlineSeconds", 4000}});
      world_.SetImage("app:2");
      Step();
      Heal("a");
      Step(has_soaked ? 3010 : 2700);
      RejectUpdatesOf("a");
      world_.EditWorkload("a", [](Json& workload) { workload["metadata"]["labels"]["app"] = "other"; });
      Step(100);
      EXPECT_EQ(Phase("a"), "Failed Invalid");
      Step();
      world_.cluster.SetFaults(nullptr);
      Step(400);  // more than the time between two attempts
      EXPECT_EQ(Phase("a"), "Ready");
      EXPECT_EQ(Images(), "a=2 b=2");
    });
  }
}

TEST_P(RollingUpdateTest, ScalingBehindARejectedRepairIsNotAFailure) {
  Play([&] {
    Deployed({"a", "b"}, {{"onFailure", "Rollback"}});
    AnnotatePool("b", kHoldAnnotation, "stocktaking");  // so that the rollout is not complete
    world_.SetImage("app:2");
    Step();
    Heal("a");
    Step();
    RejectUpdatesOf("a");
    Scale("a", 7);  // The template has one replica.
    for (int i = 0; i < 8; ++i) {
      if (restarts_) world_.Restart();
      static_cast<void>(world_.Reconcile());  // It fails, because the write is rejected.
      world_.clock.Advance(seconds(100));
    }
    EXPECT_EQ(Phase("a"), "Failed Invalid");
    EXPECT_FALSE(IsMarkedFailed());
    EXPECT_EQ(Images(), "a=2 b=1");
  });
}

// While a removal is blocked, currentRevision stays the revision before the rollout.
TEST_P(RollingUpdateTest, HealthAfterACompleteRolloutCausesNoRollbackWhileARemovalIsBlocked) {
  Play([&] {
    world_.limit = IntOrPercent{0, false};
    world_.Restart();
    Deployed({"a", "b", "c"}, {{"onFailure", "Rollback"}});
    world_.EditDaemon([](Json& daemon) { daemon["spec"]["nodePools"] = {{"exclude", {"c"}}}; });
    world_.SetImage("app:2");
    Step(20);
    Heal("a");
    Step();
    Heal("b");
    Step();
    EXPECT_EQ(Complete(), "True RolloutComplete");
    EXPECT_NE(Current(), StringAt(world_.Status(), {"updateRevision"}));
    Break("a");
    Step();
    Step(700);
    EXPECT_EQ(Phase("a"), "Failed ProgressDeadlineExceeded");
    EXPECT_FALSE(IsMarkedFailed());
    EXPECT_EQ(Images(), "a=2 b=2 c=1");
    EXPECT_EQ(Complete(), "True RolloutComplete");
    EXPECT_EQ(Progressing(), "True RolloutComplete");
    Taint("b", "gpu");  // The failed pool does not take a slot.
    Step();
    EXPECT_TRUE(Tolerates("b"));
  });
}

TEST_P(RollingUpdateTest, RejectedWriteWithinTheFailureBudgetBlocksNoOtherPool) {
  Deployed({"a", "b", "c"}, {{"maxFailures", 1}});
  RejectUpdatesOf("a");
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

TEST_P(RollingUpdateTest, ChangeOfAFailedPoolDoesNotResumeTheRollout) {
  for (const bool held : {false, true}) {
    SCOPED_TRACE(held);
    Play([&] {
      Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 30}});
      world_.SetImage("app:bad");
      Step();
      Step(35);
      EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
      Strategy("maxUnavailable", 2);
      if (held) AnnotatePool("a", kHoldAnnotation, "repairs");
      Taint("a", "gpu");
      Step();
      Step();
      EXPECT_EQ(Tolerates("a"), !held);
      EXPECT_EQ(Images(), "a=bad b=1 c=1");
      EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
    });
  }
}

TEST_P(RollingUpdateTest, PoolWhoseTolerationWasDelayedByAHoldGetsAFullDeadlineAfterTheWrite) {
  Play([&] {
    Deployed(
        {"a", "b"},
        {{"progressDeadlineSeconds", 30},
         {"onFailure", "Rollback"},
         {"groups",
          {{{"name", "canary"}, {"pools", {"a"}}}, {{"name", "later"}, {"pools", {"b"}}, {"approval", "Manual"}}}}});
    world_.SetImage("app:2");
    Step();
    Heal("a");
    Step();
    AnnotatePool("a", kHoldAnnotation, "repairs");
    Taint("a", "gpu");
    Break("a");
    Step();
    Step(40);
    EXPECT_FALSE(Tolerates("a"));
    world_.cluster.Edit(kNodePoolType, {"", "a"},
                        [](Json& pool) { pool["metadata"]["annotations"].erase(kHoldAnnotation); });
    Step();
    Step(20);
    EXPECT_TRUE(Tolerates("a"));
    EXPECT_FALSE(IsMarkedFailed()) << "the taint, and not the revision, stopped the pods";
    Step(15);
    Step();
    EXPECT_TRUE(IsMarkedFailed());
  });
}

TEST_P(RollingUpdateTest, RejectedWriteDoesNotKeepTheChangeOfAnotherPoolWaiting) {
  const Json groups = {{{"name", "first"}, {"pools", {"a", "b"}}},
                       {{"name", "second"}, {"pools", {"c", "d"}}, {"approval", "Manual"}}};
  Deployed({"a", "b", "c", "d"}, {{"maxFailures", 1}, {"groups", groups}});
  RejectUpdatesOf("a");
  world_.SetImage("app:2");
  StepDespiteErrors();
  Heal("b");
  StepDespiteErrors();
  EXPECT_EQ(Images(), "a=1 b=2 c=1 d=1");
  EXPECT_EQ(Progressing(), "Unknown WaitingForApproval");
  Taint("d", "gpu");
  StepDespiteErrors();
  EXPECT_TRUE(Tolerates("d"));
}

TEST_P(RollingUpdateTest, RepairOfARejectedPoolDoesNotResumeTheRollout) {
  Deployed({"a", "b", "c"});
  world_.cluster.SetFaults(
      [name = world_.NameOf("a")](const WriteRecord& write, const Json& object) -> std::optional<FakeCluster::Fault> {
        if (write.method != "PUT" || write.key.name != name || ImageOf(object) != "app:2") return std::nullopt;
        return FakeCluster::Fault{StatusResponse(422, "Invalid", "spec.template: Invalid"), false};
      });
  world_.SetImage("app:2");
  Look();
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  Break("c");
  Look();
  world_.EditWorkload("a", [](Json& w) { PodSpecOf(w)["containers"][0]["image"] = "app:hand"; });
  Wait(seconds(10));
  EXPECT_EQ(Images(), "a=1 b=1 c=1");
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
}

// A rejected update counts only for a pool that does not wait. A new leader must not count the rejected repair of
// another pool.
TEST_P(RollingUpdateTest, RejectedRepairDuringAPauseIsNotAFailureOfTheRevision) {
  Play([&] {
    Deployed({"a", "b"}, {{"onFailure", "Rollback"}});
    Pause(true);
    world_.SetImage("app:2");
    RejectUpdatesOf("a");
    world_.EditWorkload("a", [](Json& workload) { workload["metadata"]["labels"]["app"] = "other"; });
    StepDespiteErrors();
    EXPECT_EQ(Phase("a"), "Failed Invalid");
    EXPECT_EQ(WaitingFor("a"), "Pause");
    EXPECT_EQ(Progressing(), "Unknown Paused");
    Pause(false);
    world_.cluster.SetFaults(nullptr);
    Step();
    EXPECT_FALSE(IsMarkedFailed());
    EXPECT_EQ(Images(), "a=2 b=1");
  });
}

TEST_P(RollingUpdateTest, RejectedRepairInAStoppedRolloutStartsNoUpdate) {
  Play([&] {
    Deployed({"a", "b"});
    world_.cluster.SetFaults([](const WriteRecord& write, const Json&) -> std::optional<FakeCluster::Fault> {
      if (write.method != "PUT") return std::nullopt;
      return FakeCluster::Fault{StatusResponse(422, "Invalid", "spec.template: Invalid"), false};
    });
    Break("b");  // so that it is updated first
    world_.SetImage("app:2");
    StepDespiteErrors();
    EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
    world_.EditWorkload("a", [](Json& workload) { workload["metadata"]["labels"]["app"] = "other"; });
    StepDespiteErrors();
    EXPECT_EQ(Phase("a"), "Failed Invalid");
    EXPECT_EQ(WaitingFor("a"), "Pause");
    RejectUpdatesOf("b");
    StepDespiteErrors();
    EXPECT_EQ(Images(), "a=1 b=1");
  });
}

TEST_P(RollingUpdateTest, PauseKeepsARolloutCompleteThatHasARejectedPool) {
  Play([&] {
    Deployed({"a", "b"}, {{"maxFailures", 1}});
    RejectUpdatesOf("a");
    world_.SetImage("app:2");
    Step();
    Heal("b");
    Step();
    EXPECT_EQ(Complete(), "True CompleteWithFailures");
    Pause(true);
    StepDespiteErrors();
    EXPECT_EQ(Complete(), "True CompleteWithFailures");
    EXPECT_EQ(Phase("a"), "Failed Invalid");
  });
}

}  // namespace
}  // namespace yad
