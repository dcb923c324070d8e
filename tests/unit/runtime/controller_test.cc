// The calls of a Controller to the reconciler: workers, retries and resyncs.
#include "operator/runtime/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "operator/base/metrics.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/unit/runtime/controller_fixture.h"

namespace yad::testing {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;

// ---- Running

TEST_F(ControllerTest, NothingIsReconciledBeforeAllCachesAreSynced) {
  Make(NoResync()).For(*primary_.informer).Owns(*owned_.informer);
  primary_.Sync({Object("a", "1")});
  Run();
  for (int i = 0; i < 300; ++i) {  // 15 seconds
    clock_.AwaitWaiters(1);
    clock_.AdvanceToNextDeadline();
  }
  EXPECT_EQ(script_.count(), 0u);
  owned_.Sync({});
  clock_.AwaitWaiters(1);
  clock_.AdvanceToNextDeadline();
  EXPECT_THAT(script_.Take(1), ElementsAre("ns/a")) << "events before the start of the workers must not be lost";
}

TEST_F(ControllerTest, StopEndsTheWaitForCaches) {
  Make(NoResync()).For(*primary_.informer);
  Run();
  clock_.AwaitWaiters(1);
  StopController();
}

TEST_F(ControllerTest, ResultDoneIsNotRequeued) {
  Make(NoResync());
  Run();
  controller_->queue().Add({"ns", "a"});
  EXPECT_THAT(script_.Take(1), ElementsAre("ns/a"));
  AwaitIdle();
  clock_.Advance(hours(24));
  AwaitIdle();
  EXPECT_EQ(script_.count(), 0u);
  EXPECT_EQ(Total("success"), 1);
}

TEST_F(ControllerTest, RequeueNowReconcilesAgainImmediately) {
  Make(NoResync());
  script_.Answer("a", [] { return ReconcileResult::RequeueNow(); });
  controller_->queue().Add({"ns", "a"});
  Run();
  EXPECT_EQ(script_.Take(2).size(), 2u);
  EXPECT_EQ(Total("requeue"), 1);
}

TEST_F(ControllerTest, RequeueAfterReconcilesAgainAfterTheDelay) {
  Make(NoResync());
  script_.Answer("a", [] { return ReconcileResult::RequeueAfter(minutes(3)); });
  controller_->queue().Add({"ns", "a"});
  Run();
  script_.Take(1);
  while (clock_.NextDeadline() != Duration(minutes(3))) std::this_thread::yield();
  clock_.Advance(minutes(3));
  EXPECT_EQ(script_.Take(1).size(), 1u);
  EXPECT_EQ(Total("requeue_after"), 1);
}

TEST_F(ControllerTest, ErrorsAndRequeueWithBackoffWaitLongerEachTimeUntilASuccess) {
  Make(NoResync());
  const auto fail = [] { return Fail(Reason::kConflict, "another client was faster"); };
  script_.Answer("a", [&]() -> Result<ReconcileResult> { return fail(); });
  script_.Answer("a", [] { return ReconcileResult::RequeueWithBackoff(); });
  script_.Answer("a", [&]() -> Result<ReconcileResult> { return fail(); });
  script_.Answer("a", [] { return ReconcileResult::RequeueWithBackoff(Duration::max(), seconds(3)); });
  script_.Answer("a", [] { return ReconcileResult::RequeueAfter(seconds(1)); });
  script_.Answer("a", [&]() -> Result<ReconcileResult> { return fail(); });
  controller_->queue().Add({"ns", "a"});
  Run();
  for (const Duration expected : {Duration(milliseconds(5)), Duration(milliseconds(10)), Duration(milliseconds(20)),
                                  Duration(seconds(3)), Duration(seconds(1)), Duration(milliseconds(5))}) {
    script_.Take(1);
    while (clock_.NextDeadline() != expected) std::this_thread::yield();
    clock_.Advance(expected);
  }
  script_.Take(1);
  EXPECT_EQ(Total("error"), 3);
}

TEST_F(ControllerTest, RequeueAfterErrorCountsAsAnErrorAndWaitsAtMostTheGivenTime) {
  Make(NoResync());
  constexpr int kRounds = 15;
  for (int i = 0; i < kRounds; ++i) {
    script_.Answer(
        "a", [] { return ReconcileResult::RequeueAfterError(Fail(Reason::kInvalid, "no").value(), seconds(10)); });
  }
  controller_->queue().Add({"ns", "a"});
  Run();
  Duration last{0};
  for (int i = 0; i < kRounds; ++i) {
    script_.Take(1);
    while (!clock_.NextDeadline()) std::this_thread::yield();
    last = clock_.AdvanceToNextDeadline();
    EXPECT_LE(last, seconds(10));
  }
  script_.Take(1);
  EXPECT_EQ(last, seconds(10));
  EXPECT_EQ(Total("error"), kRounds);
}

// A requested reconcile may end a backoff early, for instance every second during a soak. Later backoffs must then not
// grow.
TEST_F(ControllerTest, BackoffDoesNotGrowBeyondAnEarlierRequeueTime) {
  Make(NoResync());
  constexpr int kRounds = 20;
  for (int i = 0; i < kRounds; ++i) {
    script_.Answer("a", [] { return ReconcileResult::RequeueWithBackoff(milliseconds(40)); });
  }
  script_.Answer("a", []() -> Result<ReconcileResult> { return Fail(Reason::kUnauthorized, "who are you?"); });
  controller_->queue().Add({"ns", "a"});
  Run();
  for (int i = 0; i <= kRounds; ++i) {
    script_.Take(1);
    while (!clock_.NextDeadline()) std::this_thread::yield();
    EXPECT_LE(*clock_.NextDeadline(), milliseconds(40));
    clock_.AdvanceToNextDeadline();
  }
  script_.Take(1);
}

TEST_F(ControllerTest, FailureAfterManyConflictsIsRetriedSoon) {
  Make(NoResync());
  for (int i = 0; i < 30; ++i) {
    script_.Answer("a",
                   []() -> Result<ReconcileResult> { return Fail(Reason::kConflict, "another client was faster"); });
  }
  script_.Answer("a", []() -> Result<ReconcileResult> { return Fail(Reason::kUnauthorized, "who are you?"); });
  controller_->queue().Add({"ns", "a"});
  Run();
  for (int i = 0; i < 31; ++i) {
    script_.Take(1);
    while (!clock_.NextDeadline()) std::this_thread::yield();
    EXPECT_LE(clock_.AdvanceToNextDeadline(), Duration(milliseconds(1280))) << i;
  }
  script_.Take(1);
}

TEST_F(ControllerTest, TheServersRetryAfterIsHonouredIfItIsLaterThanTheBackoff) {
  Make(NoResync());
  script_.Answer("a", []() -> Result<ReconcileResult> {
    return Fail(Error{Reason::kTooManyRequests, "slow down", 429, seconds(17), {}});
  });
  controller_->queue().Add({"ns", "a"});
  Run();
  script_.Take(1);
  while (clock_.NextDeadline() != Duration(seconds(17))) std::this_thread::yield();
}

TEST_F(ControllerTest, AnExceptionInAReconcileIsAnErrorAndEndsNoWorker) {
  Make(NoResync());
  script_.Answer("a", []() -> Result<ReconcileResult> { throw std::runtime_error("a bug"); });
  script_.Answer("b", []() -> Result<ReconcileResult> { throw 3; });
  controller_->queue().Add({"ns", "a"});
  controller_->queue().Add({"ns", "b"});
  controller_->queue().Add({"ns", "c"});
  Run();
  EXPECT_THAT(script_.Take(3), ElementsAre("ns/a", "ns/b", "ns/c"));
  AwaitIdle();
  EXPECT_EQ(controller_->queue().Failures({"ns", "a"}), 1);
  EXPECT_EQ(controller_->queue().Failures({"ns", "b"}), 1);
  EXPECT_EQ(Total("error"), 2);
}

// Throws an exception at the next read of the time after Fail.
class FailingClock : public FakeClock {
 public:
  SteadyTime Now() const override {
    if (fails_.exchange(false)) throw std::bad_alloc();
    return FakeClock::Now();
  }
  void Fail() { fails_ = true; }

