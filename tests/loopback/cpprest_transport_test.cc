#include "operator/client/cpprest_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/support/test_pki.h"
#include "tests/support/tls_test_server.h"

namespace yad {
namespace {

using ::testing::AllOf;
using testing::ClosedPort;
using ::testing::HasSubstr;
using testing::LeafOptions;
using testing::TestCa;
using testing::TestConnection;
using testing::TestRequest;
using testing::TestServer;
using testing::TestServerOptions;

// Never reached: what waits this long is ended by something else, or the test hangs and fails.
constexpr std::chrono::hours kForever{1};

HttpRequest Get(const std::string& path) {
  HttpRequest request;
  request.method = "GET";
  request.path = path;
  request.timeout = kForever;
  return request;
}

void AnswerOk(TestConnection& connection, const TestRequest&) { connection.Answer(200, "{}"); }

class CpprestTransportTest : public ::testing::Test {
 protected:
  TestServerOptions Tls(const LeafOptions& leaf = {}) {
    TestServerOptions options;
    options.identity = ca_.Issue(leaf);
    return options;
  }
  static TestServerOptions Plain() {
    TestServerOptions options;
    options.tls = false;
    return options;
  }
  TransportOptions For(const TestServer& server) {
    TransportOptions options;
    options.server = server.url();
    options.ca_pem = ca_.cert_pem();
    return options;
  }
  static std::shared_ptr<HttpTransport> Make(const TransportOptions& options) {
    Result<std::shared_ptr<HttpTransport>> made = MakeCpprestTransport(options);
    EXPECT_TRUE(made) << (made ? "" : made.error().ToString());
    return made ? *made : nullptr;
  }
  // The message of a request that must fail with kTransport.
  static std::string Failure(const TransportOptions& options) {
    const Result<HttpResponse> response = Make(options)->Send(Get("/version"), {});
    if (response) return "no failure, but status " + std::to_string(response->status);
    EXPECT_EQ(response.error().reason, Reason::kTransport) << response.error().ToString();
    return response.error().message;
  }

  TestCa ca_{"cluster-ca"};
};

TEST_F(CpprestTransportTest, SendsMethodPathHeadersAndBodyAndReturnsTheWholeAnswer) {
  TestServer server(Tls(), [](TestConnection& connection, const TestRequest&) {
    connection.Answer(201, R"({"kind":"ConfigMap"})", "X-Answer: yes\r\nWarning: 299 - \"old\"\r\n");
  });
  HttpRequest request = Get("/api/v1/namespaces/a%2Fb/configmaps?labelSelector=app%20in%20%28a%2Cb%29&x=%C3%A9%26");
  request.method = "POST";
  request.headers = {{"Authorization", "Bearer t"}, {"Content-Type", "application/merge-patch+json"}};
  request.body = "{\"a\":\"\xc3\xa9\"}";
  const Result<HttpResponse> response = Make(For(server))->Send(request, {});
  ASSERT_TRUE(response) << response.error().ToString();
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, R"({"kind":"ConfigMap"})");
  EXPECT_EQ(response->headers.at("x-answer"), "yes");
  EXPECT_EQ(response->headers.at("warning"), "299 - \"old\"");
  ASSERT_EQ(server.requests().size(), 1u);
  const TestRequest seen = server.requests().front();
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.target, request.path);
  EXPECT_EQ(seen.body, request.body);
  EXPECT_EQ(seen.headers.at("authorization"), "Bearer t");
  EXPECT_EQ(seen.headers.at("content-type"), "application/merge-patch+json");
  EXPECT_EQ(seen.headers.at("accept-encoding"), "identity");
  EXPECT_EQ(seen.headers.at("host"), "127.0.0.1:" + std::to_string(server.port()));
}

