// Tests that only the Beast transport passes: replacement of old connections, the number of attempts of a request, and
// responses that cpprestsdk can't read.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "operator/client/transport/resolver.h"
#include "tests/loopback/transport_fixture.h"

namespace yad::testing {
namespace {

class BeastTransportTest : public TransportTest {};

TEST_P(BeastTransportTest, SequentialRequestsUseOneConnection) {
  TestServer server(Tls(), AnswerOk);
  auto transport = Make(For(server));
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(transport->Send(Get("/"), {}));
  EXPECT_EQ(server.connections(), 1);
}

TEST_P(BeastTransportTest, RetiredConnectionIsNotUsedAgain) {
  TestServer server(Tls(), AnswerOk);
  TransportOptions options = For(server);
  options.min_connection_age = options.max_connection_age = std::chrono::milliseconds(0);
  auto transport = Make(options);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(transport->Send(Get("/"), {}));
  EXPECT_EQ(server.connections(), 5);
}

TEST_P(BeastTransportTest, ConnectionThatWasIdleForTooLongIsNotUsedAgain) {
  TestServer server(Tls(), AnswerOk);
  TransportOptions options = For(server);
  options.max_idle = std::chrono::milliseconds(0);
  auto transport = Make(options);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(transport->Send(Get("/"), {}));
  EXPECT_EQ(server.connections(), 5);
}

// When a load balancer fails, all its connections hang, and only new connections work.
TEST_P(BeastTransportTest, NoPooledConnectionIsUsedAfterOneDidNotRespond) {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<int> broken;  // the numbers of the first two connections
  std::atomic<bool> failed = false;
  TestServer server(Tls(), [&](TestConnection& connection, const TestRequest& request) {
    std::unique_lock lock(mutex);
    if (!failed) {
      broken.insert(request.connection);
      changed.notify_all();
      changed.wait(lock, [&] { return broken.size() == 2; });
    }
    const bool silent = failed && broken.contains(request.connection);
    lock.unlock();
    if (silent) return connection.WaitUntilClosed();
    connection.Answer(200, "{}");
  });
  auto transport = Make(For(server));
  {
    std::jthread other([&] { EXPECT_TRUE(transport->Send(Get("/"), {})); });
    EXPECT_TRUE(transport->Send(Get("/"), {}));
  }
  failed = true;
  HttpRequest request = Get("/");
  request.timeout = std::chrono::milliseconds(200);
  EXPECT_FALSE(transport->Send(request, {}));
  request.timeout = std::chrono::seconds(10);
  EXPECT_TRUE(transport->Send(request, {}));
}

TEST_P(BeastTransportTest, ConnectionWithUnsolicitedBytesIsNotUsedAgain) {
  for (const bool tls : {true, false}) {
    std::atomic<int> sent = 0;
    TestServer server(tls ? Tls() : Plain(), [&](TestConnection& connection, const TestRequest& request) {
      connection.Answer(200, request.target);
      connection.Answer(200, "unsolicited");
      connection.WaitUntilReceived();
      ++sent;
    });
    auto transport = Make(For(server));
    for (int i = 1; i <= 50; ++i) {
      const std::string path = "/" + std::to_string(i);
      const Result<HttpResponse> response = transport->Send(Get(path), {});
      ASSERT_TRUE(response) << response.error().ToString();
      EXPECT_EQ(response->body, path);
      while (sent < i) std::this_thread::yield();
    }
  }
}

// The server responds to the first request of each connection, and closes the connection instead of responding to the
// second request.
TEST_P(BeastTransportTest, OnlyAGetIsRetriedWhenTheServerClosesTheConnection) {
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
    std::atomic<int> answered_on = 0;
    TestServer server(Tls(), [&](TestConnection& connection, const TestRequest& request) {
      if (answered_on == request.connection) return connection.Close();
      answered_on = request.connection;
      connection.Answer(200, "{}");
    });
    auto transport = Make(For(server));
    ASSERT_TRUE(transport->Send(Get("/"), {}));
    HttpRequest request = Post("{}");
    request.method = method;
    const Result<HttpResponse> response = transport->Send(request, {});
    if (request.method == "GET") {
      EXPECT_TRUE(response) << response.error().ToString();
      EXPECT_EQ(server.requests().size(), 3u);
    } else {
      ASSERT_FALSE(response) << method << " was retried although the server may have processed it";
      EXPECT_EQ(response.error().reason, Reason::kTransport);
      EXPECT_EQ(server.requests().size(), 2u);
    }
  }
}

TEST_P(BeastTransportTest, RequestIsSentTwiceAtMost) {
  TestServer server(Tls(), [](TestConnection& connection, const TestRequest& request) {
    if (request.target == "/first") return connection.Answer(200, "{}");
    connection.Close();
  });
  auto transport = Make(For(server));
  ASSERT_TRUE(transport->Send(Get("/first"), {}));
  EXPECT_FALSE(transport->Send(Get("/"), {}));
  EXPECT_EQ(server.requests().size(), 3u);
}

TEST_P(BeastTransportTest, ResponseIsReadIfTheServerRejectsTheBodyEarly) {
  for (const bool tls : {true, false}) {
    TestServerOptions options = tls ? Tls() : Plain();
    options.max_body = 1 << 20;
    TestServer server(options, [](TestConnection& connection, const TestRequest&) {
      connection.Answer(413, "too large", "Connection: close\r\n");
      connection.Close();
    });
    const Result<HttpResponse> response = Make(For(server))->Send(Post(std::string(20 << 20, 'x')), {});
    ASSERT_TRUE(response) << response.error().ToString();
    EXPECT_EQ(response->status, 413);
    EXPECT_EQ(response->body, "too large");
    EXPECT_EQ(server.requests().size(), 1u);
  }
}

TEST_P(BeastTransportTest, InformationalResponsesAreSkipped) {
  TestServer server(Plain(), [](TestConnection& connection, const TestRequest&) {
    connection.Write("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n");
    connection.Answer(200, "{}");
  });
  auto transport = Make(For(server));
  for (int i = 0; i < 2; ++i) {
    const Result<HttpResponse> response = transport->Send(Get("/"), {});
    ASSERT_TRUE(response) << response.error().ToString();
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->body, "{}");
  }
}

