// Credentials from exec plugins and from token files. The tests run real plugins and a real server.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

#include "operator/client/auth/config.h"
#include "operator/client/auth/exec_credential.h"
#include "operator/client/auth/subprocess.h"
#include "operator/client/transport/renewing_transport.h"
#include "tests/support/fake_clock.h"
#include "tests/support/test_pki.h"
#include "tests/support/tls_test_server.h"

namespace yad {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::PlainServer;
using testing::TestCa;
using testing::TestConnection;
using testing::TestRequest;
using testing::TestServer;
using testing::TestServerOptions;

constexpr const char* kV1 = "client.authentication.k8s.io/v1";

class ExecCredentialClientTest : public ::testing::Test {
 protected:
  ExecCredentialClientTest() : dir_(::testing::TempDir() + "/exec_credential_XXXXXX") {
    EXPECT_NE(mkdtemp(dir_.data()), nullptr);
    config_.source = "context \"x\" of /x/config";
    config_.server = "https://127.0.0.1:1";
    config_.exec.emplace();
    config_.exec->api_version = kV1;
    config_.exec->command = dir_ + "/plugin";
  }
  ~ExecCredentialClientTest() override { std::filesystem::remove_all(dir_); }

  std::string Path(const std::string& name) const { return dir_ + "/" + name; }
  void WriteFile(const std::string& name, const std::string& text) const { std::ofstream(Path(name)) << text; }
  // Writes the plugin as a shell script. Each run of the plugin adds a line to the file "runs".
  void WritePlugin(const std::string& script) const {
    WriteFile("plugin", "#!/bin/sh\necho run >> " + Path("runs") + "\n" + script + "\n");
    std::filesystem::permissions(Path("plugin"), std::filesystem::perms::owner_all);
  }
  // Writes the file "credential" and a plugin that prints this file.
  void WriteCredential(const Json& status) const {
    WriteFile("credential", Json{{"apiVersion", kV1}, {"kind", "ExecCredential"}, {"status", status}}.dump());
    WritePlugin("cat " + Path("credential"));
  }
  long Runs() const {
    std::ifstream file(Path("runs"));
    return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
  }
  std::string Failure(std::chrono::milliseconds timeout = std::chrono::hours(1)) {
    ExecCredentialSource source(config_, clock_, timeout);
    const auto credential = source.Get();
    return credential ? "no failure" : credential.error().ToString();
  }