TEST_F(CpprestTransportTest, PathPrefixOfTheServerIsKept) {
  TestServer server(Plain(), AnswerOk);
  TransportOptions options = For(server);
  options.server += "/k8s/clusters/c-1/";
  ASSERT_TRUE(Make(options)->Send(Get("/api/v1/pods?limit=5"), {}));
  EXPECT_EQ(server.requests().front().target, "/k8s/clusters/c-1/api/v1/pods?limit=5");
}

TEST_F(CpprestTransportTest, StatusOfAnErrorIsAnAnswer) {
  TestServer server(Plain(),
                    [](TestConnection& connection, const TestRequest&) { connection.Answer(503, "no backend"); });
  const Result<HttpResponse> response = Make(For(server))->Send(Get("/"), {});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 503);
  EXPECT_EQ(response->body, "no backend");
}

TEST_F(CpprestTransportTest, RedirectIsAnAnswerAndNotFollowed) {
  TestServer server(Plain(), [](TestConnection& connection, const TestRequest&) {
    connection.Answer(302, "", "Location: /elsewhere\r\n");
  });
  const Result<HttpResponse> response = Make(For(server))->Send(Get("/"), {});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 302);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(CpprestTransportTest, BodyOfManyMegabytesArrivesWhole) {
  const std::string large(20 << 20, 'x');
  TestServer server(Tls(), [&](TestConnection& connection, const TestRequest& request) {
    if (request.target == "/chunks") {
      connection.StartChunks();
      for (std::size_t i = 0; i < large.size(); i += 1 << 20) connection.Chunk(large.substr(i, 1 << 20));
      connection.Chunk("");
    } else {
      connection.Answer(200, large);
    }
  });
  auto transport = Make(For(server));
  for (const char* path : {"/chunks", "/length"}) {
    const Result<HttpResponse> response = transport->Send(Get(path), {});
    ASSERT_TRUE(response) << response.error().ToString();
    EXPECT_TRUE(response->body == large) << path << ": " << response->body.size() << " bytes";
  }
}

