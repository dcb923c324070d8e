// kubectl yad simulate: simulated rollouts, and the command.
#include "plugin/commands/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "plugin/commands/commands.h"
#include "tests/unit/plugin/discovery.h"
#include "tests/unit/yurtappdaemon/world.h"

namespace yad {
namespace {

using namespace testing;  // NOLINT: the builders

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A daemon whose pools run app:0, and whose spec has app:1. The time is 2026-01-02T03:04:05Z.
class SimulationTest : public ::testing::Test {
 protected:
  void Deploy(const std::vector<std::string>& pools, const Json& rolling,
              WorkloadKind kind = WorkloadKind::kDeployment) {
    Json before = DaemonJson("app:0", kind);
    objects_.daemon = DaemonJson("app:1", kind);
    objects_.daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", rolling}};
    objects_.current = MakeRevision(before, 1);
    for (const std::string& pool : pools) {
      objects_.pools.push_back(PoolJson(pool));
      objects_.workloads.push_back(WorkloadJson(before, objects_.current, objects_.pools.back()));
    }
  }
  Simulation Run(const SimulationOptions& options = {}) {
    Snapshot snapshot = objects_.Take();
    snapshot.now = ParseTime("2026-01-02T03:04:05Z");
    snapshot.freeze = freeze_;
    return Simulate(std::move(snapshot), options);
  }
  // Returns strings such as "a 0-120": the update of pool a starts after 0 s and ends after 120 s.
  static std::vector<std::string> Times(const Simulation& simulation) {
    std::vector<std::string> texts;
    const auto after = [&](const std::optional<WallTime>& time) {
      return time ? std::to_string((*time - simulation.from) / seconds(1)) : std::string();
    };
    for (const SimulatedPool& pool : simulation.pools)
      texts.push_back(pool.name + " " + after(pool.starts) + "-" + after(pool.ends));
    return texts;
  }
  static std::vector<std::string> Events(const Simulation& simulation) {
    std::vector<std::string> texts;
    for (const SimulatedEvent& event : simulation.events)
      texts.push_back(std::to_string((event.at - simulation.from) / seconds(1)) + " " + event.what);
    return texts;
  }

  ClusterObjects objects_;
  std::optional<Freeze> freeze_;
};

constexpr char kCanary[] = R"({"minReadySeconds": 30, "groups": [{"name": "canary", "pools": ["c"]}]})";

TEST_F(SimulationTest, GroupsAreUpdatedOneAfterTheOtherWithTheirSoaks) {
  for (const WorkloadKind kind : {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet}) {
    objects_ = {};
    Deploy({"a", "b", "c"}, Json::parse(kCanary), kind);
    const Simulation simulation = Run();
    EXPECT_THAT(Times(simulation), ElementsAre("a 150-300", "b 300-450", "c 0-150"));
    EXPECT_THAT(Events(simulation), ElementsAre("0 group canary begins", "150 group default begins"));
    EXPECT_EQ(simulation.state, RolloutState::kComplete);
    EXPECT_EQ(simulation.to - simulation.from, seconds(450));
    EXPECT_TRUE(simulation.finished);
  }
}

TEST_F(SimulationTest, ImagesOfAPrefetchArePulledImmediately) {
  Json rolling = Json::parse(kCanary);
  rolling["prefetch"] = {{"ahead", 2}, {"timeoutSeconds", 60}};
  Deploy({"a", "b", "c"}, rolling);
  EXPECT_THAT(Times(Run()), ElementsAre("a 150-300", "b 300-450", "c 0-150"));
}

TEST_F(SimulationTest, DurationAndMaxUnavailableDetermineTheTimes) {
  Deploy({"a", "b", "c"}, R"({"maxUnavailable": 2})"_json);
  SimulationOptions options;
  options.duration = minutes(5);
  EXPECT_THAT(Times(Run(options)), ElementsAre("a 0-300", "b 0-300", "c 300-600"));
}

TEST_F(SimulationTest, ApprovalsAreListedAtTheTimeWhenTheyAreNeeded) {
  Deploy({"a", "b"}, R"({"groups": [{"name": "canary", "pools": ["a"]},
                                    {"name": "north", "pools": ["b"], "approval": "Manual"}]})"_json);
  const Simulation simulation = Run();
  EXPECT_THAT(Times(simulation), ElementsAre("a 0-120", "b 120-240"));
  EXPECT_THAT(Events(simulation),
              ElementsAre("0 group canary begins", "120 group north needs an approval", "120 group north begins"));
}

