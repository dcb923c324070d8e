// Secrets that must not be printed, and attacks on the webhook. See also:
// - process_test.cc and tests/loopback: servers that impersonate the apiserver
// - rights.cc: the operator's permissions
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sstream>

#include "tests/cluster/webhook_fixture.h"
#include "tests/support/https_client.h"

namespace yad::testing {
namespace {

// Returns the secret parts of a token: all parts except the first, which is the same in all tokens.
std::vector<std::string> Parts(const std::string& token) {
  std::vector<std::string> parts;
  std::istringstream words(token);
  for (std::string part; std::getline(words, part, '.');) parts.push_back(part);
  if (parts.size() > 1) parts.erase(parts.begin());
  return parts;
}

class SecretsTest : public ClusterTest {
 protected:
  void TearDown() override {
    if (HasControlPlane()) TryKubectl({"delete", "clusterrolebinding", "secrets-" + ns(), "--ignore-not-found"});
    ClusterTest::TearDown();
  }
  std::string MakeAccount() {
    kube().Create({"", "v1", "serviceaccounts", "ServiceAccount", true}, {{"metadata", {{"name", "op"}}}});
    std::string token = Kubectl({"create", "token", "op"});
    while (!token.empty() && token.back() == '\n') token.pop_back();
    return token;
  }
  // Returns options whose kubeconfig has `user` and not the administrator's certificate.
  OperatorOptions WithUser(const std::string& name, const std::string& user) {
    OperatorOptions options = DefaultOptions();
    std::string text = ReadFile(plane().kubeconfig());
    const auto at = text.find("  user: {client-certificate-data:");
    if (at == std::string::npos) throw TestFailure("the kubeconfig has another format than the test expects");
    text.replace(at, text.find('\n', at) - at, "  user: " + user);
    options.kubeconfig = plane().dir() + "/" + ns() + "-" + name + ".kubeconfig";
    options.log_file = plane().dir() + "/" + ns() + "-" + name + ".log";
    WriteFile(options.kubeconfig, text);
    options.flags = {"--log-level=debug"};
    return options;
  }
  // Checks that the secrets are not in the log, the metrics and the response of /readyz.
  static void ExpectHidden(OperatorProcess& process, const std::vector<std::string>& secrets) {
    std::string shown = process.Log();
    if (!process.ExitCode()) shown += process.Metrics() + process.Readyz();
    ASSERT_THAT(shown, ::testing::HasSubstr("Starting"));
    for (const std::string& secret : secrets) {
      ASSERT_GE(secret.size(), 8U);
      EXPECT_EQ(shown.find(secret), std::string::npos) << "the output contains " << secret;
    }
  }
  static double Rejected(const OperatorProcess& process) {
    return process.Metric("rest_client_requests_total", {"code=\"401\""});
  }
};

TEST_F(SecretsTest, NoTokenIsPrintedWhetherItIsAcceptedOrRejected) {
  Kubectl({"create", "clusterrolebinding", "secrets-" + ns(), "--clusterrole=cluster-admin",
           "--serviceaccount=" + ns() + ":op"});
  const std::string token = MakeAccount();
  AddPools(2);
  OperatorProcess process(WithUser("token", "{token: " + token + "}"));
  process.WaitUntilReady();
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  ExpectHidden(process, Parts(token));
  process.Stop();
  ExpectHidden(process, Parts(token));

  std::string wrong = token;
  wrong.replace(wrong.rfind('.') + 1, 4, "AAAA");
  OperatorProcess rejected(WithUser("wrong", "{token: " + wrong + "}"));
  Eventually("the apiserver rejects the token", [&] { return Rejected(rejected) >= 3; });
  ExpectHidden(rejected, Parts(wrong));
}

TEST_F(SecretsTest, NoCredentialOfAPluginAndNoPasswordIsPrinted) {
  const std::string plugin = plane().dir() + "/" + ns() + "-plugin";
  const std::string token = "token-of-the-plugin-0123456789";
  WriteFile(plugin, R"(#!/bin/sh
echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": ")" +
                        token + R"("}}')");
  ASSERT_EQ(RunProcess({"chmod", "+x", plugin}).exit_code, 0);
  OperatorProcess of_plugin(
      WithUser("exec", "{exec: {apiVersion: client.authentication.k8s.io/v1, command: " + plugin +
                           ", interactiveMode: Never, env: [{name: PLUGINS_SECRET, value: env-of-the-plugin}]}}"));
  Eventually("the plugin's token is rejected", [&] { return Rejected(of_plugin) >= 3; });
  ExpectHidden(of_plugin, {token, "env-of-the-plugin"});

