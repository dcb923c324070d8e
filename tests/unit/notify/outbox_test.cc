#include "operator/notify/outbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/support/fake_clock.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Status Unreachable() { return Fail(Reason::kTransport, "connection refused"); }

class OutboxTest : public ::testing::Test {
 protected:
  ~OutboxTest() override { Stop(); }
  void Start() {
    thread_ = std::jthread([this](std::stop_token stop) { outbox_->Run(std::move(stop)); });
  }
  void Stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }
  Outbox& Make(OutboxOptions options = {}) {
    // Counters are never reset, so each test uses its own label.
    options.receiver = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    receiver_ = options.receiver;
    outbox_ = std::make_unique<Outbox>(
        options, [this](const std::string& message, std::stop_token) { return Answer(message); }, clock_);
    return *outbox_;
  }
  Status Answer(const std::string& message) {
    std::lock_guard lock(mutex_);
    posts_.push_back(message);
    if (answers_.empty()) return {};
    const Status answer = answers_.front();
    answers_.pop_front();
    return answer;
  }
  // Blocks until `count` messages have been posted and the outbox waits again.
  std::vector<std::string> Posts(std::size_t count) {
    for (;;) {
      {
        std::lock_guard lock(mutex_);
        if (posts_.size() >= count) break;
      }
      std::this_thread::yield();
    }
    clock_.AwaitWaiters(2);  // The second waiter is the thread that limits the time of a stop.
    std::lock_guard lock(mutex_);
    return posts_;
  }
  double Count(const char* name) const { return metrics::GetCounter(name, "", {{"receiver", receiver_}}).Value(); }
  double Waiting() const { return metrics::GetGauge("notifications_waiting", "", {{"receiver", receiver_}}).Value(); }

  FakeClock clock_;
  std::mutex mutex_;
  std::deque<Status> answers_;
  std::vector<std::string> posts_;
  std::string receiver_;
  std::unique_ptr<Outbox> outbox_;
  std::jthread thread_;
};

TEST_F(OutboxTest, MessagesAreSentInTheirOrder) {
  Make();
  for (const char* message : {"a", "b", "c"}) outbox_->Add(message);
  Start();
  EXPECT_THAT(Posts(3), ElementsAre("a", "b", "c"));
  EXPECT_EQ(Count("notifications_sent_total"), 3);
  EXPECT_EQ(Waiting(), 0);
}

TEST_F(OutboxTest, AMessageIsRetriedWithBackoffUntilItIsAccepted) {
  Make();
  answers_ = {Unreachable(), Unreachable()};
  outbox_->Add("a");
  outbox_->Add("b");
  Start();
  EXPECT_THAT(Posts(1), ElementsAre("a"));
  clock_.Advance(std::chrono::milliseconds(900));
  EXPECT_THAT(Posts(1), ElementsAre("a"));
  clock_.Advance(std::chrono::milliseconds(700));
  EXPECT_THAT(Posts(2), ElementsAre("a", "a"));
  clock_.Advance(std::chrono::seconds(4));
  EXPECT_THAT(Posts(4), ElementsAre("a", "a", "a", "b"));
  EXPECT_EQ(Count("notifications_failed_total"), 2);
  EXPECT_EQ(Count("notifications_dropped_total"), 0);
}

TEST_F(OutboxTest, TheRetryDelayThatTheReceiverRequestsIsHonoured) {
  Make();
  Error busy{Reason::kTooManyRequests, "busy", 429, std::chrono::seconds(30), {}};
  answers_ = {Fail(busy)};
  outbox_->Add("a");
  Start();
  Posts(1);
  clock_.Advance(std::chrono::seconds(29));
  EXPECT_EQ(Posts(1).size(), 1U);
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Posts(2).size(), 2U);
}

TEST_F(OutboxTest, ARejectedMessageIsDroppedAndTheNextOneIsSent) {
  Make();
  answers_ = {Fail(Reason::kInvalid, "no")};
  outbox_->Add("a");
  outbox_->Add("b");
  Start();
  EXPECT_THAT(Posts(2), ElementsAre("a", "b"));
  EXPECT_EQ(Count("notifications_dropped_total"), 1);
}

TEST_F(OutboxTest, OldestMessagesAreDroppedAboveTheLimitOfBytes) {
  OutboxOptions options;
  options.max_bytes = 10;
  Make(options);
  for (const char* message : {"aaaa", "bbbb", "cccc"}) outbox_->Add(message);
  EXPECT_EQ(Waiting(), 2);
  EXPECT_EQ(Count("notifications_dropped_total"), 1);
  Start();
  EXPECT_THAT(Posts(2), ElementsAre("bbbb", "cccc"));
}

TEST_F(OutboxTest, AMessageAboveTheLimitOfBytesIsDroppedAlone) {
  OutboxOptions options;
  options.max_bytes = 10;
  Make(options);
  outbox_->Add("aaaa");
  outbox_->Add("bbbb");
  ::testing::internal::CaptureStderr();
  outbox_->Add("longer than 10");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("a notification is too large"));
  ASSERT_EQ(Waiting(), 2);
  EXPECT_EQ(Count("notifications_dropped_total"), 1);
  outbox_->Add("c");
  Start();
  EXPECT_THAT(Posts(3), ElementsAre("aaaa", "bbbb", "c"));
}

TEST_F(OutboxTest, DropOfAMessageThatIsBeingSentKeepsTheNextOne) {
  OutboxOptions options;
  options.max_bytes = 4;
  outbox_.reset();
  options.receiver = receiver_ = "dropped-in-flight";
  outbox_ = std::make_unique<Outbox>(
      options,
      [this](const std::string& message, std::stop_token) {
        if (message == "aaaa") outbox_->Add("bbbb");
        return Answer(message);
      },
      clock_);
  outbox_->Add("aaaa");
  Start();
  EXPECT_THAT(Posts(2), ElementsAre("aaaa", "bbbb"));
}

TEST_F(OutboxTest, AnUnsentMessageIsDroppedAfterADay) {
  Make();
  answers_ = {Unreachable()};
  outbox_->Add("a");
  Start();
  Posts(1);
  outbox_->Add("b");
  clock_.Advance(std::chrono::hours(25));
  while (Count("notifications_dropped_total") < 2) std::this_thread::yield();
  EXPECT_EQ(Waiting(), 0);
  outbox_->Add("c");
  EXPECT_THAT(Posts(2), ElementsAre("a", "c"));
}

TEST_F(OutboxTest, AStopTriesQueuedMessagesOnceMore) {
  Make();
  answers_ = {Unreachable()};
  outbox_->Add("a");
  outbox_->Add("b");
  Start();
  Posts(1);
  Stop();
  EXPECT_THAT(posts_, ElementsAre("a", "a", "b"));
}

TEST_F(OutboxTest, AStopDoesNotWaitForAReceiverThatFails) {
  Make();
  answers_ = {Unreachable(), Unreachable()};
  outbox_->Add("a");
  outbox_->Add("b");
  Start();
  Posts(1);
  Stop();
  EXPECT_THAT(posts_, ElementsAre("a", "a"));
}

}  // namespace
}  // namespace yad::testing
