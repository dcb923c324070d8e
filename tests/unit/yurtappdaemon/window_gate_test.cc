// Update windows of a daemon, and in annotations of a NodePool. The tests begin on Friday, 2026-01-02, after 03:00.
#include <algorithm>

#include "tests/unit/yurtappdaemon/rolling_update_fixture.h"

namespace yad::testing {
namespace {

using Next = ReconcileResult::Next;

constexpr char kOpens[] = "2026-01-02T06:00:00Z";

class WindowGateTest : public RollingUpdateTest {
 protected:
  // Returns one window, which is open from 06:00 to 07:00 on every day.
  static Json Windows() {
    const Json window = {{"start", "06:00"}, {"duration", "1h"}};
    return Json::array({window});
  }
  static Json WithWindows(Json rolling = Json::object()) {
    rolling["windows"] = Windows();
    return rolling;
  }
  void SetZone(const std::string& pool, const std::string& zone) { AnnotatePool(pool, kTimeZoneAnnotation, zone); }
  void SetWindows(const std::string& pool, const std::string& list) {
    AnnotatePool(pool, kUpdateWindowsAnnotation, list);
  }
  // Calls `change` after the first write of the next batch, and brings its result into the caches.
  void DuringTheNextBatch(std::function<void()> change) {
    world_.cluster.SetAfterwards([this, change = std::move(change)](const WriteRecord& request) {
      if (request.method != "PUT" || request.resource != world_.type().resource) return;
      const std::function<void()> once = change;
      world_.cluster.SetAfterwards(nullptr);
      once();
      world_.SyncAllButDeployments();
    });
  }
};

TEST_P(WindowGateTest, UpdateStartsWhenTheWindowOpens) {
  Play([&] {
    Deployed({"a", "b"}, WithWindows());
    const std::string before = Current();
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Images(), "a=1 b=1");
    EXPECT_EQ(WaitingFor("a"), "Window");
    EXPECT_EQ(MessageOf("a"), "the update window opens at 2026-01-02T06:00:00Z (Fri 06:00 UTC)");
    EXPECT_EQ(Phase("a"), "Ready");
    EXPECT_EQ(Progressing(), "True WaitingForWindow");
    EXPECT_EQ(Message(),
              "0 of 2 pools are updated; 2 wait for their update window; the next one opens at 2026-01-02T06:00:00Z "
              "(Fri 06:00 UTC)");
    EXPECT_EQ(Complete(), "False WaitingForWindow");
    EXPECT_EQ(Ready(), "True PoolsReady");
    EXPECT_EQ(ConditionReason(world_.Status(), "Reconciling"), "absent") << "no tool waits until the opening";
    EXPECT_EQ(ConditionReason(world_.Status(), "Stalled"), "absent");
    EXPECT_EQ(world_.Status()["failedPools"], 0);
    WaitUntil(kOpens);
    EXPECT_EQ(Images(), "a=1 b=1");
    Step();
    EXPECT_EQ(Images(), "a=2 b=1");
    EXPECT_EQ(WaitingFor("b"), "Slot");
    EXPECT_EQ(Progressing(), "True RollingOut");
    Heal("a");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2");
    Heal("b");
    Step();
    EXPECT_EQ(Complete(), "True RolloutComplete");
    EXPECT_NE(Current(), before);
  });
}

TEST_P(WindowGateTest, FailedPoolShowsWhenItsWindowOpens) {
  Deployed({"a"}, WithWindows());
  Break("a");
  Wait(seconds(700));
  world_.SetImage("app:2");
  Step();
  EXPECT_EQ(Phase("a"), "Failed ProgressDeadlineExceeded");
  EXPECT_EQ(WaitingFor("a"), "Window");
  EXPECT_NE(MessageOf("a").find("; the update window opens at 2026-01-02T06:00:00Z"), std::string::npos);
}

TEST_P(WindowGateTest, UpdateStartsWithinASecondOfTheOpeningWithoutAnEvent) {
  Deployed({"a"}, WithWindows());
  world_.SetImage("app:2");
  Step();
  WaitUntil("2026-01-02T05:59:30Z");
  const auto late = world_.Reconcile();
  ASSERT_TRUE(late);
  EXPECT_EQ(late->next, Next::kAfter);
  EXPECT_EQ(late->after, Duration(seconds(30)));
  WaitUntil("2026-01-02T05:59:59Z");
  const auto last = world_.Reconcile();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->after, Duration(seconds(1)));
  EXPECT_EQ(Images(), "a=1");
  WaitUntil("2026-01-02T06:00:01Z");
  EXPECT_EQ(Images(), "a=2") << "the operator requeued the daemon";
}

