// Rollouts whose checks fail or can't run.
#include <gtest/gtest.h>

#include "tests/unit/yurtappdaemon/check_rollout_fixture.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class CheckFailureTest : public CheckRolloutTest {
 protected:
  // Starts a process that may not read Jobs.
  void RestartWithoutPermissions() {
    world_.jobs_readable = false;
    world_.Restart();
    world_.FailToReadJobs(StatusResponse(403, "Forbidden", "jobs.batch is forbidden: User \"yad\" cannot list"));
  }
  static Json QueryCheckJson() { return {{"name", "errors"}, {"prometheus", {{"query", "x"}, {"max", 1}}}}; }
};

TEST_P(CheckFailureTest, FailedCheckStopsTheRollout) {
  Play([&] {
    DeployedWithChecks({"a", "b"});
    UpdateA();
    EndJobs("a", "Failed", "no");
    Step();
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(Phase("a"), "Failed CheckFailed");
      EXPECT_EQ(MessageOf("a"), "check smoke: Job " + JobOf("a") + " failed: no");
      EXPECT_EQ(CheckOf("a"), "smoke");
      EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
      EXPECT_EQ(world_.Status()["failedPools"], 1);
      EXPECT_EQ(world_.Status()["updatedPools"], 0);
      EXPECT_EQ(Images(), "a=2 b=1");
      Step(1000);
    }
  });
}

TEST_P(CheckFailureTest, FailureIsReportedInOneEvent) {
  DeployedWithChecks({"a", "b"});
  UpdateA();
  world_.events.Take();
  EndJobs("a", "Failed", "no");
  for (int i = 0; i < 5; ++i) Step(10);
  EXPECT_THAT(Notes("CheckFailed"), ElementsAre("1 pool: a: check smoke: Job " + JobOf("a") + " failed: no"));
}

TEST_P(CheckFailureTest, TimeoutIsDetectedWithoutAnEvent) {
  DeployedWithChecks({"a", "b"}, Json::array({ConditionCheckJson("tested", {{"timeoutSeconds", 50}})}));
  UpdateA();
  Wait(seconds(60));
  EXPECT_EQ(Phase("a"), "Failed CheckFailed");
}

TEST_P(CheckFailureTest, FailureIsKeptByANewLeader) {
  Play([&] {
    DeployedWithChecks({"a", "b"}, Json::array({ConditionCheckJson("tested", {{"timeoutSeconds", 50}})}));
    UpdateA();
    Step(60);
    for (int i = 0; i < 3; ++i) {
      Step(1000);
      EXPECT_EQ(Phase("a"), "Failed CheckFailed");
      EXPECT_EQ(MessageOf("a"),
                "check tested: not passed within 50 s: waits for condition example.org/Tested=True of the workload");
    }
  });
}

TEST_P(CheckFailureTest, RollbackRunsNoChecks) {
  Play([&] {
    DeployedWithChecks({"a", "b"}, Json::array({JobCheckJson()}), {{"onFailure", "Rollback"}});
    UpdateA();
    const std::string job = JobOf("a");
    EndJobs("a", "Failed", "no");
    Step();
    EXPECT_TRUE(IsMarkedFailed());
    EXPECT_EQ(Images(), "a=1 b=1");
    Heal("a");
    Step();
    EXPECT_EQ(Phase("a"), "Ready");
    EXPECT_EQ(Progressing(), "False RolledBack");
    EXPECT_EQ(JobOf("a"), job);
    EXPECT_EQ(CheckOf("a"), "");
  });
}

TEST_P(CheckFailureTest, FailureWithinTheBudgetFreesTheSlot) {
  Play([&] {
    DeployedWithChecks({"a", "b"}, Json::array({JobCheckJson()}), {{"maxFailures", 1}});
    UpdateA();
    EndJobs("a", "Failed", "no");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2");
    Heal("b");
    Step();
    EndJobs("b", "Complete");
    Step();
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(Complete(), "True CompleteWithFailures");
      EXPECT_EQ(Phase("a"), "Failed CheckFailed") << "the end of the rollout does not repair the pool";
      EXPECT_EQ(Phase("b"), "Ready");
      Step(1000);
    }
    UpdateA("app:3");
    EXPECT_EQ(Phase("a"), "Verifying");
  });
}

TEST_P(CheckFailureTest, FailedPoolThatGoesOfflineStillStopsTheRollout) {
  Play([&] {
    DeployedWithChecks({"a", "b"}, Json::array({ConditionCheckJson("tested", {{"timeoutSeconds", 50}})}));
    UpdateA();
    Step(60);
    ASSERT_EQ(Phase("a"), "Failed CheckFailed");
    const std::string message = MessageOf("a");
    GoOffline("a");
    Step(1000);
    Step();
    EXPECT_EQ(Images(), "a=2 b=1");
    EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
    Return("a");
    Step();
    Step();
    EXPECT_EQ(Phase("a"), "Failed CheckFailed");
    EXPECT_EQ(MessageOf("a"), message);
    EXPECT_EQ(Images(), "a=2 b=1");
  });
}

