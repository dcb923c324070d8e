// Checks whose Jobs or samples can't be read. Their timeouts are suspended, and they do not fail the rollout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/yurtappdaemon/check_rollout_fixture.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class UnavailableCheckTest : public CheckScene {};

TEST_F(UnavailableCheckTest, TimeWithoutThePermissionToReadJobsDoesNotCount) {
  AddJob(Run().job);
  fault_ = "the Jobs can't be read: Forbidden";
  PoolChecks checks = RunAfter(10000);
  EXPECT_TRUE(checks.unavailable);
  EXPECT_FALSE(checks.starts_job);
  EXPECT_EQ(checks.message, "check smoke: the Jobs can't be read: Forbidden");
  EXPECT_EQ(Failure(), "");
  EXPECT_EQ(health_.check->since, WallTime());
  fault_ = "";
  checks = RunAfter(10000);
  EXPECT_FALSE(checks.unavailable);
  EXPECT_EQ(health_.check->since, now_) << "the timeout must restart";
  EXPECT_EQ(checks.due, now_ + seconds(600));
  RunAfter(600);
  EXPECT_THAT(Failure(), StartsWith("not passed within 600 s"));
}

TEST_F(UnavailableCheckTest, NoJobStartsWhileJobsCannotBeRead) {
  fault_ = "the Jobs can't be read: Forbidden";
  EXPECT_FALSE(Run().starts_job);
  EXPECT_FALSE(RunAfter(600).starts_job);
  fault_ = "";
  EXPECT_TRUE(RunAfter(1).starts_job);
  EXPECT_EQ(Failure(), "");
}

TEST_F(UnavailableCheckTest, FailedJobInTheCacheFailsTheCheckWhileJobsCannotBeRead) {
  AddJob(Run().job, EndedJob("Failed", "no"));
  fault_ = "the Jobs can't be read: Forbidden";
  RunAfter(1);
  EXPECT_THAT(Failure(), HasSubstr("failed: no"));
}

// The Job may have finished, but the cache does not show this.
TEST_F(UnavailableCheckTest, TimeoutIsDelayedWhileTheCacheIsStale) {
  AddJob(Run().job);
  jobs_outdated_ = true;
  const PoolChecks checks = RunAfter(600);
  EXPECT_EQ(checks.due, now_ + seconds(5));
  EXPECT_EQ(Failure(), "");
  jobs_outdated_ = false;
  RunAfter(1);
  EXPECT_NE(Failure(), "");
}

TEST_F(UnavailableCheckTest, JobThatCannotBeCreatedIsRetriedAndDoesNotFailTheCheck) {
  const std::string job = Run().job;
  rejected_[job] = {"exceeded quota", false};
  PoolChecks checks = RunAfter(10000);
  EXPECT_TRUE(checks.starts_job);
  EXPECT_TRUE(checks.unavailable);
  EXPECT_EQ(checks.message, "check smoke: Job " + job + " can't be created: exceeded quota");
  EXPECT_EQ(Failure(), "");
  rejected_.clear();
  AddJob(job);
  RunAfter(1);
  EXPECT_EQ(health_.check->since, now_);
}

// The operator was stopped for longer than the timeout, and the Job was deleted during this time.
TEST_F(UnavailableCheckTest, CheckWithoutAJobRestartsAtItsTimeout) {
  Run();
  const PoolChecks checks = RunAfter(600);
  EXPECT_TRUE(checks.starts_job);
  EXPECT_EQ(Failure(), "");
  EXPECT_EQ(health_.check->since, now_);
}

TEST_F(UnavailableCheckTest, NoCheckStartsWhileThePoolIsUnhealthy) {
  checks_ = Json::array({JobCheckJson("first"), JobCheckJson("second")});
  AddJob(Run().job, EndedJob("Complete"), "first");
  health_.state = PoolHealth::State::kUnhealthy;
  for (int i = 0; i < 2; ++i) {
    const PoolChecks checks = RunAfter(1000);
    EXPECT_TRUE(checks.verifying);
    EXPECT_FALSE(checks.starts_job);
    EXPECT_FALSE(checks.due);
    EXPECT_EQ(checks.message, "check second: begins when the pool is healthy again");
    EXPECT_EQ(health_.check, (CheckProgress{"second", {}, 0, ""}));
  }
  health_.state = PoolHealth::State::kHealthy;
  EXPECT_TRUE(RunAfter(1).starts_job);
  EXPECT_EQ(health_.check->since, now_);
}