  std::string dir_;
  FakeClock clock_;
  ClusterConfig config_;
};

TEST_F(ExecCredentialClientTest, PluginGetsArgumentsEnvironmentAndInfoAndRunsOnce) {
  config_.exec->args = {"a b", "$HOME"};
  config_.exec->env = {{"EXTRA", "e"}};
  config_.exec->provide_cluster_info = true;
  config_.tls.ca_pem = "CA";
  WritePlugin(
      "printf '%s' \"$1|$2|$EXTRA\" > " + Path("seen") + "\nprintf '%s' \"$KUBERNETES_EXEC_INFO\" > " + Path("info") +
      "\necho '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":"
      "\"t\"}}'");
  ExecCredentialSource source(config_, clock_);
  for (int i = 0; i < 3; ++i) {
    const auto credential = source.Get();
    ASSERT_TRUE(credential) << credential.error().ToString();
    EXPECT_EQ(credential->token, "t");
  }
  EXPECT_EQ(Runs(), 1);
  std::string seen;
  std::getline(std::ifstream(Path("seen")), seen);
  EXPECT_EQ(seen, "a b|$HOME|e");
  std::string info;
  std::getline(std::ifstream(Path("info")), info);
  EXPECT_EQ(Json::parse(info), Json::parse(R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",
    "spec":{"interactive":false,"cluster":{"server":"https://127.0.0.1:1","certificate-authority-data":"Q0E="}}})"));
}

TEST_F(ExecCredentialClientTest, CredentialIsFetchedAgainWhenItExpiresOrIsRejected) {
  WriteCredential({{"token", "t"}, {"expirationTimestamp", FormatTime(clock_.WallNow() + std::chrono::minutes(10))}});
  ExecCredentialSource source(config_, clock_);
  ASSERT_TRUE(source.Get());
  clock_.Advance(std::chrono::minutes(9));
  ASSERT_TRUE(source.Get());
  EXPECT_EQ(Runs(), 1);
  source.Invalidate();
  ASSERT_TRUE(source.Get());
  EXPECT_EQ(Runs(), 2);
  source.Invalidate();  // Ignored: the rejected request may have used the previous credential.
  ASSERT_TRUE(source.Get());
  EXPECT_EQ(Runs(), 2);
  clock_.Advance(std::chrono::minutes(1));
  ASSERT_TRUE(source.Get());
  EXPECT_EQ(Runs(), 3);
}

TEST_F(ExecCredentialClientTest, MissingPluginIsAConfigErrorWithTheHint) {
  config_.exec->command = "no-such-plugin-anywhere";
  config_.exec->install_hint = "install it from the moon";
  EXPECT_THAT(Failure(), AllOf(HasSubstr("Config: context \"x\" of /x/config"), HasSubstr("no-such-plugin-anywhere"),
                               HasSubstr("there is no such program"), HasSubstr("install it from the moon")));
}

TEST_F(ExecCredentialClientTest, ErrorQuotesOnlyTheStandardErrorOfAFailingPlugin) {
  WritePlugin("echo topsecret; echo 'please log in' >&2; exit 3");
  EXPECT_THAT(Failure(),
              AllOf(HasSubstr("Transport: "), HasSubstr("exit code 3: please log in"), Not(HasSubstr("topsecret"))));
}

TEST_F(ExecCredentialClientTest, PluginThatHangsIsKilledWithItsChildren) {
  WritePlugin("sleep 1000000 & sleep 1000000");
  EXPECT_THAT(Failure(std::chrono::milliseconds(300)), HasSubstr("did not end within"));
}

TEST_F(ExecCredentialClientTest, ErrorQuotesTheOutputOfAPluginThatHangs) {
  WritePlugin("echo 'go to https://login.example' >&2; sleep 1000000");
  EXPECT_THAT(Failure(std::chrono::milliseconds(300)),
              HasSubstr("did not end within 0 s: go to https://login.example"));
}

TEST_F(ExecCredentialClientTest, ErrorQuotesTheEndOfALongOutputOfAPluginThatHangs) {
  WritePlugin(
      "i=0; while [ $i -lt 200 ]; do echo 'an old word' >&2; i=$((i+1)); done; echo 'the code is 7' >&2; "
      "sleep 1000000");
  EXPECT_THAT(Failure(std::chrono::milliseconds(1000)), HasSubstr("the code is 7"));
}

TEST_F(ExecCredentialClientTest, PluginInheritsNoOpenFiles) {
  const int ours = open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  ASSERT_GT(ours, STDERR_FILENO);
  const std::string file = "/proc/self/fd/" + std::to_string(ours);
  const auto result = RunSubprocess({"sh", {"-c", "test ! -e " + file}, {}, std::chrono::hours(1)});
  close(ours);
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_EQ(result->exit_code, 0);
}

TEST_F(ExecCredentialClientTest, PluginHasAnEmptyStandardInput) {
  WritePlugin("cat; echo done >&2; exit 1");
  EXPECT_THAT(Failure(), HasSubstr("exit code 1: done"));
}

TEST_F(ExecCredentialClientTest, LargeStandardOutputAndStandardErrorAreRead) {
  const auto result = RunSubprocess(
      {"sh",
       {"-c", "i=0; while [ $i -lt 20000 ]; do echo oooooooooo; echo eeeeeeeeee >&2; i=$((i+1)); done; exit 7"},
       {},
       std::chrono::hours(1)});
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_EQ(result->exit_code, 7);
  EXPECT_EQ(result->output.size(), 220'000u);
  EXPECT_LE(result->error_tail.size(), 1024u);
}

TEST_F(ExecCredentialClientTest, TokenOfThePluginIsSent) {
  TestServer server(PlainServer(),
                    [](TestConnection& connection, const TestRequest&) { connection.Answer(200, "{}"); });
  config_.server = server.url();
  WriteCredential({{"token", "one"}});
  const auto client = MakeClient(config_, {});
  ASSERT_TRUE(client) << client.error().ToString();
  const ResourceType pods{"", "v1", "pods", "Pod", true};
  EXPECT_TRUE((*client)->Get(pods, {"a", "b"}));
  EXPECT_EQ(server.requests().back().headers.at("authorization"), "Bearer one");
  EXPECT_EQ(Runs(), 1);
}

TEST_F(ExecCredentialClientTest, ClientCertificateOfThePluginIsUsedAndUpdated) {
  TestCa ca;
  TestServerOptions options;
  options.identity = ca.Issue();
  options.client_ca_pem = ca.cert_pem();
  TestServer server(options, [](TestConnection& connection, const TestRequest&) { connection.Answer(200, "{}"); });
  const auto write = [&](const std::string& name) {
    const auto identity = ca.Issue({.common_name = name});
    WriteCredential({{"clientCertificateData", identity.cert_pem},
                     {"clientKeyData", identity.key_pem},
                     {"expirationTimestamp", FormatTime(clock_.WallNow() + std::chrono::minutes(10))}});
  };
  write("first");
  ExecCredentialSource source(config_, clock_);
  TransportOptions transport_options;
  transport_options.server = server.url();
  transport_options.tls.ca_pem = ca.cert_pem();
  RenewingTransport transport(transport_options, {}, [&](const std::stop_token&, TlsMaterial& material) -> Status {
    YAD_TRY(const ExecCredential credential, source.Get());
    material.client_cert_pem = credential.client_cert_pem;
    material.client_key_pem = credential.client_key_pem;
    return {};
  });
  const HttpRequest request{.method = "GET", .path = "/", .headers = {}, .body = {}};
  const auto subject = [&] {
    const auto response = transport.Send(request, {});
    return response ? server.requests().back().client_subject : response.error().ToString();
  };
  EXPECT_EQ(subject(), "first");
  write("second");
  EXPECT_EQ(subject(), "first");
  clock_.Advance(std::chrono::minutes(11));
  write("second");
  EXPECT_EQ(subject(), "second");
}

TEST_F(ExecCredentialClientTest, AStopTokenEndsAPluginThatHangsAndACallThatWaitsForIt) {
  WritePlugin("exec sleep 1000");
  ExecCredentialSource source(config_, clock_, std::chrono::hours(1));
  std::stop_source first, second;
  Reason ended_first{}, ended_second{};
  std::jthread runs([&] { ended_first = source.Get(first.get_token()).error().reason; });
  while (Runs() < 1) std::this_thread::yield();
  std::jthread waits([&] { ended_second = source.Get(second.get_token()).error().reason; });
  second.request_stop();
  waits.join();
  EXPECT_EQ(ended_second, Reason::kCancelled);
  EXPECT_EQ(Runs(), 1) << "the waiting call must not start the plugin again";
  first.request_stop();
  runs.join();
  EXPECT_EQ(ended_first, Reason::kCancelled);
  WriteCredential({{"token", "one"}});
  EXPECT_EQ(source.Get()->token, "one");
}

TEST_F(ExecCredentialClientTest, TokenFileIsReadAgainAfterARejection) {
  TestServer server(PlainServer(), [](TestConnection& connection, const TestRequest& request) {
    connection.Answer(request.headers.at("authorization") == "Bearer two" ? 200 : 401, "{\"kind\":\"Pod\"}");
  });
  config_.exec.reset();
  config_.server = server.url();
  config_.token_file = Path("token");
  WriteFile("token", "one\n");
  const auto client = MakeClient(config_, {});
  ASSERT_TRUE(client) << client.error().ToString();
  WriteFile("token", "two\n");
  EXPECT_TRUE((*client)->GetRaw("/version"));
  EXPECT_EQ(server.requests().size(), 2u);
}

TEST_F(ExecCredentialClientTest, UserAndPasswordAreSentAsBasicAuthentication) {
  TestServer server(PlainServer(),
                    [](TestConnection& connection, const TestRequest&) { connection.Answer(200, "{}"); });
  config_.exec.reset();
  config_.server = server.url();
  config_.username = "Aladdin";
  config_.password = "open sesame";
  const auto client = MakeClient(config_, {});
  ASSERT_TRUE(client);
  EXPECT_TRUE((*client)->GetRaw("/version"));
  EXPECT_EQ(server.requests().back().headers.at("authorization"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
}

}  // namespace
}  // namespace yad
