// The output of the commands status and pools.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "plugin/view/frame.h"
#include "plugin/view/pool_table.h"
#include "plugin/view/progress.h"
#include "plugin/view/text.h"

namespace yad {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const WallTime kShownAt = ParseTime("2026-11-22T01:00:00Z");

Json ConditionJson(const std::string& type, const std::string& status, const std::string& reason,
                   const std::string& message) {
  return {{"type", type}, {"status", status}, {"reason", reason}, {"message", message}, {"observedGeneration", 2}};
}

// Returns a daemon with `pools` pools: the first `updated` pools are Ready, the rest are Updating.
Json Daemon(int pools, int updated, const Json& progressing, const std::string& ready = "False") {
  Json daemon =
      R"({"metadata": {"name": "web", "namespace": "shop", "generation": 2}, "status": {"observedGeneration": 2,
    "currentRevision": "web-old", "updateRevision": "web-new", "templateType": "Deployment", "pools": []}})"_json;
  Json& status = daemon["status"];
  status["desiredPools"] = pools;
  status["updatedPools"] = updated;
  status["readyPools"] = updated;
  status["conditions"] = {progressing, ConditionJson("Ready", ready, "R", "")};
  for (int i = 0; i < pools; ++i) {
    status["pools"].push_back({{"name", "pool-" + std::to_string(i)},
                               {"phase", i < updated ? "Ready" : "Updating"},
                               {"revision", i < updated ? "web-new" : "web-old"},
                               {"replicas", 2},
                               {"readyReplicas", 1},
                               {"lastTransitionTime", "2026-11-22T00:59:30Z"},
                               {"workload", "web-pool-x"},
                               {"message", "a message"}});
  }
  return daemon;
}

TEST(ProgressTest, ConditionProgressingDeterminesTheProgress) {
  const auto of = [](const Json& daemon) { return ReadProgress(daemon); };
  const Progress going =
      of(Daemon(3, 1, ConditionJson("Progressing", "True", "RollingOut", "1 of 3 pools are updated")));
  EXPECT_EQ(going.state, RolloutOutcome::kGoing);
  EXPECT_EQ(going.line,
            "Waiting for the rollout of yurtappdaemon \"web\" to finish: 1 of 3 pools updated (RollingOut)...");
  const Progress waits =
      of(Daemon(3, 1, ConditionJson("Progressing", "True", "WaitingForApproval", "group north waits for approval")));
  EXPECT_THAT(waits.line, HasSubstr("(WaitingForApproval: group north waits for approval)"));
  EXPECT_EQ(of(Daemon(3, 1, ConditionJson("Progressing", "Unknown", "Paused", "p"))).state, RolloutOutcome::kGoing);

  const Progress complete = of(Daemon(3, 3, ConditionJson("Progressing", "True", "RolloutComplete", "")));
  EXPECT_EQ(complete.state, RolloutOutcome::kComplete);
  EXPECT_EQ(complete.line, "yurtappdaemon \"web\" successfully rolled out");

  for (const char* reason : {"ProgressDeadlineExceeded", "FailureBudgetExceeded", "RolledBack", "InvalidSpec"}) {
    const Progress stopped = of(Daemon(3, 1, ConditionJson("Progressing", "False", reason, "why")));
    EXPECT_EQ(stopped.state, RolloutOutcome::kStopped);
    EXPECT_THAT(stopped.line, HasSubstr(std::string("has stopped with 1 of 3 pools updated: ") + reason + ": why"));
  }
}

TEST(ProgressTest, RolloutThatWaitsForAHoldAWindowOrAFreezeIsNotComplete) {
  for (const auto& [reason, message] :
       {std::pair{"PoolsHeld", "held: a (kubectl yad release a)"},
        {"WaitingForWindow",
         "2 wait for their update window; the next one opens at "
         "2026-11-22T21:00:00Z (Sun 22:00 Europe/Oslo)"},
        {"Frozen", "updates of all YurtAppDaemons are frozen (kubectl yad unfreeze)"}}) {
    const std::string whole = std::string("1 of 3 pools are updated; ") + message;
    Json daemon = Daemon(3, 1, ConditionJson("Progressing", "True", reason, whole));
    daemon["status"]["conditions"].push_back(ConditionJson("Complete", "False", reason, whole));
    const Progress waits = ReadProgress(daemon);
    EXPECT_EQ(waits.state, RolloutOutcome::kGoing) << reason;
    EXPECT_THAT(waits.line, ::testing::EndsWith(std::string("(") + reason + ": " + message + ")..."));
    EXPECT_EQ(StatusFrame(daemon, {200, 24, false, false}, {}, kShownAt)[2], std::string(reason) + ": " + whole);
    EXPECT_THAT(DaemonTable({daemon}, false, false, kShownAt).Lines()[1], HasSubstr(reason));
  }
}

