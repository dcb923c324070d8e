// A user pauses the Deployment of one pool with `kubectl rollout pause`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/yurtappdaemon/rolling_update_fixture.h"

namespace yad::testing {
namespace {

using ::testing::HasSubstr;

Json DeploymentPausedAt(WallTime time) {
  return {{"type", "Progressing"},
          {"status", "Unknown"},
          {"reason", "DeploymentPaused"},
          {"lastUpdateTime", FormatTime(time)}};
}

class PausedDeploymentTest : public RollingUpdateTest {
 protected:
  // Pauses the Deployment, as `kubectl rollout pause` and the Deployment controller do.
  void PauseDeployment(const std::string& pool) {
    world_.EditWorkload(pool, [&](Json& workload) {
      workload["spec"]["paused"] = true;
      workload["status"]["conditions"].push_back(DeploymentPausedAt(world_.clock.WallNow()));
    });
  }
  void ResumeDeployment(const std::string& pool) {
    world_.EditWorkload(pool, [](Json& workload) {
      workload["spec"].erase("paused");
      Json& conditions = workload["status"]["conditions"];
      conditions.erase(conditions.size() - 1);
    });
  }
  std::string ResumeCommand(const std::string& pool) const {
    return "`kubectl rollout resume deployment/" + world_.NameOf(pool) + " -n ns`";
  }
};

INSTANTIATE_TEST_SUITE_P(Kind, PausedDeploymentTest, ::testing::Values(WorkloadKind::kDeployment));

TEST_P(PausedDeploymentTest, PoolAndFailureNameThePause) {
  Play([&] {
    Deployed({"a", "b"}, {{"progressDeadlineSeconds", 30}});
    PauseDeployment("a");
    world_.SetImage("app:2");
    Step(20);
    EXPECT_EQ(Phase("a"), "Updating DeploymentPaused");
    EXPECT_EQ(MessageOf("a"), "the Deployment is paused: " + ResumeCommand("a") + " continues it");
    Step(20);
    EXPECT_EQ(Phase("a"), "Failed ProgressDeadlineExceeded");
    EXPECT_THAT(MessageOf("a"), HasSubstr("not healthy within 30 s on its revision; the Deployment is paused: "));
    EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
    ResumeDeployment("a");
    Heal("a");
    Step();
    Heal("b");
    Step();
    EXPECT_EQ(Complete(), "True RolloutComplete");
  });
}

TEST_P(PausedDeploymentTest, MessageNamesTheTemplateIfItPausesTheDeployment) {
  Deployed({"a"});
  world_.EditDaemon([](Json& daemon) {
    TemplateOf(daemon)["spec"]["paused"] = true;
    PodSpecOf(TemplateOf(daemon))["containers"][0]["image"] = "app:2";
  });
  Look();
  EXPECT_EQ(MessageOf("a"),
            "the Deployment is paused: remove paused from spec.workloadTemplate.deploymentTemplate.spec");
}

TEST(PausedDeploymentStatusTest, OtherStrategiesNameThePauseToo) {
  World world;
  world.AddPool("a");
  world.CreateDaemon();
  world.Converge();
  world.EditWorkload("a", [](Json& workload) { workload["spec"]["paused"] = true; });
  world.SetImage("app:2");
  world.Wait(std::chrono::seconds(5));
  EXPECT_EQ(PoolStatus(world.Status(), "a")["phase"], "Updating");
  EXPECT_EQ(PoolStatus(world.Status(), "a")["reason"], "DeploymentPaused");
}

}  // namespace
}  // namespace yad::testing