TEST_P(CheckFailureTest, FailedCheckIsRepeatedWhenItsJobIsDeleted) {
  Play([&] {
    DeployedWithChecks({"a", "b"});
    UpdateA();
    const std::string job = JobOf("a");
    EndJobs("a", "Failed", "no");
    Step();
    DeleteJobs("a");
    Step();
    EXPECT_EQ(Phase("a"), "Verifying");
    EXPECT_EQ(JobOf("a"), job);
    EXPECT_EQ(Progressing(), "True RollingOut");
    EndJobs("a", "Complete");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

TEST_P(CheckFailureTest, EditedCheckIsRepeated) {
  Play([&] {
    DeployedWithChecks({"a", "b"});
    UpdateA();
    const std::string job = JobOf("a");
    EndJobs("a", "Failed", "no");
    Step();
    Json check = JobCheckJson();
    check["job"]["spec"]["backoffLimit"] = 3;
    Strategy("checks", Json::array({check}));
    Step();
    Step();
    EXPECT_EQ(Phase("a"), "Verifying");
    EXPECT_NE(JobOf("a"), job) << "the old Job must be replaced";
  });
}

TEST_P(CheckFailureTest, RejectedJobFailsTheCheck) {
  Play([&] {
    DeployedWithChecks({"a", "b"});
    world_.SetImage("app:2");
    Step();
    Heal("a");
    AnswerJobs({StatusResponse(422, "Invalid", "Job is invalid: spec.backoffLimit"), false});
    Step();
    Step();
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(Phase("a"), "Failed CheckFailed");
      EXPECT_THAT(MessageOf("a"), StartsWith("check smoke: Job web-smoke-"));
      EXPECT_THAT(MessageOf("a"), HasSubstr(" was rejected: Job is invalid: spec.backoffLimit"));
      EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
      Step(100);
    }
    EXPECT_EQ(JobPosts(), 1U);
    EXPECT_EQ(Images(), "a=2 b=1");
  });
}

TEST_P(CheckFailureTest, EventsDoNotRetryARejectedJob) {
  DeployedWithChecks({"a"});
  world_.SetImage("app:2");
  Step();
  Heal("a");
  AnswerJobs({StatusResponse(403, "Forbidden", "exceeded quota: count/jobs.batch"), false});
  const auto reconcile = [&] {
    for (int event = 0; event < 20; ++event) static_cast<void>(world_.Reconcile());
  };
  reconcile();
  std::size_t posts = 2;
  EXPECT_EQ(JobPosts(), posts) << "one retry is immediate";
  for (const int delay : {1, 2, 4}) {
    world_.clock.Advance(seconds(delay) - std::chrono::milliseconds(1));
    reconcile();
    EXPECT_EQ(JobPosts(), posts);
    world_.clock.Advance(std::chrono::milliseconds(1));
    reconcile();
    EXPECT_EQ(JobPosts(), ++posts);
  }
  EXPECT_EQ(Phase("a"), "Verifying ChecksUnavailable");
}

TEST_P(CheckFailureTest, JobIsCreatedWhenTheQuotaOrThePolicyAllowsIt) {
  for (const HttpResponse& answer :
       {StatusResponse(403, "Forbidden", "exceeded quota: count/jobs.batch"),
        StatusResponse(422, "Invalid", "denied request: failed to configure binding: paramKind not yet synced")}) {
    Play([&] {
      DeployedWithChecks({"a"});
      world_.SetImage("app:2");
      Step();
      Heal("a");
      AnswerJobs({answer, false});
      Step(60);
      world_.cluster.SetFaults(nullptr);
      Step(60);
      EXPECT_THAT(JobsOf("a"), SizeIs(1));
      EndJobs("a", "Complete");
      Step();
      EXPECT_EQ(Phase("a"), "Ready");
    });
  }
}

TEST_P(CheckFailureTest, FailureWithDryRunIsReportedOnceAndTheRolloutContinues) {
  DeployedWithChecks({"a", "b"}, Json::array({JobCheckJson("smoke", {{"dryRun", true}}), ConditionCheckJson()}));
  UpdateA();
  world_.events.Take();
  const std::string job = JobOf("a");
  EndJobs("a", "Failed", "no");
  for (int i = 0; i < 5; ++i) Step(10);
  EXPECT_EQ(CheckOf("a"), "tested");
  SetCondition("a", "True");
  Step();
  EXPECT_EQ(Phase("a"), "Ready");
  EXPECT_EQ(Images(), "a=2 b=2");
  EXPECT_THAT(Notes("CheckFailureTolerated"),
              ElementsAre("1 pool: a: check smoke (dryRun): Job " + job + " failed: no"));
}

TEST_P(CheckFailureTest, NoUpdateStartsWithoutPermissionsOnJobs) {
  DeployedWithChecks({"a", "b"});
  RestartWithoutPermissions();
  world_.SetImage("app:2");
  Step();
  EXPECT_EQ(Images(), "a=1 b=1");
  EXPECT_EQ(Progressing(), "False ChecksUnavailable");
  EXPECT_THAT(Message(), HasSubstr("cannot list"));
  EXPECT_THAT(Message(), HasSubstr("set checks.jobs=true in the values of the Helm chart"));
  EXPECT_THAT(MessageOf("a"), StartsWith("no update starts, because checks can't run: the Jobs can't be read: "));
  EXPECT_EQ(Phase("a"), "Ready");
  EXPECT_THAT(Notes("ChecksUnavailable"), SizeIs(1));
  world_.jobs_readable = true;
  Step(100);
  EXPECT_EQ(Images(), "a=2 b=1") << "the permissions are granted";
}

TEST_P(CheckFailureTest, RepairsAndCreationsContinueWithoutPermissionsOnJobs) {
  DeployedWithChecks({"a", "b"});
  RestartWithoutPermissions();
  world_.SetImage("app:2");
  DeleteWorkload("a");
  world_.EditWorkload("b", [](Json& workload) { workload["metadata"]["labels"].erase("app"); });
  world_.AddPool("c");
  Step();
  EXPECT_EQ(Images(), "a=1 b=1 c=1");
  EXPECT_EQ(world_.Workload("b")["metadata"]["labels"]["app"], "web");
  for (const char* pool : {"a", "b", "c"}) Heal(pool);
  Step();
  EXPECT_EQ(Images(), "a=1 b=1 c=1");
  EXPECT_EQ(Progressing(), "False ChecksUnavailable");
}

TEST_P(CheckFailureTest, CompletedRolloutDoesNotNeedPermissionsOnJobs) {
  DeployedWithChecks({"a"});
  RestartWithoutPermissions();
  Step();
  EXPECT_EQ(Progressing(), "True RolloutComplete");
  EXPECT_EQ(Complete(), "True RolloutComplete");
}

TEST_P(CheckFailureTest, RollbackContinuesWithoutPermissionsOnJobs) {
  DeployedWithChecks({"a", "b"});
  UpdateA();
  ASSERT_EQ(Images(), "a=2 b=1");
  RestartWithoutPermissions();
  world_.SetImage("app:1");
  Step();
  EXPECT_EQ(Images(), "a=1 b=1");
}

TEST_P(CheckFailureTest, ChecksWithoutJobsDoNotNeedPermissionsOnJobs) {
  DeployedWithChecks({"a"}, Json::array({ConditionCheckJson()}));
  world_.jobs_readable = false;
  world_.Restart();
  UpdateA();
  EXPECT_EQ(Phase("a"), "Verifying");
}

TEST_P(CheckFailureTest, NoUpdateStartsWithoutPrometheus) {
  DeployedWithChecks({"a"}, Json::array({QueryCheckJson()}));
  world_.SetImage("app:2");
  Step();
  EXPECT_EQ(Images(), "a=1");
  EXPECT_EQ(Progressing(), "False ChecksUnavailable");
  EXPECT_THAT(Message(), HasSubstr("set checks.prometheus.url in the values of the chart"));
}

TEST_P(CheckFailureTest, QueryWithDryRunAndWithoutPrometheusDoesNotStopTheCheckBeforeIt) {
  Json query = QueryCheckJson();
  query["dryRun"] = true;
  DeployedWithChecks({"a", "b"}, Json::array({JobCheckJson(), query}));
  UpdateA();
  EXPECT_EQ(Images(), "a=2 b=1");
  EXPECT_EQ(Phase("a"), "Verifying");
  EndJobs("a", "Complete");
  Step();
  EXPECT_EQ(Phase("a"), "Verifying ChecksUnavailable");
  EXPECT_EQ(Progressing(), "True RollingOut");
  Step(610);
  EXPECT_EQ(Images(), "a=2 b=2");
}

TEST_P(CheckFailureTest, JobWithDryRunAndWithoutPermissionsOnJobsDoesNotStopTheCheckAfterIt) {
  world_.prometheus = [](const std::string&, WallTime, const std::stop_token&) -> Result<std::optional<double>> {
    return 0.0;
  };
  world_.Restart();
  DeployedWithChecks({"a", "b"}, Json::array({JobCheckJson("smoke", {{"dryRun", true}}), QueryCheckJson()}));
  RestartWithoutPermissions();
  UpdateA();
  EXPECT_EQ(Images(), "a=2 b=1");
  EXPECT_EQ(Phase("a"), "Verifying ChecksUnavailable");
  Step(610);
  EXPECT_EQ(CheckOf("a"), "errors");
  for (int time = 0; time < 400; time += 30) {
    EXPECT_TRUE(world_.sampler().Sample({kNs, "web"}, {}));
    Step(30);
  }
  EXPECT_EQ(Images(), "a=2 b=2");
}

INSTANTIATE_TEST_SUITE_P(Kind, CheckFailureTest,
                         ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet));

}  // namespace
}  // namespace yad::testing
