#include "operator/notify/receiver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"

namespace yad::testing {
namespace {

using ::testing::HasSubstr;

class ReceiverTest : public ::testing::Test {
 protected:
  Error ErrorAfter(int status, const std::string& body = "no", std::map<std::string, std::string> headers = {}) {
    transport_->OnSend([=](const HttpRequest&) { return HttpResponse{status, headers, body}; });
    const Status sent = receiver_.Post("{}", {});
    EXPECT_FALSE(sent) << status;
    return sent ? Error{} : sent.error();
  }

  FakeClock clock_;
  std::shared_ptr<FakeTransport> transport_ = std::make_shared<FakeTransport>([](const HttpRequest&) {
    return HttpResponse{202, {}, ""};
  });
  Receiver receiver_{std::make_unique<ServiceClient>(transport_, nullptr, "test/1"), "/", "text/x", clock_};
};

TEST_F(ReceiverTest, AMessageIsTheBodyOfAPost) {
  EXPECT_TRUE(receiver_.Post("hello", {}));
  const HttpRequest request = transport_->requests().at(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/");
  EXPECT_EQ(request.body, "hello");
  EXPECT_EQ(request.headers.at("Content-Type"), "text/x");
  EXPECT_EQ(request.headers.at("User-Agent"), "test/1");
  EXPECT_LE(request.timeout, Receiver::kTimeout);
  EXPECT_EQ(request.max_answer, 64U << 10);
}

TEST_F(ReceiverTest, OnlyResponsesAboutTheMessageItselfRejectIt) {
  for (const int status : {400, 413, 415, 422}) EXPECT_EQ(ErrorAfter(status).reason, Reason::kInvalid) << status;
  for (const int status : {301, 401, 403, 404, 409, 410, 429, 500, 503})
    EXPECT_NE(ErrorAfter(status).reason, Reason::kInvalid) << status;
}

TEST_F(ReceiverTest, AnErrorHasTheStatusAndAPartOfTheResponse) {
  const Error error = ErrorAfter(503, std::string(5000, 'x'), {{"retry-after", "7"}});
  EXPECT_THAT(error.message, HasSubstr("503"));
  EXPECT_LE(error.message.size(), 1024U);
  EXPECT_EQ(ErrorAfter(404, "no such path").message, "the server returned HTTP 404: no such path");
  EXPECT_EQ(ErrorAfter(404, "").message, "the server returned HTTP 404");
  EXPECT_EQ(error.retry_after, std::chrono::seconds(7));
}

TEST_F(ReceiverTest, AResponseBeyondTheLimitIsReportedWithTheLimit) {
  const Error error = ErrorAfter(200, std::string(Receiver::kMaxAnswer + 1, 'x'));
  EXPECT_EQ(error.reason, Reason::kTooLarge);
  EXPECT_EQ(error.message, "the server's response is larger than 64 KiB");
}

TEST_F(ReceiverTest, StopIsReportedAsCancelledAndNotAsATimeout) {
  std::stop_source stop;
  stop.request_stop();
  const Status sent = receiver_.Post("{}", stop.get_token());
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().reason, Reason::kCancelled);
}

}  // namespace
}  // namespace yad::testing
