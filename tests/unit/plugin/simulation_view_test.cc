// kubectl yad simulate: durations of earlier updates, rollouts in progress, random failures, and the HTML page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/commands/failure_runs.h"
#include "plugin/commands/simulation.h"
#include "plugin/commands/timeline.h"
#include "tests/unit/yurtappdaemon/builders.h"

namespace yad {
namespace {

using namespace testing;  // NOLINT: the builders

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

// Returns a daemon whose pools run app:0, and whose spec has app:1. The time is 2026-01-02T03:04:05Z.
ClusterObjects Fleet(const std::vector<std::string>& pools, const Json& rolling,
                     WorkloadKind kind = WorkloadKind::kDeployment) {
  ClusterObjects objects;
  const Json before = DaemonJson("app:0", kind);
  objects.daemon = DaemonJson("app:1", kind);
  objects.daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", rolling}};
  objects.current = MakeRevision(before, 1);
  for (const std::string& pool : pools) {
    objects.pools.push_back(PoolJson(pool));
    objects.workloads.push_back(WorkloadJson(before, objects.current, objects.pools.back()));
  }
  return objects;
}

Snapshot Take(const ClusterObjects& objects) {
  Snapshot snapshot = objects.Take();
  snapshot.now = ParseTime("2026-01-02T03:04:05Z");
  return snapshot;
}

// Records that the workload was updated at this time.
void Record(Json& workload, const std::string& at, bool online = false) {
  const Json record = {{"at", at}, {"online", online}, {"revision", workload["metadata"]["labels"][kRevisionLabel]}};
  workload["metadata"]["annotations"][kUpdateRecordAnnotation] = record.dump();
}

Json PoolStatus(const std::string& pool, const std::string& since, const std::string& phase = "Ready") {
  return {{"name", pool}, {"phase", phase}, {"lastTransitionTime", since}};
}

TEST(UpdateDurationsTest, DurationOfAStatefulSetsUpdateIsReadFromStatus) {
  const auto learn = [](const Json& rolling) {
    ClusterObjects objects = Fleet({"a", "b", "c", "d", "e", "f"}, rolling, WorkloadKind::kStatefulSet);
    for (const std::size_t i : {0u, 1u, 2u, 4u, 5u}) Record(objects.workloads[i], "2026-01-01T10:00:00Z");
    objects.daemon["status"] = {
        {"pools",
         {PoolStatus("a", "2026-01-01T10:01:30Z"), PoolStatus("b", "2026-01-01T10:00:00Z"),
          PoolStatus("c", "2026-01-01T12:00:00Z"), PoolStatus("d", "2026-01-01T10:01:00Z"),
          PoolStatus("e", "2026-01-01T10:01:00Z", "Unhealthy"), PoolStatus("f", "2026-01-01T10:00:20Z", "Soaking")}}};
    return MeasureDurations(Take(objects));
  };
  EXPECT_THAT(learn(Json::object()),
              ElementsAre(Pair("a", seconds(90)), Pair("b", seconds(1)), Pair("f", seconds(20))));
  EXPECT_THAT(learn(R"({"minReadySeconds": 30})"_json), ElementsAre(Pair("a", seconds(60)), Pair("f", seconds(20))));
  EXPECT_THAT(learn(R"({"checks": [{"name": "x", "condition": {"type": "Ok"}}]})"_json),
              ElementsAre(Pair("f", seconds(20))));
}

TEST(UpdateDurationsTest, DurationOfADeploymentsUpdateIsReadFromItsCondition) {
  ClusterObjects objects = Fleet({"a", "b", "c", "d"}, Json::object());
  for (Json& workload : objects.workloads) {
    Record(workload, "2026-01-01T10:00:00Z");
    workload["status"]["conditions"].push_back({{"type", "Progressing"},
                                                {"status", "True"},
                                                {"reason", "NewReplicaSetAvailable"},
                                                {"lastUpdateTime", "2026-01-01T10:01:00Z"}});
  }
  objects.workloads[1]["status"]["conditions"].back()["reason"] = "ReplicaSetUpdated";
  objects.workloads[2]["status"]["conditions"].back()["lastUpdateTime"] = "2026-01-01T09:59:59Z";
  objects.workloads[3]["metadata"]["annotations"].erase(kUpdateRecordAnnotation);
  const auto durations = MeasureDurations(Take(objects));
  EXPECT_THAT(durations, ElementsAre(Pair("a", seconds(60))));
  EXPECT_EQ(MedianOf(durations), seconds(60));
  EXPECT_EQ(MedianOf({{"a", seconds(9)}, {"b", seconds(1)}, {"c", seconds(5)}}), seconds(5));
}

TEST(UpdateDurationsTest, SimulationUsesTheUpdateDurationOfEachPool) {
  Timeline timeline;
  timeline.options.durations = {{"a", seconds(30)}, {"b", seconds(90)}};
  timeline.options.duration = seconds(60);
  timeline.simulation = Simulate(Take(Fleet({"a", "b", "c"}, Json::object())), timeline.options);
  std::vector<long> ends;
  for (const SimulatedPool& pool : timeline.simulation.pools)
    ends.push_back((*pool.ends - timeline.simulation.from) / seconds(1));
  EXPECT_THAT(ends, ElementsAre(30, 120, 180));
  EXPECT_THAT(Headline(timeline),
              HasSubstr(", if the update of a pool takes as long as its last update (30s to 90s), or "
                        "60s (the median) in 1 pool without a record"));
  const Json json = ToJson(timeline);
  EXPECT_EQ(json["durations"], (Json{{"source", "Recorded"}, {"seconds", 60}, {"recordedPools", 2}}));
  EXPECT_EQ(json["pools"][0]["lastUpdateSeconds"], 30);
  EXPECT_FALSE(json["pools"][2].contains("lastUpdateSeconds"));
  timeline.options.durations.clear();
  EXPECT_THAT(Headline(timeline),
              HasSubstr("takes 60s (the default, because no pool has a record of its last update)"));
  EXPECT_EQ(ToJson(timeline)["durations"]["source"], "Default");
  timeline.duration_given = true;
  EXPECT_EQ(ToJson(timeline)["durations"]["source"], "Flag");
}

TEST(SimulationEndTest, EndIsCompleteOnlyIfConditionCompleteIsTrue) {
  const auto end = [](const ClusterObjects& objects) { return EndOf(Simulate(Take(objects), {})); };
  ClusterObjects objects = Fleet({"a", "b", "c"}, R"({"partition": 1})"_json);
  EXPECT_EQ(end(objects), "PartitionReached");
  objects.pools[0]["metadata"]["annotations"]["apps.openyurt.io/hold"] = "stocktaking";
  EXPECT_EQ(end(objects), "PoolsHeld");
  objects = Fleet({"a", "b"}, Json::object());
  EXPECT_EQ(end(objects), "Complete");
  objects.pools[0] = OfflinePoolJson("a");
  EXPECT_EQ(end(objects), "Complete");
  objects.pools[1] = OfflinePoolJson("b");
  EXPECT_EQ(end(objects), "AllPoolsOffline");
}

TEST(SimulationEndTest, EndOfAnUpdateThatNeverEndsIsTheReasonOfProgressing) {
  Simulation simulation;
  simulation.state = RolloutState::kProgressing;
  EXPECT_EQ(EndOf(simulation), "RollingOut");
}

// Pool a went offline after its update, and pool b without an update. Pool c waits for its update window.
TEST(SimulationEndTest, SimulationEndsAlthoughAnOutageDoesNotEnd) {
  ClusterObjects objects = Fleet({"a", "b", "c"}, R"({"windows": [{"start": "22:00", "duration": "4h"}]})"_json);
  objects.workloads[0] = WorkloadJson(objects.daemon, objects.update(), objects.pools[0]);
  Record(objects.workloads[0], "2026-01-02T03:02:00Z", /*online=*/true);
  objects.daemon["status"]["pools"] = Json::array({PoolStatus("a", "2026-01-02T03:02:00Z", "Updating")});
  objects.pools[0] = OfflinePoolJson("a");
  objects.pools[1] = OfflinePoolJson("b");
  const Simulation simulation = Simulate(Take(objects), {});
  EXPECT_TRUE(simulation.finished);
  EXPECT_EQ(EndOf(simulation), "SitesOffline");
  EXPECT_EQ(simulation.to, simulation.from);
}

TEST(SimulationEndTest, OutputShowsThatThereIsNothingToRollOut) {
  ClusterObjects objects;
  objects.daemon["spec"]["updateStrategy"]["type"] = "RollingUpdate";
  objects.pools = {PoolJson("a"), PoolJson("b")};
  objects.Deployed();
  Timeline timeline;
  timeline.revision = "web-2";
  timeline.simulation = Simulate(Take(objects), {});
  EXPECT_EQ(LastLine(timeline), "Nothing to roll out: all 2 pools have web-2");
  for (Json& pool : objects.pools) pool = OfflinePoolJson(StringAt(pool, {"metadata", "name"}));
  EXPECT_EQ(EndOf(Simulate(Take(objects), {})), "Complete") << "the rollout was complete before the pools went offline";
  timeline.simulation = Simulate(Take(Fleet({"a"}, Json::object())), {});
  EXPECT_EQ(LastLine(timeline), "Complete after 2m: 1 of 1 pools get web-2");
}

// Pool a has the new revision, pool b is in its update, and pools c and d have the old revision.
TEST(RolloutInProgressTest, PoolsThatHaveTheNewRevisionAlreadyAreCountedAndRolledBack) {
  ClusterObjects objects = Fleet({"a", "b", "c", "d"}, R"({"onFailure": "Rollback"})"_json);
  for (const std::size_t i : {0u, 1u})
    objects.workloads[i] = WorkloadJson(objects.daemon, objects.update(), objects.pools[i]);
  objects.workloads[1].erase("status");
  SimulationOptions options;
  options.failing = true;
  const Simulation simulation = Simulate(Take(objects), options);
  EXPECT_EQ(EndOf(simulation), "RolledBack");
  EXPECT_EQ(simulation.reached(), 2u);
  std::vector<std::string> results;
  for (const SimulatedPool& pool : simulation.pools) {
    results.push_back(ResultOf(pool));
    EXPECT_FALSE(pool.starts) << pool.name;
  }
  EXPECT_THAT(results, ElementsAre("RolledBack", "RolledBack", "Unchanged", "Unchanged"));
  EXPECT_THAT(SimulateFailures(Take(objects), {}, {1, 5, 1}).reached, ElementsAre(Pair(2u, 5)));
}

TEST(RolloutInProgressTest, RevisionThatHasFailedBeforeEndsAsRolledBack) {
  Snapshot snapshot = Take(Fleet({"a", "b"}, R"({"onFailure": "Rollback"})"_json));
  auto failed = std::make_shared<Revision>(*snapshot.update);
  failed->failed_at = "2026-01-01T00:00:00Z";
  snapshot.revisions.front() = snapshot.update = failed;
  const Simulation simulation = Simulate(snapshot, {});
  EXPECT_EQ(EndOf(simulation), "RolledBack");
  EXPECT_EQ(simulation.reached(), 0u);
  EXPECT_EQ(SimulateFailures(snapshot, {}, {0, 5, 1}).ends.at(0).name, "RolledBack");
}

constexpr char kStops[] = R"({"progressDeadlineSeconds": 300})";

FailureRuns Runs(const Json& rolling, double rate, std::uint64_t seed = 1, int runs = 200) {
  return SimulateFailures(Take(Fleet({"a", "b", "c", "d"}, rolling)), {}, {rate, runs, seed});
}

TEST(FailureRunsTest, SeedDeterminesTheRunsAndEachRunIsCounted) {
  const FailureRuns runs = Runs(Json::parse(kStops), 0.3);
  Timeline timeline;
  timeline.failures = runs;
  const Json json = ToJson(timeline)["failureRuns"];
  timeline.failures = Runs(Json::parse(kStops), 0.3);
  EXPECT_EQ(ToJson(timeline)["failureRuns"], json);
  timeline.failures = Runs(Json::parse(kStops), 0.3, 2);
  EXPECT_NE(ToJson(timeline)["failureRuns"], json);
  int ends = 0, reached = 0;
  for (const FailureRuns::End& end : runs.ends) ends += end.runs;
  for (const auto& [pools, count] : runs.reached) reached += count;
  EXPECT_EQ(ends, 200);
  EXPECT_EQ(reached, 200);
  // The rollout completes if none of four updates fails: in 0.7^4 = 24% of the runs.
  ASSERT_EQ(runs.ends.size(), 2u);
  EXPECT_EQ(runs.ends[0].name, "FailureBudgetExceeded");
  EXPECT_EQ(runs.ends[1].name, "Complete");
  EXPECT_NEAR(runs.ends[1].runs, 48, 20);
  EXPECT_EQ(runs.ends[1].times.median, seconds(480));
  // The first pool fails in 30% of the runs.
  EXPECT_NEAR(runs.reached.at(1), 60, 22);
}

TEST(FailureRunsTest, RatesOfZeroAndOneGiveTheSameEndInEachRun) {
  const FailureRuns never = Runs(Json::parse(kStops), 0), always = Runs(Json::parse(kStops), 1);
  ASSERT_EQ(never.ends.size(), 1u);
  EXPECT_EQ(never.ends[0].name, "Complete");
  EXPECT_THAT(never.reached, ElementsAre(Pair(4, 200)));
  ASSERT_EQ(always.ends.size(), 1u);
  EXPECT_THAT(always.reached, ElementsAre(Pair(1, 200)));
  EXPECT_EQ(always.times.p90, seconds(300));
  const FailureRuns back = Runs(R"({"onFailure": "Rollback"})"_json, 1, 1, 10);
  EXPECT_EQ(back.ends[0].name, "RolledBack");
}

TEST(FailureRunsTest, QuantilesAndRangesAreExact) {
  FailureRuns runs;
  runs.options.runs = 10;
  runs.reached = {{1, 5}, {3, 4}, {25, 1}};
  EXPECT_EQ(runs.ReachedQuantile(0.5), 1u);
  EXPECT_EQ(runs.ReachedQuantile(0.9), 3u);
  EXPECT_EQ(runs.ReachedQuantile(1), 25u);
  std::vector<std::string> texts;
  for (const ReachedRange& range : RangesOf(runs, 10))
    texts.push_back(std::to_string(range.from) + "-" + std::to_string(range.to) + ":" + std::to_string(range.runs));
  EXPECT_THAT(texts,
              ElementsAre("1-3:9", "4-6:0", "7-9:0", "10-12:0", "13-15:0", "16-18:0", "19-21:0", "22-24:0", "25-25:1"));
  EXPECT_THAT(RangesOf(FailureRuns(), 10), IsEmpty());
  EXPECT_EQ(ShareOf(1, runs), "10%");
  runs.options.runs = 1000;
  EXPECT_EQ(ShareOf(1, runs), "<1%");
  EXPECT_EQ(ShareOf(999, runs), ">99%");
}

TEST(FailureRunsTest, TextShowsEachEndAndTheReachedPools) {
  Timeline timeline;
  timeline.simulation.from = timeline.simulation.to = ParseTime("2026-01-02T03:04:05Z");
  timeline.failures = Runs(Json::parse(kStops), 1, 7, 10);
  std::string text;
  for (const std::string& line : DescribeTimeline(timeline)) text += line + "\n";
  EXPECT_THAT(
      text, HasSubstr("\n10 runs in which each update fails with a probability of 100% (seed 7): half of them "
                      "end within 5m, and 90% within 5m\n\n"
                      "END                     RUNS   MEDIAN   90%\n"
                      "FailureBudgetExceeded   100%   +5m      +5m\n\n"
                      "POOLS   RUNS\n"
                      "1       100%\n\n"
                      "The revision reaches at most 1 pool in half of the runs, and at most 1 pool in 90% of them\n"));
}

// The revisions differ only in an override of pool b.
TEST(RolloutInProgressTest, PoolForWhichBothRevisionsRenderAlikeIsNotCounted) {
  ClusterObjects objects = Fleet({"a", "b"}, R"({"onFailure": "Rollback"})"_json);
  const Json strategy = objects.daemon["spec"]["updateStrategy"];
  objects.daemon = DaemonJson("app:0");
  objects.daemon["spec"]["updateStrategy"] = strategy;
  objects.daemon["spec"]["overrides"] = R"([{"pools": ["b"], "images": [{"name": "main", "image": "app:1"}]}])"_json;
  SimulationOptions options;
  options.failing = true;
  const Simulation simulation = Simulate(Take(objects), options);
  EXPECT_EQ(EndOf(simulation), "RolledBack");
  EXPECT_EQ(simulation.reached(), 1u);
  EXPECT_EQ(ResultOf(simulation.pools[0]), "Unchanged");
  EXPECT_EQ(ResultOf(simulation.pools[1]), "RolledBack");
}

TEST(TimelinePageTest, PageHasEveryPoolGroupAndEvent) {
  Timeline timeline;
  timeline.daemon = "web";
  timeline.revision = "web-2";
  timeline.simulation = Simulate(Take(Fleet({"a", "b"}, R"({"minReadySeconds": 60,
      "groups": [{"name": "canary", "pools": ["b"]}]})"_json)),
                                 {});
  timeline.failures = Runs(Json::parse(kStops), 0.5, 1, 20);
  const std::string page = TimelinePage(timeline);
  EXPECT_THAT(page, AllOf(HasSubstr("<h1>Rollout of web to web-2</h1>"), HasSubstr("<td>group canary begins</td>"),
                          HasSubstr("<h2>Random failures</h2>"), HasSubstr("prefers-color-scheme: dark")));
  // Group canary is first. Its update takes a third of the total time, and its soak follows.
  const std::size_t canary = page.find("<h3>canary <span>1 pool</span></h3>");
  const std::size_t rest = page.find("<h3>default <span>1 pool</span></h3>");
  ASSERT_NE(rest, std::string::npos);
  ASSERT_LT(canary, rest);
  EXPECT_THAT(
      page.substr(canary, rest - canary),
      AllOf(HasSubstr("<b>b</b><span>Updated</span><span class=\"soft\">+0s to +3m</span>"),
            HasSubstr("<span class=\"bar update\" style=\"left:min(0.000%,calc(100% - 3px));width:33.333%\"></span>"),
            HasSubstr("<span class=\"bar soak\" style=\"left:min(33.333%,calc(100% - 3px));width:16.667%\"></span>")));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("http://")), Not(HasSubstr("https://"))));
}