TEST_F(UnavailableCheckTest, RunningCheckContinuesWhileThePoolIsUnhealthy) {
  AddJob(Run().job);
  health_.state = PoolHealth::State::kUnhealthy;
  RunAfter(600);
  EXPECT_NE(Failure(), "");
}

class UnavailableDryRunTest : public CheckScene {
 protected:
  UnavailableDryRunTest() { checks_ = Json::array({JobCheckJson("smoke", {{"dryRun", true}})}); }
  // The check runs until its timeout. After this, it no longer blocks the rollout.
  void ExpectTolerated(const std::string& message) {
    EXPECT_TRUE(RunAfter(599).verifying);
    const PoolChecks checks = RunAfter(1);
    EXPECT_FALSE(checks.verifying);
    EXPECT_FALSE(checks.starts_job);
    EXPECT_FALSE(checks.unavailable);
    EXPECT_EQ(checks.job, "");
    EXPECT_THAT(checks.tolerated, ElementsAre("check smoke (dryRun): not passed within 600 s: " + message));
  }
};

TEST_F(UnavailableDryRunTest, TimesOutWhileJobsCannotBeRead) {
  fault_ = "the Jobs can't be read: Forbidden";
  EXPECT_TRUE(Run().unavailable);
  ExpectTolerated(fault_);
}

TEST_F(UnavailableDryRunTest, TimesOutWithAJobThatCannotBeCreated) {
  const std::string job = Run().job;
  rejected_[job] = {"exceeded quota", false};
  EXPECT_TRUE(Run().starts_job);
  ExpectTolerated("Job " + job + " can't be created: exceeded quota");
}

TEST_F(UnavailableDryRunTest, TimesOutWithAnEditedJobThatCannotBeCreated) {
  AddJob(Run().job);
  checks_[0]["job"]["spec"]["backoffLimit"] = 3;
  const std::string job = RunAfter(300).job;
  rejected_[job] = {"exceeded quota", false};
  ExpectTolerated("Job " + job + " can't be created: exceeded quota");
}

TEST_F(UnavailableDryRunTest, TimesOutWhileTheCacheIsStale) {
  const std::string job = Run().job;
  AddJob(job);
  jobs_outdated_ = true;
  ExpectTolerated("Job " + job + " runs");
}

TEST_F(UnavailableDryRunTest, TimesOutWhilePrometheusDoesNotRespond) {
  checks_ = Json::array({Json{{"name", "smoke"}, {"dryRun", true}, {"prometheus", {{"query", "x"}, {"max", 1}}}}});
  const WallTime began = now_;
  Run();
  samples_["a"] = {"smoke", began, 0, 0, "no sample: connection refused", {}, kUnansweredQueries};
  EXPECT_TRUE(Run().unavailable);
  ExpectTolerated("no sample: connection refused");
}

class UnansweredQueryTest : public CheckScene {
 protected:
  UnansweredQueryTest() {
    checks_ = Json::array({Json{{"name", "errors"}, {"prometheus", {{"query", "x"}, {"max", "0.05"}}}}});
    began_ = now_;
  }
  void Sampled(int unanswered, WallTime began) {
    samples_["a"] = {"errors", began_, 0, 0, "no sample: connection refused", began, unanswered};
  }
  WallTime began_;
};

TEST_F(UnansweredQueryTest, TimeoutIsPausedWhilePrometheusDoesNotRespond) {
  Run();
  Sampled(1, began_);
  EXPECT_FALSE(RunAfter(10000).unavailable);
  Sampled(kUnansweredQueries, began_);
  EXPECT_TRUE(RunAfter(10000).unavailable);
  EXPECT_EQ(Failure(), "");
  Sampled(0, now_);
  EXPECT_EQ(Run().due, now_ + seconds(600));
  RunAfter(600);
  EXPECT_NE(Failure(), "");
}

TEST_F(UnansweredQueryTest, TimeoutCountsFromTheFirstSampleOfThisProcess) {
  Run();
  const PoolChecks checks = RunAfter(10000);
  EXPECT_EQ(checks.due, now_ + seconds(600));
  EXPECT_EQ(Failure(), "") << "a new leader does not have the samples of the earlier leader";
}

TEST_F(UnansweredQueryTest, TimeWithoutAnAddressOfPrometheusIsNotCounted) {
  Run();
  queries_error_ = "the operator has no --prometheus-url";
  EXPECT_TRUE(RunAfter(10000).unavailable);
  EXPECT_EQ(Failure(), "");
  EXPECT_EQ(health_.check->since, WallTime());
}