TEST(ProgressTest, RolloutWaitsWhileAllPoolsAreOfflineAndNamesTheCause) {
  Json daemon = Daemon(2, 2, ConditionJson("Progressing", "True", "RolloutComplete", "2 of 2 pools are updated"));
  daemon["status"]["offlinePools"] = 2;
  daemon["status"]["conditions"].push_back(
      ConditionJson("Complete", "False", "AllPoolsOffline", "no selected pool has a ready node"));
  const Progress waits = ReadProgress(daemon);
  EXPECT_EQ(waits.state, RolloutOutcome::kGoing);
  EXPECT_THAT(waits.line, HasSubstr("2 of 2 pools updated, 2 offline (AllPoolsOffline: no selected pool has a ready "
                                    "node)..."));
  EXPECT_THAT(DaemonTable({daemon}, false, false, kShownAt).Lines()[1], HasSubstr("AllPoolsOffline"));
}

TEST(ProgressTest, PoolsThatThePartitionExcludesAreNotPartOfTheRollout) {
  const Progress partitioned = ReadProgress(Daemon(
      3, 1, ConditionJson("Progressing", "True", "RolloutComplete", "1 of 3 pools are updated; partition keeps 2")));
  EXPECT_EQ(partitioned.state, RolloutOutcome::kComplete);
  EXPECT_EQ(partitioned.line, "yurtappdaemon \"web\" rolled out with 1 of 3 pools updated (partition keeps 2)");
}

TEST(ProgressTest, StatusOfAnOlderSpecIsIgnored) {
  Json daemon = Daemon(3, 3, ConditionJson("Progressing", "True", "RolloutComplete", ""));
  daemon["metadata"]["generation"] = 3;
  EXPECT_EQ(ReadProgress(daemon).state, RolloutOutcome::kGoing);
  EXPECT_THAT(ReadProgress(daemon).line, HasSubstr("to observe the spec"));
  daemon["status"]["observedGeneration"] = 3;  // The condition is from the previous spec.
  EXPECT_EQ(ReadProgress(daemon).state, RolloutOutcome::kGoing);
  daemon["status"] = {{"currentRevision", "x"}, {"observedGeneration", 3}};  // OpenYurt writes this kind of status.
  EXPECT_EQ(ReadProgress(daemon).state, RolloutOutcome::kGoing);
  daemon.erase("status");
  EXPECT_EQ(ReadProgress(daemon).state, RolloutOutcome::kGoing);
}

TEST(ProgressTest, FailedAndOfflinePoolsAreCounted) {
  Json daemon = Daemon(5, 1, ConditionJson("Progressing", "True", "RollingOut", ""));
  daemon["status"]["failedPools"] = 1;
  daemon["status"]["offlinePools"] = 2;
  EXPECT_THAT(ReadProgress(daemon).line, HasSubstr("1 of 5 pools updated, 1 failed, 2 offline (RollingOut)"));
  daemon["status"]["conditions"][0] =
      ConditionJson("Progressing", "True", "RollingOut", "1 of 5 pools are updated, 1 failed; waiting for b");
  EXPECT_THAT(ReadProgress(daemon).line,
              HasSubstr("1 of 5 pools updated, 1 failed, 2 offline (RollingOut: waiting for b)"));
  daemon["status"]["conditions"][0] = ConditionJson("Progressing", "True", "RolloutComplete", "");
  daemon["status"]["updatedPools"] = 5;
  EXPECT_THAT(ReadProgress(daemon).line,
              HasSubstr("(2 of 5 pools are offline, and are updated when they are online again)"));
}

TEST(PoolTableTest, ColumnsAreAsWideAsTheirWidestCell) {
  const Json daemon = Daemon(2, 1, ConditionJson("Progressing", "True", "RollingOut", ""));
  EXPECT_THAT(PoolTable(daemon, false, kShownAt, 10).Lines(),
              ElementsAre("NAME     PHASE      REVISION   REPLICAS   READY   AGE   REASON",
                          "pool-0   Ready      web-new    2          1       30s",
                          "pool-1   Updating   web-old    2          1       30s"));
  EXPECT_THAT(PoolTable(daemon, true, kShownAt, 10).Lines().at(1), HasSubstr("web-pool-x   a message"));
  EXPECT_EQ(PoolTable(daemon, true, kShownAt, 1).size(), 1u);
  Json told = daemon;
  told["status"]["pools"][1]["state"] = "Waiting";
  EXPECT_THAT(PoolTable(told, true, kShownAt, 10).Lines().at(2), HasSubstr("Waiting   web-pool-x   a message"));
}

