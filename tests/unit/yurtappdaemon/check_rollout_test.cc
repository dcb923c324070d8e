// Rollouts with checks: a pool keeps its slot until its checks have passed.
#include <gtest/gtest.h>

#include "tests/unit/yurtappdaemon/check_rollout_fixture.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_P(CheckRolloutTest, PoolKeepsItsSlotUntilItsChecksHavePassed) {
  Play([&] {
    DeployedWithChecks({"a", "b"});
    const std::string before = Current();
    UpdateA();
    EXPECT_EQ(Images(), "a=2 b=1");
    EXPECT_EQ(Phase("a"), "Verifying");
    EXPECT_EQ(CheckOf("a"), "smoke");
    EXPECT_NE(CheckStarted("a"), "");
    EXPECT_EQ(WaitingFor("b"), "Slot");
    EXPECT_EQ(Progressing(), "True RollingOut");
    EXPECT_EQ(Complete(), "False RollingOut");
    EXPECT_EQ(world_.Status()["updatedPools"], 0);
    Step(100);
    EXPECT_EQ(Images(), "a=2 b=1");
    EXPECT_EQ(MessageOf("a"), "check smoke: Job " + JobOf("a") + " runs");
    EndJobs("a", "Complete");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2");
    EXPECT_EQ(Phase("a"), "Ready");
    EXPECT_EQ(CheckOf("a"), "");
    Heal("b");
    Step();
    EXPECT_EQ(Phase("b"), "Verifying");
    EXPECT_EQ(Complete(), "False RollingOut");
    EXPECT_EQ(Current(), before) << "the revision is not rolled out yet";
    EndJobs("b", "Complete");
    Step();
    EXPECT_EQ(Complete(), "True RolloutComplete");
    EXPECT_EQ(Ready(), "True PoolsReady");
    EXPECT_NE(Current(), before);
    EXPECT_EQ(world_.Status()["updatedPools"], 2);
  });
}

TEST_P(CheckRolloutTest, JobRunsInItsPool) {
  DeployedWithChecks({"a"});
  UpdateA();
  const Json job = JobsOf("a").at(0);
  EXPECT_EQ(job["metadata"]["labels"][kCheckLabel], "smoke");
  EXPECT_EQ(job["metadata"]["labels"][kRevisionLabel], world_.Workload("a")["metadata"]["labels"][kRevisionLabel]);
  EXPECT_EQ(job["metadata"]["ownerReferences"][0]["uid"], world_.uid);
  EXPECT_EQ(PodSpecOf(const_cast<Json&>(job))["nodeSelector"][kNodePoolLabel], "a");
}

TEST_P(CheckRolloutTest, NewLeaderStartsNoJobTwiceAndKeepsTheTimeOfTheCheck) {
  Play([&] {
    DeployedWithChecks({"a", "b"});
    UpdateA();
    const std::string started = CheckStarted("a");
    for (int i = 0; i < 3; ++i) Step(60);
    EXPECT_EQ(CheckStarted("a"), started);
    EXPECT_EQ(JobPosts(), 1U);
    Step(500);
    EXPECT_EQ(Phase("a"), "Failed CheckFailed") << "the timeout counts from the start of the check by the first leader";
    EXPECT_EQ(JobPosts(), 1U);
  });
}

// The server has created the Job, but the operator did not receive the response, and the cache does not show the Job
// yet.
TEST_P(CheckRolloutTest, JobWhoseCreateResponseWasLostIsNotCreatedTwice) {
  Play([&] {
    DeployedWithChecks({"a"});
    world_.SetImage("app:2");
    Step();
    Heal("a");
    world_.jobs_readable = false;
    AnswerJobs({Fail(Reason::kTransport, "connection reset"), /*after=*/true});
    EXPECT_TRUE(world_.Reconcile());
    world_.cluster.SetFaults(nullptr);
    EXPECT_TRUE(world_.Reconcile());
    EXPECT_EQ(JobPosts(), 2U);
    EXPECT_THAT(JobsOf("a"), SizeIs(1));
    world_.jobs_readable = true;
    Step();
    EXPECT_EQ(MessageOf("a"), "check smoke: Job " + JobOf("a") + " runs");
  });
}

TEST_P(CheckRolloutTest, JobThatIsDeletedWhileItRunsIsRecreated) {
  Play([&] {
    DeployedWithChecks({"a", "b"});
    UpdateA();
    const std::string job = JobOf("a"), started = CheckStarted("a");
    DeleteJobs("a");
    Step(10);
    EXPECT_EQ(JobOf("a"), job);
    EXPECT_EQ(CheckStarted("a"), started);
  });
}

