// Every situation of a daemon and its exact conditions. If YAD_CONDITION_ROWS=FOLDER is set, the test writes one file
// for each situation into the folder: the object, and the health that kstatus and Argo CD must compute from it.
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

// A daemon and what happens to it.
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
  std::vector<std::string> conditions;  // "Type Status Reason", without OpenYurt's three
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

const std::vector<Row>& Rows() {
  const auto rolling = [](Json fields = Json::object()) { return Situation::Rolling(std::move(fields)); };
  const Json all = {{"type", "All"}};
  const std::string steady = "Degraded False NoFailures", running = "Paused False NotPaused";
  const std::string failed = "Degraded True PoolsFailed";
  const std::string ready = "Ready True PoolsReady", not_ready = "Ready False PoolsNotReady";
  const std::vector<std::string> at_rest = {ready, "Complete True RolloutComplete", "Progressing True RolloutComplete",
                                            steady, running};
  const std::vector<std::string> rolling_out = {
      not_ready, "Complete False RollingOut", "Progressing True RollingOut", "Reconciling True RollingOut", steady,
      running};
  const std::vector<std::string> all_ready = {"a Ready", "b Ready", "c Ready"};
  static const auto& rows = *new std::vector<Row>{
      {"at-rest", [](Situation& s) { s.Deployed(); }, all, at_rest, all_ready, "Current", "Healthy"},
      {"rolling-out-all",
       [](Situation& s) { s.Deployed().Image("app:2"); },
       all,
       rolling_out,
       {"a Updating", "b Updating", "c Updating"},
       "InProgress",
       "Progressing"},
      {"rolling-out",
       [](Situation& s) { s.Deployed().Image("app:2"); },
       rolling(),
       rolling_out,
       {"a Updating", "b Ready Slot", "c Ready Slot"},
       "InProgress",
       "Progressing"},
      {"soaking",
       [](Situation& s) { s.Deployed().Image("app:2").Heal("a"); },
       rolling({{"minReadySeconds", 60}}),
       {"Ready False PoolsWaiting", "Complete False RollingOut", "Progressing True RollingOut",
        "Reconciling True RollingOut", steady, running},
       {"a Soaking", "b Ready Slot", "c Ready Slot"},
       "InProgress",
       "Progressing"},
      {"paused",
       [](Situation& s) { s.Deployed().Edit([](Json& d) { d["spec"]["paused"] = true; }).Image("app:2"); },
       rolling(),
       {ready, "Complete False Paused", "Progressing Unknown Paused", steady, "Paused True SpecPaused"},
       {"a Ready Pause", "b Ready Pause", "c Ready Pause"},
       "Current",
       "Suspended"},
      {"approval",
       [](Situation& s) { s.Deployed().Image("app:2"); },
       Manual("a"),
       {ready, "Complete False WaitingForApproval", "Progressing Unknown WaitingForApproval", steady, running},
       {"a Ready Approval", "b Ready Group", "c Ready Group"},
       "Current",
       "Suspended"},
      {"partition",
       [](Situation& s) { s.Deployed().Image("app:2").Heal("a").Heal("b"); },
       rolling({{"partition", 1}}),
       {ready, "Complete False PartitionReached", "Progressing True PartitionReached", steady, running},
       {"a Ready", "b Ready", "c Ready Partition"},
       "Current",
       "Healthy"},
      {"on-delete",
       [](Situation& s) { s.Deployed().Image("app:2"); },
       {{"type", "OnDelete"}},
       {ready, "Complete False WaitingForDeletion", "Progressing True WaitingForDeletion", steady, running},
       {"a Ready Deletion", "b Ready Deletion", "c Ready Deletion"},
       "Current",
       "Healthy"},
      {"failed",
       [](Situation& s) { s.Deployed().Image("app:2").Wait(601); },
       rolling(),
       {not_ready, "Complete False FailureBudgetExceeded", "Progressing False FailureBudgetExceeded", failed, running,
        "Stalled True FailureBudgetExceeded"},
       {"a Failed", "b Ready Pause", "c Ready Pause"},
       "Failed",
       "Degraded"},
      {"complete-with-failures",
       [](Situation& s) { s.Deployed().Image("app:2").Wait(601).Heal("b").Heal("c"); },
       rolling({{"maxFailures", 1}}),
       {not_ready, "Complete True CompleteWithFailures", "Progressing True RolloutComplete", failed, running},
       {"a Failed", "b Ready", "c Ready"},
       "InProgress",
       "Degraded"},
      {"rolling-back",
       [](Situation& s) { s.Deployed().Image("app:2").Wait(601); },
       rolling({{"onFailure", "Rollback"}}),
       {not_ready, "Complete False RollingBack", "Progressing True RollingBack", "Reconciling True RollingBack", steady,
        running},
       {"a Updating", "b Ready", "c Ready"},
       "InProgress",
       "Progressing"},
      {"rolled-back",
       [](Situation& s) { s.Deployed().Image("app:2").Wait(601).Heal("a"); },
       rolling({{"onFailure", "Rollback"}}),
       {ready, "Complete False RolledBack", "Progressing False RolledBack", steady, running, "Stalled True RolledBack"},
       all_ready,
       "Failed",
       "Degraded"},
      {"sites-offline",
       [](Situation& s) {
         s.Deployed().Image("app:2").Offline({"a", "b"});
       },
       rolling(),
       {"Ready False PoolsWaiting", "Complete False SitesOffline", "Progressing True SitesOffline",
        "Reconciling True SitesOffline", steady, running},
       {"a Offline", "b Offline Group", "c Ready Slot"},
       "InProgress",
       "Progressing"},
      {"invalid",
       [](Situation& s) { s.Deployed().Edit([](Json& d) { d["spec"]["selector"] = "x"; }); },
       rolling(),
       {"Ready False InvalidSpec", "Complete False InvalidSpec", "Progressing False InvalidSpec", steady, running,
        "Stalled True InvalidSpec"},
       all_ready,
       "Failed",
       "Degraded"},
      {"no-pools",
       [](Situation& s) { s.Edit([](Json& d) {
                             d["spec"]["nodePools"]["exclude"] = {"a", "b", "c"};
                           }).Deployed(); },
       rolling(),
       {"Ready True NoPools", "Complete True RolloutComplete", "Progressing True RolloutComplete", steady, running},
       {},
       "Current",
       "Healthy"},
      {"all-offline",
       [](Situation& s) {
         s.Offline({"a", "b", "c"}).Deployed();
       },
       rolling(),
       {"Ready Unknown AllPoolsOffline", "Complete False AllPoolsOffline", "Progressing True RolloutComplete", steady,
        running},
       {"a Offline", "b Offline", "c Offline"},
       "InProgress",
       "Suspended"},
      {"blink",
       [](Situation& s) { s.Deployed().Break("b"); },
       rolling({{"minReadySeconds", 60}}),
       {not_ready, "Complete True RolloutComplete", "Progressing True RolloutComplete", steady, running},
       {"a Ready", "b Unhealthy", "c Ready"},
       "InProgress",
       "Progressing"},
      {"blink-all",
       [](Situation& s) { s.Deployed().Break("b"); },
       all,
       {not_ready, "Complete True RolloutComplete", "Progressing True RolloutComplete", steady, running},
       {"a Ready", "b Unhealthy", "c Ready"},
       "InProgress",
       "Progressing"},
      {"after-a-blink", [](Situation& s) { s.Deployed().Break("b").Heal("b"); }, rolling({{"minReadySeconds", 60}}),
       at_rest, all_ready, "Current", "Healthy"},
      {"unhealthy-for-long",
       [](Situation& s) { s.Deployed().Break("b").Wait(700); },
       rolling(),
       {not_ready, "Complete True RolloutComplete", "Progressing True RolloutComplete", failed, running},
       {"a Ready", "b Failed", "c Ready"},
       "InProgress",
       "Degraded"},
      {"scaling",
       [](Situation& s) {
         s.HandOverReplicas().Deployed();
         s.world.EditWorkload("b", [](Json& w) { w["spec"]["replicas"] = 3; });
         s.Wait(2);
       },
       rolling({{"minReadySeconds", 60}}),
       {not_ready, "Complete True RolloutComplete", "Progressing True RolloutComplete", steady, running},
       {"a Ready", "b Unhealthy", "c Ready"},
       "InProgress",
       "Progressing"},
      {"after-scaling",
       [](Situation& s) {
         s.HandOverReplicas().Deployed();
         s.world.EditWorkload("b", [](Json& w) { w["spec"]["replicas"] = 3; });
         s.Wait(2).Heal("b");
       },
       rolling({{"minReadySeconds", 60}}), at_rest, all_ready, "Current", "Healthy"},
      {"not-observed",
       [](Situation& s) {
         s.Deployed();
         s.world.SetImage("app:2");
       },
       rolling(), at_rest, all_ready, "InProgress", "Progressing"},
  };
  return rows;
}

void WriteRow(const Row& row, Json object) {
  const char* folder = std::getenv("YAD_CONDITION_ROWS");
  if (folder == nullptr || *folder == 0) return;
  std::filesystem::create_directories(folder);
  object["expected"] = {{"kstatus", row.kstatus}, {"argo", row.argo}};
  std::ofstream(std::string(folder) + "/" + row.name + ".json") << object.dump(1) << "\n";
}

TEST(ConditionsTest, EverySituationHasItsExactConditions) {
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
  EXPECT_EQ(ImageOf(situation.world.Workload("b")), "app:2") << "it has soaked for 60 s";
}

}  // namespace
}  // namespace yad