TEST(PoolTableTest, WideTableShowsTheMessageOfAWaitingPool) {
  Json daemon = Daemon(3, 3, ConditionJson("Progressing", "True", "WaitingForWindow", ""));
  Json& pools = daemon["status"]["pools"];
  const std::string window = "the update window opens at 2026-11-22T21:00:00Z (Sun 22:00 Europe/Oslo)";
  const std::string freeze =
      "updates of all YurtAppDaemons are frozen until 2026-11-23T06:00:00Z: stocktaking "
      "(kubectl yad unfreeze)";
  const std::string fault = "the update windows are invalid: annotation apps.openyurt.io/time-zone: \"X\" is no zone";
  pools[0].update({{"waitingFor", "Window"}, {"message", window}});
  pools[1].update({{"waitingFor", "Freeze"}, {"message", freeze}});
  pools[2].update({{"waitingFor", "Hold"}, {"reason", "InvalidWindow"}, {"message", fault}});
  const auto lines = PoolTable(daemon, true, kShownAt, 10).Lines();
  EXPECT_THAT(lines[1], ::testing::EndsWith("   " + window));
  EXPECT_THAT(lines[2], ::testing::EndsWith("   " + freeze));
  EXPECT_THAT(lines[3], AllOf(HasSubstr("   InvalidWindow   "), ::testing::EndsWith("   " + fault)));
  EXPECT_THAT(PoolTable(daemon, false, kShownAt, 10).Lines()[3], ::testing::EndsWith("   InvalidWindow"));
}

