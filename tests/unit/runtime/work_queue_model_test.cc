// Compares a WorkQueue with a simple queue, and runs it with many workers.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "operator/base/metrics.h"
#include "operator/runtime/work_queue.h"
#include "tests/support/fake_clock.h"

namespace yad {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A simple queue with the same semantics as WorkQueue.
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

TEST(WorkQueueModelTest, RandomOperationsMatchAReferenceQueue) {
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
          // Adds a key if no other key is ready, so that Get returns.
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

TEST(WorkQueueModelTest, ManyWorkersNeverShareAKeyAndLoseNoKey) {
  WorkQueue queue;
  constexpr int kKeys = 20, kAdds = 4000;
  std::atomic<int> busy[kKeys] = {};
  std::atomic<int> seen[kKeys] = {};    // the newest value that a worker has read
  std::atomic<int> wanted[kKeys] = {};  // set before the key is added
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
