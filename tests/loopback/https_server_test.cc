#include "webhook/https_server.h"

#include <gmock/gmock.h>
#include <openssl/ssl.h>

#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/eventually.h"
#include "tests/support/https_client.h"
#include "tests/support/test_pki.h"

namespace yad {
namespace {

using testing::Eventually;
using testing::HttpsAnswer;
using testing::HttpsClient;

constexpr std::chrono::milliseconds kShort{100};

// What a test does not speak of takes for ever, but for the end of the server.
HttpsServerOptions Patient() {
  HttpsServerOptions options;
  options.bind = "127.0.0.1:0";
  options.handshake_timeout = options.idle_timeout = options.read_timeout = options.drain_timeout =
      std::chrono::hours(1);
  options.linger = {};
  return options;
}

class HttpsServerTest : public ::testing::Test {
 protected:
  void SetUp() override { Load("leaf"); }
  void TearDown() override { Release(); }

  void Load(const std::string& name) {
    const auto pair = ca_.Issue({.common_name = name});
    ASSERT_TRUE(certificate_->Load(pair.cert_pem, pair.key_pem));
  }
  void Start(HttpsServerOptions options = Patient()) {
    server_.emplace(std::move(options), certificate_, [this](const HttpsCall& call) { return Handle(call); });
    const Status listening = server_->Listen();
    ASSERT_TRUE(listening) << listening.error().ToString();
    thread_ = std::jthread([this](std::stop_token stop) { EXPECT_TRUE(server_->Run(stop)); });
  }
  void Stop() {
    thread_.request_stop();
    thread_.join();
  }
  HttpsClient Connect(int tls_version = 0) { return HttpsClient(server_->port(), ca_.cert_pem(), tls_version); }
  // One request on a connection of its own.
  HttpsAnswer Ask(const std::string& first_line = "POST /echo HTTP/1.1", const std::string& body = "hello") {
    return Connect().Ask(first_line, body);
  }
  void AwaitHandlers(int count) {
    Eventually("handlers are at work", [&] { return in_handler_ == count; });
  }

  void Release() {
    released_ = true;
    released_.notify_all();
  }

