// Connections of HttpTransport: pooling, sharing, replacement, closing and proxies.
#include <openssl/ssl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "operator/client/transport/base64.h"
#include "operator/client/transport/dialer.h"
#include "tests/loopback/transport_fixture.h"
#include "tests/support/connect_proxy.h"
#include "tests/support/eventually.h"

namespace yad::testing {
namespace {

class TransportConnectionsTest : public TransportTest {};

TEST_P(TransportConnectionsTest, SequentialRequestsReuseOneConnection) {
  TestServer server(Tls(), AnswerOk);
  auto transport = Make(For(server));
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(transport->Send(Get("/"), {}));
  // The library may return a connection to its pool late. The next request then opens a new connection.
  EXPECT_LE(server.connections(), 3);
}

// An address that does not respond would otherwise delay each new connection.
TEST(TransportAddressesTest, AddressThatRespondedAfterAnotherOneFailedIsTriedFirst) {
  TestServerOptions plain;
  plain.tls = false;
  const TestServer restarted(plain, AnswerOk), stable(plain, AnswerOk);
  std::vector<int> ports{ClosedPort(), stable.port()};
  TransportOptions options;
  options.server = "http://a-name:80";
  options.resolve = [&](const std::string&, const std::string&, SteadyTime by, const std::stop_token& stop) {
    std::vector<SocketAddress> addresses;
    for (const int port : ports) addresses.push_back(Resolve("127.0.0.1", std::to_string(port), by, stop)->front());
    return Result<std::vector<SocketAddress>>(std::move(addresses));
  };
  const auto dialer = Dialer::Make(options), other_dialer = Dialer::Make(options);
  ASSERT_TRUE(dialer && other_dialer);
  const SteadyTime deadline = std::chrono::steady_clock::now() + kForever;
  EXPECT_TRUE((*dialer)->Dial(deadline, {}));
  ports.front() = restarted.port();
  EXPECT_TRUE((*dialer)->Dial(deadline, {}));
  Eventually("both connections go to the address that responded", [&] { return stable.connections() == 2; });
  EXPECT_TRUE((*other_dialer)->Dial(deadline, {}));
  Eventually("the order of addresses stays, because none has failed", [&] { return restarted.connections() == 1; });
  std::swap(ports.front(), ports.back());
  ports.front() = ClosedPort();
  EXPECT_TRUE((*dialer)->Dial(deadline, {})) << "the preferred address no longer responds";
  Eventually("the other address is used", [&] { return restarted.connections() == 2; });
}

TEST_P(TransportConnectionsTest, PooledConnectionsThatTheServerHasClosedAreReplaced) {
  for (const bool tls : {true, false}) {
    TestServer server(tls ? Tls() : Plain(), AnswerOk);
    auto transport = Make(For(server));
    for (int i = 0; i < 20; ++i) {
      HttpRequest request = Get("/");
      request.method = i % 2 == 0 ? "GET" : "POST";
      if (i % 2 == 1) request.body = "{}";
      const Result<HttpResponse> response = transport->Send(request, {});
      ASSERT_TRUE(response) << response.error().ToString();
      server.DropConnections();
    }
  }
}

// A server that closes all connections in the client's pool. The test handles each POST.
class FullPool {
 public:
  FullPool(const TestServerOptions& options, TestServer::Handler on_post)
      : server_(options, [this, on_post = std::move(on_post)](TestConnection& connection, const TestRequest& request) {
          if (request.method == "POST") return on_post(connection, request);
          ++arrived_;
          // Responds only when all requests have arrived, so that each request needs its own connection.
          while (arrived_ < kConnections) std::this_thread::yield();
          connection.Answer(200, "{}");
        }) {}

  TestServer& server() { return server_; }
  // Fills the pool, and closes its connections. Returns a request that does not fit into the kernel's buffers, so that
  // its write fails.
  HttpRequest Fill(HttpTransport& transport) {
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < kConnections; ++i) threads.emplace_back([&] { EXPECT_TRUE(transport.Send(Get("/"), {})); });
    }
    server_.DropConnections();
    HttpRequest request = Get("/");
    request.method = "POST";
    request.body = std::string(200'000, 'x');
    return request;
  }