TEST(PoolTableTest, TextOfAClusterIsEscapedForTheTerminal) {
  Json daemon = Daemon(1, 0, ConditionJson("Progressing", "True", "RollingOut", "\x1b[2J"));
  daemon["status"]["pools"][0]["message"] = "bad\x1b[31m\nnews";
  for (const std::string& line : PoolTable(daemon, true, kShownAt, 10).Lines()) {
    EXPECT_THAT(line, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\n"))));
  }
  Screen screen;
  for (const std::string& line : StatusFrame(daemon, screen, {}, kShownAt))
    EXPECT_THAT(line, Not(HasSubstr("\x1b[2J")));
}

TEST(PoolTableTest, DaemonTableShowsTheProgressOfEachDaemon) {
  const Json daemon = Daemon(2, 1, ConditionJson("Progressing", "True", "RollingOut", ""));
  Json unobserved = daemon;
  unobserved["metadata"]["generation"] = 9;
  const auto lines = DaemonTable({daemon, unobserved}, true, false, kShownAt).Lines();
  EXPECT_EQ(lines[0], "NAMESPACE   NAME   TYPE         POOLS   UPDATED   READY   FAILED   OFFLINE   PROGRESS      AGE");
  EXPECT_THAT(lines[1], ::testing::StartsWith(
                            "shop        web    Deployment   2       1         1       0        0         RollingOut"));
  EXPECT_THAT(lines[2], HasSubstr("NotObserved"));
}

TEST(StatusFrameTest, LinesFitTheWidthAndHeightOfTheScreen) {
  Json daemon = Daemon(40, 3, ConditionJson("Progressing", "True", "RollingOut", std::string(300, 'm')));
  daemon["status"]["pools"][5]["name"] = std::string(60, 'p');
  daemon["status"]["pools"][6]["reason"] = "ProgressDeadlineExceeded, überschritten";
  for (const int width : {10, 20, 33, 80, 120}) {
    for (const int height : {3, 10, 24, 60}) {
      for (const bool fancy : {false, true}) {
        const Screen screen{width, height, fancy, fancy};
        const auto lines = StatusFrame(daemon, screen, std::chrono::seconds(83), kShownAt);
        for (const std::string& line : lines) EXPECT_LE(Width(line), static_cast<std::size_t>(width)) << line;
        EXPECT_LT(lines.size(), static_cast<std::size_t>(std::max(height, 8)));
      }
    }
  }
}

TEST(StatusFrameTest, PoolsBeyondTheScreenAreCountedByPhase) {
  const Json daemon = Daemon(40, 38, ConditionJson("Progressing", "True", "RollingOut", "38 of 40 pools are updated"));
  const auto lines = StatusFrame(daemon, {80, 12, false, false}, std::chrono::seconds(83), kShownAt);
  EXPECT_EQ(lines[0], "shop/web  web-old -> web-new");
  EXPECT_EQ(lines[1], "######################################.. 38/40 updated, 38 ready  83s");
  EXPECT_EQ(lines[2], "RollingOut: 38 of 40 pools are updated");
  EXPECT_EQ(lines.back(), "and 34 more: 2 Updating, 32 Ready");
}

TEST(StatusFrameTest, ReasonOfTheFirstPoolThatHasOneIsShown) {
  Json daemon = Daemon(40, 0, ConditionJson("Progressing", "True", "RollingOut", ""));
  daemon["status"]["pools"][1].update({{"reason", "ImagePullBackOff"}, {"message", "no such image"}});
  const auto lines = StatusFrame(daemon, {80, 12, false, false}, {}, kShownAt);
  EXPECT_EQ(lines[3], "pool pool-1: ImagePullBackOff: no such image");
  EXPECT_EQ(lines.back(), "and 35 more: 35 Updating");
  EXPECT_LT(lines.size(), 12u) << "room for the cursor";
}

TEST(StatusFrameTest, BlockedRemovalsAreShownAboveTheTable) {
  Json daemon = Daemon(40, 0, ConditionJson("Progressing", "True", "RollingOut", ""));
  daemon["status"]["conditions"].push_back(ConditionJson("RemovalBlocked", "True", "TooManyRemovals", "not removed"));
  const auto lines = StatusFrame(daemon, {80, 12, false, false}, {}, kShownAt);
  EXPECT_EQ(lines[3], "RemovalBlocked: not removed");
  EXPECT_LT(lines.size(), 12u) << "room for the cursor";
}

TEST(StatusFrameTest, DataThatIsNotLiveIsMarked) {
  const Json daemon = Daemon(40, 0, ConditionJson("Progressing", "True", "RollingOut", "0 of 40 pools are updated"));
  const auto lines = StatusFrame(daemon, {40, 12, false, false}, {}, kShownAt, "cannot watch: connection refused");
  EXPECT_EQ(lines[2], "RollingOut: 0 of 40 pools are updated");
  EXPECT_EQ(lines[3], "not live: cannot watch: connection refu~");
  EXPECT_THAT(lines.back(), ::testing::StartsWith("and 35 more: "));
  EXPECT_LT(lines.size(), 12u) << "room for the cursor";
}

TEST(StatusFrameTest, PhasesHaveTheirColours) {
  const Json daemon = Daemon(2, 1, ConditionJson("Progressing", "True", "RollingOut", ""));
  const auto lines = StatusFrame(daemon, {80, 24, true, true}, {}, kShownAt);
  EXPECT_THAT(lines[4], HasSubstr("\x1b[32mReady\x1b[0m "));
  EXPECT_THAT(lines[5], HasSubstr("\x1b[33mUpdating\x1b[0m "));
  EXPECT_THAT(StatusFrame(daemon, {80, 24, false, true}, {}, kShownAt), Each(Not(HasSubstr("\x1b"))));
}

TEST(LiveViewTest, AFrameReplacesThePreviousOne) {
  std::ostringstream out;
  LiveView view(out);
  const Screen screen{20, 10, false, false};
  view.Draw({"one", "two"}, screen);
  EXPECT_EQ(out.str(), "one\x1b[K\ntwo\x1b[K\n\x1b[J");
  out.str("");
  view.Draw({"1"}, screen);
  EXPECT_EQ(out.str(), "\x1b[2A\r1\x1b[K\n\x1b[J");
  out.str("");
  view.Draw({std::string(20, 'x')}, screen);
  out.str("");
  view.Draw({"y"}, Screen{8, 10, false, false});  // The terminal shows the long line in three rows.
  EXPECT_EQ(out.str(), "\x1b[3A\ry\x1b[K\n\x1b[J");
}

TEST(LiveViewTest, CursorMovesUpAllRowsOfLinesWithWideCharacters) {
  std::ostringstream out;
  LiveView view(out);
  view.Draw({"镜像拉取失败镜像拉取"}, Screen{20, 10, false, true});
  out.str("");
  view.Draw({"y"}, Screen{5, 10, false, true});  // two characters in a row of five columns
  EXPECT_EQ(out.str(), "\x1b[5A\ry\x1b[K\n\x1b[J");
}

}  // namespace
}  // namespace yad
