// The exact conditions of a daemon in each situation. With YAD_CONDITION_ROWS=FOLDER, the test also writes a file for
// each situation: the object, and the health that kstatus and Argo CD must compute from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "tests/unit/yurtappdaemon/world.h"

namespace yad {
namespace {

using namespace testing;
using std::chrono::seconds;

// A cluster with one daemon. Its functions change the cluster.
class Situation {
 public:
  explicit Situation(Json strategy = {{"type", "All"}}, const std::vector<std::string>& pools = {"a", "b", "c"}) {
    world.AddPools(pools);
    Json daemon = DaemonJson();
    daemon["spec"]["updateStrategy"] = std::move(strategy);
    world.CreateDaemon(daemon);
  }
  static Json Rolling(Json rolling = Json::object()) {
    return {{"type", "RollingUpdate"}, {"rollingUpdate", std::move(rolling)}};
  }
  Situation& Deployed() {
    world.Converge(20);
    return Wait(1000);
  }
  Situation& Image(const std::string& image) {
    world.SetImage(image);
    return Wait(2);
  }
  Situation& Heal(const std::string& pool) {
    world.EditWorkload(pool, [](Json& workload) { workload["status"] = HealthyStatus(workload); });
    return Wait(2);
  }
  Situation& Break(const std::string& pool) {
    world.EditWorkload(pool, [](Json& workload) { workload["status"]["availableReplicas"] = 0; });
    return Wait(2);
  }
  Situation& Offline(const std::vector<std::string>& pools) {
    for (const std::string& pool : pools) {
      world.cluster.Edit(kNodePoolType, {"", pool}, [](Json& object) {
        object["status"] = {{"readyNodeNum", 0}, {"unreadyNodeNum", 1}};
      });
    }
    return Wait(2);
  }
  // Removes replicas from the template, so that an HPA owns them.
  Situation& HandOverReplicas() {
    world.EditDaemon([](Json& daemon) { TemplateOf(daemon)["spec"].erase("replicas"); });
    return *this;
  }
  Situation& Edit(const std::function<void(Json&)>& edit) {
    world.EditDaemon(edit);
    return Wait(2);
  }
  Situation& Wait(int time) {
    world.Wait(seconds(time));
    return *this;
  }

