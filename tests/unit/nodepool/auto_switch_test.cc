#include "operator/nodepool/auto_switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>

#include "operator/base/synchronized.h"
#include "tests/support/fake_clock.h"
#include "tests/unit/runtime/fake_api_server.h"

namespace yad {
namespace {

using ::testing::ElementsAre;
using testing::Until;

struct Events : EventSink {
  void Record(const ObjectReference& regarding, EventType, const std::string& reason, const std::string&,
              const std::string& note) override {
    recorded.With([&](auto& list) { list.push_back(regarding.key.name + " " + reason + ": " + note); });
  }
  Synchronized<std::vector<std::string>> recorded;
};

class AutoSwitchTest : public ::testing::Test {
 protected:
  ~AutoSwitchTest() override {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }
  void Start() {
    thread_ = std::jthread([this](const std::stop_token& stop) { outcome_ = control_.Run(stop); });
  }
  void Answer(Result<std::string> answer) {
    answer_.With([&](auto& value) { value = std::move(answer); });
  }
  // Advances the clock to the next check, and blocks until the check has run.
  void Pass() {
    const int asked = asked_;
    clock_.AwaitWaiters(1);
    clock_.AdvanceToNextDeadline();
    Until([&] { return asked_ > asked; });
  }
  std::vector<std::string> Recorded() {
    return events_.recorded.With([](const auto& list) { return list; });
  }

  FakeClock clock_;
  Events events_;
  Synchronized<Result<std::string>> answer_{std::string()};
  std::atomic<int> asked_ = 0;
  std::atomic<bool> on_ = false;
  std::atomic<bool> fail_ = false;
  std::atomic<bool> throw_ = false;
  Status outcome_;
  AutoSwitch control_{[this](std::stop_token) {
                        auto answer = answer_.With([](const auto& value) { return value; });
                        ++asked_;
                        if (throw_.exchange(false)) throw std::bad_alloc();
                        return answer;
                      },
                      [this](std::stop_token stop) -> Status {
                        on_ = true;
                        Until([&] { return stop.stop_requested() || fail_; });
                        on_ = false;
                        if (fail_) return Fail(Reason::kUnknown, "it failed");
                        return {};
                      },
                      events_, clock_};
  std::jthread thread_;
};

TEST_F(AutoSwitchTest, ControllerStartsImmediatelyIfNoOtherRuns) {
  Start();
  Until([&] { return on_.load(); });
  EXPECT_THAT(Recorded(), ElementsAre("nodepools.apps.openyurt.io NodePoolControllerOn: this operator manages the "
                                      "NodePools: no other controller does"));
}

TEST_F(AutoSwitchTest, ControllerFollowsLaterChangesOfOtherControllersAndReportsEachOnce) {
  Answer(std::string("another controller does"));
  Start();
  Until([&] { return asked_ >= 1; });
  Pass();
  Pass();
  EXPECT_FALSE(on_);
  Answer(std::string());
  Pass();
  Until([&] { return on_.load(); });
  Answer(std::string("it is back"));
  Pass();
  Until([&] { return !on_.load(); });
  Until([&] { return Recorded().size() == 3; });
  EXPECT_THAT(Recorded(), ElementsAre("nodepools.apps.openyurt.io NodePoolControllerOff: this operator does not manage "
                                      "the NodePools: another controller does",
                                      "nodepools.apps.openyurt.io NodePoolControllerOn: this operator manages the "
                                      "NodePools: no other controller does",
                                      "nodepools.apps.openyurt.io NodePoolControllerOff: this operator does not manage "
                                      "the NodePools: it is back"));
}

TEST_F(AutoSwitchTest, FailedCheckNeitherStartsNorStopsTheController) {
  Answer(Fail(Reason::kTransport, "down"));
  Start();
  Until([&] { return asked_ >= 1; });
  Pass();
  EXPECT_FALSE(on_);
  Answer(std::string());
  Pass();
  Until([&] { return on_.load(); });
  Answer(Fail(Reason::kTransport, "down"));
  Pass();
  Pass();
  EXPECT_TRUE(on_);
  EXPECT_EQ(Recorded().size(), 1U);
}

TEST_F(AutoSwitchTest, FailureOfTheControllerEndsTheSwitch) {
  fail_ = true;
  Start();
  thread_.join();
  ASSERT_FALSE(outcome_);
  EXPECT_EQ(outcome_.error().message, "it failed");
}

TEST_F(AutoSwitchTest, ExceptionOfACheckEndsNeitherTheControllerNorTheChecks) {
  Start();
  Until([&] { return on_.load(); });
  throw_ = true;
  Pass();
  Until([&] { return !throw_; });
  EXPECT_TRUE(on_);
  Answer(std::string("another controller does"));
  Pass();
  Until([&] { return !on_; });
}

}  // namespace
}  // namespace yad
