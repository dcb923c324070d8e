#include "operator/client/rate_limiter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/support/fake_clock.h"

namespace yad {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RateLimiterTest, BurstPassesImmediatelyAndTheNextRequestWaitsForItsToken) {
  FakeClock clock;
  RateLimiter limiter(10, 3, clock);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limiter.Acquire({}));
  EXPECT_EQ(clock.waiters(), 0);
  std::jthread waiting([&] { EXPECT_TRUE(limiter.Acquire({})); });
  clock.AwaitWaiters(1);
  EXPECT_EQ(clock.NextDeadline(), milliseconds(100));
  clock.Advance(milliseconds(100));
}

TEST(RateLimiterTest, WaitingThreadsAreSpacedByTheRate) {
  FakeClock clock;
  RateLimiter limiter(10, 1, clock);
  EXPECT_TRUE(limiter.Acquire({}));
  std::atomic<int> passed = 0;
  std::vector<std::jthread> threads;
  for (int i = 1; i <= 3; ++i) {
    threads.emplace_back([&] {
      limiter.Acquire({});
      ++passed;
    });
    clock.AwaitWaiters(i);
  }
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(clock.NextDeadline(), milliseconds(100));
    clock.Advance(milliseconds(100));
    while (passed < i) std::this_thread::yield();
    EXPECT_EQ(passed, i);
  }
}

TEST(RateLimiterTest, TokensDoNotAccumulateBeyondTheBurst) {
  FakeClock clock;
  RateLimiter limiter(10, 2, clock);
  clock.Advance(seconds(3600));
  EXPECT_TRUE(limiter.Acquire({}));
  EXPECT_TRUE(limiter.Acquire({}));
  std::jthread waiting([&] { limiter.Acquire({}); });
  clock.AwaitWaiters(1);
  clock.Advance(milliseconds(100));
}

TEST(RateLimiterTest, StopEndsTheWaitAndReturnsTheToken) {
  FakeClock clock;
  RateLimiter limiter(10, 1, clock);
  EXPECT_TRUE(limiter.Acquire({}));
  std::stop_source stop;
  std::jthread waiting([&] { EXPECT_FALSE(limiter.Acquire(stop.get_token())); });
  clock.AwaitWaiters(1);
  stop.request_stop();
  waiting.join();
  std::jthread next([&] { EXPECT_TRUE(limiter.Acquire({})); });
  clock.AwaitWaiters(1);
  EXPECT_EQ(clock.NextDeadline(), milliseconds(100));
  clock.Advance(milliseconds(100));
}

TEST(RateLimiterTest, TakeReturnsImmediateTimesForTheBurstAndThenTimesAtTheRate) {
  FakeClock clock;
  RateLimiter limiter(5, 10, clock);
  const SteadyTime now = clock.Now();
  EXPECT_EQ(limiter.Take(10), now);
  EXPECT_EQ(limiter.Take(5), now + seconds(1));
  EXPECT_EQ(limiter.Take(5), now + seconds(2));
  clock.Advance(seconds(1));
  EXPECT_EQ(limiter.Take(5), now + seconds(3));
  clock.Advance(seconds(3600));
  EXPECT_EQ(limiter.Take(10), clock.Now());
  EXPECT_GT(limiter.Take(1), clock.Now());
}

TEST(RateLimiterTest, TryTakeTakesATokenByARunningClock) {
  RateLimiter limiter(1, 1, Clock::Real());
  EXPECT_TRUE(limiter.TryTake());
  EXPECT_FALSE(limiter.TryTake());
}

TEST(RateLimiterTest, TryTakeTakesNoTokenOfTheFuture) {
  FakeClock clock;
  RateLimiter limiter(10, 2, clock);
  for (const bool available : {true, true, false, false}) EXPECT_EQ(limiter.TryTake(), available);
  clock.Advance(milliseconds(100));
  for (const bool available : {true, false}) EXPECT_EQ(limiter.TryTake(), available);
}

TEST(RateLimiterTest, NoRateMeansNoLimit) {
  FakeClock clock;
  RateLimiter limiter(0, 0, clock);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(limiter.Acquire({}));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(limiter.Acquire(stop.get_token()));
  EXPECT_EQ(limiter.Take(1000), clock.Now());
}

}  // namespace
}  // namespace yad
