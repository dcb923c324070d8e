#include "operator/client/transport/cpprest_body.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace yad {
namespace {

using Part = Answer::Part;
using Waited = Answer::Waited;
using std::chrono::milliseconds;

constexpr Answer::Limits kLimits = {.most_waiting = 8, .most = 32, .rest = milliseconds(0)};

class AnswerTest : public ::testing::Test {
 protected:
  pplx::task<std::size_t> Put(const std::string& bytes) {
    return answer_->putn_nocopy(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  Waited Wait(Part part) { return answer_->Wait(part, stop_.get_token(), milliseconds(0)); }
  std::string Take() {
    std::string bytes;
    answer_->TakeBytes(bytes);
    return bytes;
  }

  std::stop_source stop_;
  std::shared_ptr<Answer> answer_ = std::make_shared<Answer>(kLimits);
};

TEST_F(AnswerTest, EachPartIsAvailableOnceItHasArrived) {
  EXPECT_EQ(Wait(Part::kHead), Waited::kSilent);
  EXPECT_FALSE(answer_->has_begun());
  answer_->Begin(200, {{"a", "b"}});
  EXPECT_TRUE(answer_->has_begun());
  EXPECT_EQ(Wait(Part::kHead), Waited::kThere);
  EXPECT_EQ(Wait(Part::kSomeBytes), Waited::kSilent);
  EXPECT_EQ(Put("abc").get(), 3u);
  EXPECT_EQ(Wait(Part::kSomeBytes), Waited::kThere);
  EXPECT_EQ(Wait(Part::kAll), Waited::kSilent);
  answer_->End(nullptr);
  EXPECT_EQ(Wait(Part::kAll), Waited::kThere);
  const HttpResponse head = answer_->TakeHead();
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.at("a"), "b");
  EXPECT_EQ(Take(), "abc");
  EXPECT_EQ(Wait(Part::kSomeBytes), Waited::kThere) << "the body has ended";
  EXPECT_EQ(Take(), "");
}

TEST_F(AnswerTest, BytesAreAppended) {
  std::string bytes = "ab";
  (void)Put("cd");
  (void)Put("ef");
  EXPECT_TRUE(answer_->TakeBytes(bytes));
  EXPECT_EQ(bytes, "abcdef");
  EXPECT_FALSE(answer_->TakeBytes(bytes));
  EXPECT_EQ(bytes, "abcdef");
}

TEST_F(AnswerTest, BytesBeforeAFailureAreReadBeforeTheError) {
  answer_->Begin(200, {});
  (void)Put("abc");
  answer_->End(std::make_exception_ptr(std::runtime_error("broke")));
  EXPECT_EQ(Wait(Part::kHead), Waited::kThere);
  EXPECT_EQ(Wait(Part::kSomeBytes), Waited::kThere);
  EXPECT_EQ(Wait(Part::kAll), Waited::kFailed);
  EXPECT_EQ(Take(), "abc");
  EXPECT_EQ(Wait(Part::kSomeBytes), Waited::kFailed);
  EXPECT_NE(answer_->failure(), nullptr);
}

TEST_F(AnswerTest, StopEndsTheWait) {
  stop_.request_stop();
  EXPECT_EQ(answer_->Wait(Part::kHead, stop_.get_token(), std::chrono::hours(1)), Waited::kStopped);
}

TEST_F(AnswerTest, UnreadResponseBlocksTheSender) {
  EXPECT_TRUE(Put("1234567").is_done());
  const pplx::task<std::size_t> full = Put("89abc");
  EXPECT_FALSE(full.is_done());
  EXPECT_EQ(Take(), "123456789abc");
  EXPECT_EQ(full.get(), 5u);
  EXPECT_TRUE(Put("1").is_done());
}

// For an hour after its last read (Limits::rest), small pieces do not wake the reader. A test that waits for this hour
// hangs.
class RestTest : public AnswerTest {
 protected:
  RestTest() {
    answer_ = std::make_shared<Answer>(Answer::Limits{.most_waiting = 8, .most = 32, .rest = std::chrono::hours(1)});
    answer_->Begin(200, {});
    (void)Put("a");
  }
  Waited WaitLong() { return answer_->Wait(Part::kSomeBytes, stop_.get_token(), std::chrono::hours(1)); }
};

TEST_F(RestTest, SinglePieceIsAvailableImmediately) {
  EXPECT_EQ(WaitLong(), Waited::kThere);
  EXPECT_EQ(Take(), "a");
}

TEST_F(RestTest, SmallPiecesDuringTheRestIntervalDoNotWakeTheReaderUnlessTheBodyEnds) {
  (void)Take();
  (void)Put("b");
  std::jthread stopper([&] { stop_.request_stop(); });
  EXPECT_EQ(WaitLong(), Waited::kThere) << "a stop must not discard bytes that have arrived";
  EXPECT_EQ(Take(), "b");

  stop_ = std::stop_source();
  (void)Put("c");
  std::jthread sender([&] {
    std::this_thread::sleep_for(milliseconds(20));
    (void)Put("defghijk");
  });
  EXPECT_EQ(WaitLong(), Waited::kThere);
  EXPECT_EQ(Take(), "cdefghijk");

  (void)Put("l");
  std::jthread end([&] { answer_->End(nullptr); });
  EXPECT_EQ(WaitLong(), Waited::kThere);
  EXPECT_EQ(Take(), "l");
}

TEST_F(RestTest, PiecesThatArriveDuringTheRestIntervalAreAvailableWhenItEnds) {
  answer_ = std::make_shared<Answer>(Answer::Limits{.most_waiting = 8, .most = 32, .rest = milliseconds(1)});
  (void)Put("a");
  (void)Take();
  (void)Put("b");
  EXPECT_EQ(WaitLong(), Waited::kThere);
  EXPECT_EQ(Take(), "b");
}

TEST_F(AnswerTest, ReaderOfTheWholeResponseUnblocksTheSenderUpToTheLimit) {
  const pplx::task<std::size_t> full = Put("123456789");
  EXPECT_FALSE(full.is_done());
  EXPECT_EQ(Wait(Part::kAll), Waited::kSilent);
  EXPECT_EQ(full.get(), 9u);
  answer_->End(nullptr);
  EXPECT_EQ(Wait(Part::kAll), Waited::kThere);
  EXPECT_THROW(Put(std::string(kLimits.most - 8, 'x')).get(), std::length_error);
  EXPECT_EQ(Take(), "123456789");
}

TEST_F(AnswerTest, SenderToAnAbandonedResponseIsUnblockedAndThenFails) {
  const pplx::task<std::size_t> full = Put("123456789");
  EXPECT_FALSE(full.is_done());
  answer_->Abandon();
  EXPECT_EQ(full.get(), 9u);
  EXPECT_THROW(Put("x").get(), std::length_error);
}

TEST(RequestBodyTest, BodyCanBeReadInPiecesAndASecondTime) {
  RequestBody body("abcdef");
  std::uint8_t to[4];
  const auto read = [&](std::size_t count) {
    return std::string(reinterpret_cast<const char*>(to), body.getn(to, count).get());
  };
  EXPECT_EQ(read(4), "abcd");
  EXPECT_EQ(read(4), "ef");
  EXPECT_EQ(read(4), "");
  EXPECT_TRUE(body.can_seek());
  EXPECT_EQ(std::streamoff(body.seekpos(0, std::ios_base::in)), 0);
  EXPECT_EQ(read(3), "abc");
  EXPECT_EQ(std::streamoff(body.getpos(std::ios_base::in)), 3);
}

TEST(BlockBufferTest, UnusedStreamOperationsAreRejected) {
  RequestBody body("a");
  EXPECT_THROW((void)body.sbumpc(), std::logic_error);
  EXPECT_THROW((void)body.putc('a'), std::logic_error);
}

}  // namespace
}  // namespace yad