// The wall clock may jump, so the operator checks the time every minute, and not only at the opening.
TEST_P(WindowGateTest, WallClockThatJumpsPastTheOpeningIsDetectedWithinAMinute) {
  Deployed({"a"}, WithWindows());
  world_.SetImage("app:2");
  Step();
  const auto closed = world_.Reconcile();
  ASSERT_TRUE(closed);
  ASSERT_EQ(closed->next, Next::kAfter);
  EXPECT_LE(closed->after, Duration(seconds(60)));
  world_.clock.SetWall(ParseTime("2026-01-02T06:10:00Z"));
  world_.clock.Advance(closed->after);
  Step();
  EXPECT_EQ(Images(), "a=2");
}

TEST_P(WindowGateTest, WallClockThatIsSetBackClosesTheWindow) {
  Deployed({"a", "b"}, WithWindows());
  world_.SetImage("app:2");
  Step();
  WaitUntil("2026-01-02T06:00:01Z");
  ASSERT_EQ(Images(), "a=2 b=1");
  world_.clock.SetWall(ParseTime("2026-01-02T05:00:00Z"));
  Heal("a");
  Step();
  EXPECT_EQ(Phase("a"), "Ready") << "the update continues";
  EXPECT_EQ(Images(), "a=2 b=1");
  EXPECT_EQ(MessageOf("b"), "the update window opens at 2026-01-02T06:00:00Z (Fri 06:00 UTC)");
  WaitUntil("2026-01-02T06:00:01Z");
  EXPECT_EQ(Images(), "a=2 b=2");
}