TEST(TimelinePageTest, FailuresAndRollbacksAreDrawnAsBars) {
  SimulationOptions failing;
  failing.failing = true;
  Timeline timeline;
  timeline.simulation = Simulate(Take(Fleet({"a"}, R"({"onFailure": "Rollback"})"_json)), failing);
  EXPECT_THAT(TimelinePage(timeline),
              AllOf(HasSubstr("bar update\""), HasSubstr("bar back\""), HasSubstr("<span>RolledBack</span>")));
}

TEST(TimelinePageTest, TextsOfTheClusterAreEscaped) {
  const std::string evil = "<img src=x onerror='alert(\"1\")'>&\x1b[2J";
  Timeline timeline;
  timeline.daemon = timeline.revision = evil;
  timeline.simulation.events = {{WallTime(), evil}};
  timeline.simulation.pools.resize(1);
  timeline.simulation.pools[0].name = timeline.simulation.pools[0].group = evil;
  timeline.simulation.failures = {evil};
  timeline.failures = FailureRuns();
  timeline.failures->ends = {{evil, 1, {}}};
  timeline.failures->reached = {{1, 1}};
  const std::string page = TimelinePage(timeline);
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("onerror='")), Not(HasSubstr("alert(\"")),
                          Not(HasSubstr("\x1b"))));
  std::size_t times = 0;
  const std::string escaped = "&lt;img src=x onerror=&#39;alert(&quot;1&quot;)&#39;&gt;&amp;";
  for (std::size_t at = page.find(escaped); at != std::string::npos; at = page.find(escaped, at + 1)) ++times;
  EXPECT_EQ(times, 11u) << page;
}

}  // namespace
}  // namespace yad