  HttpsReply Handle(const HttpsCall& call) {
    {
      std::lock_guard lock(mutex_);
      calls_.push_back(call);
    }
    if (call.target == "/throw") throw std::runtime_error("oh");
    if (call.target == "/throw-anything") throw 1;
    ++in_handler_;
    if (call.target == "/wait") released_.wait(false);
    if (call.target == "/overlap") {
      most_ = std::max<int>(most_, in_handler_);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    --in_handler_;
    return {200, "text/plain", call.body.size() < 100 ? call.body : std::to_string(call.body.size())};
  }

  const testing::TestCa ca_;
  const std::shared_ptr<ServingCertificate> certificate_ = std::make_shared<ServingCertificate>();
  std::mutex mutex_;
  std::vector<HttpsCall> calls_;
  std::atomic<int> in_handler_{0};
  std::atomic<int> most_{0};
  std::atomic<bool> released_{false};  // what /wait waits for
  std::optional<HttpsServer> server_;
  std::jthread thread_;
};

TEST_F(HttpsServerTest, AnswersInTls12And13AndKeepsTheConnection) {
  Start();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    HttpsClient client = Connect(version);
    ASSERT_TRUE(client.connected());
    for (int i = 0; i < 2; ++i) {
      const HttpsAnswer answer =
          client.Ask("POST /echo?timeout=10s HTTP/1.1", "hello", "Content-Type: application/json\r\n");
      EXPECT_EQ(answer.status, 200);
      EXPECT_EQ(answer.body, "hello");
      EXPECT_EQ(answer.headers.at("content-type"), "text/plain");
      EXPECT_FALSE(answer.headers.contains("connection"));
      EXPECT_EQ(calls_.back().method, "POST");
      EXPECT_EQ(calls_.back().target, "/echo?timeout=10s");
      EXPECT_EQ(calls_.back().content_type, "application/json");
    }
  }
}

TEST_F(HttpsServerTest, Tls11AndPlainHttpAreRefused) {
  Start();
  EXPECT_FALSE(Connect(TLS1_1_VERSION).connected());
  HttpsClient plain(server_->port());
  plain.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(plain.Read().status, 0);
  EXPECT_EQ(Ask().status, 200);
}

TEST_F(HttpsServerTest, NobodyNegotiatesAnew) {
  Start();
  HttpsClient client = Connect(TLS1_2_VERSION);
  EXPECT_EQ(client.Ask("POST /echo HTTP/1.1", "hello").status, 200);
  EXPECT_FALSE(client.Renegotiate()) << "handshakes cost a server more than its clients";
  EXPECT_EQ(Ask().status, 200);
}

TEST_F(HttpsServerTest, RequestsSentAllAtOnceAreAnsweredInTheirOrder) {
  Start();
  HttpsClient client = Connect();
  std::string requests;
  for (const std::string body : {"one", "two", "three"}) {
    requests += "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  client.Send(requests);
  EXPECT_EQ(client.Read().body, "one");
  EXPECT_EQ(client.Read().body, "two");
  EXPECT_EQ(client.Read().body, "three");
}

TEST_F(HttpsServerTest, BodyOfEightMebibytesIsServedAndOneOfTenMegabytesIsNot) {
  Start();
  EXPECT_EQ(Ask("POST /echo HTTP/1.1", std::string(8 << 20, 'x')).body, std::to_string(8 << 20));
  const HttpsAnswer refused = Ask("POST /echo HTTP/1.1", std::string(10'000'000, 'x'));
  EXPECT_EQ(refused.status, 413);
  EXPECT_EQ(refused.body, "the request is larger than 8388608 bytes\n");
  EXPECT_EQ(refused.headers.at("connection"), "close");
  EXPECT_EQ(Ask().status, 200);
}

TEST_F(HttpsServerTest, BodyInChunksHasTheSameLimit) {
  Start();
  std::string chunk = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
  const std::string head = "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  HttpsClient fits = Connect();
  fits.Send(head);
  for (int i = 0; i < 128; ++i) fits.Send(chunk);
  fits.Send("0\r\n\r\n");
  EXPECT_EQ(fits.Read().body, std::to_string(8 << 20));
  HttpsClient large = Connect();
  large.Send(head);
  for (int i = 0; i < 153; ++i) large.Send(chunk);
  large.Send("0\r\n\r\n");
  EXPECT_EQ(large.Read().status, 413);
  EXPECT_EQ(fits.Ask("POST /echo HTTP/1.1", "again").body, "again");
}

TEST_F(HttpsServerTest, BodiesOfAllConnectionsTogetherAreBounded) {
  HttpsServerOptions options = Patient();
  options.max_bodies = 100;
  Start(options);
  // Whoever only announces a body gets no room for it.
  HttpsClient slow = Connect();
  slow.Send("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 90\r\n\r\n");
  EXPECT_EQ(slow.Read().status, 100);
  EXPECT_EQ(Ask("POST /echo HTTP/1.1", std::string(80, 'y')).status, 200);
  slow.Send(std::string(60, 'x'));
  Eventually("the others find no room", [&] {
    const HttpsAnswer answer = Ask("POST /echo HTTP/1.1", std::string(80, 'y'));
    return answer.status == 503 && answer.body == "too many large requests at once\n";
  });
  EXPECT_EQ(Ask("POST /echo HTTP/1.1", "small").body, "small");
  slow.Send(std::string(30, 'x'));
  EXPECT_EQ(slow.Read().body, std::string(90, 'x'));
  EXPECT_EQ(Ask("POST /echo HTTP/1.1", std::string(80, 'y')).status, 200);
  // Nor does one that ends in the middle keep what it had.
  {
    HttpsClient gone = Connect();
    gone.Send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 90\r\n\r\n" + std::string(60, 'x'));
  }
  Eventually("there is room again", [&] { return Ask("POST /echo HTTP/1.1", std::string(80, 'y')).status == 200; });
}

TEST_F(HttpsServerTest, LargeBodiesAreHandledOneAtATime) {
  HttpsServerOptions options = Patient();
  options.large_body = 1000;
  Start(options);
  std::vector<std::future<HttpsAnswer>> answers;
  for (int i = 0; i < 6; ++i) {
    answers.push_back(
        std::async(std::launch::async, [this] { return Ask("POST /overlap HTTP/1.1", std::string(1001, 'x')); }));
  }
  for (auto& answer : answers) EXPECT_EQ(answer.get().body, "1001");
  EXPECT_EQ(most_, 1);
}

TEST_F(HttpsServerTest, ClientThatSaysNothingIsCutOffBeforeItsHandshake) {
  HttpsServerOptions options = Patient();
  options.handshake_timeout = kShort;
  Start(options);
  EXPECT_TRUE(HttpsClient(server_->port()).AtEnd());
  EXPECT_EQ(Ask().status, 200);
}

TEST_F(HttpsServerTest, ClientThatAsksNothingIsCutOff) {
  HttpsServerOptions options = Patient();
  options.idle_timeout = kShort;
  Start(options);
  EXPECT_TRUE(Connect().AtEnd());
  HttpsClient asked = Connect();
  EXPECT_EQ(asked.Ask("POST /echo HTTP/1.1", "hello").status, 200);
  EXPECT_TRUE(asked.AtEnd());
}

TEST_F(HttpsServerTest, RequestThatDoesNotEndIsCutOffHoweverOftenAByteOfItComes) {
  HttpsServerOptions options = Patient();
  options.read_timeout = kShort;
  Start(options);
  const std::string head = "POST /echo HTTP/1.1\r\nHost: x\r\n";
  for (const std::string& begin :
       {head + "X: ", head + "Content-Length: 1000000\r\n\r\n", head + "Transfer-Encoding: chunked\r\n\r\n10000\r\n"}) {
    HttpsClient slow = Connect();
    slow.Send(begin);
    while (slow.Send("x")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(slow.AtEnd());
  }
  EXPECT_EQ(Ask().status, 200);
}

TEST_F(HttpsServerTest, WhatIsNoRequestGetsAnAnswerAllTheSame) {
  Start();
  const auto sent = [this](const std::string& bytes) {
    HttpsClient client = Connect();
    client.Send(bytes);
    return client.Read().status;
  };
  EXPECT_EQ(sent("garbage\r\n\r\n"), 400);
  EXPECT_EQ(sent("\x01\x02\x03\xff\xfe"), 400);
  EXPECT_EQ(sent("POST / HTTP/1.1\r\nContent-Length: nine\r\n\r\n"), 400);
  EXPECT_EQ(sent("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), 400);
  EXPECT_EQ(sent("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello"), 400);
  EXPECT_EQ(sent("POST / HTTP/1.1\r\nX: " + std::string(20'000, 'x')), 431);
  // Without an end, as far as the parser can see.
  EXPECT_EQ(sent("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;x=" + std::string(200'000, 'x')), 400);
  EXPECT_EQ(sent("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: " + std::string(200'000, 'x')), 400);
  EXPECT_TRUE(calls_.empty());
  EXPECT_EQ(Ask().status, 200);
}

TEST_F(HttpsServerTest, Http10IsAnsweredAndClosedUnlessItAsksForMore) {
  Start();
  HttpsClient once = Connect();
  const HttpsAnswer last = once.Ask("POST /echo HTTP/1.0", "hello", "Expect: 100-continue\r\n");
  EXPECT_EQ(last.status, 200);
  EXPECT_TRUE(once.AtEnd());
  HttpsClient twice = Connect();
  const HttpsAnswer first = twice.Ask("POST /echo HTTP/1.0", "hello", "Connection: keep-alive\r\n");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.headers.at("connection"), "keep-alive");
  EXPECT_EQ(twice.Ask("POST /echo HTTP/1.1", "again").body, "again");
}

TEST_F(HttpsServerTest, ConnectionCloseAndHeadAreHonoured) {
  Start();
  HttpsClient client = Connect();
  client.Send("HEAD /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
  const HttpsAnswer head = client.Read(true);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.at("content-length"), "5");
  const HttpsAnswer last = client.Ask("POST /echo HTTP/1.1", "hello", "Connection: close\r\n");
  EXPECT_EQ(last.body, "hello");
  EXPECT_EQ(last.headers.at("connection"), "close");
  EXPECT_TRUE(client.AtEnd());
}

TEST_F(HttpsServerTest, ClientThatWantsToKnowFirstIsToldToContinue) {
  Start();
  HttpsClient client = Connect();
  client.Send("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(client.Read().status, 100);
  client.Send("hello");
  EXPECT_EQ(client.Read().body, "hello");
  HttpsClient large = Connect();
  large.Send("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 10000000\r\n\r\n");
  EXPECT_EQ(large.Read().status, 413);
}

TEST_F(HttpsServerTest, HandlerThatThrowsIs500AndTheConnectionGoesOn) {
  Start();
  HttpsClient client = Connect();
  for (const char* target : {"/throw", "/throw-anything"}) {
    const HttpsAnswer answer = client.Ask("POST " + std::string(target) + " HTTP/1.1", "hello");
    EXPECT_EQ(answer.status, 500);
    EXPECT_EQ(answer.body, "internal error\n");
  }
  EXPECT_EQ(client.Ask("POST /echo HTTP/1.1", "hello").body, "hello");
}

TEST_F(HttpsServerTest, ClientThatLeavesWhileItsHandlerWorksHurtsNobody) {
  Start();
  {
    HttpsClient client = Connect();
    client.Send("POST /wait HTTP/1.1\r\nHost: x\r\n\r\n");
    AwaitHandlers(1);
  }
  Release();
  AwaitHandlers(0);
  EXPECT_EQ(Ask().status, 200);
}

TEST_F(HttpsServerTest, OneConnectionTooManyClosesTheOneThatHasBeenQuietLongest) {
  HttpsServerOptions options = Patient();
  options.max_connections = 3;
  Start(options);
  HttpsClient busy = Connect();
  busy.Send("POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbusy");
  AwaitHandlers(1);
  HttpsClient silent(server_->port());
  HttpsClient asks = Connect();
  EXPECT_EQ(asks.Ask("POST /echo HTTP/1.1", "hello").status, 200);
  HttpsClient newest = Connect();
  EXPECT_EQ(newest.Ask("POST /echo HTTP/1.1", "hello").status, 200);
  EXPECT_TRUE(silent.AtEnd());
  EXPECT_EQ(asks.Ask("POST /echo HTTP/1.1", "hello").status, 200);
  Release();
  EXPECT_EQ(busy.Read().body, "busy");
}

// A byte of a request is no request: else 256 bytes would keep the apiserver out.
TEST_F(HttpsServerTest, ConnectionsWithHalfARequestMakeRoom) {
  HttpsServerOptions options = Patient();
  options.max_connections = 3;
  Start(options);
  std::vector<HttpsClient> halves;
  for (const char* half :
       {"P", "POST /echo HTTP/1.1\r\n", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nx"}) {
    halves.push_back(Connect());
    halves.back().Send(half);
  }
  for (int i = 0; i < 3; ++i) {
    HttpsClient asks = Connect();
    EXPECT_EQ(asks.Ask("POST /echo HTTP/1.1", "hello").status, 200) << i;
  }
}

TEST_F(HttpsServerTest, WhereAllConnectionsAreBusyOneMoreIsClosed) {
  HttpsServerOptions options = Patient();
  options.max_connections = 2;
  Start(options);
  std::vector<HttpsClient> busy;
  for (int i = 0; i < 2; ++i) {
    busy.push_back(Connect());
    busy.back().Send("POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbusy");
  }
  AwaitHandlers(2);
  EXPECT_FALSE(Connect().connected());
  Release();
  for (HttpsClient& client : busy) EXPECT_EQ(client.Read().body, "busy");
  // A connection is quiet a moment after its answer has arrived.
  Eventually("there is room again", [&] { return Connect().connected(); });
}

TEST_F(HttpsServerTest, NewConnectionsSeeANewCertificateAndOldOnesGoOn) {
  Start();
  HttpsClient before = Connect();
  EXPECT_EQ(before.server_cn(), "leaf");
  Load("renewed");
  EXPECT_EQ(Connect().server_cn(), "renewed");
  EXPECT_EQ(before.Ask("POST /echo HTTP/1.1", "hello").body, "hello");
  EXPECT_EQ(before.server_cn(), "leaf");
}

TEST_F(HttpsServerTest, WithoutACertificateConnectionsAreClosedUntilThereIsOne) {
  const auto none = std::make_shared<ServingCertificate>();
  server_.emplace(Patient(), none, [this](const HttpsCall& call) { return Handle(call); });
  ASSERT_TRUE(server_->Listen());
  thread_ = std::jthread([this](std::stop_token stop) { EXPECT_TRUE(server_->Run(stop)); });
  EXPECT_FALSE(Connect().connected());
  const auto pair = ca_.Issue();
  ASSERT_TRUE(none->Load(pair.cert_pem, pair.key_pem));
  EXPECT_EQ(Ask().status, 200);
}

TEST_F(HttpsServerTest, StopAnswersWhatIsAskedAndClosesTheRest) {
  Start();
  HttpsClient idle = Connect();
  EXPECT_EQ(idle.Ask("POST /echo HTTP/1.1", "hello").status, 200);
  HttpsClient silent(server_->port());
  HttpsClient asks = Connect();
  asks.Send("POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
  AwaitHandlers(1);
  thread_.request_stop();
  EXPECT_TRUE(idle.AtEnd());
  EXPECT_TRUE(silent.AtEnd());
  EXPECT_FALSE(HttpsClient(server_->port()).connected());
  Release();
  const HttpsAnswer answer = asks.Read();
  EXPECT_EQ(answer.body, "hello");
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_TRUE(asks.AtEnd());
  thread_.join();
}

TEST_F(HttpsServerTest, WhoeverComesJustAfterTheStopIsStillServed) {
  HttpsServerOptions options = Patient();
  options.linger = std::chrono::seconds(3);
  Start(options);
  HttpsClient idle = Connect();
  EXPECT_EQ(idle.Ask("POST /echo HTTP/1.1", "hello").status, 200);
  thread_.request_stop();
  // The thread that was told may not have heard it yet.
  Eventually("answers say that they are the last ones", [&] {
    const HttpsAnswer answer = Ask();
    return answer.status == 200 && answer.headers.contains("connection");
  });
  const HttpsAnswer last = idle.Ask("POST /echo HTTP/1.1", "again");
  EXPECT_EQ(last.body, "again");
  EXPECT_EQ(last.headers.at("connection"), "close");
  thread_.join();
}

TEST_F(HttpsServerTest, HandlerThatOutlivesTheDrainLosesItsConnection) {
  HttpsServerOptions options = Patient();
  options.drain_timeout = kShort;
  Start(options);
  HttpsClient asks = Connect();
  asks.Send("POST /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  AwaitHandlers(1);
  thread_.request_stop();
  EXPECT_TRUE(asks.AtEnd());
  Release();
  thread_.join();
}

TEST_F(HttpsServerTest, AddressThatIsNoneOrTakenIsAConfigError) {
  Start();
  const auto failure = [this](const std::string& bind) {
    HttpsServerOptions options = Patient();
    options.bind = bind;
    const Status listening = HttpsServer(options, certificate_, {}).Listen();
    EXPECT_FALSE(listening);
    EXPECT_EQ(listening.error().reason, Reason::kConfig);
    return listening.error().message;
  };
  EXPECT_THAT(failure("9443"), ::testing::HasSubstr("host:port"));
  EXPECT_THAT(failure(":99999"), ::testing::HasSubstr("the port must be 0 to 65535"));
  EXPECT_THAT(failure("127.0.0.1:" + std::to_string(server_->port())), ::testing::HasSubstr("in use"));
}

}  // namespace
}  // namespace yad