TEST_F(SimulationTest, UpdatesStartWhenTheirWindowsOpen) {
  Deploy({"a", "b"}, R"({"windows": [{"start": "04:00", "duration": "1m"}]})"_json);
  objects_.pools[1]["metadata"]["annotations"]["apps.openyurt.io/update-windows"] = "[]";
  const Simulation simulation = Run();
  EXPECT_THAT(Times(simulation), ElementsAre("a 3355-3475", "b 0-120"));
  EXPECT_THAT(Events(simulation), ElementsAre("0 group default begins",
                                              "120 the rollout waits for the next update window, which opens at "
                                              "2026-01-02T04:00:00Z (Fri 04:00 UTC)"));
  EXPECT_EQ(simulation.state, RolloutState::kComplete);
}

TEST_F(SimulationTest, FreezeDelaysUpdatesUntilItEnds) {
  Deploy({"a"}, Json::object());
  freeze_ = Freeze{"holidays", ParseTime("2026-01-02T04:04:05Z")};
  EXPECT_THAT(Events(Run()), ElementsAre("0 the rollout waits for the end of the freeze", "3600 the freeze ends",
                                         "3600 group default begins"));
  freeze_->until.reset();
  const Simulation simulation = Run();
  EXPECT_EQ(simulation.state, RolloutState::kFrozen);
  EXPECT_EQ(simulation.reached(), 0u);
}

TEST_F(SimulationTest, PoolsThatAreNotUpdatedAreReportedWithAReason) {
  Deploy({"a", "b", "c"}, R"({"partition": 1})"_json);
  objects_.pools[0]["metadata"]["annotations"]["apps.openyurt.io/hold"] = "stocktaking";
  objects_.pools[1] = OfflinePoolJson("b");
  const Simulation simulation = Run();
  EXPECT_THAT(Times(simulation), ElementsAre("a -", "b 0-", "c -"));
  EXPECT_EQ(simulation.pools[0].waiting_for, WaitingFor::kHold);
  EXPECT_TRUE(simulation.pools[1].offline);
  EXPECT_EQ(simulation.pools[2].waiting_for, WaitingFor::kPartition);
  objects_.daemon["spec"]["paused"] = true;
  EXPECT_EQ(Run().state, RolloutState::kPaused);
}

TEST_F(SimulationTest, PoolWithoutAWorkloadGetsAWorkload) {
  Deploy({"a"}, Json::object());
  objects_.pools.push_back(PoolJson("b"));
  const Simulation simulation = Run();
  EXPECT_EQ(simulation.state, RolloutState::kComplete);
  EXPECT_EQ(simulation.reached(), 2u);
}

TEST_F(SimulationTest, SimulationEndsWhenTheUpdateInProgressEnds) {
  objects_.daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", {{"minReadySeconds", 30}}}};
  objects_.pools = {PoolJson("a")};
  objects_.Deployed();
  objects_.workloads[0].erase("status");
  const Simulation simulation = Run();
  EXPECT_EQ(simulation.state, RolloutState::kComplete);
  EXPECT_EQ(simulation.to - simulation.from, seconds(150));
  EXPECT_THAT(Times(simulation), ElementsAre("a -")) << "the update had begun before the simulation";
}

TEST_F(SimulationTest, NoPoolIsUpdatedIfNoPoolDiffers) {
  Deploy({}, Json::object());
  objects_.current = nullptr;
  objects_.pools = {PoolJson("a")};
  objects_.Deployed();
  const Simulation simulation = Run();
  EXPECT_THAT(Times(simulation), ElementsAre("a -"));
  EXPECT_THAT(simulation.events, IsEmpty());
  EXPECT_EQ(simulation.to, simulation.from);
}