class UnavailableRolloutTest : public CheckRolloutTest {
 protected:
  void UpdatedWithRollback(Json check = JobCheckJson("smoke", {{"timeoutSeconds", 60}})) {
    DeployedWithChecks({"a", "b"}, Json::array({std::move(check)}), {{"onFailure", "Rollback"}});
    UpdateA();
  }
  // Samples every 30 s.
  void SampleFor(int time) {
    for (int i = 0; i < time; i += 30) {
      EXPECT_TRUE(world_.sampler().Sample({kNs, "web"}, {}));
      Step(30);
    }
  }
  // Removes the permission to watch Jobs. The cache of Jobs no longer changes.
  void RevokePermissions() {
    world_.jobs_readable = false;
    world_.FailToReadJobs(StatusResponse(403, "Forbidden", "jobs.batch is forbidden: User \"yad\" cannot watch"));
  }
  void ExpectUnavailable() {
    EXPECT_EQ(Phase("a"), "Verifying ChecksUnavailable");
    EXPECT_EQ(CheckOf("a"), "smoke");
    EXPECT_EQ(CheckStarted("a"), "");
    EXPECT_EQ(Images(), "a=2 b=1");
    EXPECT_FALSE(IsMarkedFailed());
  }
};

TEST_P(UnavailableRolloutTest, LostPermissionsFailNoRolloutAndTheTimeoutRestarts) {
  UpdatedWithRollback();
  ASSERT_EQ(Phase("a"), "Verifying");
  RevokePermissions();
  Wait(seconds(200));
  ExpectUnavailable();
  EXPECT_EQ(Progressing(), "True RollingOut") << "pool a has not finished";
  EXPECT_THAT(MessageOf("a"), HasSubstr("set checks.jobs=true in the values of the Helm chart"));
  world_.cluster.ClearWrites();
  Wait(seconds(200));
  EXPECT_THAT(world_.Writes(), IsEmpty());
  for (int i = 0; i < 2; ++i) {
    world_.Restart();
    RevokePermissions();
    Wait(seconds(200));
    ExpectUnavailable();
  }
  world_.jobs_readable = true;
  world_.Restart();
  Wait(seconds(50));
  EXPECT_EQ(Phase("a"), "Verifying");
  EXPECT_NE(CheckStarted("a"), "");
  Wait(seconds(20));
  EXPECT_TRUE(IsMarkedFailed()) << "the Job has not finished within its timeout";
}

// Responses to the creation of a Job. check_job_writer.cc lists the same responses.
TEST_P(UnavailableRolloutTest, OnlyResponsesAboutTheJobItselfFailTheCheck) {
  struct Answer {
    int status;
    const char* reason;
    bool final;
  };
  for (const Answer& answer : {Answer{400, "BadRequest", true},
                               {413, "RequestEntityTooLarge", true},
                               {422, "Invalid", true},
                               {401, "Unauthorized", false},
                               {403, "Forbidden", false},
                               {404, "NotFound", false},
                               {409, "Conflict", false},
                               {429, "TooManyRequests", false},
                               {500, "InternalError", false},
                               {503, "ServiceUnavailable", false}}) {
    SCOPED_TRACE(answer.status);
    StartOver();
    DeployedWithChecks({"a", "b"}, Json::array({JobCheckJson("smoke", {{"timeoutSeconds", 20}})}));
    world_.SetImage("app:2");
    Step();
    Heal("a");
    AnswerJobs({StatusResponse(answer.status, answer.reason, "the server's words"), false});
    Wait(seconds(50));
    EXPECT_EQ(Phase("a"), answer.final ? "Failed CheckFailed" : "Verifying ChecksUnavailable");
    EXPECT_THAT(MessageOf("a"), HasSubstr("the server's words"));
    if (answer.final) {
      EXPECT_EQ(JobPosts(), 1U);
      continue;
    }
    world_.cluster.SetFaults(nullptr);
    for (int i = 0; i < 40 && JobsOf("a").empty(); ++i) Wait(seconds(1));
    Wait(seconds(2));
    EXPECT_EQ(Phase("a"), "Verifying");
    EXPECT_THAT(JobsOf("a"), SizeIs(1));
  }
}

TEST_P(UnavailableRolloutTest, QuotaThatRejectsTheJobDoesNotFailTheCheck) {
  Play([&] {
    DeployedWithChecks({"a", "b"}, Json::array({JobCheckJson("smoke", {{"timeoutSeconds", 30}})}),
                       {{"onFailure", "Rollback"}});
    world_.SetImage("app:2");
    Step();
    Heal("a");
    AnswerJobs({StatusResponse(403, "Forbidden", "exceeded quota: count/jobs.batch"), false});
    Step(5);
    for (int i = 0; i < 3; ++i) {
      Step(40);
      ExpectUnavailable();
      EXPECT_THAT(MessageOf("a"), HasSubstr("exceeded quota"));
    }
  });
}

