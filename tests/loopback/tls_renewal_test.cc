// Certificates in files that are replaced while a transport is used.
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "operator/client/transport/renewing_transport.h"
#include "tests/loopback/transport_fixture.h"
#include "tests/support/fake_clock.h"

namespace yad::testing {
namespace {

class TlsRenewalTest : public ::testing::Test {
 protected:
  TlsRenewalTest() { std::filesystem::create_directories(folder_); }
  ~TlsRenewalTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  void WriteFile(const std::string& name, const std::string& text) { std::ofstream(Path(name)) << text; }
  void WriteIdentity(const CertificateAndKey& identity) {
    WriteFile("tls.crt", identity.cert_pem);
    WriteFile("tls.key", identity.key_pem);
  }
  std::unique_ptr<RenewingTransport> Transport(const std::string& server, const TlsFiles& files,
                                               const TlsMaterial& initial) {
    TransportOptions options;
    options.server = server;
    options.tls = initial;
    return std::make_unique<RenewingTransport>(std::move(options), files, nullptr, clock_);
  }

  const std::string folder_ = ::testing::TempDir() + "/tls_renewal_" + std::to_string(getpid());
  FakeClock clock_;
};

TEST_F(TlsRenewalTest, NewCaIsReadAfterTheFirstFailedHandshake) {
  TestCa before("before"), after("after");
  TestServerOptions options;
  options.identity = after.Issue();
  TestServer server(options, AnswerOk);
  WriteFile("ca.crt", before.cert_pem());
  const auto transport = Transport(server.url(), {Path("ca.crt"), "", ""}, {before.cert_pem(), "", ""});
  EXPECT_FALSE(transport->Send(Get("/"), {}));
  WriteFile("ca.crt", after.cert_pem());
  clock_.Advance(std::chrono::seconds(2));
  EXPECT_FALSE(transport->Send(Get("/"), {})) << "the transport reads the file again only after a failed handshake";
  const Result<HttpResponse> response = transport->Send(Get("/"), {});
  EXPECT_TRUE(response) << response.error().ToString();
}

TEST_F(TlsRenewalTest, FilesAreReadAtMostOnceASecond) {
  TestCa before("before"), after("after");
  TestServerOptions options;
  options.identity = after.Issue();
  TestServer server(options, AnswerOk);
  WriteFile("ca.crt", after.cert_pem());
  const auto transport = Transport(server.url(), {Path("ca.crt"), "", ""}, {before.cert_pem(), "", ""});
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(transport->Send(Get("/"), {})) << "the file was read again within a second";
}

TEST_F(TlsRenewalTest, ClientCertificateIsRenewedWithoutClosingAnOpenStream) {
  TestCa ca;
  TestServerOptions options;
  options.identity = ca.Issue();
  options.client_ca_pem = ca.cert_pem();
  std::atomic<bool> renewed = false;
  TestServer server(options, [&](TestConnection& connection, const TestRequest& request) {
    if (request.target != "/watch") return connection.Answer(200, "{}");
    connection.StartChunks();
    connection.Chunk("before,");
    while (!renewed) std::this_thread::yield();
    connection.Chunk("after");
    connection.Chunk("");
  });
  const CertificateAndKey first = ca.Issue({.common_name = "first"});
  WriteIdentity(first);
  const auto transport =
      Transport(server.url(), {.ca = "", .client_cert = Path("tls.crt"), .client_key = Path("tls.key")},
                {.ca_pem = ca.cert_pem(), .client_cert_pem = first.cert_pem, .client_key_pem = first.key_pem});
  auto stream = transport->Open(Get("/watch"), {});
  ASSERT_TRUE(stream) << stream.error().ToString();
  WriteIdentity(ca.Issue({.common_name = "second"}));
  ASSERT_TRUE(transport->Send(Get("/"), {}));
  EXPECT_EQ(server.requests().back().client_subject, "first") << "files are read once a minute";
  clock_.Advance(std::chrono::minutes(2));
  ASSERT_TRUE(transport->Send(Get("/"), {}));
  EXPECT_EQ(server.requests().back().client_subject, "second");
  renewed = true;
  std::string bytes;
  Result<bool> more = true;
  while (more && *more) more = (*stream)->Read(bytes);
  EXPECT_TRUE(more) << more.error().ToString();
  EXPECT_EQ(bytes, "before,after");
}

TEST_F(TlsRenewalTest, UnusableOrMissingFilesLeaveTheLastCertificatesInUse) {
  TestCa ca;
  TestServerOptions options;
  options.identity = ca.Issue();
  options.client_ca_pem = ca.cert_pem();
  TestServer server(options, AnswerOk);
  const CertificateAndKey first = ca.Issue({.common_name = "first"});
  WriteIdentity(first);
  const auto transport =
      Transport(server.url(), {.ca = "", .client_cert = Path("tls.crt"), .client_key = Path("tls.key")},
                {.ca_pem = ca.cert_pem(), .client_cert_pem = first.cert_pem, .client_key_pem = first.key_pem});
  const auto subject = [&] {
    clock_.Advance(std::chrono::minutes(2));
    const Result<HttpResponse> response = transport->Send(Get("/"), {});
    return response ? server.requests().back().client_subject : response.error().ToString();
  };
  EXPECT_EQ(subject(), "first");
  const CertificateAndKey second = ca.Issue({.common_name = "second"});
  WriteFile("tls.crt", second.cert_pem);
  EXPECT_EQ(subject(), "first") << "the key file does not match the new certificate yet";
  std::filesystem::remove(Path("tls.key"));
  EXPECT_EQ(subject(), "first");
  WriteFile("tls.key", second.key_pem);
  EXPECT_EQ(subject(), "second");
}

}  // namespace
}  // namespace yad::testing
