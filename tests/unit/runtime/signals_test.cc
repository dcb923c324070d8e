#include "operator/runtime/signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

namespace yad {
namespace {

// Runs in child processes, because a signal is delivered to the whole process.
TEST(SignalsDeathTest, FirstSignalRequestsAStop) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::stop_source source;
        StopOnSignals(source);
        kill(getpid(), SIGTERM);
        while (!source.stop_requested()) std::this_thread::yield();
        _exit(7);
      },
      ::testing::ExitedWithCode(7), "stopping on a signal");
}

TEST(SignalsDeathTest, SecondSignalEndsTheProcessImmediately) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::stop_source source;
        StopOnSignals(source);
        kill(getpid(), SIGTERM);
        while (!source.stop_requested()) std::this_thread::yield();
        kill(getpid(), SIGINT);
        for (;;) pause();
      },
      ::testing::ExitedWithCode(128 + SIGINT), "");
}

}  // namespace
}  // namespace yad
