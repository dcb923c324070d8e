#include "operator/base/clock.h"

#include <gtest/gtest.h>

#include <thread>

namespace yad {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

WallTime At(std::int64_t unix_seconds, nanoseconds more = nanoseconds(0)) {
  return WallTime(seconds(unix_seconds)) + more;
}

TEST(ClockTest, TimesAreWrittenAsKubernetesWritesThem) {
  const WallTime time = At(1795170643, microseconds(123456));
  EXPECT_EQ(FormatTime(time), "2026-11-20T10:30:43Z");
  EXPECT_EQ(FormatMicroTime(time), "2026-11-20T10:30:43.123456Z");
  EXPECT_EQ(FormatMicroTime(At(1795170643)), "2026-11-20T10:30:43.000000Z");
  EXPECT_EQ(FormatTime(At(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatMicroTime(At(-1, microseconds(5))), "1969-12-31T23:59:59.000005Z");
}

TEST(ClockTest, TimesAreReadWithFractionAndOffset) {
  struct Case {
    const char* text;
    WallTime expected;
  };
  for (const Case& one : {
           Case{"2026-11-20T10:30:43Z", At(1795170643)},
           Case{"2026-11-20T10:30:43.123456Z", At(1795170643, microseconds(123456))},
           Case{"2026-11-20T10:30:43.5Z", At(1795170643, std::chrono::milliseconds(500))},
           Case{"2026-11-20T10:30:43.123456789987Z", At(1795170643, nanoseconds(123456789))},
           Case{"2026-11-20T12:30:43+02:00", At(1795170643)},
           Case{"2026-11-20T05:00:43-05:30", At(1795170643)},
           Case{"2024-02-29T00:00:00Z", At(1709164800)},
           Case{"1969-12-31T23:59:59Z", At(-1)},
       }) {
    EXPECT_EQ(ParseTime(one.text), one.expected) << one.text;
  }
}

TEST(ClockTest, InvalidTimesAreReadAsTheEpoch) {
  for (const char* text :
       {"", "null", "2026", "2026-11-20", "2026-11-20T10:30:43", "2026-11-20 10:30:43Z", "2026-11-20T10:30:43.Z",
        "2026-11-20T10:30:43Zx", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-11-20T24:00:00Z",
        "2026-11-20T10:60:00Z", "2026-11-20T10:30:60Z", "2026-11-20T10:30:43+2:00", "2026-11-20T10:30:43+02",
        "2026-11-20T10:30:43+24:00", "-026-11-20T10:30:43Z", "9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z"}) {
    EXPECT_EQ(ParseTime(text), WallTime{}) << text;
  }
}

TEST(ClockTest, WrittenTimesAreReadBack) {
  for (std::int64_t at : {-86401LL, 0LL, 951782400LL, 1795170643LL, 4102444800LL}) {
    EXPECT_EQ(ParseTime(FormatMicroTime(At(at, microseconds(1)))), At(at, microseconds(1)));
  }
}

TEST(ClockTest, AStoppedSleepEndsImmediately) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(Clock::Real().Sleep(Duration::max(), stop.get_token()));
}

TEST(ClockTest, ACompletedSleepReturnsTrue) { EXPECT_TRUE(Clock::Real().Sleep(Duration(0), std::stop_token())); }

TEST(ClockTest, WaitUntilEndsWhenTheConditionHolds) {
  std::mutex mutex;
  std::condition_variable_any cv;
  bool ready = false;
  std::jthread other([&] {
    std::lock_guard lock(mutex);
    ready = true;
    cv.notify_all();
  });
  std::unique_lock lock(mutex);
  EXPECT_TRUE(Clock::Real().WaitUntil(cv, lock, std::stop_token(), SteadyTime::max(), [&] { return ready; }));
  EXPECT_TRUE(lock.owns_lock());
}

TEST(ClockTest, WaitUntilWithAPassedDeadlineReturnsWhetherTheConditionHolds) {
  std::mutex mutex;
  std::condition_variable_any cv;
  std::unique_lock lock(mutex);
  const SteadyTime past = Clock::Real().Now() - seconds(1);
  EXPECT_FALSE(Clock::Real().WaitUntil(cv, lock, std::stop_token(), past, [] { return false; }));
  EXPECT_TRUE(Clock::Real().WaitUntil(cv, lock, std::stop_token(), past, [] { return true; }));
}

}  // namespace
}  // namespace yad