TEST_F(CpprestTransportTest, ServerOfAnotherCaIsRefused) {
  TestCa other("other-ca");
  TestServer server(Tls(), AnswerOk);
  TransportOptions options = For(server);
  options.ca_pem = other.cert_pem();
  EXPECT_THAT(Failure(options), AllOf(HasSubstr(server.url()), HasSubstr("signed by an unknown authority"),
                                      HasSubstr("cluster-ca"), HasSubstr("certificate-authority")));
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(CpprestTransportTest, CaOfTheSameNameWithAnotherKeyIsRefused) {
  TestCa other("cluster-ca");
  TestServer server(Tls(), AnswerOk);
  TransportOptions options = For(server);
  options.ca_pem = other.cert_pem();
  EXPECT_THAT(Failure(options), HasSubstr("signed by an unknown authority"));
}

TEST_F(CpprestTransportTest, CaOfTheSystemIsNotTrustedBesideTheClustersOwn) {
  // OpenSSL's default file of trusted CAs is taken from this variable.
  const std::string file = ::testing::TempDir() + "/system-ca-" + std::to_string(getpid()) + ".pem";
  FILE* out = std::fopen(file.c_str(), "w");
  ASSERT_NE(out, nullptr);
  std::fputs(ca_.cert_pem().c_str(), out);
  std::fclose(out);
  setenv("SSL_CERT_FILE", file.c_str(), 1);
  TestCa other("other-ca");
  TestServer server(Tls(), AnswerOk);
  TransportOptions options = For(server);
  options.ca_pem.clear();
  const Result<HttpResponse> by_system = Make(options)->Send(Get("/"), {});
  EXPECT_TRUE(by_system) << "the variable has no effect, so that this test proves nothing: "
                         << by_system.error().ToString();
  options.ca_pem = other.cert_pem();
  EXPECT_THAT(Failure(options), HasSubstr("signed by an unknown authority"));
  unsetenv("SSL_CERT_FILE");
}

TEST_F(CpprestTransportTest, WithoutACaOnlyTheSystemsCount) {
  TestServer server(Tls(), AnswerOk);
  TransportOptions options = For(server);
  options.ca_pem.clear();
  EXPECT_THAT(Failure(options),
              AllOf(HasSubstr("unknown authority"), HasSubstr("no certificate-authority is configured")));
}

TEST_F(CpprestTransportTest, CertificateForAnotherNameIsRefusedAndItsNamesAreSaid) {
  TestServer server(Tls({.alt_names = "DNS:kube.example,IP:10.0.0.1"}), AnswerOk);
  EXPECT_THAT(Failure(For(server)), AllOf(HasSubstr("not valid for \"127.0.0.1\""), HasSubstr("kube.example, 10.0.0.1"),
                                          HasSubstr("tls-server-name")));
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(CpprestTransportTest, CommonNameIsNoServerName) {
  TestServer server(Tls({.common_name = "localhost", .alt_names = ""}), AnswerOk);
  TransportOptions options = For(server);
  options.server = "https://localhost:" + std::to_string(server.port());
  EXPECT_THAT(Failure(options), HasSubstr("not valid for \"localhost\""));
}

TEST_F(CpprestTransportTest, TlsServerNameIsVerifiedAndSentInsteadOfTheHost) {
  TestServer server(Tls({.alt_names = "DNS:kube.example"}), AnswerOk);
  TransportOptions options = For(server);
  options.tls_server_name = "kube.example";
  const Result<HttpResponse> response = Make(options)->Send(Get("/"), {});
  ASSERT_TRUE(response) << response.error().ToString();
  EXPECT_EQ(server.requests().front().server_name, "kube.example");
  options.tls_server_name = "kube.example.";
  ASSERT_TRUE(Make(options)->Send(Get("/"), {}));
  EXPECT_EQ(server.requests().back().server_name, "kube.example");
  for (const char* name : {"other.example", "."}) {
    options.tls_server_name = name;
    EXPECT_THAT(Failure(options), HasSubstr(std::string("not valid for \"") + name));
  }
}

TEST_F(CpprestTransportTest, HostNameIsVerifiedAndSent) {
  TestServer server(Tls({.alt_names = "DNS:localhost"}), AnswerOk);
  TransportOptions options = For(server);
  options.server = "https://localhost:" + std::to_string(server.port());
  const Result<HttpResponse> response = Make(options)->Send(Get("/"), {});
  ASSERT_TRUE(response) << response.error().ToString();
  EXPECT_EQ(server.requests().front().server_name, "localhost");
}

TEST_F(CpprestTransportTest, Ipv6AddressInBracketsIsReached) {
  TestServerOptions tls = Tls({.alt_names = "IP:::1"});
  tls.ipv6 = true;
  TestServer server(tls, AnswerOk);
  const Result<HttpResponse> response = Make(For(server))->Send(Get("/api/v1/pods"), {});
  ASSERT_TRUE(response) << response.error().ToString();
  EXPECT_EQ(server.requests().front().headers.at("host"), "[::1]:" + std::to_string(server.port()));
  EXPECT_EQ(server.requests().front().target, "/api/v1/pods");
}

TEST_F(CpprestTransportTest, ExpiredCertificateIsRefused) {
  TestServer server(Tls({.valid_from_days = -10, .valid_to_days = -1}), AnswerOk);
  EXPECT_THAT(Failure(For(server)), AllOf(HasSubstr("has expired on"), HasSubstr("clock")));
}

TEST_F(CpprestTransportTest, ServerWithoutTls12IsRefused) {
  TestServerOptions tls = Tls();
  tls.max_tls_version = TLS1_1_VERSION;
  TestServer server(tls, AnswerOk);
  EXPECT_THAT(Failure(For(server)), HasSubstr("the server offers no TLS 1.2 or later"));
}

TEST_F(CpprestTransportTest, InsecureModeTakesAnyCertificate) {
  TestServer server(Tls({.alt_names = "DNS:kube.example", .valid_from_days = -10, .valid_to_days = -1}), AnswerOk);
  TransportOptions options = For(server);
  options.ca_pem.clear();
  options.insecure_skip_tls_verify = true;
  const Result<HttpResponse> response = Make(options)->Send(Get("/"), {});
  EXPECT_TRUE(response) << response.error().ToString();
}

TEST_F(CpprestTransportTest, ClientCertificateIsPresented) {
  TestServerOptions tls = Tls();
  tls.client_ca_pem = ca_.cert_pem();
  TestServer server(tls, AnswerOk);
  const auto identity = ca_.Issue({.common_name = "system:admin"});
  TransportOptions options = For(server);
  options.client_cert_pem = identity.cert_pem;
  options.client_key_pem = identity.key_pem;
  const Result<HttpResponse> response = Make(options)->Send(Get("/"), {});
  ASSERT_TRUE(response) << response.error().ToString();
  EXPECT_EQ(server.requests().front().client_subject, "system:admin");
  options.client_cert_pem.clear();
  options.client_key_pem.clear();
  Failure(options);
}

TEST_F(CpprestTransportTest, UnusableCertificatesAndKeysAreConfigErrorsThatSayWhich) {
  const auto a = ca_.Issue();
  const auto b = ca_.Issue();
  const auto message = [](const TransportOptions& options) {
    const auto made = MakeCpprestTransport(options);
    if (made) return std::string("no failure");
    EXPECT_EQ(made.error().reason, Reason::kConfig);
    return made.error().message;
  };
  TransportOptions options;
  options.server = "https://127.0.0.1:1";
  options.ca_pem = "garbage";
  EXPECT_THAT(message(options), HasSubstr("certificate-authority) holds no certificate"));
  options.ca_pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  EXPECT_THAT(message(options), HasSubstr("certificate-authority) cannot be read"));
  options.ca_pem = ca_.cert_pem();
  options.client_cert_pem = a.cert_pem;
  EXPECT_THAT(message(options), HasSubstr("without its key"));
  options.client_key_pem = b.key_pem;
  EXPECT_THAT(message(options), HasSubstr("does not belong"));
  options.client_key_pem = "garbage";
  EXPECT_THAT(message(options), HasSubstr("client key is no PEM private key"));
  options.client_key_pem = testing::EncryptedKeyPem();
  EXPECT_THAT(message(options), HasSubstr("passphrase"));
  options.client_key_pem = a.key_pem;
  EXPECT_EQ(message(options), "no failure");
  for (const char* server :
       {"", "127.0.0.1:6443", "ftp://host", "https://", "https://user:secret@host", "https://a b"}) {
    options.server = server;
    EXPECT_THAT(message(options), HasSubstr("the server's address")) << server;
  }
}

TEST_F(CpprestTransportTest, NobodyListeningIsSaidWithTheServer) {
  TransportOptions options;
  options.server = "http://127.0.0.1:" + std::to_string(ClosedPort());
  EXPECT_THAT(Failure(options), AllOf(HasSubstr("cannot reach " + options.server), HasSubstr("connection refused")));
}

TEST_F(CpprestTransportTest, UnknownHostNameIsSaid) {
  TransportOptions options;
  options.server = "http://no-such-host.invalid:80";
  EXPECT_THAT(Failure(options), HasSubstr("the name \"no-such-host.invalid\" cannot be resolved"));
}

TEST_F(CpprestTransportTest, PortWithoutTlsIsSaid) {
  TestServerOptions options = Plain();
  options.greeting = "HTTP/1.1 400 Bad Request\r\n\r\n";
  TestServer server(options, AnswerOk);
  TransportOptions transport = For(server);
  transport.server = "https://127.0.0.1:" + std::to_string(server.port());
  EXPECT_THAT(Failure(transport), HasSubstr("the server does not speak TLS on this port"));
}

TEST_F(CpprestTransportTest, AnswerThatNeverComesEndsWithTheTimeOut) {
  TestServer server(Tls(), [](TestConnection& connection, const TestRequest&) { connection.WaitUntilClosed(); });
  HttpRequest request = Get("/slow");
  request.timeout = std::chrono::milliseconds(50);
  const Result<HttpResponse> response = Make(For(server))->Send(request, {});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().reason, Reason::kTransport);
  EXPECT_THAT(response.error().message, AllOf(HasSubstr("/slow"), HasSubstr("no answer within 50 ms")));
}

TEST_F(CpprestTransportTest, StopEndsARequestThatHangs) {
  std::stop_source stop;
  TestServer server(Tls(), [&](TestConnection& connection, const TestRequest&) {
    stop.request_stop();
    connection.WaitUntilClosed();
  });
  const Result<HttpResponse> response = Make(For(server))->Send(Get("/"), stop.get_token());
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().reason, Reason::kCancelled);
}