TEST_P(BeastTransportTest, SizeOfHeadersIsLimited) {
  TestServer server(Plain(), [](TestConnection& connection, const TestRequest&) {
    connection.Answer(200, "{}", "X: " + std::string(1 << 20, 'x') + "\r\n");
  });
  const Result<HttpResponse> response = Make(For(server))->Send(Get("/"), {});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().reason, Reason::kTransport);
  EXPECT_THAT(response.error().message, HasSubstr("no HTTP response from " + server.url()));
}

TEST_P(BeastTransportTest, HandshakeWithASilentServerTimesOut) {
  TestServer server(Plain(), AnswerOk);
  TransportOptions options = For(server);
  options.server = "https://127.0.0.1:" + std::to_string(server.port());
  HttpRequest request = Get("/");
  request.timeout = std::chrono::milliseconds(50);
  const Result<HttpResponse> response = Make(options)->Send(request, {});
  ASSERT_FALSE(response);
  EXPECT_THAT(response.error().message, HasSubstr("no response to the TLS handshake"));
}

TEST_P(BeastTransportTest, ErrorNamesTheProxyThatRejectedTheRequest) {
  TestServer proxy(Plain(), [](TestConnection& connection, const TestRequest&) { connection.Answer(407, ""); });
  TransportOptions options;
  options.server = "https://kube.invalid";
  options.proxy_url = proxy.url();
  EXPECT_THAT(Failure(options), AllOf(HasSubstr("the proxy 127.0.0.1:" + std::to_string(proxy.port())),
                                      HasSubstr("HTTP status 407"), HasSubstr("proxy-url")));
  EXPECT_EQ(proxy.requests().front().target, "kube.invalid:443");
}

TEST_P(BeastTransportTest, UnusableProxyIsAConfigErrorWithoutItsPassword) {
  for (const char* url : {"https://user:secret@proxy", "http://user:secret@", "user:secret@proxy", "http://a b"}) {
    TransportOptions options;
    options.server = "https://127.0.0.1:1";
    options.proxy_url = url;
    const auto made = GetParam().make(options);
    ASSERT_FALSE(made) << url;
    EXPECT_EQ(made.error().reason, Reason::kConfig);
    EXPECT_THAT(made.error().message, AllOf(HasSubstr("proxy-url"), Not(HasSubstr("secret"))));
  }
}

TEST_P(BeastTransportTest, StopEndsAConnectInSpiteOfTheGracePeriod) {
  HttpRequest request = Post("{}");
  request.grace_after_stop = kForever;
  const Result<HttpResponse> response = SendThroughSilentProxy(request);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().reason, Reason::kCancelled);
}

// Another replica may become the leader while the connection is made.
TEST_P(BeastTransportTest, RequestThatMayNoLongerBeSentIsNotWrittenToANewOrAPooledConnection) {
  TestServer server(Tls(), AnswerOk);
  auto transport = Make(For(server));
  HttpRequest request = Post("{}");
  for (int i = 0; i < 2; ++i) {
    int connections = -1;
    request.may_send = [&] {
      connections = server.connections();
      return false;
    };
    const Result<HttpResponse> rejected = transport->Send(request, {});
    ASSERT_FALSE(rejected);
    EXPECT_EQ(rejected.error().reason, Reason::kCancelled);
    EXPECT_EQ(connections, i + 1) << "the last check is after the connection is made";
    request.may_send = [] { return true; };
    ASSERT_TRUE(transport->Send(request, {}));
  }
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST_P(BeastTransportTest, NoNameIsResolvedAfterAStop) {
  std::stop_source stop;
  stop.request_stop();
  const auto addresses = Resolve("no-such-host.invalid", "80", SteadyTime::max(), stop.get_token());
  ASSERT_FALSE(addresses);
  EXPECT_EQ(addresses.error().reason, Reason::kCancelled);
}

INSTANTIATE_TEST_SUITE_P(Only, BeastTransportTest, ::testing::Values(Implementation{"Beast", MakeBeastTransport}),
                         NameOfTransport);

}  // namespace
}  // namespace yad::testing
