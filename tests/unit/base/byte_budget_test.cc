#include "operator/base/byte_budget.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace yad {
namespace {

TEST(ByteBudgetTest, AtMostTheBudgetIsTakenAtAnyTime) {
  ByteBudget budget(100);
  std::atomic<int> taken = 0;
  std::atomic<int> most = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const int bytes = 10 + 10 * t;
        const ByteBudget::Lease lease = budget.Take(static_cast<std::size_t>(bytes), {});
        const int now = taken += bytes;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        std::this_thread::yield();
        taken -= bytes;
      }
    });
  }
  threads.clear();
  EXPECT_LE(most, 100);
  EXPECT_EQ(taken, 0);
}

TEST(ByteBudgetTest, ShareLargerThanTheBudgetTakesTheWholeBudget) {
  ByteBudget budget(100);
  std::optional<std::jthread> other;
  std::atomic<bool> has_it = false;
  {
    const ByteBudget::Lease all = budget.Take(1000, {});
    other.emplace([&] {
      const ByteBudget::Lease one = budget.Take(1, {});
      has_it = true;
    });
    EXPECT_FALSE(has_it);
  }
  other->join();
  EXPECT_TRUE(has_it);
}

TEST(ByteBudgetTest, ReducedShareReturnsTheRestToTheBudget) {
  ByteBudget budget(100);
  ByteBudget::Lease large = budget.Take(100, {});
  large.ShrinkTo(200);
  large.ShrinkTo(30);
  const ByteBudget::Lease rest = budget.Take(70, {});
  std::stop_source stop;
  stop.request_stop();
  { const ByteBudget::Lease none = budget.Take(1, stop.get_token()); }
  large.ShrinkTo(0);
  const ByteBudget::Lease returned = budget.Take(30, {});
}

TEST(ByteBudgetTest, StoppedCallerDoesNotWakeEarlierCallers) {
  ByteBudget budget(100);
  std::optional<ByteBudget::Lease> all(budget.Take(100, {}));
  std::atomic<bool> has_it = false;
  std::jthread first([&] {
    const ByteBudget::Lease share = budget.Take(60, {});
    has_it = true;
  });
  std::stop_source stop;
  stop.request_stop();
  for (int i = 0; i < 1000; ++i) {
    {
      const ByteBudget::Lease none = budget.Take(10, stop.get_token());
    }
    std::this_thread::yield();
  }
  EXPECT_FALSE(has_it);
  all.reset();
  first.join();
  EXPECT_TRUE(has_it);
}

TEST(ByteBudgetTest, LargeShareIsNotStarvedBySmallShares) {
  ByteBudget budget(100);
  std::atomic<bool> done = false;
  std::vector<std::jthread> small;
  for (int t = 0; t < 4; ++t) {
    small.emplace_back([&] {
      while (!done) const ByteBudget::Lease lease = budget.Take(30, {});
    });
  }
  { const ByteBudget::Lease lease = budget.Take(100, {}); }
  done = true;
}

TEST(ByteBudgetTest, StopEndsTheWait) {
  ByteBudget budget(100);
  const ByteBudget::Lease all = budget.Take(100, {});
  std::stop_source stop;
  std::jthread waiting([&] { const ByteBudget::Lease none = budget.Take(50, stop.get_token()); });
  stop.request_stop();
  waiting.join();
}

}  // namespace
}  // namespace yad