TEST_F(CpprestTransportTest, StopThatFiredBeforeSendsNothing) {
  std::stop_source stop;
  stop.request_stop();
  TestServer server(Tls(), AnswerOk);
  const Result<HttpResponse> response = Make(For(server))->Send(Get("/"), stop.get_token());
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().reason, Reason::kCancelled);
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(CpprestTransportTest, StopEndsAQuietStreamAndClosesItsConnection) {
  std::stop_source stop;
  std::atomic<bool> closed = false;
  {
    TestServer server(Tls(), [&](TestConnection& connection, const TestRequest&) {
      connection.StartChunks();
      connection.WaitUntilClosed();
      closed = true;
    });
    auto stream = Make(For(server))->Open(Get("/watch"), stop.get_token());
    ASSERT_TRUE(stream) << stream.error().ToString();
    std::jthread stopper([&] { stop.request_stop(); });
    std::string bytes;
    const Result<bool> more = (*stream)->Read(bytes);
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().reason, Reason::kCancelled);
    while (!closed) std::this_thread::yield();
  }
}

TEST_F(CpprestTransportTest, StreamThatIsDroppedUnreadClosesItsConnection) {
  std::atomic<bool> closed = false;
  TestServer server(Tls(), [&](TestConnection& connection, const TestRequest&) {
    connection.StartChunks();
    connection.Chunk("x");
    connection.WaitUntilClosed();
    closed = true;
  });
  {
    auto stream = Make(For(server))->Open(Get("/watch"), {});
    ASSERT_TRUE(stream);
  }
  while (!closed) std::this_thread::yield();
}