TEST_P(UnavailableRolloutTest, JobOfAnotherOwnerIsReportedImmediatelyAndDoesNotFailTheCheck) {
  Play([&] {
    UpdatedWithRollback();
    const std::string job = JobOf("a");
    DeleteJobs("a");
    const Json owner = {
        {"apiVersion", "batch/v1"}, {"kind", "CronJob"}, {"name", "backup"}, {"uid", "u"}, {"controller", true}};
    world_.cluster.Create(kJobType, {{"metadata", {{"namespace", kNs}, {"name", job}, {"ownerReferences", {owner}}}}});
    Step(5);
    EXPECT_EQ(MessageOf("a"),
              "check smoke: Job " + job + " can't be created: it exists and belongs to CronJob backup; delete it");
    Step(100);
    ExpectUnavailable();
    world_.cluster.Delete(kJobType, {kNs, job});
    for (int i = 0; i < 14 && JobOf("a") != job; ++i) Step(5);
    Step(5);
    EXPECT_EQ(JobOf("a"), job);
    EXPECT_EQ(Phase("a"), "Verifying");
  });
}

TEST_P(UnavailableRolloutTest, JobIsReadFromTheServerBeforeARollback) {
  for (const bool passed : {false, true}) {
    SCOPED_TRACE(passed);
    StartOver();
    UpdatedWithRollback();
    Step(10);
    world_.jobs_readable = false;  // The watch is silent, and does not report an error.
    if (passed) EndJobs("a", "Complete");
    Step(100);
    EXPECT_EQ(IsMarkedFailed(), !passed);
    EXPECT_EQ(ImageOf(world_.Workload("a")), passed ? "app:2" : "app:1");
  }
}

TEST_P(UnavailableRolloutTest, ConditionIsReadFromTheServerBeforeARollback) {
  if (GetParam() != WorkloadKind::kDeployment) return;  // World can delay only the cache of Deployments.
  DeployedWithChecks({"a", "b"}, Json::array({ConditionCheckJson()}), {{"onFailure", "Rollback"}, {"maxFailures", 1}});
  UpdateA();
  SetCondition("a", "True");
  for (int i = 0; i < 200; ++i) {
    world_.SyncAllButDeployments();
    ASSERT_TRUE(world_.ReconcileWithOldCaches());
    world_.clock.Advance(seconds(10));
  }
  EXPECT_EQ(Images(), "a=2 b=2");
  EXPECT_FALSE(IsMarkedFailed()) << "only pool b has failed";
}

TEST_P(UnavailableRolloutTest, DowntimeOfTheOperatorDoesNotCountForTheTimeoutOfAQuery) {
  world_.prometheus = [](const std::string&, WallTime, const std::stop_token&) -> Result<std::optional<double>> {
    return std::nullopt;
  };
  world_.Restart();
  UpdatedWithRollback({{"name", "smoke"}, {"prometheus", {{"query", "x"}, {"max", 1}}}});
  EXPECT_EQ(Phase("a"), "Verifying");
  world_.clock.Advance(seconds(5000));
  world_.Restart();
  Step();
  EXPECT_TRUE(world_.sampler().Sample({kNs, "web"}, {}));
  Step();
  EXPECT_EQ(Phase("a"), "Verifying");
  EXPECT_FALSE(IsMarkedFailed());
}

// Many pools are verified, and each query to a Prometheus that does not respond takes 10 s.
TEST_P(UnavailableRolloutTest, TimeUntilTheFirstSampleDoesNotCountForTheTimeoutOfAQuery) {
  world_.prometheus = [](const std::string&, WallTime, const std::stop_token&) -> Result<std::optional<double>> {
    return std::nullopt;
  };
  world_.Restart();
  UpdatedWithRollback({{"name", "smoke"}, {"prometheus", {{"query", "x"}, {"max", 1}}}});
  Step(700);
  EXPECT_EQ(Phase("a"), "Verifying");
  EXPECT_EQ(MessageOf("a"), "check smoke: waits for the first sample of Prometheus");
  EXPECT_TRUE(world_.sampler().Sample({kNs, "web"}, {}));
  Step(590);
  EXPECT_EQ(Phase("a"), "Verifying");
  Step(20);
  EXPECT_TRUE(IsMarkedFailed()) << "no query returned a value within the timeout";
}