  OperatorProcess with_password(WithUser("password", "{username: user, password: a-pass-word-0123}"));
  // Kubernetes does not support passwords, so the request is anonymous.
  Eventually("the password is rejected", [&] {
    return Rejected(with_password) + with_password.Metric("rest_client_requests_total", {"code=\"403\""}) >= 3;
  });
  ExpectHidden(
      with_password,
      {"a-pass-word-0123", "dXNlcjph"});  // the second string is the beginning of the header for "user:a..." in Base64
}

// Connections that send some bytes and stay open.
class Crowd {
 public:
  explicit Crowd(int port) : port_(port) {}
  ~Crowd() {
    for (const int fd : open_) close(fd);
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  void Add(int count) {
    for (int i = 0; i < count; ++i) {
      const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(static_cast<std::uint16_t>(port_));
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        close(fd);
        throw TestFailure("no server listens");
      }
      open_.push_back(fd);
    }
  }

 private:
  const int port_;
  std::vector<int> open_;
};

using WebhookUnderAttackTest = WebhookTest;

TEST_F(WebhookUnderAttackTest, SlowIncompleteAndOversizedRequestsUseBoundedMemoryAndBlockNoReview) {
  if (!HasControlPlane()) return;
  const long before = MemoryOf(op().pid(), "VmRSS");
  const std::string path = "POST /validate-apps-openyurt-io-v1alpha1-yurtappdaemon HTTP/1.1\r\nHost: localhost\r\n";
  const auto connect = [&] { return HttpsClient(webhooks().port(), webhooks().ca_pem()); };
  const std::string megabyte(1 << 20, 'x');
  for (int round = 0; round < 3; ++round) {
    Crowd half_open(webhooks().port());
    half_open.Add(200);
    std::vector<HttpsClient> held;
    // Three kinds of clients: an incomplete head, an incomplete body, and endless parts of large bodies.
    for (int i = 0; i < 30; ++i) {
      held.push_back(connect());
      held.back().Send(path);
      held.push_back(connect());
      held.back().Send(path + "Content-Length: 8000000\r\n\r\n{");
    }
    for (int i = 0; i < 12; ++i) {
      held.push_back(connect());
      HttpsClient& client = held.back();
      if (i % 2 == 0) {
        client.Send(path + "Content-Length: 8000000\r\n\r\n");
        for (int part = 0; part < 7 && client.Send(megabyte); ++part) {
        }
      } else {
        client.Send(path + "Transfer-Encoding: chunked\r\n\r\n");
        for (int part = 0; part < 16 && client.Send("100000\r\n" + megabyte + "\r\n"); ++part) {
        }
      }
    }
    // During the attack, a review through the apiserver succeeds, long before the server's time limit for the slow
    // requests.
    WriteOptions dry_run;
    dry_run.dry_run = true;
    Json daemon = Daemon("web");
    daemon.update({{"apiVersion", kYurtAppDaemonType.ApiVersion()}, {"kind", kYurtAppDaemonType.kind}});
    daemon["metadata"]["namespace"] = ns();
    const auto review = [&]() -> std::string {
      const Result<Json> made = kube().client().Create(kYurtAppDaemonType, daemon, dry_run);
      return made ? "" : made.error().ToString();
    };
    Eventually("the webhook responds to a review", review, std::chrono::seconds(5));
  }
  EXPECT_FALSE(op().ExitCode().has_value());
  EXPECT_TRUE(op().Ready());
  const long most = MemoryOf(op().pid(), "VmHWM");
  std::cerr << "memory: " << before / 1024 << " MiB before, " << most / 1024 << " MiB at most\n";
#ifndef __SANITIZE_ADDRESS__
  EXPECT_LT(most - before, 128 * 1024) << "KiB: 32 MiB of bodies, each of them twice while it grows, and connections";
#endif
}