// A slow reader's memory does not fill: what it does not read stays with the server, and goes with the stream.
TEST_F(CpprestTransportTest, StreamThatIsNotReadHoldsTheServerBackAndIsDroppedWithIt) {
  std::atomic<int> sent = 0;
  std::atomic<bool> closed = false;
  TestServer server(Tls(), [&](TestConnection& connection, const TestRequest&) {
    connection.StartChunks();
    for (; sent < 64; ++sent) connection.Chunk(std::string(1 << 20, 'x'));
    connection.WaitUntilClosed();
    closed = true;
  });
  {
    auto stream = Make(For(server))->Open(Get("/watch"), {});
    ASSERT_TRUE(stream);
    std::string bytes;
    while (bytes.size() < 8u << 20) ASSERT_TRUE((*stream)->Read(bytes).value_or(false));
    EXPECT_LT(sent, 64);
  }
  while (!closed) std::this_thread::yield();
}

TEST_F(CpprestTransportTest, EachSmallChunkOfAStreamArrivesAtOnce) {
  std::atomic<int> read = 0;
  TestServer server(Tls(), [&](TestConnection& connection, const TestRequest&) {
    connection.StartChunks();
    for (int i = 0; i < 5; ++i) {
      connection.Chunk("event " + std::to_string(i) + "\n");
      while (read <= i) std::this_thread::yield();  // The next comes only when this one was read.
    }
    connection.Chunk("");
  });
  auto stream = Make(For(server))->Open(Get("/watch"), {});
  ASSERT_TRUE(stream);
  EXPECT_EQ((*stream)->head().status, 200);
  std::string bytes;
  for (int i = 0; i < 5; ++i) {
    const Result<bool> more = (*stream)->Read(bytes);
    ASSERT_TRUE(more && *more);
    ++read;
  }
  EXPECT_EQ(bytes, "event 0\nevent 1\nevent 2\nevent 3\nevent 4\n");
  const Result<bool> more = (*stream)->Read(bytes);
  ASSERT_TRUE(more) << more.error().ToString();
  EXPECT_FALSE(*more);
}

