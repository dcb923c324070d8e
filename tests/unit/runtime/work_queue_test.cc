#include "operator/runtime/work_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "operator/base/metrics.h"
#include "tests/support/fake_clock.h"

namespace yad {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Request Key(const std::string& name) { return {"ns", name}; }

class WorkQueueTest : public ::testing::Test {
 protected:
  // Returns the key that is ready now, or "-".
  std::string GetNow() {
    std::stop_source done;
    std::atomic<bool> returned = false;
    std::string name = "-";
    {
      std::jthread getter([&] {
        if (std::optional<Request> request = queue_.Get(done.get_token())) name = request->name;
        returned = true;
      });
      while (!returned && clock_.waiters() == 0) std::this_thread::yield();
      done.request_stop();
    }
    return name;
  }
  std::string GetAndDone() {
    const std::string name = GetNow();
    if (name != "-") queue_.Done(Key(name));
    return name;
  }
  // Reports a failure of key "a" and waits until its retry is due.
  void Fail(Duration at_most) {
    queue_.AddRateLimited(Key("a"), Duration{0}, at_most);
    clock_.Advance(seconds(1));
    EXPECT_EQ(GetAndDone(), "a");
  }

  FakeClock clock_;
  WorkQueue queue_{{milliseconds(5), seconds(1)}, clock_};
};

TEST_F(WorkQueueTest, KeysAreHandedOutInTheOrderOfTheirAdds) {
  for (const char* name : {"b", "a", "c"}) queue_.Add(Key(name));
  EXPECT_EQ(queue_.size(), 3u);
  EXPECT_EQ(GetNow(), "b");
  EXPECT_EQ(GetNow(), "a");
  EXPECT_EQ(GetNow(), "c");
  EXPECT_EQ(GetNow(), "-");
}

TEST_F(WorkQueueTest, AKeyAddedTwiceIsHandedOutOnce) {
  queue_.Add(Key("a"));
  queue_.Add(Key("a"));
  EXPECT_EQ(GetAndDone(), "a");
  EXPECT_EQ(GetNow(), "-");
}

TEST_F(WorkQueueTest, KeyAddedWhileProcessingIsHandedOutAgainAfterDone) {
  queue_.Add(Key("a"));
  EXPECT_EQ(GetNow(), "a");
  queue_.Add(Key("a"));
  queue_.Add(Key("a"));
  EXPECT_EQ(GetNow(), "-") << "two workers must never process the same key";
  queue_.Done(Key("a"));
  EXPECT_EQ(GetAndDone(), "a");
  EXPECT_EQ(GetNow(), "-");
}

TEST_F(WorkQueueTest, KeyAddedWhileProcessingIsQueuedAtTheEnd) {
  queue_.Add(Key("a"));
  EXPECT_EQ(GetNow(), "a");
  queue_.Add(Key("a"));
  queue_.Add(Key("b"));
  queue_.Done(Key("a"));
  EXPECT_EQ(GetNow(), "b");
  EXPECT_EQ(GetNow(), "a");
}

TEST_F(WorkQueueTest, DoneOfAKeyThatIsNotProcessedIsIgnored) {
  queue_.Add(Key("a"));
  queue_.Done(Key("a"));
  EXPECT_EQ(GetNow(), "a");
}

TEST_F(WorkQueueTest, DelayedKeyIsHandedOutAfterItsDelay) {
  queue_.AddAfter(Key("a"), seconds(10));
  EXPECT_EQ(GetNow(), "-");
  clock_.Advance(seconds(10) - milliseconds(1));
  EXPECT_EQ(GetNow(), "-");
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(GetNow(), "a");
}

TEST_F(WorkQueueTest, EarlierOfTwoDelaysIsUsed) {
  queue_.AddAfter(Key("a"), seconds(10));
  queue_.AddAfter(Key("a"), seconds(5));
  queue_.AddAfter(Key("a"), seconds(20));
  clock_.Advance(seconds(5));
  EXPECT_EQ(GetAndDone(), "a");
  clock_.Advance(seconds(60));
  EXPECT_EQ(GetNow(), "-") << "the later delays must be gone";
}

TEST_F(WorkQueueTest, ADelayOfZeroQueuesTheKeyImmediately) {
  queue_.AddAfter(Key("a"), Duration{0});
  queue_.AddAfter(Key("b"), -seconds(1));
  EXPECT_EQ(GetNow(), "a");
  EXPECT_EQ(GetNow(), "b");
}

TEST_F(WorkQueueTest, AnEndlessDelayDoesNotOverflow) {
  queue_.AddAfter(Key("a"), Duration::max());
  EXPECT_EQ(GetNow(), "-");
}

TEST_F(WorkQueueTest, DelayedKeyThatIsDueWhileProcessingIsHandedOutAgainAfterDone) {
  queue_.Add(Key("a"));
  EXPECT_EQ(GetNow(), "a");
  queue_.AddAfter(Key("a"), seconds(1));
  clock_.Advance(seconds(1));
  EXPECT_EQ(GetNow(), "-");
  queue_.Done(Key("a"));
  EXPECT_EQ(GetNow(), "a");
}

TEST_F(WorkQueueTest, AWaitingWorkerIsWokenByAnAdd) {
  std::optional<Request> got;
  std::jthread worker([&] { got = queue_.Get({}); });
  clock_.AwaitWaiters(1);
  queue_.Add(Key("a"));
  worker.join();
  EXPECT_EQ(got, Key("a"));
}

TEST_F(WorkQueueTest, AWaitingWorkerIsWokenWhenADelayedKeyIsDue) {
  std::optional<Request> got;
  std::jthread worker([&] { got = queue_.Get({}); });
  clock_.AwaitWaiters(1);
  queue_.AddAfter(Key("a"), seconds(60));
  queue_.AddAfter(Key("b"), seconds(30));
  // The worker waits until "a" is due. Then "b" is added, which is due earlier, so the worker must wait for "b".
  while (clock_.NextDeadline() != Duration(seconds(30))) std::this_thread::yield();
  clock_.Advance(seconds(30));
  worker.join();
  EXPECT_EQ(got, Key("b"));
}

TEST_F(WorkQueueTest, FirstPacedAddQueuesTheKeyImmediatelyAndLaterOnesOncePerPeriod) {
  int handed_out = 0;
  for (int i = 0; i < 100; ++i) {  // for a second, in steps of 10 ms
    queue_.AddPaced(Key("a"), milliseconds(200));
    if (GetAndDone() == "a") ++handed_out;
    EXPECT_EQ(handed_out, 1 + i / 20) << i;
    clock_.Advance(milliseconds(10));
  }
  clock_.Advance(milliseconds(100));
  EXPECT_EQ(GetAndDone(), "a") << "the last add is not lost";
  clock_.Advance(seconds(1));
  EXPECT_EQ(GetNow(), "-");
  queue_.AddPaced(Key("a"), milliseconds(200));
  EXPECT_EQ(GetNow(), "a") << "after a pause, an add queues the key immediately";
}

TEST_F(WorkQueueTest, AShorterPaceAlsoShortensTheWaitThatHasBegun) {
  queue_.AddPaced(Key("a"), seconds(5));
  EXPECT_EQ(GetAndDone(), "a");
  queue_.AddPaced(Key("a"), seconds(5));
  clock_.Advance(seconds(1));
  for (int i = 0; i < 3; ++i) {
    queue_.AddPaced(Key("a"), milliseconds(200));
    clock_.Advance(milliseconds(199));
    EXPECT_EQ(GetNow(), "-") << i;
    clock_.Advance(milliseconds(1));
    EXPECT_EQ(GetAndDone(), "a") << i;
  }
  clock_.Advance(seconds(10));
  EXPECT_EQ(GetNow(), "-") << "the longer wait must be gone";
}

TEST_F(WorkQueueTest, ALongerPaceTakesEffectAfterTheCurrentPeriod) {
  queue_.AddPaced(Key("a"), milliseconds(200));
  EXPECT_EQ(GetAndDone(), "a");
  queue_.AddPaced(Key("a"), seconds(5));
  clock_.Advance(milliseconds(200));
  EXPECT_EQ(GetAndDone(), "a");
  queue_.AddPaced(Key("a"), seconds(5));
  clock_.Advance(seconds(5) - milliseconds(1));
  EXPECT_EQ(GetNow(), "-");
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(GetAndDone(), "a");
}

TEST_F(WorkQueueTest, APacedAddOfAnotherKeyDoesNotWait) {
  queue_.AddPaced(Key("a"), milliseconds(200));
  EXPECT_EQ(GetAndDone(), "a");
  queue_.AddPaced(Key("b"), milliseconds(200));
  EXPECT_EQ(GetAndDone(), "b");
}

TEST_F(WorkQueueTest, AnAddIsImmediateDespiteAPacedAddAndDoesNotReplaceIt) {
  queue_.AddPaced(Key("a"), milliseconds(200));
  EXPECT_EQ(GetAndDone(), "a");
  queue_.AddPaced(Key("a"), milliseconds(200));
  EXPECT_EQ(GetNow(), "-");
  queue_.Add(Key("a"));
  EXPECT_EQ(GetNow(), "a");
  queue_.AddPaced(Key("a"), milliseconds(200));  // The running reconcile may have missed this change.
  queue_.Done(Key("a"));
  clock_.Advance(milliseconds(200));
  EXPECT_EQ(GetAndDone(), "a");
}

TEST_F(WorkQueueTest, KeyWithAPacedAddWhileProcessingIsHandedOutAgainAfterDone) {
  queue_.AddPaced(Key("a"), milliseconds(200));
  EXPECT_EQ(GetNow(), "a");
  queue_.AddPaced(Key("a"), milliseconds(200));
  clock_.Advance(milliseconds(200));
  EXPECT_EQ(GetNow(), "-");
  queue_.Done(Key("a"));
  EXPECT_EQ(GetAndDone(), "a");
}

TEST_F(WorkQueueTest, ThePaceOfAKeyIsKeptAfterManyOtherKeys) {
  for (int i = 0; i < 1000; ++i) queue_.AddPaced(Key("old-" + std::to_string(i)), milliseconds(200));
  for (int i = 0; i < 1000; ++i) GetAndDone();
  clock_.Advance(seconds(1));
  queue_.AddPaced(Key("a"), milliseconds(200));
  EXPECT_EQ(GetAndDone(), "a");
  for (int i = 0; i < 1000; ++i) queue_.AddPaced(Key("new-" + std::to_string(i)), milliseconds(200));
  for (int i = 0; i < 1000; ++i) GetAndDone();
  queue_.AddPaced(Key("a"), milliseconds(200));
  EXPECT_EQ(GetNow(), "-");
  clock_.Advance(milliseconds(200));
  EXPECT_EQ(GetNow(), "a");
}

TEST_F(WorkQueueTest, BackoffDoublesUpToTheCap) {
  std::vector<Duration> delays;
  for (int i = 0; i < 10; ++i) {
    queue_.AddRateLimited(Key("a"));
    std::jthread worker([&] {
      if (std::optional<Request> request = queue_.Get({})) queue_.Done(*request);
    });
    while (!clock_.NextDeadline()) std::this_thread::yield();
    delays.push_back(clock_.AdvanceToNextDeadline());
  }
  const std::vector<Duration> expected{milliseconds(5),  milliseconds(10),  milliseconds(20),  milliseconds(40),
                                       milliseconds(80), milliseconds(160), milliseconds(320), milliseconds(640),
                                       seconds(1),       seconds(1)};
  EXPECT_EQ(delays, expected);
  EXPECT_EQ(queue_.Failures(Key("a")), 10);
}

TEST_F(WorkQueueTest, ManyFailuresDoNotOverflow) {
  for (int i = 0; i < 200; ++i) Fail(Duration::max());
  EXPECT_EQ(queue_.Failures(Key("a")), 200);
  queue_.AddRateLimited(Key("a"));
  clock_.Advance(seconds(1) - milliseconds(1));
  EXPECT_EQ(GetNow(), "-");
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(GetNow(), "a");
}

// During an outage, each event causes another failure. Only a failure after the wait has ended makes the backoff grow.
TEST_F(WorkQueueTest, FailuresWithinOneWaitCountAsOne) {
  Fail(Duration::max());
  for (int i = 0; i < 50; ++i) {
    queue_.AddRateLimited(Key("a"));
    queue_.Add(Key("a"));
    EXPECT_EQ(GetAndDone(), "a");
  }
  EXPECT_EQ(queue_.Failures(Key("a")), 2);
  clock_.Advance(milliseconds(10));
  EXPECT_EQ(GetAndDone(), "a");
  queue_.AddRateLimited(Key("a"));
  clock_.Advance(milliseconds(20));
  EXPECT_EQ(GetAndDone(), "a");
}

TEST_F(WorkQueueTest, EachKeyHasItsOwnBackoffAndForgetResetsIt) {
  for (int i = 0; i < 5; ++i) Fail(Duration::max());
  EXPECT_EQ(queue_.Failures(Key("a")), 5);
  queue_.Forget(Key("a"));
  EXPECT_EQ(queue_.Failures(Key("a")), 0);
  queue_.AddRateLimited(Key("b"));
  EXPECT_EQ(queue_.Failures(Key("b")), 1);
  clock_.Advance(milliseconds(5));
  EXPECT_EQ(GetAndDone(), "b");
  queue_.AddRateLimited(Key("a"));
  clock_.Advance(milliseconds(5));
  EXPECT_EQ(GetNow(), "a");
}

TEST_F(WorkQueueTest, RetryAfterOfTheServerIsALowerBoundOfTheBackoff) {
  queue_.AddRateLimited(Key("a"), seconds(7));
  clock_.Advance(seconds(7) - milliseconds(1));
  EXPECT_EQ(GetNow(), "-");
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(GetNow(), "a");
}

TEST_F(WorkQueueTest, StopEndsGetEvenIfKeysAreQueued) {
  queue_.Add(Key("a"));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(queue_.Get(stop.get_token()), std::nullopt);
  EXPECT_EQ(queue_.size(), 1u);
}

TEST_F(WorkQueueTest, ShutDownHandsOutQueuedKeysBeforeGetEnds) {
  queue_.Add(Key("a"));
  queue_.AddAfter(Key("later"), seconds(1));
  queue_.ShutDown();
  queue_.Add(Key("b"));
  queue_.AddAfter(Key("c"), Duration{0});
  queue_.AddRateLimited(Key("d"));
  EXPECT_EQ(queue_.Get({}), Key("a"));
  clock_.Advance(seconds(10));
  EXPECT_EQ(queue_.Get({}), std::nullopt);
}

TEST_F(WorkQueueTest, ShutDownWakesAWaitingWorker) {
  std::optional<Request> got = Key("x");
  std::jthread worker([&] { got = queue_.Get({}); });
  clock_.AwaitWaiters(1);
  queue_.ShutDown();
  worker.join();
  EXPECT_EQ(got, std::nullopt);
}

TEST_F(WorkQueueTest, KeyAddedWhileProcessingBeforeTheShutDownIsDrained) {
  queue_.Add(Key("a"));
  EXPECT_EQ(queue_.Get({}), Key("a"));
  queue_.Add(Key("a"));
  queue_.ShutDown();
  queue_.Done(Key("a"));
  EXPECT_EQ(queue_.Get({}), Key("a"));
}

TEST_F(WorkQueueTest, MetricsCountAddsRetriesAndDepth) {
  const metrics::Labels labels{{"name", "metrics-test"}, {"controller", "metrics-test"}};
  WorkQueue queue({}, clock_, "metrics-test");
  metrics::Counter& adds = metrics::GetCounter("workqueue_adds_total", "", labels);
  metrics::Counter& retries = metrics::GetCounter("workqueue_retries_total", "", labels);
  metrics::Gauge& depth = metrics::GetGauge("workqueue_depth", "", labels);
  const double adds_before = adds.Value(), retries_before = retries.Value();
  queue.Add(Key("a"));
  queue.Add(Key("a"));
  queue.Add(Key("b"));
  EXPECT_EQ(adds.Value() - adds_before, 2);
  EXPECT_EQ(depth.Value(), 2);
  queue.Get({});
  queue.AddRateLimited(Key("a"));
  EXPECT_EQ(retries.Value() - retries_before, 1);
  EXPECT_EQ(depth.Value(), 1);
}

TEST_F(WorkQueueTest, DepthIsZeroAfterTheEndOfTheQueue) {
  const std::string name = "ended-queue-test";
  metrics::Gauge& depth = metrics::GetGauge("workqueue_depth", "", {{"name", name}, {"controller", name}});
  {
    WorkQueue queue({}, clock_, name);
    queue.Add(Key("a"));
    queue.ShutDown();
    EXPECT_EQ(depth.Value(), 1);
  }
  EXPECT_EQ(depth.Value(), 0);
}

// A failure may limit its own wait. This must not lengthen the wait of the next failure.
TEST_F(WorkQueueTest, CappedBackoffDoesNotLengthenTheNextOne) {
  for (int i = 0; i < 50; ++i) Fail(milliseconds(40));
  EXPECT_EQ(queue_.Failures(Key("a")), 3);
  queue_.AddRateLimited(Key("a"), Duration{0}, milliseconds(30));
  clock_.Advance(milliseconds(30));
  EXPECT_EQ(GetAndDone(), "a");
  queue_.AddRateLimited(Key("a"));
  clock_.Advance(milliseconds(39));
  EXPECT_EQ(GetNow(), "-");
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(GetNow(), "a");
}

}  // namespace
}  // namespace yad
