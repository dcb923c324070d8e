#include "operator/runtime/work_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <set>
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
  // Reports a failure of "a" and lets its wait pass.
  void Fail(Duration at_most) {
    queue_.AddRateLimited(Key("a"), Duration{0}, at_most);
    clock_.Advance(seconds(1));
    EXPECT_EQ(GetAndDone(), "a");
  }

  FakeClock clock_;
  WorkQueue queue_{{milliseconds(5), seconds(1)}, clock_};
};

TEST_F(WorkQueueTest, KeysComeOutInTheOrderInWhichTheyWentIn) {
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

TEST_F(WorkQueueTest, ItemAddedWhileProcessingRunsAgainAfterDone) {
  queue_.Add(Key("a"));
  EXPECT_EQ(GetNow(), "a");
  queue_.Add(Key("a"));
  queue_.Add(Key("a"));
  EXPECT_EQ(GetNow(), "-") << "one key must never be processed twice at once";
  queue_.Done(Key("a"));
  EXPECT_EQ(GetAndDone(), "a");
  EXPECT_EQ(GetNow(), "-");
}

TEST_F(WorkQueueTest, ItemAddedWhileProcessingGoesToTheEnd) {
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

TEST_F(WorkQueueTest, DelayedKeyIsReadyWhenItsTimeComes) {
  queue_.AddAfter(Key("a"), seconds(10));
  EXPECT_EQ(GetNow(), "-");
  clock_.Advance(seconds(10) - milliseconds(1));
  EXPECT_EQ(GetNow(), "-");
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(GetNow(), "a");
}

TEST_F(WorkQueueTest, EarlierOfTwoDelaysWins) {
  queue_.AddAfter(Key("a"), seconds(10));
  queue_.AddAfter(Key("a"), seconds(5));
  queue_.AddAfter(Key("a"), seconds(20));
  clock_.Advance(seconds(5));
  EXPECT_EQ(GetAndDone(), "a");
  clock_.Advance(seconds(60));
  EXPECT_EQ(GetNow(), "-") << "the later delays must be gone";
}

TEST_F(WorkQueueTest, ADelayOfNothingIsNow) {
  queue_.AddAfter(Key("a"), Duration{0});
  queue_.AddAfter(Key("b"), -seconds(1));
  EXPECT_EQ(GetNow(), "a");
  EXPECT_EQ(GetNow(), "b");
}

TEST_F(WorkQueueTest, AnEndlessDelayDoesNotOverflow) {
  queue_.AddAfter(Key("a"), Duration::max());
  EXPECT_EQ(GetNow(), "-");
}

TEST_F(WorkQueueTest, DelayedKeyThatIsDueWhileProcessingRunsAgainAfterDone) {
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
  // The worker has to take over each earlier deadline.
  while (clock_.NextDeadline() != Duration(seconds(30))) std::this_thread::yield();
  clock_.Advance(seconds(30));
  worker.join();
  EXPECT_EQ(got, Key("b"));
}

TEST_F(WorkQueueTest, PacedAddsQueueAKeyAtOnceThenOnceAPeriod) {
  int handed_out = 0;
  for (int i = 0; i < 100; ++i) {  // for a second, in steps of 10 ms
    queue_.AddPaced(Key("a"), milliseconds(200));
    if (GetAndDone() == "a") ++handed_out;
    EXPECT_EQ(handed_out, 1 + i / 20) << i;
    clock_.Advance(milliseconds(10));
  }
  clock_.Advance(milliseconds(100));
  EXPECT_EQ(GetAndDone(), "a") << "the last add has its turn";
  clock_.Advance(seconds(1));
  EXPECT_EQ(GetNow(), "-");
  queue_.AddPaced(Key("a"), milliseconds(200));
  EXPECT_EQ(GetNow(), "a") << "after a rest at once";
}

TEST_F(WorkQueueTest, APacedAddOfAnotherKeyDoesNotWait) {
  queue_.AddPaced(Key("a"), milliseconds(200));
  EXPECT_EQ(GetAndDone(), "a");
  queue_.AddPaced(Key("b"), milliseconds(200));
  EXPECT_EQ(GetAndDone(), "b");
}

TEST_F(WorkQueueTest, AnAddDoesNotWaitForTheTurnOfAPacedOneAndDoesNotTakeIt) {
  queue_.AddPaced(Key("a"), milliseconds(200));
  EXPECT_EQ(GetAndDone(), "a");
  queue_.AddPaced(Key("a"), milliseconds(200));
  EXPECT_EQ(GetNow(), "-");
  queue_.Add(Key("a"));
  EXPECT_EQ(GetNow(), "a");
  queue_.AddPaced(Key("a"), milliseconds(200));  // The running reconcile may not observe the change behind this add.
  queue_.Done(Key("a"));
  clock_.Advance(milliseconds(200));
  EXPECT_EQ(GetAndDone(), "a");
}

TEST_F(WorkQueueTest, APacedAddWhileItsKeyIsProcessedRunsAgainAfterDone) {
  queue_.AddPaced(Key("a"), milliseconds(200));
  EXPECT_EQ(GetNow(), "a");
  queue_.AddPaced(Key("a"), milliseconds(200));
  clock_.Advance(milliseconds(200));
  EXPECT_EQ(GetNow(), "-");
  queue_.Done(Key("a"));
  EXPECT_EQ(GetAndDone(), "a");
}

TEST_F(WorkQueueTest, ThePaceOfAKeyOutlivesManyOtherKeys) {
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

// Each event during an outage causes a failure. Only failures whose wait has passed lengthen the next wait.
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

TEST_F(WorkQueueTest, ShutDownHandsOutWhatIsQueuedAndThenEnds) {
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

// A failure with its own cap neither waits longer than the cap nor lengthens the wait of the next failure.
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

// The same semantics with simple containers: a list, a map of times, a set.
class NaiveQueue {
 public:
  void Add(const std::string& name) {
    if (processing.contains(name)) {
      again.insert(name);
    } else if (std::find(ready.begin(), ready.end(), name) == ready.end()) {
      ready.push_back(name);
    }
  }
  void AddAfter(const std::string& name, std::int64_t delay) {
    if (delay <= 0) return Add(name);
    if (!due.contains(name) || due[name] > now + delay) due[name] = now + delay;
  }
  void AddRateLimited(const std::string& name, std::int64_t at_most) {
    std::int64_t delay = 5;
    for (int i = 0; i < failures[name]; ++i) delay = std::min<std::int64_t>(delay * 2, 1000);
    const bool waits = !due.contains(name) || due[name] > now + std::min(delay, at_most);
    if (delay < at_most && waits) ++failures[name];
    AddAfter(name, std::min(delay, at_most));
  }
  void Forget(const std::string& name) { failures.erase(name); }
  std::string Get() {
    std::vector<std::pair<std::int64_t, std::string>> passed;
    for (const auto& [name, time] : due) {
      if (time <= now) passed.emplace_back(time, name);
    }
    std::sort(passed.begin(), passed.end());
    for (const auto& [time, name] : passed) {
      due.erase(name);
      Add(name);
    }
    if (ready.empty()) return "-";
    const std::string name = ready.front();
    ready.erase(ready.begin());
    processing.insert(name);
    return name;
  }
  void Done(const std::string& name) {
    if (processing.erase(name) > 0 && again.erase(name) > 0) ready.push_back(name);
  }

  std::int64_t now = 0;  // milliseconds
  std::vector<std::string> ready;
  std::set<std::string> processing, again;
  std::map<std::string, std::int64_t> due;
  std::map<std::string, int> failures;
};

TEST(WorkQueueModelTest, RandomOperationsAgreeWithANaiveQueue) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
    FakeClock clock;
    WorkQueue queue({milliseconds(5), seconds(1)}, clock);
    NaiveQueue model;
    for (int step = 0; step < 300; ++step) {
      const std::string name(1, static_cast<char>('a' + pick(5)));
      switch (pick(8)) {
        case 0:
        case 1:
          queue.Add({"", name});
          model.Add(name);
          break;
        case 2: {
          const int delay = pick(50) - 5;
          queue.AddAfter({"", name}, milliseconds(delay));
          model.AddAfter(name, delay);
          break;
        }
        case 3: {
          const int at_most = pick(2) == 0 ? 30 : 1'000'000;
          queue.AddRateLimited({"", name}, Duration{0}, milliseconds(at_most));
          model.AddRateLimited(name, at_most);
          break;
        }
        case 4:
          queue.Forget({"", name});
          model.Forget(name);
          break;
        case 5:
          queue.Done({"", name});
          model.Done(name);
          break;
        case 6: {
          const int advance = pick(40);
          clock.Advance(milliseconds(advance));
          model.now += advance;
          break;
        }
        default: {
          const std::string expected = model.Get();
          // An extra key makes Get return if no other key is ready.
          if (expected == "-") queue.Add({"", "nothing"});
          const std::string got = queue.Get({})->name;
          if (got == "nothing") queue.Done({"", "nothing"});
          ASSERT_EQ(got, expected == "-" ? "nothing" : expected) << "seed " << seed << " step " << step;
        }
      }
      ASSERT_EQ(queue.Failures({"", name}), model.failures.contains(name) ? model.failures[name] : 0);
    }
  }
}

TEST(WorkQueueModelTest, ManyWorkersNeverShareAKeyAndLoseNone) {
  WorkQueue queue;
  constexpr int kKeys = 20, kAdds = 4000;
  std::atomic<int> busy[kKeys] = {};
  std::atomic<int> seen[kKeys] = {};    // the newest value of the key that a worker read
  std::atomic<int> wanted[kKeys] = {};  // written before the key is added
  std::atomic<bool> shared = false;
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 4; ++i) {
      workers.emplace_back([&] {
        while (std::optional<Request> request = queue.Get({})) {
          const int key = std::stoi(request->name);
          if (busy[key].fetch_add(1) != 0) shared = true;
          seen[key] = wanted[key].load();
          busy[key].fetch_sub(1);
          queue.Done(*request);
        }
      });
    }
    for (int i = 1; i <= kAdds; ++i) {
      const int key = (i * 7) % kKeys;
      wanted[key] = i;
      queue.Add({"", std::to_string(key)});
    }
    queue.ShutDown();
  }
  EXPECT_FALSE(shared);
  for (int key = 0; key < kKeys; ++key) EXPECT_EQ(seen[key], wanted[key]) << key;
}

}  // namespace
}  // namespace yad