TEST_F(CpprestTransportTest, StreamThatBreaksIsAnErrorAfterWhatHasArrived) {
  for (const bool tls : {true, false}) {
    TestServer server(tls ? Tls() : Plain(), [](TestConnection& connection, const TestRequest&) {
      connection.StartChunks();
      connection.Chunk("half a li");
      connection.Close();
    });
    auto stream = Make(For(server))->Open(Get("/watch"), {});
    ASSERT_TRUE(stream);
    std::string bytes;
    Result<bool> more = true;
    while (more && *more) more = (*stream)->Read(bytes);
    ASSERT_FALSE(more) << "a broken stream ended like a complete one";
    EXPECT_EQ(more.error().reason, Reason::kTransport);
    EXPECT_THAT(more.error().message, HasSubstr("broke"));
    EXPECT_EQ(bytes, "half a li");
  }
}

TEST_F(CpprestTransportTest, StreamThatIsSilentForTooLongIsAnError) {
  TestServer server(Tls(), [](TestConnection& connection, const TestRequest&) {
    connection.StartChunks();
    connection.Chunk("x");
    connection.WaitUntilClosed();
  });
  HttpRequest request = Get("/watch");
  request.timeout = std::chrono::seconds(1);
  auto stream = Make(For(server))->Open(request, {});
  ASSERT_TRUE(stream) << stream.error().ToString();
  std::string bytes;
  Result<bool> more = true;
  while (more && *more) more = (*stream)->Read(bytes);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().reason, Reason::kTransport);
  EXPECT_THAT(more.error().message, HasSubstr("nothing has arrived for 1 s"));
}

TEST_F(CpprestTransportTest, StreamThatIsRefusedHasTheBodyInItsHead) {
  TestServer server(Tls(), [](TestConnection& connection, const TestRequest&) { connection.Answer(410, "gone"); });
  auto stream = Make(For(server))->Open(Get("/watch"), {});
  ASSERT_TRUE(stream);
  EXPECT_EQ((*stream)->head().status, 410);
  EXPECT_EQ((*stream)->head().body, "gone");
}

TEST_F(CpprestTransportTest, LongBodyOfARefusedStreamArrivesWhole) {
  const std::string body(1'000'000, 'x');
  TestServer server(Tls(), [&](TestConnection& connection, const TestRequest&) { connection.Answer(403, body); });
  auto stream = Make(For(server))->Open(Get("/watch"), {});
  ASSERT_TRUE(stream) << stream.error().ToString();
  EXPECT_EQ((*stream)->head().body, body);
}

TEST_F(CpprestTransportTest, EndlessBodyOfARefusedStreamIsAnError) {
  const std::string body(2'000'000, 'x');
  TestServer server(Tls(), [&](TestConnection& connection, const TestRequest&) { connection.Answer(403, body); });
  auto stream = Make(For(server))->Open(Get("/watch"), {});
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().reason, Reason::kDecode);
  EXPECT_THAT(stream.error().message, HasSubstr("larger than 1 MiB"));
}