// The outage of Prometheus is longer than durationSeconds.
TEST_P(UnavailableRolloutTest, TimeWithoutAResponseOfPrometheusDoesNotCountForTheDurationOfAQuery) {
  bool responds = true;
  world_.prometheus = [&](const std::string&, WallTime, const std::stop_token&) -> Result<std::optional<double>> {
    if (!responds) return Fail(Reason::kTransport, "connection refused");
    return 0.0;
  };
  world_.Restart();
  UpdatedWithRollback({{"name", "smoke"}, {"prometheus", {{"query", "x"}, {"max", 1}}}});
  SampleFor(60);
  responds = false;
  SampleFor(600);
  responds = true;
  SampleFor(60);
  world_.Restart();  // The new leader continues.
  Step();
  SampleFor(150);
  EXPECT_EQ(Phase("a"), "Verifying");
  EXPECT_EQ(Images(), "a=2 b=1");
  SampleFor(60);
  EXPECT_EQ(Images(), "a=2 b=2");
}

// The metric exists only as long as the revision works.
TEST_P(UnavailableRolloutTest, CheckWhoseMetricVanishesDoesNotPass) {
  std::optional<double> value = 0.0;
  world_.prometheus = [&](const std::string&, WallTime, const std::stop_token&) -> Result<std::optional<double>> {
    return value;
  };
  world_.Restart();
  UpdatedWithRollback({{"name", "smoke"}, {"prometheus", {{"query", "x"}, {"max", 1}}}});
  SampleFor(60);
  value.reset();
  SampleFor(480);
  EXPECT_EQ(Phase("a"), "Verifying");
  EXPECT_EQ(Images(), "a=2 b=1");
  SampleFor(90);
  EXPECT_TRUE(IsMarkedFailed());
}

TEST_P(UnavailableRolloutTest, QueryWithDryRunAndWithoutPrometheusBlocksNoRollout) {
  DeployedWithChecks(
      {"a", "b"}, Json::array({Json{{"name", "smoke"}, {"dryRun", true}, {"prometheus", {{"query", "x"}, {"max", 1}}}},
                               ConditionCheckJson()}));
  UpdateA();
  EXPECT_EQ(Images(), "a=2 b=1");
  EXPECT_EQ(Phase("a"), "Verifying ChecksUnavailable");
  EXPECT_EQ(Progressing(), "True RollingOut");
  Step(610);
  EXPECT_EQ(MessageOf("a"), "check tested: waits for condition example.org/Tested=True of the workload");
  EXPECT_THAT(Notes("CheckFailureTolerated"), ElementsAre(HasSubstr("set checks.prometheus.url in the values")));
  SetCondition("a", "True");
  Step();
  EXPECT_EQ(Images(), "a=2 b=2");
}

TEST_P(UnavailableRolloutTest, NextCheckStartsWhenThePoolIsHealthyAgain) {
  Play([&] {
    DeployedWithChecks({"a", "b"}, Json::array({JobCheckJson("first"), JobCheckJson("second")}));
    UpdateA();
    EndJobs("a", "Complete");
    Break("a");
    Step(100);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(Phase("a"), "Unhealthy");
      EXPECT_EQ(CheckOf("a"), "second");
      EXPECT_EQ(CheckStarted("a"), "");
      EXPECT_THAT(JobsOf("a"), SizeIs(1));
      Step(100);
    }
    Heal("a");
    Step(10);
    EXPECT_EQ(Phase("a"), "Verifying");
    EXPECT_THAT(JobsOf("a"), SizeIs(2));
    EXPECT_EQ(Images(), "a=2 b=1");
    EndJobs("a", "Complete");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

TEST_P(UnavailableRolloutTest, JobsAreDeletedWhenTheSpecHasNoJobCheck) {
  for (const bool other_strategy : {false, true}) {
    Play([&] {
      SCOPED_TRACE(other_strategy);
      DeployedWithChecks({"a"});
      UpdateA();
      EndJobs("a", "Complete");
      Step();
      ASSERT_THAT(JobsOf("a"), SizeIs(1));
      if (other_strategy) {
        world_.EditDaemon([](Json& daemon) { daemon["spec"]["updateStrategy"] = {{"type", "OnDelete"}}; });
      } else {
        Strategy("checks", Json::array({ConditionCheckJson("smoke")}));
      }
      world_.jobs_readable = false;  // With a new leader, the cache of Jobs is never filled.
      Step();
      EXPECT_THAT(JobsOf("a"), IsEmpty());
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Kind, UnavailableRolloutTest,
                         ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet));

}  // namespace
}  // namespace yad::testing
