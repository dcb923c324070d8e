// Checks that are interrupted: the pool goes offline, or another template is applied and reverted.
#include <gtest/gtest.h>

#include "tests/unit/yurtappdaemon/check_rollout_fixture.h"

namespace yad {
namespace {

using namespace testing;

TEST_P(CheckRolloutTest, OutagesDuringACheckAddUpUntilThePoolCountsAsFailed) {
  Play([&] {
    DeployedWithChecks({"a", "b", "c"}, Json::array({JobCheckJson()}),
                       {{"progressDeadlineSeconds", 100}, {"minReadySeconds", 10}, {"onFailure", "Rollback"}});
    UpdateA();
    Step(15);
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(Phase("a"), "Verifying");
      GoOffline("a");
      Step(40);
      EXPECT_EQ(Phase("a"), "Offline WentDarkAfterUpdate");
      Return("a");
      Step(10);
    }
    GoOffline("a");
    Step(40);
    Step();
    EXPECT_TRUE(IsMarkedFailed());
    EXPECT_EQ(Images(), "a=1 b=1 c=1");
  });
}

// A region loses its power, and the Job controller counts the lost pod of the Job as failed.
TEST_P(CheckRolloutTest, JobThatFailsWhileItsPoolIsOfflineRunsAgain) {
  Play([&] {
    DeployedWithChecks({"a", "b", "c"}, Json::array({JobCheckJson()}), {{"onFailure", "Rollback"}});
    UpdateA();
    for (const char* pool : {"a", "b", "c"}) GoOffline(pool);
    Step(300);
    ASSERT_EQ(Progressing(), "True SitesOffline");
    EndJobs("a", "Failed", "no");
    Step(600);
    EXPECT_EQ(JobPosts(), 1U) << "no Job is created in an offline pool";
    for (const char* pool : {"a", "b", "c"}) Return(pool);
    Break("a");
    Step();
    EXPECT_EQ(JobOf("a"), "0 jobs") << "no Job is created in an unhealthy pool";
    Heal("a");
    Step();
    StartJobs("a");
    EXPECT_EQ(JobPosts(), 2U);
    Step(550);
    EXPECT_EQ(Phase("a"), "Verifying") << "the check has its full timeout again";
    EXPECT_FALSE(IsMarkedFailed());
    EndJobs("a", "Failed", "no");
    Step();
    EXPECT_TRUE(IsMarkedFailed()) << "this Job ran after the outage";
    EXPECT_EQ(JobPosts(), 2U);
  });
}

// A node that restarts reports the failure of its pods after it is ready.
TEST_P(CheckRolloutTest, JobThatFailsAfterTheReturnOfItsPoolRunsAgain) {
  Play([&] {
    DeployedWithChecks({"a", "b"}, Json::array({JobCheckJson()}), {{"onFailure", "Rollback"}});
    UpdateA();
    Step(30);
    GoOffline("a");
    Step(60);
    Return("a");
    Step(60);
    EndJobs("a", "Failed", "no");
    Step();
    EXPECT_EQ(Phase("a"), "Verifying");
    StartJobs("a");
    Step(30);
    EXPECT_EQ(JobPosts(), 2U);
    EndJobs("a", "Complete");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

TEST_P(CheckRolloutTest, JobThatFailedBeforeItsPoolWentOfflineStaysAFailure) {
  Play([&] {
    DeployedWithChecks({"a", "b"});
    UpdateA();
    Step(100);
    EndJobs("a", "Failed", "no");
    Step();
    GoOffline("a");
    Step(100);
    EXPECT_EQ(Phase("a"), "Offline CheckFailed");
    Return("a");
    Step(100);
    EXPECT_EQ(Phase("a"), "Failed CheckFailed");
    EXPECT_EQ(JobPosts(), 1U);
  });
}

class InterruptedJobTest : public CheckScene {
 protected:
  // Adds a Job that has failed now, and started `ran_for` earlier.
  void AddFailedJob(const std::string& name, seconds ran_for) {
    Json status = EndedJob("Failed", "no");
    status["startTime"] = FormatTime(now_ - ran_for);
    status["conditions"][0]["lastTransitionTime"] = FormatTime(now_);
    AddJob(name, status);
  }
};

TEST_F(InterruptedJobTest, JobThatRanForLongerThanItsCheckIsReplaced) {
  const std::string job = Run().job;
  now_ += seconds(20);
  AddFailedJob(job, seconds(100));
  for (int i = 0; i < 2; ++i) {
    const PoolChecks checks = RunAfter(5);
    EXPECT_TRUE(checks.replaces_job);
    EXPECT_FALSE(checks.starts_job);
    EXPECT_EQ(Failure(), "");
    EXPECT_EQ(health_.check->since, now_) << "the timeout must restart";
  }
  jobs_[job]["metadata"]["deletionTimestamp"] = FormatTime(now_);
  EXPECT_FALSE(RunAfter(5).replaces_job) << "the Job is already being deleted";
  jobs_.clear();
  EXPECT_TRUE(RunAfter(5).starts_job);
}

// The deletion of the Job fails for a while, or a finalizer delays it.
TEST_F(InterruptedJobTest, JobThatIsBeingReplacedForALongTimeIsNotAFailure) {
  for (const bool deleting : {false, true}) {
    SCOPED_TRACE(deleting);
    health_.check.reset();
    jobs_.clear();
    const std::string job = Run().job;
    now_ += seconds(20);
    AddFailedJob(job, seconds(100));
    ASSERT_TRUE(RunAfter(5).replaces_job);
    if (deleting) jobs_[job]["metadata"]["deletionTimestamp"] = FormatTime(now_);
    EXPECT_EQ(RunAfter(120).replaces_job, !deleting);
    EXPECT_EQ(Failure(), "");
    AddFailedJob(job, seconds(100));
    jobs_[job]["metadata"]["uid"] = "uid-of-its-replacement";
    RunAfter(120);
    EXPECT_NE(Failure(), "") << "the Job that replaces it has failed";
  }
}

// A new leader does not know that the operator deletes the Job.
TEST_F(InterruptedJobTest, FailedJobThatIsBeingDeletedIsNotAFailureForANewLeader) {
  const std::string job = Run().job;
  AddFailedJob(job, seconds(0));
  jobs_[job]["metadata"]["deletionTimestamp"] = FormatTime(now_);
  EXPECT_FALSE(RunAfter(120).replaces_job);
  EXPECT_EQ(Failure(), "");
  jobs_.clear();
  EXPECT_TRUE(RunAfter(5).starts_job);
}

TEST_F(InterruptedJobTest, FailureBeforeTheDeletionOfAJobStaysUntilItIsDeleted) {
  const std::string job = Run().job;
  AddJob(job, EndedJob("Failed", "no"));
  RunAfter(5);
  jobs_[job]["metadata"]["deletionTimestamp"] = FormatTime(now_);
  RunAfter(5);
  EXPECT_NE(Failure(), "");
  jobs_.clear();
  EXPECT_TRUE(RunAfter(5).starts_job);
}

// The operator has errors for minutes, so it evaluates the Job long after the Job has finished.
TEST_F(InterruptedJobTest, JobThatExistedDuringAnOutageIsReplacedEvenIfItsFailureIsObservedLate) {
  const std::string job = Run().job;
  AddJob(job);
  offline_ = true;
  RunAfter(60);
  offline_ = false;
  health_.check->since = now_;  // as Observe sets it when the pool returns
  now_ += seconds(60);
  AddFailedJob(job, seconds(120));
  EXPECT_TRUE(RunAfter(240).replaces_job);
  EXPECT_EQ(Failure(), "");
}

TEST_F(InterruptedJobTest, JobThatRanAsLongAsItsCheckFailsTheCheck) {
  const std::string job = Run().job;
  now_ += seconds(20);
  AddFailedJob(job, seconds(30));  // the clock of the Job controller is slow
  EXPECT_FALSE(Run().replaces_job);
  EXPECT_NE(Failure(), "");
}

TEST_P(CheckRolloutTest, CheckContinuesAfterATemplateThatReachedNoPoolIsReverted) {
  Play([&] {
    DeployedWithChecks({"a", "b"});
    UpdateA();
    const std::string started = CheckStarted("a");
    Pause(true);
    world_.SetImage("app:3");
    Step(20);
    EXPECT_EQ(Phase("a"), "Ready") << "the revision of pool a is not the target";
    world_.SetImage("app:2");
    Step();
    Pause(false);
    Step();
    EXPECT_EQ(Phase("a"), "Verifying");
    EXPECT_GT(CheckStarted("a"), started);
    Step(500);
    EXPECT_EQ(Images(), "a=2 b=1");
    EXPECT_EQ(JobPosts(), 1U) << "the Job must not be recreated";
    EndJobs("a", "Complete");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

TEST_P(CheckRolloutTest, PoolIsCheckedIfItsSoakEndsBeforeALaterTemplateIsReverted) {
  Play([&] {
    DeployedWithChecks({"a", "b"}, Json::array({JobCheckJson()}), {{"minReadySeconds", 30}});
    UpdateA();
    ASSERT_EQ(Phase("a"), "Soaking");
    Pause(true);
    world_.SetImage("app:3");
    Step(60);
    world_.SetImage("app:2");
    Step();
    Pause(false);
    Step();
    EXPECT_EQ(Phase("a"), "Verifying");
    EXPECT_EQ(Images(), "a=2 b=1");
    EndJobs("a", "Complete");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

TEST_P(CheckRolloutTest, FailedCheckIsKeptAfterATemplateThatReachedNoPoolIsReverted) {
  Play([&] {
    DeployedWithChecks({"a", "b"});
    UpdateA();
    EndJobs("a", "Failed", "no");
    Step();
    ASSERT_EQ(Phase("a"), "Failed CheckFailed");
    Pause(true);
    world_.SetImage("app:3");
    Step();
    world_.SetImage("app:2");
    Step();
    Pause(false);
    Step();
    EXPECT_EQ(Phase("a"), "Failed CheckFailed");
    EXPECT_EQ(Images(), "a=2 b=1");
  });
}

TEST_P(CheckRolloutTest, ChangeOfOnlyTheReplicasKeepsTheJobOfACheck) {
  Play([&] {
    DeployedWithChecks({"a", "b"});
    UpdateA();
    const std::string job = JobOf("a"), started = CheckStarted("a");
    Step(500);
    world_.EditDaemon([](Json& daemon) { TemplateOf(daemon)["spec"]["replicas"] = 5; });
    Step();
    Heal("a");
    Step();
    EXPECT_EQ(Phase("a"), "Verifying");
    EXPECT_EQ(JobOf("a"), job);
    EXPECT_EQ(JobPosts(), 1U);
    EXPECT_EQ(CheckStarted("a"), started);
    EndJobs("a", "Complete");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

// The operator stops after it has created the Job of the edited check, and before it deletes the older Job.
TEST_P(CheckRolloutTest, JobOfTheSpecIsKeptWhenAnEditOfItsCheckIsReverted) {
  for (const bool passed : {false, true}) {
    SCOPED_TRACE(passed);
    StartOver();
    DeployedWithChecks({"a", "b"});
    UpdateA();
    const std::string job = JobOf("a");
    Json edited = JobCheckJson();
    edited["job"]["spec"]["backoffLimit"] = 1;
    Strategy("checks", Json::array({edited}));
    EXPECT_TRUE(world_.Reconcile());
    ASSERT_EQ(JobOf("a"), "2 jobs");
    if (passed) EndJobs("a", "Complete");
    Strategy("checks", Json::array({JobCheckJson()}));
    world_.Restart();
    world_.cluster.ClearWrites();
    Step();
    EXPECT_EQ(JobOf("a"), job);
    EXPECT_EQ(JobPosts(), 0U);
    EndJobs("a", "Complete");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2");
  }
}

}  // namespace
}  // namespace yad