// Returns a list of `count` values, or of fewer to fit into `bytes`.
std::string Many(const std::string& value, std::size_t count, std::size_t bytes) {
  std::string text = "[" + value;
  for (std::size_t i = 1; i < count && text.size() + value.size() + 2 < bytes; ++i) text += "," + value;
  return text + "]";
}

TEST_F(WebhookUnderAttackTest, ReviewsOfManySmallValuesUseBoundedMemory) {
  if (!HasControlPlane()) return;
  constexpr std::size_t kMost = 125'000, kLarge = 7 << 19,
                        kSmall = 125 << 10;  // kMost is a number of values, the other constants are in bytes
  std::string chain = "1";
  for (int i = 0; i < 400; ++i) chain = "{\"\":" + chain + "}";
  const std::string args = "/workloadTemplate/deploymentTemplate/spec/template/spec/containers/0/args";
  const long before = MemoryOf(op().pid(), "VmRSS");
  const auto ask = [&](HttpsClient& client, const char* path, const std::string& place, const std::string& value) {
    Json daemon = Daemon("web");
    daemon["spec"][Json::json_pointer(place)] = "HERE";
    std::string object = daemon.dump();
    const std::size_t at = object.find("\"HERE\"");
    const std::string old_object = std::string(object).replace(at, 6, "[0," + value.substr(1));
    object.replace(at, 6, value);
    const std::string review =
        R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"UPDATE",)"
        R"("kind":{"group":"apps.openyurt.io","version":"v1alpha1","kind":"YurtAppDaemon"},"namespace":")" +
        ns() + R"(","oldObject":)" + old_object + R"(,"object":)" + object + "}}";
    client.Send(std::string("POST ") + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
                "Content-Length: " + std::to_string(review.size()) + "\r\n\r\n" + review);
  };
  for (const char* path :
       {"/mutate-apps-openyurt-io-v1alpha1-yurtappdaemon", "/validate-apps-openyurt-io-v1alpha1-yurtappdaemon"}) {
    for (const std::string& place : {std::string("/overrides"), args}) {
      for (const std::string& value : {std::string("1"), std::string("{}"), chain}) {
        const std::size_t count = kMost / (value == "1" ? 1 : value == "{}" ? 2 : 401);
        HttpsClient large(webhooks().port(), webhooks().ca_pem());
        ask(large, path, place, Many(value, count, kLarge));
        std::vector<HttpsClient> several;
        for (int i = 0; i < 8; ++i) {
          several.emplace_back(webhooks().port(), webhooks().ca_pem());
          ask(several.back(), path, place, Many(value, count, kSmall));
        }
        EXPECT_EQ(large.Read().status, 200);
        for (HttpsClient& client : several) EXPECT_EQ(client.Read().status, 200);
      }
    }
  }
  EXPECT_TRUE(op().Ready());
  const long most = MemoryOf(op().pid(), "VmHWM");
  std::cerr << "memory: " << before / 1024 << " MiB before, " << most / 1024 << " MiB at most\n";
#ifndef __SANITIZE_ADDRESS__
  EXPECT_LT(most - before, 384 * 1024) << "KiB: the chart's limit is 512 MiB";
#endif
}

}  // namespace
}  // namespace yad::testing