 private:
  static constexpr int kConnections = 12;
  std::atomic<int> arrived_ = 0;
  TestServer server_;
};

TEST_P(TransportConnectionsTest, RequestSucceedsIfAllPooledConnectionsAreClosed) {
  for (const bool tls : {true, false}) {
    FullPool pool(tls ? Tls() : Plain(), AnswerOk);
    auto transport = Make(For(pool.server()));
    const Result<HttpResponse> response = transport->Send(pool.Fill(*transport), {});
    EXPECT_TRUE(response) << response.error().ToString();
  }
}

// Returns the number of live SSL_CTX objects. OpenSSL calls the two functions below when it creates or frees an
// SSL_CTX.
std::atomic<int>& LiveTlsContexts() {
  static std::atomic<int> live = 0;
  static const int index = SSL_CTX_get_ex_new_index(
      0, nullptr, [](void*, void*, CRYPTO_EX_DATA*, int, long, void*) { ++live; }, nullptr,
      [](void*, void*, CRYPTO_EX_DATA*, int, long, void*) { --live; });
  EXPECT_GE(index, 0);
  return live;
}

TEST_P(TransportConnectionsTest, ConnectionsShareOneTlsContext) {
  std::atomic<int>& contexts = LiveTlsContexts();
  TestServer server(Tls(), [&](TestConnection& connection, const TestRequest&) {
    connection.StartChunks();
    connection.Chunk("x");
    connection.WaitUntilClosed();
  });
  const auto transport = Make(For(server));
  const int before = contexts;
  std::vector<std::unique_ptr<HttpStream>> streams;
  for (int i = 0; i < 5; ++i) {
    auto stream = transport->Open(Get("/watch"), {});
    ASSERT_TRUE(stream);
    streams.push_back(*std::move(stream));
  }
  EXPECT_EQ(contexts, before) << "each TLS context takes more memory than the rest of a connection";
}

TEST_P(TransportConnectionsTest, ConnectionsDoNotReadTheSystemsCas) {
  static std::atomic<int> certificates = 0;  // the certificates that OpenSSL has created in this process
  static const int index = X509_get_ex_new_index(
      0, nullptr, [](void*, void*, CRYPTO_EX_DATA*, int, long, void*) { ++certificates; }, nullptr, nullptr);
  ASSERT_GE(index, 0);
  constexpr int kMany = 100;
  std::string bundle;
  for (int i = 0; i < kMany; ++i) bundle += ca_.cert_pem();
  const std::string file = ::testing::TempDir() + "/system-cas-" + std::to_string(getpid()) + ".pem";
  FILE* out = std::fopen(file.c_str(), "w");
  ASSERT_NE(out, nullptr);
  std::fputs(bundle.c_str(), out);
  std::fclose(out);
  setenv("SSL_CERT_FILE", file.c_str(), 1);
  TestServer server(Tls(), AnswerOk);
  const auto transport = Make(For(server));
  const int before = certificates;
  EXPECT_TRUE(transport->Send(Get("/"), {}));
  EXPECT_GT(certificates, before) << "the counter does not even count the server's own certificate";
  EXPECT_LT(certificates - before, kMany);
  unsetenv("SSL_CERT_FILE");
}

TEST_P(TransportConnectionsTest, ManyThreadsUseOneTransport) {
  TestServer server(
      Tls(), [](TestConnection& connection, const TestRequest& request) { connection.Answer(200, request.target); });
  auto transport = Make(For(server));
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 16; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 25; ++i) {
          const std::string path = "/" + std::to_string(t) + "/" + std::to_string(i);
          const Result<HttpResponse> response = transport->Send(Get(path), {});
          if (!response || response->body != path) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(server.connections(), 48);
}

TEST_P(TransportConnectionsTest, StreamThatWasOpenedAfterAFailedWriteIsClosedWhenItIsDropped) {
  std::atomic<bool> closed = false;
  FullPool pool(Tls(), [&](TestConnection& connection, const TestRequest&) {
    connection.StartChunks();
    connection.WaitUntilClosed();
    closed = true;
  });
  auto transport = Make(For(pool.server()));
  {
    auto stream = transport->Open(pool.Fill(*transport), {});
    ASSERT_TRUE(stream) << stream.error().ToString();
  }
  while (!closed) std::this_thread::yield();
}

TEST_P(TransportConnectionsTest, HttpProxyIsUsedForPlainServers) {
  TestServer proxy(Plain(), AnswerOk);
  TransportOptions options;
  options.server = "http://kube.invalid:8080";
  options.proxy_url = proxy.url();
  const Result<HttpResponse> response = Make(options)->Send(Get("/api"), {});
  ASSERT_TRUE(response) << response.error().ToString();
  EXPECT_EQ(proxy.requests().front().target, "http://kube.invalid:8080/api");
  options.server = "http://[fd00::1]:8080";
  ASSERT_TRUE(Make(options)->Send(Get("/api"), {}));
  EXPECT_EQ(proxy.requests().back().target, "http://[fd00::1]:8080/api");
}

TEST_P(TransportConnectionsTest, TransportMayBeDestroyedWhileAStreamIsOpen) {
  std::atomic<bool> go_on = false;
  TestServer server(Tls(), [&](TestConnection& connection, const TestRequest&) {
    connection.StartChunks();
    while (!go_on) std::this_thread::yield();
    connection.Chunk("later");
    connection.Chunk("");
  });
  auto transport = Make(For(server));
  auto stream = transport->Open(Get("/watch"), {});
  ASSERT_TRUE(stream);
  transport.reset();
  go_on = true;
  std::string bytes;
  const Result<bool> more = (*stream)->Read(bytes);
  ASSERT_TRUE(more && *more);
  EXPECT_EQ(bytes, "later");
}

TEST_P(TransportConnectionsTest, BodyThatIsRejectedEarlyIsSentAtMostTwice) {
  for (const bool tls : {true, false}) {
    TestServerOptions options = tls ? Tls() : Plain();
    options.max_body = 1 << 20;
    TestServer server(options, [](TestConnection& connection, const TestRequest&) {
      connection.Answer(413, "too large", "Connection: close\r\n");
      connection.Close();
    });
    const Result<HttpResponse> response = Make(For(server))->Send(Post(std::string(20 << 20, 'x')), {});
    if (response) {
      EXPECT_EQ(response->status, 413);
    }
    EXPECT_LE(server.requests().size(), 2u);
  }
}

TEST_P(TransportConnectionsTest, TunnelThroughAProxyNeedsItsCredentials) {
  TestServer server(Tls(), AnswerOk);
  ConnectProxy proxy("Basic " + Base64Encode("user:p@ss"));
  TransportOptions options = For(server);
  options.proxy_url = "http://user:p%40ss@" + proxy.address();
  const auto transport = Make(options);
  for (int i = 0; i < 3; ++i) {
    const Result<HttpResponse> response = transport->Send(Get("/version"), {});
    ASSERT_TRUE(response) << response.error().ToString();
  }
  EXPECT_EQ(server.requests().back().target, "/version");
  EXPECT_TRUE(server.requests().back().headers.count("proxy-authorization") == 0) << "the password reached the server";
  ASSERT_FALSE(proxy.requests().empty());
  EXPECT_THAT(proxy.requests().front(), HasSubstr("CONNECT 127.0.0.1:" + std::to_string(server.port()) + " HTTP/1.1"));

  options.proxy_url = "http://" + proxy.address();
  EXPECT_THAT(Failure(options), HasSubstr(server.url()));
}

TEST_P(TransportConnectionsTest, TunnelOpensIfTheProxysResponseArrivesInParts) {
  TestServer server(Tls(), AnswerOk);
  for (const std::vector<std::string>& answer : std::vector<std::vector<std::string>>{
           {"HTTP/1.1 200 OK\r\n", "Via: x\r\n\r\n"},
           {"HTTP/1.1 200 Connection est", "ablished\r\nVia: x\r", "\nVia: y\r\n", "\r\n"}}) {
    ConnectProxy proxy("", answer);
    TransportOptions options = For(server);
    options.proxy_url = "http://" + proxy.address();
    const Result<HttpResponse> response = Make(options)->Send(Get("/version"), {});
    EXPECT_TRUE(response) << response.error().ToString();
  }
}

TEST_P(TransportConnectionsTest, StopEndsAConnectToAProxyThatDoesNotRespond) {
  const Result<HttpResponse> response = SendThroughSilentProxy(Get("/"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().reason, Reason::kCancelled);
}

INSTANTIATE_TEST_SUITE_P(Both, TransportConnectionsTest, BothTransports(), NameOfTransport);

}  // namespace
}  // namespace yad::testing
