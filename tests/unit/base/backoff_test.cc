#include "operator/base/backoff.h"

#include <gtest/gtest.h>

namespace yad {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(BackoffTest, DelayDoublesUpToTheCap) {
  Backoff backoff({milliseconds(100), milliseconds(500), 0.0}, 1);
  for (int expected : {100, 200, 400, 500, 500}) EXPECT_EQ(backoff.Next(), milliseconds(expected));
}

TEST(BackoffTest, ResetReturnsToTheFirstDelay) {
  Backoff backoff({milliseconds(100), seconds(5), 0.0}, 1);
  backoff.Next();
  backoff.Next();
  backoff.Reset();
  EXPECT_EQ(backoff.Next(), milliseconds(100));
}

TEST(BackoffTest, JitterOnlyLengthensTheDelayWithinItsBounds) {
  Backoff backoff({milliseconds(100), milliseconds(100), 0.5}, 7);
  Duration least = seconds(1), most{0};
  for (int i = 0; i < 1000; ++i) {
    const Duration delay = backoff.Next();
    least = std::min(least, delay);
    most = std::max(most, delay);
  }
  EXPECT_GE(least, milliseconds(100));
  EXPECT_LE(most, milliseconds(150));
  EXPECT_GT(most - least, milliseconds(40));
}

TEST(BackoffTest, AnInitialDelayBeyondTheCapIsCapped) {
  Backoff backoff({seconds(9), seconds(2), 0.0}, 1);
  EXPECT_EQ(backoff.Next(), seconds(2));
}

TEST(BackoffTest, DelayDoesNotOverflowAfterManyFailures) {
  Backoff backoff({seconds(1), std::chrono::hours(24 * 365 * 100), 0.0}, 1);
  for (int i = 0; i < 100; ++i) EXPECT_GT(backoff.Next(), Duration(0));
}

}  // namespace
}  // namespace yad