TEST_P(CheckRolloutTest, ChecksRunInTheirOrder) {
  Play([&] {
    DeployedWithChecks({"a", "b"},
                       Json::array({JobCheckJson("first"), ConditionCheckJson("second"), JobCheckJson("third")}));
    UpdateA();
    EXPECT_EQ(CheckOf("a"), "first");
    EndJobs("a", "Complete");
    Step();
    EXPECT_EQ(CheckOf("a"), "second");
    EXPECT_THAT(JobsOf("a"), SizeIs(1));
    SetCondition("a", "True");
    Step();
    EXPECT_EQ(CheckOf("a"), "third");
    EXPECT_THAT(JobsOf("a"), SizeIs(2));
    EXPECT_EQ(Images(), "a=2 b=1");
    EndJobs("a", "Complete");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

TEST_P(CheckRolloutTest, ChecksStartAfterTheSoak) {
  Play([&] {
    DeployedWithChecks({"a", "b"}, Json::array({JobCheckJson()}), {{"minReadySeconds", 100}});
    UpdateA();
    EXPECT_EQ(Phase("a"), "Soaking");
    EXPECT_THAT(JobsOf("a"), IsEmpty());
    Step(100);
    Step();
    EXPECT_EQ(Phase("a"), "Verifying");
    EXPECT_THAT(JobsOf("a"), SizeIs(1));
  });
}

TEST_P(CheckRolloutTest, CreationsAreNotChecked) {
  Play([&] {
    DeployedWithChecks({"a", "b"});
    EXPECT_THAT(world_.cluster.List(kJobType), IsEmpty());
    EXPECT_EQ(Phase("a"), "Ready");
    UpdateA();
    EndJobs("a", "Complete");
    Step();
    ASSERT_EQ(Images(), "a=2 b=2");
    world_.AddPool("c");
    DeleteWorkload("a");
    Step();
    Heal("a");
    Heal("c");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=2");
    EXPECT_EQ(Phase("a"), "Ready");
    EXPECT_EQ(Phase("c"), "Ready");
    EXPECT_THAT(JobsOf("c"), IsEmpty());
  });
}

TEST_P(CheckRolloutTest, EachUpdateAfterTheCreationIsChecked) {
  Play([&] {
    DeployedWithChecks({"a"});
    for (const char* image : {"app:2", "app:3"}) {
      SCOPED_TRACE(image);
      UpdateA(image);
      EXPECT_EQ(Phase("a"), "Verifying");
      EndJobs("a", "Complete");
      Step();
      EXPECT_EQ(Complete(), "True RolloutComplete");
    }
  });
}

TEST_P(CheckRolloutTest, OnlyTheLastJobOfAPoolIsKept) {
  Play([&] {
    DeployedWithChecks({"a"});
    UpdateA();
    const std::string first = JobOf("a");
    EndJobs("a", "Complete");
    Step(1000);
    EXPECT_EQ(JobOf("a"), first) << "the last Job stays";
    UpdateA("app:3");
    Step();
    const std::string second = JobOf("a");
    EXPECT_NE(second, first);
    EndJobs("a", "Complete");
    Step(1000);
    EXPECT_EQ(JobOf("a"), second);
  });
}

TEST_P(CheckRolloutTest, NothingIsWrittenWhileAJobRunsOrAfterTheRollout) {
  DeployedWithChecks({"a", "b"});
  UpdateA();
  Step(10);
  world_.cluster.ClearWrites();
  Step(100);
  Step(100);
  EXPECT_THAT(world_.Writes(), IsEmpty());
  EndJobs("a", "Complete");
  Step();
  Heal("b");
  Step();
  EndJobs("b", "Complete");
  Step(10);
  world_.cluster.ClearWrites();
  Step(5000);
  EXPECT_THAT(world_.Writes(), IsEmpty());
}

// For a new taint of the pool, the operator adds a toleration to the workload, with the same revision.
TEST_P(CheckRolloutTest, WriteForANewTaintDoesNotCompleteTheChecksOfAPool) {
  Play([&] {
    DeployedWithChecks({"a", "b"});
    UpdateA();
    Taint("a", "edge");
    Step();
    ASSERT_TRUE(Tolerates("a"));
    Heal("a");
    Step();
    Step();
    EXPECT_EQ(Phase("a"), "Verifying");
    EXPECT_EQ(Images(), "a=2 b=1");
    EndJobs("a", "Complete");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

TEST_P(CheckRolloutTest, JobOfAPoolWithANewTaintStartsWhenThePoolIsHealthyAndHasItsFullTimeout) {
  Play([&] {
    DeployedWithChecks({"a", "b"});
    UpdateA();
    Step(300);
    Taint("a", "edge");
    for (int i = 0; i < 3; ++i) Step(100);
    ASSERT_TRUE(Tolerates("a"));
    EXPECT_EQ(JobPosts(), 1U) << "the pods are being replaced";
    EXPECT_EQ(CheckStarted("a"), "");
    Heal("a");
    Step(590);
    EXPECT_EQ(JobPosts(), 2U);
    EXPECT_EQ(Phase("a"), "Verifying");
    Step(20);
    EXPECT_EQ(Phase("a"), "Failed CheckFailed");
  });
}

TEST_P(CheckRolloutTest, PausedRolloutStillVerifiesTheUpdatedPool) {
  Play([&] {
    DeployedWithChecks({"a", "b"});
    UpdateA();
    world_.EditDaemon([](Json& daemon) { daemon["spec"]["paused"] = true; });
    EndJobs("a", "Complete");
    Step();
    EXPECT_EQ(Phase("a"), "Ready");
    EXPECT_EQ(Images(), "a=2 b=1");
  });
}

TEST_P(CheckRolloutTest, GatesThatCloseDoNotInterruptACheck) {
  Play([&] {
    DeployedWithChecks({"a", "b"});
    UpdateA();
    AnnotatePool("a", kHoldAnnotation, "stocktaking");
    AnnotatePool("a", kUpdateWindowsAnnotation, R"([{"start": "22:00", "duration": "1h"}])");
    Step();
    EXPECT_EQ(Phase("a"), "Verifying");
    EXPECT_EQ(WaitingFor("a"), "");
    EXPECT_EQ(Images(), "a=2 b=1") << "pool a keeps its slot";
    EndJobs("a", "Complete");
    Step();
    EXPECT_EQ(Phase("a"), "Ready");
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

TEST_P(CheckRolloutTest, AClockThatIsSetForwardFailsNoCheck) {
  DeployedWithChecks({"a", "b"});
  UpdateA();
  world_.clock.SetWall(world_.clock.WallNow() + std::chrono::hours(1));
  Step(500);
  EXPECT_EQ(Phase("a"), "Verifying");
  Step(200);
  EXPECT_EQ(Phase("a"), "Failed CheckFailed") << "the check's timeout has passed";
}

TEST_P(CheckRolloutTest, PoolThatGoesOfflineDuringItsCheckKeepsItsSlotAndItsCheckRestarts) {
  Play([&] {
    DeployedWithChecks({"a", "b", "c"});
    UpdateA();
    const std::string started = CheckStarted("a");
    GoOffline("a");
    Step(10);
    EXPECT_EQ(Phase("a"), "Offline WentDarkAfterUpdate");
    EXPECT_EQ(CheckOf("a"), "smoke") << "status must contain the check for the next leader";
    EXPECT_EQ(world_.Status()["updatedPools"], 0);
    Step(500);
    EXPECT_EQ(Images(), "a=2 b=1 c=1");
    Return("a");
    Step();
    EXPECT_EQ(Phase("a"), "Verifying") << "the pool does not soak again";
    EXPECT_GT(CheckStarted("a"), started);
    EXPECT_EQ(JobPosts(), 1U) << "the Job must not be recreated";
    Step(500);
    EXPECT_EQ(Phase("a"), "Verifying") << "the check has its full timeout again";
    EndJobs("a", "Complete");
    Step();
    EXPECT_EQ(Phase("a"), "Ready");
    EXPECT_EQ(Images(), "a=2 b=2 c=1");
  });
}

TEST_P(CheckRolloutTest, NothingIsWrittenForAnOfflinePoolWithAnUnfinishedCheck) {
  DeployedWithChecks({"a", "b"});
  UpdateA();
  GoOffline("a");
  Step(10);
  Step(10);
  ASSERT_EQ(CheckOf("a"), "smoke");
  world_.cluster.ClearWrites();
  for (int i = 0; i < 5; ++i) Step(60);
  EXPECT_THAT(world_.Writes(), IsEmpty());
}

// maxFailures allows the failure of this pool, so the rollout may complete before the pool returns.
TEST_P(CheckRolloutTest, CheckContinuesIfItsPoolReturnsAfterTheRollout) {
  Play([&] {
    DeployedWithChecks({"a", "b"}, Json::array({JobCheckJson()}), {{"maxFailures", 1}});
    UpdateA();
    GoOffline("a");
    Step(650);
    Heal("b");
    Step();
    EndJobs("b", "Complete");
    Step();
    Step();
    EXPECT_EQ(Complete(), "True RolloutComplete");
    Return("a");
    Step();
    EXPECT_EQ(Phase("a"), "Verifying");
    EXPECT_EQ(Complete(), "True RolloutComplete");
    EndJobs("a", "Failed", "no");
    Step();
    EXPECT_EQ(Phase("a"), "Verifying") << "this Job began before the outage";
    Step();
    EndJobs("a", "Failed", "no");
    Step();
    EXPECT_EQ(Phase("a"), "Failed CheckFailed");
    EXPECT_EQ(Complete(), "True CompleteWithFailures");
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

TEST_P(CheckRolloutTest, PoolThatWasUpdatedWhileItWasOfflineIsCheckedWhenItReturns) {
  Play([&] {
    const Json first = {{"name", "first"}, {"pools", {"a", "b"}}};
    DeployedWithChecks({"a", "b", "c"}, Json::array({JobCheckJson()}), {{"groups", Json::array({first})}});
    GoOffline("b");
    UpdateA();
    EndJobs("a", "Complete");
    Step();
    ASSERT_EQ(Images(), "a=2 b=2 c=2") << "the offline pool comes last in its group";
    EXPECT_THAT(JobsOf("b"), IsEmpty());
    Return("b");
    Heal("b");
    Step();
    EXPECT_EQ(Phase("b"), "Verifying");
    EXPECT_THAT(JobsOf("b"), SizeIs(1));
  });
}

// The status that the previous version wrote contains no checks.
TEST_P(CheckRolloutTest, OnlyPoolsThatBecomeHealthyAfterTheUpgradeAreChecked) {
  Deployed({"a", "b", "c"});
  UpdateA();
  ASSERT_EQ(Images(), "a=2 b=2 c=1");
  ASSERT_EQ(Phase("a"), "Ready");
  Strategy("checks", Json::array({JobCheckJson()}));
  world_.Restart();
  Step();
  EXPECT_EQ(Phase("a"), "Ready");
  Heal("b");
  Step();
  EXPECT_EQ(Phase("b"), "Verifying");
  EXPECT_THAT(JobsOf("a"), IsEmpty());
  EXPECT_THAT(JobsOf("b"), SizeIs(1));
}

TEST_P(CheckRolloutTest, ChecksThatAreAddedLaterDoNotRunInReadyPools) {
  Play([&] {
    Deployed({"a", "b", "c"});
    UpdateA();
    Strategy("checks", Json::array({JobCheckJson()}));
    Step();
    EXPECT_EQ(Phase("a"), "Ready");
    EXPECT_THAT(JobsOf("a"), IsEmpty());
  });
}

TEST_P(CheckRolloutTest, PoolIsReadyWhenItsChecksAreRemoved) {
  Play([&] {
    DeployedWithChecks({"a", "b"});
    UpdateA();
    Strategy("checks", Json::array());
    Step();
    EXPECT_EQ(Phase("a"), "Ready");
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

// An undo is not checked, because all pools were healthy on that revision. The second update to app:2 is a new rollout,
// so it is checked again.
TEST_P(CheckRolloutTest, UndoIsNotCheckedButTheNextUpdateIs) {
  Play([&] {
    DeployedWithChecks({"a"});
    UpdateA();
    const std::string first = JobOf("a");
    UpdateA("app:1");
    Step();
    EXPECT_EQ(Images(), "a=1");
    EXPECT_EQ(Phase("a"), "Ready") << "all pools were healthy on this revision";
    EXPECT_EQ(JobOf("a"), first);
    UpdateA();
    EXPECT_EQ(Phase("a"), "Verifying");
    Step();
    EXPECT_NE(JobOf("a"), first);
  });
}

TEST_P(CheckRolloutTest, SamplesOfPrometheusDetermineTheResultOfACheck) {
  world_.prometheus = [](const std::string& query, WallTime, const std::stop_token&) -> Result<std::optional<double>> {
    return query == "errors{pool=\"a\"}" ? 0.01 : 0.07;
  };
  world_.Restart();
  const Json query = {{"query", "errors{pool=\"{{nodepool-name}}\"}"}, {"max", "0.05"}, {"durationSeconds", 60}};
  DeployedWithChecks({"a", "b", "c"}, Json::array({Json{{"name", "errors"}, {"prometheus", query}}}));
  UpdateA();
  EXPECT_EQ(MessageOf("a"), "check errors: waits for the first sample of Prometheus");
  EXPECT_TRUE(world_.sampler().Sample({kNs, "web"}, {}));
  Step();
  EXPECT_EQ(MessageOf("a"), "check errors: the last sample is within the limits");
  Step(60);
  Step();
  EXPECT_EQ(Phase("a"), "Ready");
  EXPECT_EQ(Images(), "a=2 b=2 c=1");
  Heal("b");
  Step();
  EXPECT_TRUE(world_.sampler().Sample({kNs, "web"}, {}));
  Step();
  EXPECT_EQ(Phase("b"), "Failed CheckFailed");
  EXPECT_EQ(PoolStatus(world_.Status(), "b")["checkFailures"], 1);
  EXPECT_EQ(MessageOf("b"), "check errors: 0.07 is above max 0.05");
  EXPECT_EQ(Images(), "a=2 b=2 c=1");
}

INSTANTIATE_TEST_SUITE_P(Kind, CheckRolloutTest,
                         ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet));

}  // namespace
}  // namespace yad::testing