TEST_F(CpprestTransportTest, UnaryAnswerThatBreaksOffIsAnError) {
  TestServer server(Plain(), [](TestConnection& connection, const TestRequest&) {
    connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"items\":[");
    connection.Close();
  });
  const Result<HttpResponse> response = Make(For(server))->Send(Get("/"), {});
  ASSERT_FALSE(response) << "a truncated answer was taken for a whole one";
  EXPECT_EQ(response.error().reason, Reason::kTransport);
}

TEST_F(CpprestTransportTest, GarbageInsteadOfHttpIsAnError) {
  for (const std::string garbage : {"\x01\x02\x03\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "\r\n\r\n",
                                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n"}) {
    TestServer server(Plain(), [&](TestConnection& connection, const TestRequest&) {
      connection.Write(garbage);
      connection.Close();
    });
    const Result<HttpResponse> response = Make(For(server))->Send(Get("/"), {});
    ASSERT_FALSE(response) << garbage;
    EXPECT_EQ(response.error().reason, Reason::kTransport);
  }
}

TEST_F(CpprestTransportTest, ConnectionIsReusedForOneRequestAfterAnother) {
  TestServer server(Tls(), AnswerOk);
  auto transport = Make(For(server));
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(transport->Send(Get("/"), {}));
  // The library gives a connection back a moment after the answer's end, so that a second one may come to be.
  EXPECT_LE(server.connections(), 3);
}

TEST_F(CpprestTransportTest, PooledConnectionsThatTheServerHasClosedAreReplaced) {
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

// Its pool is full of connections that the server has closed; what the server does with a POST is the test's.
class FullPool {
 public:
  FullPool(const TestServerOptions& options, TestServer::Handler on_post)
      : server_(options, [this, on_post = std::move(on_post)](TestConnection& connection, const TestRequest& request) {
          if (request.method == "POST") return on_post(connection, request);
          ++arrived_;
          while (arrived_ < kConnections) std::this_thread::yield();  // so that each needs a connection of its own
          connection.Answer(200, "{}");
        }) {}

  TestServer& server() { return server_; }
  // A request that is too long for what the system takes of it at once: the write fails.
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

TEST_F(CpprestTransportTest, PoolFullOfClosedConnectionsIsUsedUpByOneRequest) {
  for (const bool tls : {true, false}) {
    FullPool pool(tls ? Tls() : Plain(), AnswerOk);
    auto transport = Make(For(pool.server()));
    const Result<HttpResponse> response = transport->Send(pool.Fill(*transport), {});
    EXPECT_TRUE(response) << response.error().ToString();
  }
}

// OpenSSL's contexts in this process, as its own hooks for attached data count them.
std::atomic<int>& LiveTlsContexts() {
  static std::atomic<int> live = 0;
  static const int index = SSL_CTX_get_ex_new_index(
      0, nullptr, [](void*, void*, CRYPTO_EX_DATA*, int, long, void*) { ++live; }, nullptr,
      [](void*, void*, CRYPTO_EX_DATA*, int, long, void*) { --live; });
  EXPECT_GE(index, 0);
  return live;
}

TEST_F(CpprestTransportTest, ConnectionsShareOneTlsContext) {
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
  EXPECT_EQ(contexts, before) << "a context takes more memory than all else of a connection";
}

TEST_F(CpprestTransportTest, ConnectionsDoNotReadTheSystemsCas) {
  static std::atomic<int> certificates = 0;  // that OpenSSL has made in this process
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
  EXPECT_GT(certificates, before) << "the count proves nothing: the server's own is not in it";
  EXPECT_LT(certificates - before, kMany);
  unsetenv("SSL_CERT_FILE");
}

TEST_F(CpprestTransportTest, ManyThreadsUseOneTransport) {
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

TEST_F(CpprestTransportTest, StreamThatWasOpenedAfterAFailedWriteIsClosedWhenItIsDropped) {
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

TEST_F(CpprestTransportTest, HttpProxyIsUsedForPlainServers) {
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

TEST_F(CpprestTransportTest, TransportMayGoWhileAStreamIsOpen) {
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

}  // namespace
}  // namespace yad
