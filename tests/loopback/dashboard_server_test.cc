// The server of the dashboard, with real sockets.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "plugin/dashboard/http_server.h"
#include "tests/support/https_client.h"

namespace yad {
namespace {

using testing::HttpsAnswer;
using testing::HttpsClient;

// A source whose events the test adds.
class Source {
 public:
  void Add(const std::string& text) {
    std::lock_guard lock(mutex_);
    text_ += text;
  }
  std::string Take() {
    std::lock_guard lock(mutex_);
    ++taken_;
    return std::exchange(text_, "");
  }
  int taken() {
    std::lock_guard lock(mutex_);
    return taken_;
  }

 private:
  std::mutex mutex_;
  std::string text_;
  int taken_ = 0;
};

struct TestFeed : EventFeed {
  explicit TestFeed(std::shared_ptr<Source> the_source) : source(std::move(the_source)) {}
  std::string Next() override { return source->Take(); }
  std::shared_ptr<Source> source;
};

class DashboardServerTest : public ::testing::Test {
 protected:
  void Start(HttpServerOptions options = {}) {
    server_ = std::make_unique<HttpServer>(options, [this](const HttpCall& call) { return Handle(call); });
    const Status listening = server_->Listen();
    ASSERT_TRUE(listening) << listening.error().ToString();
    thread_ = std::jthread([this](const std::stop_token& stop) { EXPECT_TRUE(server_->Run(stop)); });
  }
  HttpReply Handle(const HttpCall& call) {
    if (call.target == "/events") return {200, "text/event-stream", "", std::make_unique<TestFeed>(source_)};
    if (call.target == "/throws") throw std::runtime_error("oh");
    if (call.target == "/slow") std::this_thread::sleep_for(std::chrono::seconds(1));
    std::string text = call.method + " " + call.target + " " + call.body;
    for (const std::string& host : call.hosts) text += " host=" + host;
    for (const std::string& origin : call.origins) text += " origin=" + origin;
    return {200, "text/plain", text, nullptr};
  }
  HttpsAnswer Ask(const std::string& bytes) {
    HttpsClient client(server_->port());
    client.Send(bytes);
    return client.Read();
  }
  // Blocks until the server has read from the source `times` times.
  void AwaitTaken(int times) {
    for (int i = 0; i < 1000 && source_->taken() < times; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_GE(source_->taken(), times);
  }

  const std::shared_ptr<Source> source_ = std::make_shared<Source>();
  std::unique_ptr<HttpServer> server_;
  std::jthread thread_;
};

TEST_F(DashboardServerTest, HandlerGetsHostAndOriginAndItsResponseHasTheFixedHeaders) {
  Start();
  const HttpsAnswer answer =
      Ask("POST /a?b=1 HTTP/1.1\r\nHost: x\r\nHost: y\r\nOrigin: http://z\r\nContent-Type: application/json\r\n"
          "Content-Length: 2\r\n\r\n{}");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "POST /a?b=1 {} host=x host=y origin=http://z");
  EXPECT_EQ(answer.headers.at("x-content-type-options"), "nosniff");
  EXPECT_EQ(answer.headers.at("referrer-policy"), "no-referrer");
  EXPECT_EQ(answer.headers.at("cache-control"), "no-store");
  EXPECT_EQ(answer.headers.at("cross-origin-resource-policy"), "same-origin");
  EXPECT_EQ(answer.headers.at("cross-origin-opener-policy"), "same-origin");
  EXPECT_TRUE(answer.headers.at("content-security-policy").starts_with("default-src 'none'; script-src 'self';"));
  EXPECT_FALSE(answer.headers.contains("access-control-allow-origin"));
}

TEST_F(DashboardServerTest, ResponsesToInvalidRequestsHaveTheFixedHeaders) {
  Start();
  for (const auto& [bytes, status] : std::vector<std::pair<std::string, int>>{
           {"nonsense\r\n\r\n", 400},
           {"GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(9 * 1024, 'x') + "\r\n\r\n", 431},
           {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 17000\r\n\r\n" + std::string(17000, 'x'), 413},
           {"GET /throws HTTP/1.1\r\nHost: x\r\n\r\n", 500}}) {
    const HttpsAnswer answer = Ask(bytes);
    EXPECT_EQ(answer.status, status) << bytes.substr(0, 40);
    EXPECT_TRUE(answer.headers.contains("content-security-policy"));
  }
}

TEST_F(DashboardServerTest, ClientThatSendsNothingOrSendsTooSlowlyIsDisconnected) {
  HttpServerOptions options;
  options.read_timeout = std::chrono::milliseconds(200);
  Start(options);
  HttpsClient silent(server_->port());
  EXPECT_TRUE(silent.AtEnd());
  HttpsClient slow(server_->port());
  for (int i = 0; i < 10; ++i) {
    if (!slow.Send(i == 0 ? "GET / HTTP/1.1\r\n" : "X: y\r\n")) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(slow.AtEnd());
}

TEST_F(DashboardServerTest, ConnectionBeyondTheLimitClosesTheOldestIdleOne) {
  HttpServerOptions options;
  options.max_connections = 2;
  Start(options);
  HttpsClient stream(server_->port());
  stream.Send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
  AwaitTaken(1);
  HttpsClient idle(server_->port());
  EXPECT_EQ(idle.Ask("GET /a HTTP/1.1").status, 200);
  HttpsClient third(server_->port());
  EXPECT_EQ(third.Ask("GET /a HTTP/1.1").status, 200);
  EXPECT_TRUE(idle.AtEnd());

  third.Send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
  AwaitTaken(2);
  HttpsClient rejected(server_->port());  // Both open connections are event streams, which the server does not close.
  EXPECT_TRUE(rejected.AtEnd());
}

TEST_F(DashboardServerTest, StreamGetsNewEventsAfterWake) {
  HttpServerOptions options;
  options.heartbeat = std::chrono::milliseconds(100);
  Start(options);
  source_->Add("event: a\ndata: 1\n\n");
  HttpsClient client(server_->port());
  client.Send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
  AwaitTaken(2);
  source_->Add("event: a\ndata: 2\n\n");
  server_->Wake();
  AwaitTaken(4);
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  thread_.request_stop();
  thread_.join();
  server_.reset();
  const HttpsAnswer answer = client.Read();
  EXPECT_EQ(answer.headers.at("content-type"), "text/event-stream");
  EXPECT_TRUE(answer.headers.contains("content-security-policy"));
  std::string body;
  for (std::string part; !(part = client.ReadPart()).empty();) body += part;
  EXPECT_TRUE(body.starts_with("event: a\ndata: 1\n\nevent: a\ndata: 2\n\n: \n\n")) << body;
}

TEST_F(DashboardServerTest, SlowBrowserIsDisconnectedAndItsEventsAreNotQueued) {
  HttpServerOptions options;
  options.write_timeout = std::chrono::milliseconds(500);
  Start(options);
  source_->Add(std::string(64 * 1024 * 1024, ' '));  // more than the kernel can buffer
  HttpsClient client(server_->port());
  client.Send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
  AwaitTaken(1);
  for (int i = 0; i < 20; ++i) server_->Wake();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(source_->taken(), 1);  // The server waits until the client has read the first events.
  for (int i = 0; i < 500 && source_.use_count() > 1; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(source_.use_count(), 1);  // The server has destroyed the feed.
}

TEST_F(DashboardServerTest, BrowserThatReadsSlowlyGetsTheWholeResponse) {
  HttpServerOptions options;
  options.write_timeout = std::chrono::milliseconds(500);
  Start(options);
  constexpr std::size_t kLength = 64 * 1024 * 1024;  // more than the kernel can buffer
  source_->Add(std::string(kLength, 'x'));
  HttpsClient client(server_->port());
  client.Send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_EQ(client.Read().status, 200);
  const auto begin = std::chrono::steady_clock::now();
  std::size_t length = 0, paused = 0;
  for (std::string part; length < kLength && !(part = client.ReadPart()).empty();) {
    length += part.size();
    if (length - paused < kLength / 20) continue;
    paused = length;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(length, kLength);
  EXPECT_GT(std::chrono::steady_clock::now() - begin, options.write_timeout);
}

TEST_F(DashboardServerTest, FeedEndsWhenItsClientDisconnects) {
  Start();
  {
    HttpsClient client(server_->port());
    client.Send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
    AwaitTaken(1);
    EXPECT_GT(source_.use_count(), 1);
  }
  for (int i = 0; i < 500 && source_.use_count() > 1; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(source_.use_count(), 1);
}

TEST_F(DashboardServerTest, SlowHandlersDoNotDelayOtherRequests) {
  Start();
  std::atomic<int> slow = 0;
  std::vector<std::jthread> askers;
  const int count = 6;  // a browser opens at most six connections to a server
  for (int i = 0; i < count; ++i) {
    askers.emplace_back([&] {
      if (Ask("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n").status == 200) ++slow;
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // until the handlers have begun
  EXPECT_EQ(Ask("GET /a HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
  EXPECT_EQ(slow, 0);
  askers.clear();
  EXPECT_EQ(slow, count);
}

}  // namespace
}  // namespace yad
