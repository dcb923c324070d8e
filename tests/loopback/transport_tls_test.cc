// Certificates, host names and addresses of TLS connections of HttpTransport.
#include <openssl/ssl.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/loopback/transport_fixture.h"

namespace yad::testing {
namespace {

class TransportTlsTest : public TransportTest {};

TEST_P(TransportTlsTest, ServerOfAnotherCaIsRejected) {
  TestCa other("other-ca");
  TestServer server(Tls(), AnswerOk);
  TransportOptions options = For(server);
  options.tls.ca_pem = other.cert_pem();
  EXPECT_THAT(Failure(options), AllOf(HasSubstr(server.url()), HasSubstr("signed by an unknown authority"),
                                      HasSubstr("cluster-ca"), HasSubstr("certificate-authority")));
  EXPECT_TRUE(server.requests().empty());
}

TEST_P(TransportTlsTest, CaOfTheSameNameWithAnotherKeyIsRejected) {
  TestCa other("cluster-ca");
  TestServer server(Tls(), AnswerOk);
  TransportOptions options = For(server);
  options.tls.ca_pem = other.cert_pem();
  EXPECT_THAT(Failure(options), HasSubstr("signed by an unknown authority"));
}

TEST_P(TransportTlsTest, CasOfTheSystemAreNotTrustedIfACaIsConfigured) {
  // OpenSSL reads the path of its default CAs from SSL_CERT_FILE.
  const std::string file = ::testing::TempDir() + "/system-ca-" + std::to_string(getpid()) + ".pem";
  FILE* out = std::fopen(file.c_str(), "w");
  ASSERT_NE(out, nullptr);
  std::fputs(ca_.cert_pem().c_str(), out);
  std::fclose(out);
  setenv("SSL_CERT_FILE", file.c_str(), 1);
  TestCa other("other-ca");
  TestServer server(Tls(), AnswerOk);
  TransportOptions options = For(server);
  options.tls.ca_pem.clear();
  const Result<HttpResponse> by_system = Make(options)->Send(Get("/"), {});
  EXPECT_TRUE(by_system) << "SSL_CERT_FILE has no effect, so the test is useless: " << by_system.error().ToString();
  options.tls.ca_pem = other.cert_pem();
  EXPECT_THAT(Failure(options), HasSubstr("signed by an unknown authority"));
  unsetenv("SSL_CERT_FILE");
}

TEST_P(TransportTlsTest, OnlyCasOfTheSystemAreTrustedWithoutAConfiguredCa) {
  TestServer server(Tls(), AnswerOk);
  TransportOptions options = For(server);
  options.tls.ca_pem.clear();
  EXPECT_THAT(Failure(options),
              AllOf(HasSubstr("unknown authority"), HasSubstr("no certificate-authority is configured")));
}

TEST_P(TransportTlsTest, CertificateForAnotherNameIsRejectedAndItsNamesAreListed) {
  TestServer server(Tls({.alt_names = "DNS:kube.example,IP:10.0.0.1"}), AnswerOk);
  EXPECT_THAT(Failure(For(server)), AllOf(HasSubstr("not valid for \"127.0.0.1\""), HasSubstr("kube.example, 10.0.0.1"),
                                          HasSubstr("tls-server-name")));
  EXPECT_TRUE(server.requests().empty());
}

TEST_P(TransportTlsTest, CommonNameIsNotAServerName) {
  TestServer server(Tls({.common_name = "localhost", .alt_names = ""}), AnswerOk);
  TransportOptions options = For(server);
  options.server = "https://localhost:" + std::to_string(server.port());
  EXPECT_THAT(Failure(options), HasSubstr("not valid for \"localhost\""));
}

TEST_P(TransportTlsTest, TlsServerNameIsVerifiedAndSentInsteadOfTheHost) {
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

TEST_P(TransportTlsTest, HostNameIsVerifiedAndSent) {
  TestServer server(Tls({.alt_names = "DNS:localhost"}), AnswerOk);
  TransportOptions options = For(server);
  options.server = "https://localhost:" + std::to_string(server.port());
  const Result<HttpResponse> response = Make(options)->Send(Get("/"), {});
  ASSERT_TRUE(response) << response.error().ToString();
  EXPECT_EQ(server.requests().front().server_name, "localhost");
}

TEST_P(TransportTlsTest, Ipv6AddressInBracketsIsReached) {
  TestServerOptions tls = Tls({.alt_names = "IP:::1"});
  tls.ipv6 = true;
  TestServer server(tls, AnswerOk);
  const Result<HttpResponse> response = Make(For(server))->Send(Get("/api/v1/pods"), {});
  ASSERT_TRUE(response) << response.error().ToString();
  EXPECT_EQ(server.requests().front().headers.at("host"), "[::1]:" + std::to_string(server.port()));
  EXPECT_EQ(server.requests().front().target, "/api/v1/pods");
}

TEST_P(TransportTlsTest, ExpiredCertificateIsRejected) {
  TestServer server(Tls({.valid_from_days = -10, .valid_to_days = -1}), AnswerOk);
  EXPECT_THAT(Failure(For(server)), AllOf(HasSubstr("has expired on"), HasSubstr("clock")));
}

TEST_P(TransportTlsTest, ServerWithoutTls12IsRejected) {
  TestServerOptions tls = Tls();
  tls.max_tls_version = TLS1_1_VERSION;
  TestServer server(tls, AnswerOk);
  EXPECT_THAT(Failure(For(server)), HasSubstr("the server offers no TLS 1.2 or later"));
}

TEST_P(TransportTlsTest, InsecureModeAcceptsAnyCertificate) {
  TestServer server(Tls({.alt_names = "DNS:kube.example", .valid_from_days = -10, .valid_to_days = -1}), AnswerOk);
  TransportOptions options = For(server);
  options.tls.ca_pem.clear();
  options.insecure_skip_tls_verify = true;
  const Result<HttpResponse> response = Make(options)->Send(Get("/"), {});
  EXPECT_TRUE(response) << response.error().ToString();
}

TEST_P(TransportTlsTest, ClientCertificateIsPresented) {
  TestServerOptions tls = Tls();
  tls.client_ca_pem = ca_.cert_pem();
  TestServer server(tls, AnswerOk);
  const auto identity = ca_.Issue({.common_name = "system:admin"});
  TransportOptions options = For(server);
  options.tls.client_cert_pem = identity.cert_pem;
  options.tls.client_key_pem = identity.key_pem;
  const Result<HttpResponse> response = Make(options)->Send(Get("/"), {});
  ASSERT_TRUE(response) << response.error().ToString();
  EXPECT_EQ(server.requests().front().client_subject, "system:admin");
  options.tls.client_cert_pem.clear();
  options.tls.client_key_pem.clear();
  Failure(options);
}

TEST_P(TransportTlsTest, UnusableCertificatesAndKeysAreConfigErrorsThatNameThem) {
  const auto a = ca_.Issue();
  const auto b = ca_.Issue();
  const auto message = [](const TransportOptions& options) {
    const auto made = GetParam().make(options);
    if (made) return std::string("no failure");
    EXPECT_EQ(made.error().reason, Reason::kConfig);
    return made.error().message;
  };
  TransportOptions options;
  options.server = "https://127.0.0.1:1";
  options.tls.ca_pem = "garbage";
  EXPECT_THAT(message(options), HasSubstr("certificate-authority) contains no certificate"));
  options.tls.ca_pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  EXPECT_THAT(message(options), HasSubstr("certificate-authority) cannot be read"));
  options.tls.ca_pem = ca_.cert_pem();
  options.tls.client_cert_pem = a.cert_pem;
  EXPECT_THAT(message(options), HasSubstr("without its key"));
  options.tls.client_key_pem = b.key_pem;
  EXPECT_THAT(message(options), HasSubstr("does not belong"));
  options.tls.client_key_pem = "garbage";
  EXPECT_THAT(message(options), HasSubstr("client key is not a PEM private key"));
  options.tls.client_key_pem = testing::EncryptedKeyPem();
  EXPECT_THAT(message(options), HasSubstr("passphrase"));
  options.tls.client_key_pem = a.key_pem;
  EXPECT_EQ(message(options), "no failure");
  for (const char* server :
       {"", "127.0.0.1:6443", "ftp://host", "https://", "https://user:secret@host", "https://a b"}) {
    options.server = server;
    EXPECT_THAT(message(options), HasSubstr("the server's address")) << server;
  }
}

TEST_P(TransportTlsTest, RefusedConnectionErrorNamesTheServer) {
  TransportOptions options;
  options.server = "http://127.0.0.1:" + std::to_string(ClosedPort());
  EXPECT_THAT(Failure(options), AllOf(HasSubstr("cannot reach " + options.server), HasSubstr("connection refused")));
}

TEST_P(TransportTlsTest, UnknownHostErrorNamesTheHost) {
  TransportOptions options;
  options.server = "http://no-such-host.invalid:80";
  EXPECT_THAT(Failure(options), HasSubstr("the name \"no-such-host.invalid\" cannot be resolved"));
}

TEST_P(TransportTlsTest, ServerWithoutTlsIsReported) {
  TestServerOptions options = Plain();
  options.greeting = "HTTP/1.1 400 Bad Request\r\n\r\n";
  TestServer server(options, AnswerOk);
  TransportOptions transport = For(server);
  transport.server = "https://127.0.0.1:" + std::to_string(server.port());
  EXPECT_THAT(Failure(transport), HasSubstr("the server does not speak TLS on this port"));
}

INSTANTIATE_TEST_SUITE_P(Both, TransportTlsTest, BothTransports(), NameOfTransport);

}  // namespace
}  // namespace yad::testing
