// Checks that are interrupted: its pool goes offline, or another template is applied and reverted.
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

TEST_P(CheckRolloutTest, CheckContinuesAfterATemplateThatReachedNoPoolIsReverted) {
  Play([&] {
    DeployedWithChecks({"a", "b"});
    UpdateA();
    const std::string started = CheckStarted("a");
    Pause(true);
    world_.SetImage("app:3");
    Step(20);
    EXPECT_EQ(Phase("a"), "Ready") << "its revision is not the target";
    world_.SetImage("app:2");
    Step();
    Pause(false);
    Step();
    EXPECT_EQ(Phase("a"), "Verifying");
    EXPECT_GT(CheckStarted("a"), started);
    Step(500);
    EXPECT_EQ(Images(), "a=2 b=1");
    EXPECT_EQ(JobPosts(), 1U) << "its Job is the same";
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