 private:
  mutable std::atomic<bool> fails_ = false;
};

TEST(ControllerThreadsTest, AnExceptionOutsideAReconcileEndsAllThreadsAndIsThrown) {
  FailingClock clock;
  ControllerOptions options;
  options.name = "failing";
  options.workers = 2;
  Controller controller(
      options,
      [&](const Request&, const std::stop_token&) -> Result<ReconcileResult> {
        clock.Fail();  // throws at the worker's next read of the time
        return ReconcileResult::Done();
      },
      clock);
  controller.queue().Add({"ns", "a"});
  EXPECT_THROW(controller.Run({}), std::bad_alloc);
}

TEST_F(ControllerTest, ManyWorkersRunConcurrentlyButNeverOnOneKey) {
  ControllerOptions options = NoResync();
  options.workers = 3;
  Make(options);
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0;
  bool open = false;
  on_reconcile_ = [&](const std::stop_token&) {
    std::unique_lock lock(mutex);
    ++inside;
    changed.notify_all();
    changed.wait(lock, [&] { return open; });
    --inside;
  };
  for (const char* name : {"a", "b", "c"}) controller_->queue().Add({"ns", name});
  Run();
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return inside == 3; });  // hangs unless workers run concurrently
    controller_->queue().Add({"ns", "a"});
    EXPECT_EQ(controller_->queue().size(), 0u) << "a worker processes key a";
    open = true;
    changed.notify_all();
  }
  EXPECT_EQ(script_.Take(4).size(), 4u);
}

