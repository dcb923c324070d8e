// An upgrade of the operator at each stage of a rollout. The previous version did not write the conditions Complete,
// Reconciling and Stalled, and update records. After a rollback of the operator, it keeps condition Complete of the
// earlier revision.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "operator/api/well_known.h"
#include "tests/unit/yurtappdaemon/rolling_update_fixture.h"

namespace yad {
namespace {

using namespace testing;
using ::testing::HasSubstr;

class RolloutUpgradeTest : public RollingUpdateTest {
 protected:
  void TakeNewFieldsOut(bool keeps_complete) {
    for (const Json& workload : world_.Workloads()) {
      world_.cluster.Edit(world_.type(), {kNs, StringAt(workload, {"metadata", "name"})},
                          [](Json& w) { w["metadata"]["annotations"].erase(kUpdateRecordAnnotation); });
    }
    world_.EditDaemon([&](Json& daemon) {
      Json& conditions = daemon["status"]["conditions"];
      for (auto it = conditions.begin(); it != conditions.end();) {
        const std::string type = (*it)["type"];
        it = type == "Complete" || type == "Reconciling" || type == "Stalled" ? conditions.erase(it) : it + 1;
      }
      if (keeps_complete) {
        const std::int64_t before = IntAt(daemon, {"status", "observedGeneration"}) - 1;
        conditions.push_back({{"type", "Complete"}, {"status", "True"}, {"observedGeneration", before}});
        daemon["status"]["completedRevision"] = daemon["status"]["updateRevision"];
      }
      for (Json& pool : daemon["status"]["pools"]) {
        for (const char* field : {"waitingFor", "unhealthySeconds"}) pool.erase(field);
        if (pool["phase"] != "Failed") pool.erase("message");
        if (pool["phase"] == "Unhealthy") pool["phase"] = "Updating";
        if (pool["phase"] == "Offline") pool["reason"] = "NoReadyNode";
      }
    });
  }
  // A stage of a rollout, and the expected images and progress before and after the upgrade.
  struct Stage {
    const char* name;
    std::function<void()> play;
    std::string images, progressing;
  };
  std::vector<Stage> StagesOfARollout() {
    return {
        {"updating",
         [this] {
           world_.SetImage("app:2");
           Wait(seconds(20));
         },
         "a=2 b=1 c=1 d=1", "True RollingOut"},
        {"soaking",
         [this] {
           world_.SetImage("app:2");
           Look();
           Heal("a");
           Wait(seconds(30));
         },
         "a=2 b=1 c=1 d=1", "True RollingOut"},
        {"failed",
         [this] {
           Strategy("onFailure", "Pause");
           world_.SetImage("app:2");
           Wait(seconds(110));
         },
         "a=2 b=1 c=1 d=1", "False FailureBudgetExceeded"},
        {"rolling back",
         [this] {
           world_.SetImage("app:2");
           Look();
           Heal("a");
           Wait(seconds(70));
           EXPECT_EQ(Images(), "a=2 b=2 c=1 d=1");
           Wait(seconds(110));
           Look();
         },
         "a=2 b=1 c=1 d=1", "True RollingBack"},
        {"rolled back",
         [this] {
           world_.SetImage("app:2");
           Wait(seconds(110));
           Look();
           Heal("a");
           Wait(seconds(70));
         },
         "a=1 b=1 c=1 d=1", "False RolledBack"},
    };
  }
  Stage AllUpdated() {
    return {"all updated",
            [this] {
              Strategy("maxUnavailable", "100%");
              world_.SetImage("app:2");
              Wait(seconds(20));
            },
            "a=2 b=2 c=2 d=2", "True RollingOut"};
  }
  std::vector<Stage> StagesAtRest() {
    return {
        {"blink at rest",
         [this] {
           Break("b");
           Look();
         },
         "a=1 b=1 c=1 d=1", "True RolloutComplete"},
        {"failed at rest",
         [this] {
           Break("b");
           Wait(seconds(110));
         },
         "a=1 b=1 c=1 d=1", "True RolloutComplete"},
        {"offline at rest",
         [this] {
           GoOffline("b");
           Look();
         },
         "a=1 b=1 c=1 d=1", "True RolloutComplete"},
    };
  }
  std::vector<Stage> StagesThatWait() {
    return {
        {"offline in a rollout",
         [this] {
           GoOffline("b");
           Look();
           world_.SetImage("app:2");
           Look();
           Heal("a");
           Wait(seconds(70));
         },
         "a=2 b=1 c=2 d=1", "True RollingOut"},
        {"partition",
         [this] {
           Strategy("partition", 3);
           world_.SetImage("app:2");
           Look();
           Heal("a");
           Wait(seconds(70));
         },
         "a=2 b=1 c=1 d=1", "True PartitionReached"},
        {"paused",
         [this] {
           world_.SetImage("app:2");
           Look();
           world_.EditDaemon([](Json& daemon) { daemon["spec"]["paused"] = true; });
           Look();
         },
         "a=2 b=1 c=1 d=1", "Unknown Paused"},
    };
  }
  void UpgradeAt(const Stage& stage, bool keeps_complete) {
    SCOPED_TRACE(stage.name);
    StartOver();
    Deployed({"a", "b", "c", "d"},
             {{"progressDeadlineSeconds", 100}, {"minReadySeconds", 60}, {"onFailure", "Rollback"}});
    stage.play();
    EXPECT_EQ(Images(), stage.images);
    const std::string current = Current();
    TakeNewFieldsOut(keeps_complete);
    world_.Restart();
    world_.cluster.ClearWrites();
    Wait(seconds(3));
    EXPECT_EQ(Images(), stage.images);
    EXPECT_EQ(Progressing(), stage.progressing);
    EXPECT_EQ(Current(), current);
    EXPECT_EQ(Complete().starts_with("True"), stage.progressing == "True RolloutComplete");
    for (const std::string& write : world_.Writes()) {
      EXPECT_THAT(write, HasSubstr("yurtappdaemons")) << "only status is written";
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Kind, RolloutUpgradeTest,
                         ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet));

TEST_P(RolloutUpgradeTest, StatusOfThePreviousVersionIsReadAtEachStage) {
  for (const auto& stages : {StagesOfARollout(), StagesAtRest(), StagesThatWait()}) {
    for (const Stage& stage : stages) UpgradeAt(stage, false);
  }
}

TEST_P(RolloutUpgradeTest, ConditionCompleteThatThePreviousVersionKeptDoesNotCount) {
  for (const auto& stages : {StagesOfARollout(), std::vector<Stage>{AllUpdated()}, StagesAtRest(), StagesThatWait()}) {
    for (const Stage& stage : stages) UpgradeAt(stage, true);
  }
}

TEST_P(RolloutUpgradeTest, BadRevisionFailsAlthoughThePreviousVersionKeptConditionComplete) {
  UpgradeAt(AllUpdated(), true);
  Wait(seconds(110));
  EXPECT_TRUE(IsMarkedFailed());
  EXPECT_FALSE(Complete().starts_with("True")) << Complete();
}

}  // namespace
}  // namespace yad
