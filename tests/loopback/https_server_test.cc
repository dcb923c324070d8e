// The webhook's server: requests and responses, timeouts, certificates and the stop.
#include <gmock/gmock.h>
#include <openssl/ssl.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/loopback/https_server_fixture.h"

namespace yad::testing {
namespace {

constexpr std::chrono::milliseconds kShort{100};

TEST_F(HttpsServerTest, ServesTls12And13AndKeepsTheConnection) {
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

TEST_F(HttpsServerTest, Tls11AndPlainHttpAreRejected) {
  Start();
  EXPECT_FALSE(Connect(TLS1_1_VERSION).connected());
  HttpsClient plain(server_->port());
  plain.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(plain.Read().status, 0);
  EXPECT_EQ(Ask().status, 200);
}

TEST_F(HttpsServerTest, RenegotiationIsRejected) {
  Start();
  HttpsClient client = Connect(TLS1_2_VERSION);
  EXPECT_EQ(client.Ask("POST /echo HTTP/1.1", "hello").status, 200);
  EXPECT_FALSE(client.Renegotiate()) << "a handshake costs the server more than the client";
  EXPECT_EQ(Ask().status, 200);
}

TEST_F(HttpsServerTest, PipelinedRequestsGetTheirResponsesInOrder) {
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

TEST_F(HttpsServerTest, BodyOfEightMebibytesIsAcceptedAndBodyOfTenMegabytesIsRejected) {
  Start();
  EXPECT_EQ(Ask("POST /echo HTTP/1.1", std::string(8 << 20, 'x')).body, std::to_string(8 << 20));
  const HttpsAnswer rejected = Ask("POST /echo HTTP/1.1", std::string(10'000'000, 'x'));
  EXPECT_EQ(rejected.status, 413);
  EXPECT_EQ(rejected.body, "the request is larger than 8388608 bytes\n");
  EXPECT_EQ(rejected.headers.at("connection"), "close");
  EXPECT_EQ(Ask().status, 200);
}

TEST_F(HttpsServerTest, ChunkedBodyHasTheSameLimit) {
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

TEST_F(HttpsServerTest, ClientWithoutAHandshakeIsDisconnected) {
  HttpsServerOptions options = TestOptions();
  options.handshake_timeout = kShort;
  Start(options);
  EXPECT_TRUE(HttpsClient(server_->port()).AtEnd());
  EXPECT_EQ(Ask().status, 200);
}

TEST_F(HttpsServerTest, ClientWithoutARequestIsDisconnected) {
  HttpsServerOptions options = TestOptions();
  options.idle_timeout = kShort;
  Start(options);
  EXPECT_TRUE(Connect().AtEnd());
  HttpsClient asked = Connect();
  EXPECT_EQ(asked.Ask("POST /echo HTTP/1.1", "hello").status, 200);
  EXPECT_TRUE(asked.AtEnd());
}

TEST_F(HttpsServerTest, ClientWithAnEndlessRequestIsDisconnectedAtItsTimeLimit) {
  HttpsServerOptions options = TestOptions();
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

TEST_F(HttpsServerTest, MalformedRequestsGetAnErrorResponse) {
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
  // The parser reports a chunk extension or a trailer that is too long as malformed.
  EXPECT_EQ(sent("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;x=" + std::string(200'000, 'x')), 400);
  EXPECT_EQ(sent("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: " + std::string(200'000, 'x')), 400);
  EXPECT_TRUE(calls_.empty());
  EXPECT_EQ(Ask().status, 200);
}

TEST_F(HttpsServerTest, Http10ConnectionIsClosedUnlessKeptAlive) {
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

TEST_F(HttpsServerTest, HeaderConnectionCloseAndMethodHeadAreHonoured) {
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

TEST_F(HttpsServerTest, ExpectHeaderCausesContinueOrARejection) {
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

TEST_F(HttpsServerTest, HandlerThatThrowsGivesStatus500AndTheConnectionStaysOpen) {
  Start();
  HttpsClient client = Connect();
  for (const char* target : {"/throw", "/throw-anything"}) {
    const HttpsAnswer answer = client.Ask("POST " + std::string(target) + " HTTP/1.1", "hello");
    EXPECT_EQ(answer.status, 500);
    EXPECT_EQ(answer.body, "internal error\n");
  }
  EXPECT_EQ(client.Ask("POST /echo HTTP/1.1", "hello").body, "hello");
}

TEST_F(HttpsServerTest, ClientMayDisconnectWhileItsHandlerRuns) {
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

TEST_F(HttpsServerTest, NewConnectionsGetTheNewCertificateAndOldOnesStayOpen) {
  Start();
  HttpsClient before = Connect();
  EXPECT_EQ(before.server_cn(), "leaf");
  Load("renewed");
  EXPECT_EQ(Connect().server_cn(), "renewed");
  EXPECT_EQ(before.Ask("POST /echo HTTP/1.1", "hello").body, "hello");
  EXPECT_EQ(before.server_cn(), "leaf");
}

TEST_F(HttpsServerTest, ConnectionsAreClosedUntilACertificateIsLoaded) {
  const auto none = std::make_shared<ServingCertificate>();
  server_.emplace(TestOptions(), none, [this](const HttpsCall& call) { return Handle(call); });
  ASSERT_TRUE(server_->Listen());
  thread_ = std::jthread([this](std::stop_token stop) { EXPECT_TRUE(server_->Run(stop)); });
  EXPECT_FALSE(Connect().connected());
  const auto pair = ca_.Issue();
  ASSERT_TRUE(none->Load(pair.cert_pem, pair.key_pem));
  EXPECT_EQ(Ask().status, 200);
}

TEST_F(HttpsServerTest, StopFinishesRunningRequestsAndClosesIdleConnections) {
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

TEST_F(HttpsServerTest, RequestsShortlyAfterTheStopAreServed) {
  HttpsServerOptions options = TestOptions();
  options.linger = std::chrono::seconds(3);
  Start(options);
  HttpsClient idle = Connect();
  EXPECT_EQ(idle.Ask("POST /echo HTTP/1.1", "hello").status, 200);
  thread_.request_stop();
  // The server's thread observes the stop with a delay.
  Eventually("responses close their connection", [&] {
    const HttpsAnswer answer = Ask();
    return answer.status == 200 && answer.headers.contains("connection");
  });
  const HttpsAnswer last = idle.Ask("POST /echo HTTP/1.1", "again");
  EXPECT_EQ(last.body, "again");
  EXPECT_EQ(last.headers.at("connection"), "close");
  thread_.join();
}

TEST_F(HttpsServerTest, ConnectionOfAHandlerThatRunsLongerThanTheDrainIsClosed) {
  HttpsServerOptions options = TestOptions();
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

TEST_F(HttpsServerTest, InvalidOrOccupiedAddressIsAConfigError) {
  Start();
  const auto failure = [this](const std::string& bind) {
    HttpsServerOptions options = TestOptions();
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
}  // namespace yad::testing
