#include "operator/base/retry_pace.h"

#include <gtest/gtest.h>

namespace yad::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

TEST(RetryPaceTest, FiveTriesAreImmediateAndEachLaterTryWaitsTwiceAsLong) {
  RetryPace pace;
  SteadyTime now;
  for (int i = 1; i <= 5; ++i) {
    EXPECT_EQ(pace.Wait("a", now), Duration::zero()) << i;
    EXPECT_EQ(pace.Tried("a", now), i == 5) << i;
    now += seconds(i < 5 ? 1 : 0);
  }
  EXPECT_EQ(pace.Wait("b", now), Duration::zero());
  for (const int expected : {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300}) {
    ASSERT_EQ(pace.Wait("a", now), seconds(expected));
    now += seconds(expected);
    ASSERT_EQ(pace.Wait("a", now), Duration::zero());
    EXPECT_FALSE(pace.Tried("a", now));
  }
}

TEST(RetryPaceTest, PaceIsResetIfNoTryFollowsWithinAMinuteOfTheDelay) {
  RetryPace pace;
  SteadyTime now;
  for (int i = 0; i < 7; ++i) pace.Tried("a", now);  // the next wait is 4 s
  now += seconds(63);
  pace.Tried("a", now);
  EXPECT_EQ(pace.Wait("a", now), seconds(8)) << "the delay keeps doubling";
  now += seconds(8) + minutes(1);
  for (int i = 1; i <= 5; ++i) EXPECT_EQ(pace.Tried("a", now), i == 5);
}

TEST(RetryPaceTest, PaceIsKeptForTheGivenTime) {
  RetryPace pace(/*at_once=*/1, /*quiet=*/minutes(60));
  SteadyTime now;
  pace.Tried("a", now);
  now += minutes(60);
  pace.Tried("a", now);
  EXPECT_EQ(pace.Wait("a", now), seconds(2));
}

}  // namespace
}  // namespace yad::testing