  World world;
};

struct Row {
  const char* name;
  std::function<void(Situation&)> happens;
  Json strategy;
  std::vector<std::string> conditions;  // "Type Status Reason", without OpenYurt's three conditions
  std::vector<std::string> phases;      // "pool phase waitingFor"
  const char* kstatus;
  const char* argo;
};

std::vector<std::string> ConditionsOf(const Json& status) {
  std::vector<std::string> texts;
  for (const Json& condition : status.value("conditions", Json::array())) {
    const std::string type = StringAt(condition, {"type"});
    if (type.starts_with("WorkLoad")) continue;
    texts.push_back(type + " " + StringAt(condition, {"status"}) + " " + StringAt(condition, {"reason"}));
  }
  return texts;
}

std::vector<std::string> PhasesOf(const Json& status) {
  std::vector<std::string> texts;
  for (const Json& pool : status.value("pools", Json::array())) {
    std::string text = StringAt(pool, {"name"}) + " " + StringAt(pool, {"phase"});
    if (pool.contains("waitingFor")) text += " " + StringAt(pool, {"waitingFor"});
    texts.push_back(text);
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

Json Manual(const char* pool) {
  return Situation::Rolling({{"groups", {{{"name", "later"}, {"pools", {pool}}, {"approval", "Manual"}}}}});
}

const Json kAll = {{"type", "All"}};
const std::string kSteady = "Degraded False NoFailures", kRunning = "Paused False NotPaused";
const std::string kFailed = "Degraded True PoolsFailed";
const std::string kReady = "Ready True PoolsReady", kNotReady = "Ready False PoolsNotReady";
const std::vector<std::string> kAtRest = {kReady, "Complete True RolloutComplete", "Progressing True RolloutComplete",
                                          kSteady, kRunning};
const std::vector<std::string> kRollingOut = {
    kNotReady, "Complete False RollingOut", "Progressing True RollingOut", "Reconciling True RollingOut", kSteady,
    kRunning};
const std::vector<std::string> kAllReady = {"a Ready", "b Ready", "c Ready"};

// Rollouts that are in progress or complete.
std::vector<Row> RolloutRows() {
  return {
      {"at-rest", [](Situation& s) { s.Deployed(); }, kAll, kAtRest, kAllReady, "Current", "Healthy"},
      {"rolling-out-all",
       [](Situation& s) { s.Deployed().Image("app:2"); },
       kAll,
       kRollingOut,
       {"a Updating", "b Updating", "c Updating"},
       "InProgress",
       "Progressing"},
      {"rolling-out",
       [](Situation& s) { s.Deployed().Image("app:2"); },
       Situation::Rolling(),
       kRollingOut,
       {"a Updating", "b Ready Slot", "c Ready Slot"},
       "InProgress",
       "Progressing"},
      {"soaking",
       [](Situation& s) { s.Deployed().Image("app:2").Heal("a"); },
       Situation::Rolling({{"minReadySeconds", 60}}),
       {"Ready False PoolsWaiting", "Complete False RollingOut", "Progressing True RollingOut",
        "Reconciling True RollingOut", kSteady, kRunning},
       {"a Soaking", "b Ready Slot", "c Ready Slot"},
       "InProgress",
       "Progressing"},
  };
}

// Rollouts that wait for a user.
std::vector<Row> WaitingRows() {
  return {
      {"paused",
       [](Situation& s) { s.Deployed().Edit([](Json& d) { d["spec"]["paused"] = true; }).Image("app:2"); },
       Situation::Rolling(),
       {kReady, "Complete False Paused", "Progressing Unknown Paused", kSteady, "Paused True SpecPaused"},
       {"a Ready Pause", "b Ready Pause", "c Ready Pause"},
       "Current",
       "Suspended"},
      {"approval",
       [](Situation& s) { s.Deployed().Image("app:2"); },
       Manual("a"),
       {kReady, "Complete False WaitingForApproval", "Progressing Unknown WaitingForApproval", kSteady, kRunning},
       {"a Ready Approval", "b Ready Group", "c Ready Group"},
       "Current",
       "Suspended"},
      {"partition",
       [](Situation& s) { s.Deployed().Image("app:2").Heal("a").Heal("b"); },
       Situation::Rolling({{"partition", 1}}),
       {kReady, "Complete False PartitionReached", "Progressing True PartitionReached", kSteady, kRunning},
       {"a Ready", "b Ready", "c Ready Partition"},
       "Current",
       "Healthy"},
      {"on-delete",
       [](Situation& s) { s.Deployed().Image("app:2"); },
       {{"type", "OnDelete"}},
       {kReady, "Complete False WaitingForDeletion", "Progressing True WaitingForDeletion", kSteady, kRunning},
       {"a Ready Deletion", "b Ready Deletion", "c Ready Deletion"},
       "Current",
       "Healthy"},
  };
}

// Rollouts that have failed, and specs that cannot be applied.
std::vector<Row> FailureRows() {
  return {
      {"failed",
       [](Situation& s) { s.Deployed().Image("app:2").Wait(601); },
       Situation::Rolling(),
       {kNotReady, "Complete False FailureBudgetExceeded", "Progressing False FailureBudgetExceeded", kFailed, kRunning,
        "Stalled True FailureBudgetExceeded"},
       {"a Failed", "b Ready Pause", "c Ready Pause"},
       "Failed",
       "Degraded"},
      {"complete-with-failures",
       [](Situation& s) { s.Deployed().Image("app:2").Wait(601).Heal("b").Heal("c"); },
       Situation::Rolling({{"maxFailures", 1}}),
       {kNotReady, "Complete True CompleteWithFailures", "Progressing True RolloutComplete", kFailed, kRunning},
       {"a Failed", "b Ready", "c Ready"},
       "InProgress",
       "Degraded"},
      {"rolling-back",
       [](Situation& s) { s.Deployed().Image("app:2").Wait(601); },
       Situation::Rolling({{"onFailure", "Rollback"}}),
       {kNotReady, "Complete False RollingBack", "Progressing True RollingBack", "Reconciling True RollingBack",
        kSteady, kRunning},
       {"a Updating", "b Ready", "c Ready"},
       "InProgress",
       "Progressing"},
      {"rolled-back",
       [](Situation& s) { s.Deployed().Image("app:2").Wait(601).Heal("a"); },
       Situation::Rolling({{"onFailure", "Rollback"}}),
       {kReady, "Complete False RolledBack", "Progressing False RolledBack", kSteady, kRunning,
        "Stalled True RolledBack"},
       kAllReady,
       "Failed",
       "Degraded"},
      {"sites-offline",
       [](Situation& s) {
         s.Deployed().Image("app:2").Offline({"a", "b"});
       },
       Situation::Rolling(),
       {"Ready False PoolsWaiting", "Complete False SitesOffline", "Progressing True SitesOffline",
        "Reconciling True SitesOffline", kSteady, kRunning},
       {"a Offline", "b Offline Group", "c Ready Slot"},
       "InProgress",
       "Progressing"},
      {"invalid",
       [](Situation& s) { s.Deployed().Edit([](Json& d) { d["spec"]["selector"] = "x"; }); },
       Situation::Rolling(),
       {"Ready False InvalidSpec", "Complete False InvalidSpec", "Progressing False InvalidSpec", kSteady, kRunning,
        "Stalled True InvalidSpec"},
       kAllReady,
       "Failed",
       "Degraded"},
  };
}

// Daemons at rest whose pools are absent, offline or unhealthy.
std::vector<Row> HealthRows() {
  return {
      {"no-pools",
       [](Situation& s) { s.Edit([](Json& d) {
                             d["spec"]["nodePools"]["exclude"] = {"a", "b", "c"};
                           }).Deployed(); },
       Situation::Rolling(),
       {"Ready True NoPools", "Complete True RolloutComplete", "Progressing True RolloutComplete", kSteady, kRunning},
       {},
       "Current",
       "Healthy"},
      {"all-offline",
       [](Situation& s) {
         s.Offline({"a", "b", "c"}).Deployed();
       },
       Situation::Rolling(),
       {"Ready Unknown AllPoolsOffline", "Complete False AllPoolsOffline", "Progressing True RolloutComplete", kSteady,
        kRunning},
       {"a Offline", "b Offline", "c Offline"},
       "InProgress",
       "Suspended"},
      {"all-offline-except-an-invalid-name",
       [](Situation& s) {
         s.world.AddPool(std::string(64, 'x'));
         s.Offline({"a", "b", "c"}).Deployed();
       },
       Situation::Rolling(),
       {kNotReady, "Complete False AllPoolsOffline", "Progressing True RolloutComplete", kFailed, kRunning},
       {"a Offline", "b Offline", "c Offline", std::string(64, 'x') + " Failed"},
       "InProgress",
       "Degraded"},
      {"only-an-invalid-name",
       [](Situation& s) {
         s.world.AddPool(std::string(64, 'x'));
         s.Edit([](Json& d) { d["spec"]["nodePools"]["exclude"] = {"a", "b", "c"}; }).Deployed();
       },
       Situation::Rolling(),
       {kNotReady, "Complete True CompleteWithFailures", "Progressing True RolloutComplete", kFailed, kRunning},
       {std::string(64, 'x') + " Failed"},
       "InProgress",
       "Degraded"},
      {"blink",
       [](Situation& s) { s.Deployed().Break("b"); },
       Situation::Rolling({{"minReadySeconds", 60}}),
       {kNotReady, "Complete True RolloutComplete", "Progressing True RolloutComplete", kSteady, kRunning},
       {"a Ready", "b Unhealthy", "c Ready"},
       "InProgress",
       "Progressing"},
      {"blink-all",
       [](Situation& s) { s.Deployed().Break("b"); },
       kAll,
       {kNotReady, "Complete True RolloutComplete", "Progressing True RolloutComplete", kSteady, kRunning},
       {"a Ready", "b Unhealthy", "c Ready"},
       "InProgress",
       "Progressing"},
      {"after-a-blink", [](Situation& s) { s.Deployed().Break("b").Heal("b"); },
       Situation::Rolling({{"minReadySeconds", 60}}), kAtRest, kAllReady, "Current", "Healthy"},
      {"unhealthy-for-long",
       [](Situation& s) { s.Deployed().Break("b").Wait(700); },
       Situation::Rolling(),
       {kNotReady, "Complete True RolloutComplete", "Progressing True RolloutComplete", kFailed, kRunning},
       {"a Ready", "b Failed", "c Ready"},
       "InProgress",
       "Degraded"},
  };
}

// Changes by another client, and a change that the operator has not observed yet.
std::vector<Row> ScalingRows() {
  return {
      {"scaling",
       [](Situation& s) {
         s.HandOverReplicas().Deployed();
         s.world.EditWorkload("b", [](Json& w) { w["spec"]["replicas"] = 3; });
         s.Wait(2);
       },
       Situation::Rolling({{"minReadySeconds", 60}}),
       {kNotReady, "Complete True RolloutComplete", "Progressing True RolloutComplete", kSteady, kRunning},
       {"a Ready", "b Unhealthy", "c Ready"},
       "InProgress",
       "Progressing"},
      {"after-scaling",
       [](Situation& s) {
         s.HandOverReplicas().Deployed();
         s.world.EditWorkload("b", [](Json& w) { w["spec"]["replicas"] = 3; });
         s.Wait(2).Heal("b");
       },
       Situation::Rolling({{"minReadySeconds", 60}}), kAtRest, kAllReady, "Current", "Healthy"},
      {"not-observed",
       [](Situation& s) {
         s.Deployed();
         s.world.SetImage("app:2");
       },
       Situation::Rolling(), kAtRest, kAllReady, "InProgress", "Progressing"},
  };
}

std::vector<Row> Rows() {
  std::vector<Row> rows;
  for (const auto& part : {RolloutRows(), WaitingRows(), FailureRows(), HealthRows(), ScalingRows()}) {
    rows.insert(rows.end(), part.begin(), part.end());
  }
  return rows;
}

void WriteRow(const Row& row, Json object) {
  const char* folder = std::getenv("YAD_CONDITION_ROWS");
  if (folder == nullptr || *folder == 0) return;
  std::filesystem::create_directories(folder);
  object["expected"] = {{"kstatus", row.kstatus}, {"argo", row.argo}};
  std::ofstream(std::string(folder) + "/" + row.name + ".json") << object.dump(1) << "\n";
}

TEST(ConditionsTest, EachSituationHasExactlyTheExpectedConditionsAndPhases) {
  for (const Row& row : Rows()) {
    SCOPED_TRACE(row.name);
    Situation situation(row.strategy);
    row.happens(situation);
    const Json daemon = situation.world.Daemon();
    std::vector<std::string> expected = row.conditions, shown = ConditionsOf(daemon["status"]);
    std::sort(expected.begin(), expected.end());
    std::sort(shown.begin(), shown.end());
    EXPECT_EQ(shown, expected);
    EXPECT_EQ(PhasesOf(daemon["status"]), row.phases);
    WriteRow(row, daemon);
  }
}

// A pool keeps its soak time when an HPA scales it.
TEST(ConditionsTest, ScalingDoesNotResetASoak) {
  Situation situation(Situation::Rolling({{"minReadySeconds", 60}}));
  situation.HandOverReplicas().Deployed().Image("app:2").Heal("a").Wait(40);
  situation.world.EditWorkload("a", [](Json& workload) {
    workload["spec"]["replicas"] = 5;
    workload["metadata"]["generation"] = IntAt(workload, {"metadata", "generation"}) + 1;
  });
  situation.Wait(5).Heal("a").Wait(20);
  EXPECT_EQ(ImageOf(situation.world.Workload("b")), "app:2") << "pool a has soaked for 60 s";
}

}  // namespace
}  // namespace yad