TEST_F(ControllerTest, StopEndsARunningReconcileAndWaitsForIt) {
  Make(NoResync());
  std::atomic<bool> inside = false, finished = false;
  on_reconcile_ = [&](const std::stop_token& stop) {
    inside = true;
    clock_.Sleep(hours(1), stop);
    finished = true;
  };
  controller_->queue().Add({"ns", "a"});
  controller_->queue().Add({"ns", "b"});
  Run();
  while (!inside) std::this_thread::yield();
  StopController();
  EXPECT_TRUE(finished);
  EXPECT_EQ(script_.count(), 1u) << "after the stop, no worker may take a key";
  controller_->queue().Add({"ns", "c"});
  EXPECT_EQ(controller_->queue().size(), 1u) << "only key b";
}

TEST_F(ControllerTest, EventsAfterTheControllerIsDestroyedAreIgnored) {
  Make(NoResync()).For(*primary_.informer);
  primary_.Sync({});
  controller_.reset();
  primary_.Push("ADDED", Object("a", "101"));
}

// ---- Resync

TEST_F(ControllerTest, ResyncQueuesEveryKeyOncePerPeriodAtSpreadTimes) {
  ControllerOptions options = NoResync();
  options.resync = hours(10);
  Make(options).For(*primary_.informer);
  std::vector<Json> objects;
  for (int i = 0; i < 200; ++i) objects.push_back(Object("object-" + std::to_string(i), std::to_string(i + 1)));
  primary_.Sync(objects, "1000");
  Run();
  script_.Take(200);
  AwaitIdle(1);
  std::map<std::string, int> seen;
  std::size_t most_at_once = 0;
  for (int minute = 1; minute <= 2 * 600; ++minute) {
    clock_.Advance(minutes(1));
    AwaitIdle(1);  // The resync thread also waits on the clock.
    const std::vector<std::string> now = script_.Take(0);
    most_at_once = std::max(most_at_once, now.size());
    for (const std::string& key : now) ++seen[key];
    if (minute == 600) {
      EXPECT_EQ(seen.size(), 200u);
    }
  }
  for (const auto& [key, count] : seen) EXPECT_EQ(count, 2) << key;
  EXPECT_LT(most_at_once, 10u) << "the keys must not be queued together";
}

}  // namespace
}  // namespace yad::testing