TEST_F(SimulationTest, FailingRevisionIsRolledOutToAsManyPoolsAsTheLimitsAllow) {
  SimulationOptions failing;
  failing.failing = true;
  const std::vector<std::string> pools{"a", "b", "c", "d", "e"};
  Deploy(pools, R"({"progressDeadlineSeconds": 300})"_json);
  Simulation simulation = Run(failing);
  EXPECT_EQ(simulation.reached(), 1u);
  EXPECT_EQ(simulation.state, RolloutState::kBudgetExceeded);
  EXPECT_THAT(Events(simulation), ElementsAre("0 group default begins", "300 the update of pool a fails",
                                              "300 the rollout stops, because too many pools have failed"));
  objects_ = {};
  Deploy(pools, R"({"maxUnavailable": 2, "maxFailures": 2})"_json);
  simulation = Run(failing);
  EXPECT_EQ(simulation.reached(), 4u);
  EXPECT_FALSE(simulation.rolled_back);
}

TEST_F(SimulationTest, FailingRevisionIsRolledBackIfOnFailureIsRollback) {
  SimulationOptions failing;
  failing.failing = true;
  Deploy({"a", "b"}, R"({"onFailure": "Rollback", "progressDeadlineSeconds": 60})"_json);
  const Simulation simulation = Run(failing);
  EXPECT_TRUE(simulation.rolled_back);
  EXPECT_EQ(simulation.reached(), 1u);
  ASSERT_TRUE(simulation.pools[0].goes_back);
  EXPECT_EQ(*simulation.pools[0].goes_back - simulation.from, seconds(60));
  EXPECT_THAT(Events(simulation),
              Contains(HasSubstr("60 the revision has failed, and its pools are rolled back to web-")));
  EXPECT_FALSE(simulation.pools[1].starts);
}

class SimulateCommandTest : public ::testing::Test {
 protected:
  SimulateCommandTest() {
    options_.command = "simulate";
    options_.daemon = "web";
    options_.operator_ns = "sys";
    options_.duration = minutes(2);
    world_.AddPools({"a", "b"});
    Json daemon = DaemonJson("app:0");
    daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}};
    world_.CreateDaemon(daemon);
    world_.Converge();
    world_.SetImage("app:1");
    world_.cluster.ClearWrites();
    ServeWithDiscovery(world_.cluster, *transport_);
  }
  Result<int> Run() {
    out_.str("");
    err_.str("");
    Client client(transport_, {});
    Session session{options_, console_, client, kNs, world_.clock};
    return RunSimulate(session);
  }

  World world_;
  const std::shared_ptr<FakeTransport> transport_ = std::make_shared<FakeTransport>();
  PluginOptions options_;
  std::ostringstream out_, err_;
  std::istringstream in_;
  Console console_{out_, err_, in_, [] { return std::nullopt; }};
};

TEST_F(SimulateCommandTest, TextShowsEventsPoolsAndTheEnd) {
  const auto ended = Run();
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_THAT(out_.str(), ::testing::StartsWith("Rollout of yurtappdaemon \"web\" to web-"));
  EXPECT_THAT(out_.str(), HasSubstr(", if the update of a pool takes 2m\n\n"
                                    "TIME                   AFTER   EVENT\n"));
  EXPECT_THAT(out_.str(), HasSubstr("   +0s     group default begins\n\n"
                                    "GROUP     POOL   STARTS   ENDS   RESULT\n"
                                    "default   a      +0s      +2m    Updated\n"
                                    "default   b      +2m      +4m    Updated\n\n"
                                    "Complete after 4m: 2 of 2 pools get web-"));
  EXPECT_EQ(err_.str(), "");
  EXPECT_TRUE(world_.cluster.writes().empty());
  options_.failing = true;
  EXPECT_EQ(Run(), kDone);
  EXPECT_THAT(out_.str(), HasSubstr("\nFailureBudgetExceeded after 10m: 1 of 2 pools get web-"));
}

TEST_F(SimulateCommandTest, JsonOutputHasTimes) {
  options_.output = OutputFormat::kJson;
  options_.duration = minutes(1);
  EXPECT_EQ(Run(), kDone);
  const Json json = Json::parse(out_.str());
  const WallTime from = world_.clock.WallNow();
  EXPECT_EQ(json["end"], "Complete");
  EXPECT_EQ(json["poolsReached"], 2);
  EXPECT_EQ(json["to"], FormatTime(from + minutes(2)));
  EXPECT_EQ(json["events"], (Json{{{"time", FormatTime(from)}, {"event", "group default begins"}}}));
  EXPECT_EQ(json["pools"][1], (Json{{"name", "b"},
                                    {"group", "default"},
                                    {"result", "Updated"},
                                    {"starts", FormatTime(from + minutes(1))},
                                    {"healthy", FormatTime(from + minutes(2))},
                                    {"ends", FormatTime(from + minutes(2))}}));
}