TEST_P(WindowGateTest, WindowOfAMinuteStartsUpdatesInThatMinuteOnly) {
  Play([&] {
    const Json window = {{"start", "06:00"}, {"duration", "1m"}};
    Deployed({"a", "b"}, {{"windows", Json::array({window})}});
    world_.SetImage("app:2");
    Step();
    WaitUntil("2026-01-02T06:00:01Z");
    EXPECT_EQ(Images(), "a=2 b=1");
    WaitUntil("2026-01-02T06:01:00Z");
    Heal("a");
    Step();
    EXPECT_EQ(Images(), "a=2 b=1");
    EXPECT_EQ(MessageOf("b"), "the update window opens at 2026-01-03T06:00:00Z (Sat 06:00 UTC)");
    WaitUntil("2026-01-03T06:00:01Z");
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

TEST_P(WindowGateTest, RunningUpdateContinuesAfterTheWindowAndTheNextPoolWaits) {
  Play([&] {
    Deployed({"a", "b"}, WithWindows());
    WaitUntil("2026-01-02T06:59:50Z");
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Images(), "a=2 b=1");
    WaitUntil("2026-01-02T07:00:00Z");
    Step();
    EXPECT_EQ(Progressing(), "True RollingOut") << "pool a is not healthy yet";
    EXPECT_EQ(WaitingFor("b"), "Window");
    Heal("a");
    Step();
    EXPECT_EQ(Images(), "a=2 b=1");
    EXPECT_EQ(MessageOf("b"), "the update window opens at 2026-01-03T06:00:00Z (Sat 06:00 UTC)");
    EXPECT_EQ(Progressing(), "True WaitingForWindow");
    WaitUntil("2026-01-03T06:00:01Z");
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

TEST_P(WindowGateTest, TimeZoneOfThePoolIsUsed) {
  Play([&] {
    Deployed({"a", "b"}, WithWindows());
    SetZone("a", "Asia/Kathmandu");
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(MessageOf("a"), "the update window opens at 2026-01-03T00:15:00Z (Sat 06:00 Asia/Kathmandu)");
    EXPECT_EQ(MessageOf("b"), "the update window opens at 2026-01-02T06:00:00Z (Fri 06:00 UTC)");
    WaitUntil(kOpens);
    Step();
    EXPECT_EQ(Images(), "a=1 b=2");
    Heal("b");
    Step();
    EXPECT_EQ(Message(),
              "1 of 2 pools are updated; 1 waits for its update window; the next one opens at 2026-01-03T00:15:00Z "
              "(Sat 06:00 Asia/Kathmandu)");
    WaitUntil("2026-01-03T00:15:01Z");
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

TEST_P(WindowGateTest, WindowsOfThePoolReplaceThoseOfTheDaemon) {
  Play([&] {
    Deployed({"a", "b", "c"}, WithWindows({{"maxUnavailable", 3}}));
    SetWindows("a", "[]");
    SetWindows("b", R"([{"days": ["Sat"], "start": "04:00", "duration": "1m", "timeZone": "Europe/Oslo"}])");
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Images(), "a=2 b=1 c=1") << "an empty list is always open";
    EXPECT_EQ(MessageOf("b"), "the update window opens at 2026-01-03T03:00:00Z (Sat 04:00 Europe/Oslo)");
    Heal("a");
    WaitUntil("2026-01-02T06:00:01Z");
    EXPECT_EQ(Images(), "a=2 b=1 c=2");
    Heal("c");
    SetWindows("b", R"([{"start": "00:00", "duration": "24h"}])");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=2") << "pool b has new windows";
  });
}

TEST_P(WindowGateTest, InvalidAnnotationHoldsOnlyItsPool) {
  Play([&] {
    Deployed({"a", "b"});
    SetWindows("a", "always");
    Step();
    EXPECT_EQ(Phase("a"), "Ready") << "no update waits";
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Images(), "a=1 b=2");
    EXPECT_EQ(WaitingFor("a"), "Hold");
    EXPECT_EQ(Phase("a"), "Ready InvalidWindow");
    EXPECT_EQ(
        MessageOf("a"),
        "the update windows are invalid: annotation apps.openyurt.io/update-windows: must be a list in JSON, such "
        R"(as [{"start": "22:00", "duration": "4h"}])");
    Heal("b");
    Step();
    EXPECT_EQ(Complete(), "False PoolsHeld");
    EXPECT_EQ(Progressing(), "True PoolsHeld");
    EXPECT_EQ(Message(), "1 of 2 pools are updated; held: a") << "there is no annotation to remove";
    EXPECT_EQ(Ready(), "True PoolsReady");
    EXPECT_EQ(world_.Status()["failedPools"], 0);
    SetWindows("a", "[]");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2");
    EXPECT_EQ(WaitingFor("a"), "");
  });
}

TEST_P(WindowGateTest, UnknownTimeZoneHoldsThePoolInAnUndoToo) {
  Deployed({"a", "b"});
  world_.SetImage("app:2");
  Step();
  EXPECT_EQ(Images(), "a=2 b=1");
  Heal("a");
  SetZone("a", "Mars/Base");
  world_.SetImage("app:1");
  Step();
  EXPECT_EQ(Images().substr(0, 3), "a=2");
  EXPECT_EQ(Phase("a"), "Ready InvalidWindow");
  EXPECT_NE(MessageOf("a").find("annotation apps.openyurt.io/time-zone: \"Mars/Base\""), std::string::npos);
}

TEST_P(WindowGateTest, HoldAnnotationIsReportedBeforeInvalidWindows) {
  Deployed({"a", "b"});
  SetWindows("a", "always");
  AnnotatePool("a", kHoldAnnotation, "stocktaking");
  world_.SetImage("app:2");
  Step();
  EXPECT_EQ(Phase("a"), "Ready");
  EXPECT_EQ(MessageOf("a"), "the site holds the pool: stocktaking (kubectl yad release a)");
}

TEST_P(WindowGateTest, ClosedWindowsDoNotDelayARollback) {
  Play([&] {
    Deployed({"a", "b", "c"}, WithWindows({{"progressDeadlineSeconds", 120}, {"onFailure", "Rollback"}}));
    WaitUntil("2026-01-02T06:59:00Z");
    world_.SetImage("app:2");
    Step();
    Heal("a");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=1");
    WaitUntil("2026-01-02T07:02:00Z");
    Step();
    EXPECT_EQ(Progressing(), "True RollingBack");
    EXPECT_EQ(Images(), "a=2 b=1 c=1");
    Heal("b");
    Step();
    EXPECT_EQ(Images(), "a=1 b=1 c=1");
    EXPECT_EQ(WaitingFor("c"), "");
    Heal("a");
    Step();
    EXPECT_EQ(Progressing(), "False RolledBack");
  });
}

TEST_P(WindowGateTest, ClosedWindowsDoNotDelayAnUndo) {
  Play([&] {
    Deployed({"a", "b"}, WithWindows());
    WaitUntil("2026-01-02T06:59:50Z");
    world_.SetImage("app:2");
    Step();
    WaitUntil("2026-01-02T07:00:00Z");
    Heal("a");
    Step();
    ASSERT_EQ(Images(), "a=2 b=1");
    world_.SetImage("app:1");
    Step();
    EXPECT_EQ(Images().substr(0, 3), "a=1");
  });
}

TEST_P(WindowGateTest, RecreatedWorkloadStaysOnTheCurrentRevisionWhileTheWindowIsClosed) {
  Play([&] {
    Deployed({"a", "b"}, WithWindows());
    world_.SetImage("app:2");
    Step();
    world_.cluster.Delete(TypeOf(GetParam()), {kNs, world_.NameOf("a")});
    world_.AddPool("c");
    Step();
    EXPECT_EQ(Images(), "a=1 b=1 c=1");
    Heal("a");
    Heal("c");
    Step();
    EXPECT_EQ(WaitingFor("a"), "Window");
    EXPECT_EQ(WaitingFor("c"), "Window");
    EXPECT_EQ(Progressing(), "True WaitingForWindow");
    WaitUntil("2026-01-02T06:00:01Z");
    EXPECT_EQ(Images(), "a=2 b=1 c=1");
  });
}

TEST_P(WindowGateTest, WindowDelaysNoCreationRepairOrScaling) {
  Play([&] {
    Deployed({"a", "b"}, WithWindows());
    EXPECT_EQ(Images(), "a=1 b=1") << "the first workloads are created outside the window";
    EXPECT_EQ(Complete(), "True RolloutComplete");
    world_.AddPool("c");
    world_.EditWorkload(
        "a", [](Json& workload) { workload["spec"]["template"]["spec"]["containers"][0]["image"] = "app:9"; });
    Step();
    EXPECT_EQ(Images(), "a=1 b=1 c=1");
    Heal("a");
    Heal("c");
    world_.EditDaemon([](Json& daemon) { TemplateOf(daemon)["spec"]["replicas"] = 4; });
    Step();
    EXPECT_EQ(world_.Workload("b")["spec"]["replicas"], 4);
    EXPECT_EQ(WaitingFor("b"), "");
  });
}

TEST_P(WindowGateTest, NewTaintOfAPoolWaitsForTheWindow) {
  Play([&] {
    Deployed({"a", "b"}, WithWindows());
    Taint("a", "gpu");
    Step();
    EXPECT_FALSE(Tolerates("a"));
    EXPECT_EQ(WaitingFor("a"), "Window");
    EXPECT_EQ(Progressing(), "True WaitingForWindow");
    WaitUntil("2026-01-02T06:00:01Z");
    EXPECT_TRUE(Tolerates("a"));
  });
}

TEST_P(WindowGateTest, GroupWaitsForItsPoolsWhoseWindowIsClosed) {
  Play([&] {
    const Json group = {{"name", "first"}, {"pools", Json::array({"a"})}};
    Deployed({"a", "b"}, {{"groups", Json::array({group})}});
    SetWindows("a", Windows().dump());
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Images(), "a=1 b=1");
    EXPECT_EQ(WaitingFor("b"), "Group");
    EXPECT_EQ(Ready(), "True PoolsReady");
    EXPECT_EQ(ConditionReason(world_.Status(), "Reconciling"), "absent");
    EXPECT_EQ(Message(),
              "group \"first\" (1 of 2): 0 of 1 pools are updated; 1 waits for its update window; the next one opens "
              "at 2026-01-02T06:00:00Z (Fri 06:00 UTC)");
    WaitUntil("2026-01-02T06:00:01Z");
    EXPECT_EQ(Images(), "a=2 b=1");
    Heal("a");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

TEST_P(WindowGateTest, OfflinePoolWaitsForItsWindow) {
  Play([&] {
    Deployed({"a", "b"}, WithWindows());
    WaitUntil("2026-01-02T06:59:50Z");
    GoOffline("a");
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Images(), "a=1 b=2");
    WaitUntil("2026-01-02T07:00:00Z");
    Heal("b");
    Step();
    EXPECT_EQ(Images(), "a=1 b=2");
    EXPECT_EQ(WaitingFor("a"), "Window");
    WaitUntil("2026-01-03T06:00:01Z");
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

TEST_P(WindowGateTest, LimitIsKeptWhenFiveHundredWindowsOpenInTheSameSecond) {
  std::vector<std::string> pools;
  for (int i = 0; i < 500; ++i) pools.push_back("p" + std::to_string(1000 + i));
  Deployed(pools, WithWindows({{"maxUnavailable", "2%"}}));
  world_.SetImage("app:2");
  const auto updated = [&] {
    const std::vector<Json> workloads = world_.Workloads();
    return std::count_if(workloads.begin(), workloads.end(),
                         [](const Json& workload) { return ImageOf(workload) == "app:2"; });
  };
  Step();
  EXPECT_EQ(updated(), 0);
  WaitUntil("2026-01-02T06:00:01Z");
  EXPECT_EQ(updated(), 10) << "2 % of the pools";
  Step();
  EXPECT_EQ(updated(), 10);
}

TEST_P(WindowGateTest, WindowsThatAreRemovedNoLongerDelayTheRollout) {
  Play([&] {
    Deployed({"a", "b"}, WithWindows());
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Images(), "a=1 b=1");
    Strategy("windows", Json::array());
    Step();
    EXPECT_EQ(Images(), "a=2 b=1");
  });
}

INSTANTIATE_TEST_SUITE_P(Kind, WindowGateTest,
                         ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet));

TEST_P(WindowGateTest, PoolThatWaitsForASlotWhenItsWindowClosesWaitsForTheWindow) {
  Deployed({"a", "b"}, WithWindows({{"minReadySeconds", 300}}));
  WaitUntil("2026-01-02T06:59:30Z");
  world_.SetImage("app:2");
  Step();
  Heal("a");
  Step();
  EXPECT_EQ(WaitingFor("b"), "Slot");
  Wait(seconds(40));  // No event arrives.
  EXPECT_EQ(WaitingFor("b"), "Window");
  EXPECT_EQ(MessageOf("b"), "the update window opens at 2026-01-03T06:00:00Z (Sat 06:00 UTC)");
}

TEST_P(WindowGateTest, WindowThatClosesDuringABatchDelaysTheRemainingUpdates) {
  world_.parallel_writes = 1;
  world_.Restart();
  Deployed({"a", "b", "c"}, WithWindows({{"maxUnavailable", 3}}));
  WaitUntil("2026-01-02T06:59:50Z");
  DuringTheNextBatch([&] { world_.clock.Advance(seconds(30)); });
  world_.SetImage("app:2");
  StepDespiteErrors();
  EXPECT_EQ(Images(), "a=2 b=1 c=1");
  EXPECT_EQ(WaitingFor("b"), "Window");
}

TEST_P(WindowGateTest, WindowThatClosesDuringARollbackDoesNotDelayIt) {
  world_.parallel_writes = 1;
  world_.Restart();
  Deployed({"a", "b", "c"},
           WithWindows({{"maxUnavailable", 3}, {"progressDeadlineSeconds", 30}, {"onFailure", "Rollback"}}));
  WaitUntil("2026-01-02T06:59:15Z");
  world_.SetImage("app:bad");
  Step(28);
  EXPECT_EQ(Images(), "a=bad b=bad c=bad");
  DuringTheNextBatch([&] { world_.clock.Advance(seconds(30)); });
  StepDespiteErrors();
  StepDespiteErrors();
  EXPECT_EQ(Images(), "a=1 b=1 c=1");
}

TEST_P(WindowGateTest, OtherWindowsOfAPoolTakeEffectDuringABatchOfUpdates) {
  world_.parallel_writes = 1;
  world_.Restart();
  Deployed({"a", "b", "c", "d"}, WithWindows({{"maxUnavailable", 4}}));
  WaitUntil("2026-01-02T06:30:00Z");
  DuringTheNextBatch([&] {
    SetWindows("b", R"([{"start": "22:00", "duration": "1h"}])");
    SetZone("c", "Europe/Oslo");  // for the daemon's windows
    SetWindows("d", R"([{"start": "06:15", "duration": "1h"}])");
  });
  world_.SetImage("app:2");
  StepDespiteErrors();
  EXPECT_EQ(Images(), "a=2 b=1 c=1 d=2");
  EXPECT_EQ(WaitingFor("b"), "Window");
  EXPECT_EQ(WaitingFor("c"), "Window");
}

TEST_P(WindowGateTest, InvalidWindowsOfAPoolTakeEffectDuringABatchOfUpdates) {
  world_.parallel_writes = 1;
  world_.Restart();
  Deployed({"a", "b", "c"}, {{"maxUnavailable", 3}});
  DuringTheNextBatch([&] { SetWindows("b", "[{"); });
  world_.SetImage("app:2");
  Step();
  EXPECT_EQ(Images(), "a=2 b=1 c=2");
  EXPECT_EQ(WaitingFor("b"), "Hold");
}

}  // namespace
}  // namespace yad::testing