TEST_F(SimulateCommandTest, DurationOfTheLastUpdateIsTheDefault) {
  options_.duration.reset();
  world_.EditWorkload("a", [this](Json& workload) {
    const Json record = {{"at", FormatTime(world_.clock.WallNow())},
                         {"revision", workload["metadata"]["labels"][kRevisionLabel]}};
    workload["metadata"]["annotations"][kUpdateRecordAnnotation] = record.dump();
    workload["status"]["conditions"].push_back({{"type", "Progressing"},
                                                {"status", "True"},
                                                {"reason", "NewReplicaSetAvailable"},
                                                {"lastUpdateTime", FormatTime(world_.clock.WallNow() + minutes(5))}});
  });
  EXPECT_EQ(Run(), kDone);
  EXPECT_THAT(out_.str(),
              HasSubstr(" as long as its last update (5m), or 5m (the median) in 1 pool without a record\n"));
  EXPECT_THAT(out_.str(), HasSubstr("\nComplete after 10m: 2 of 2 pools get web-"));
}

TEST_F(SimulateCommandTest, DurationsBelowOneSecondCountAsOneSecond) {
  for (const int milliseconds : {0, 500}) {
    options_.duration = std::chrono::milliseconds(milliseconds);
    EXPECT_EQ(Run(), kDone);
    EXPECT_THAT(out_.str(), HasSubstr(", if the update of a pool takes 1s\n"));
    EXPECT_THAT(out_.str(), HasSubstr("\nComplete after 2s: 2 of 2 pools get web-"));
  }
}

TEST_F(SimulateCommandTest, PageAndRunsWithFailuresArePrinted) {
  options_.failure_rate = 1;
  options_.runs = 5;
  EXPECT_EQ(Run(), kDone);
  EXPECT_THAT(out_.str(), HasSubstr("FailureBudgetExceeded   100%   +10m     +10m\n"));
  options_.output = OutputFormat::kHtml;
  EXPECT_EQ(Run(), kDone);
  EXPECT_THAT(out_.str(), ::testing::StartsWith("<!DOCTYPE html>\n"));
  EXPECT_THAT(out_.str(), ::testing::EndsWith("</html>\n"));
}

TEST_F(SimulateCommandTest, SimulationStartsAtTheGivenTime) {
  options_.now = ParseTime("2030-01-02T03:04:05Z");
  EXPECT_EQ(Run(), kDone);
  EXPECT_THAT(out_.str(), HasSubstr("simulated from 2030-01-02T03:04:05Z"));
}

TEST_F(SimulateCommandTest, FreezeOfTheClusterIsApplied) {
  world_.cluster.Create(kConfigMapType, {{"metadata", {{"namespace", "sys"}, {"name", kFreezeName}}},
                                         {"data", {{"reason", "holidays"}, {"until", "2030-01-01T00:00:00Z"}}}});
  EXPECT_EQ(Run(), kDone);
  EXPECT_THAT(out_.str(), HasSubstr("2030-01-01T00:00:00Z   +3y"));
  options_.operator_ns = "";
  EXPECT_EQ(Run(), kDone);
  EXPECT_THAT(err_.str(),
              ::testing::StartsWith(
                  "Warning: the freeze can't be read, so the simulation assumes that updates are not frozen: "));
  EXPECT_THAT(out_.str(), HasSubstr("Complete after 4m"));
}

TEST_F(SimulateCommandTest, OtherStrategiesAreRejected) {
  world_.EditDaemon([](Json& daemon) { daemon["spec"]["updateStrategy"] = {{"type", "OnDelete"}}; });
  const auto ended = Run();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message,
            "yurtappdaemons.apps.openyurt.io \"web\" has no rollout to simulate: "
            "updateStrategy.type is not RollingUpdate");
}

}  // namespace
}  // namespace yad
