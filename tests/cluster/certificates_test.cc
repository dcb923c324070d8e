// The certificates are valid only for seconds. The apiserver continuously calls the webhooks of two replicas. No call
// may fail.
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "operator/client/auth/config.h"
#include "operator/client/transport/base64.h"
#include "tests/cluster/fixture.h"

namespace yad::testing {
namespace {

const ResourceType kSecretType{"", "v1", "secrets", "Secret", true};
const ResourceType kServiceType{"", "v1", "services", "Service", true};
const ResourceType kMutatingType{"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations",
                                 "MutatingWebhookConfiguration", false};
const ResourceType kValidatingType{"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations",
                                   "ValidatingWebhookConfiguration", false};
const ResourceType* const kBoth[] = {&kMutatingType, &kValidatingType};
constexpr char kSecret[] = "web-cert";
constexpr char kService[] = "web";

class ClusterCertificatesTest : public ClusterTest {
 protected:
  void SetUp() override {
    ClusterTest::SetUp();
    if (!HasControlPlane()) return;
    kube().Create(kServiceType, {{"metadata", {{"name", kService}}},
                                 {"spec", {{"type", "ExternalName"}, {"externalName", "localhost"}}}});
    // Each configuration has a webhook for the port of each replica, so each request calls both.
    for (const ResourceType* type : kBoth) {
      kube().Create(*type, Configuration(*type, Name(), "yurtappdaemons"));
      kube().Create(*type, Configuration(*type, Name() + "-foreign", "others"));
    }
    kubeconfig_ = plane().dir() + "/" + ns() + ".kubeconfig";
    WriteFile(kubeconfig_, ReadFile(plane().kubeconfig()));
    plane().Kubectl({"--kubeconfig=" + kubeconfig_, "config", "set-context", "--current", "--namespace=" + ns()});
    StartReplicas("10s");
  }
  void TearDown() override {
    if (HasControlPlane()) {
      StopReplicas();
      if (HasFailure()) {
        for (const auto& replica : replicas_) std::cerr << "---- a replica's log\n" << replica->Log() << "----\n";
      }
      for (const ResourceType* type : kBoth) {
        kube().Delete(*type, Name());
        kube().Delete(*type, Name() + "-foreign");
      }
    }
    ClusterTest::TearDown();
  }

  std::string Name() const { return ns() + "-web"; }
  Json Configuration(const ResourceType& type, const std::string& name, const std::string& resource) const {
    const std::string verb = type == kMutatingType ? "mutate" : "validate";
    Json webhooks = Json::array();
    for (const int port : ports_) {
      webhooks.push_back({{"name", verb + std::to_string(port) + ".example.org"},
                          {"clientConfig",
                           {{"service",
                             {{"namespace", ns()},
                              {"name", kService},
                              {"port", port},
                              {"path", "/" + verb + "-apps-openyurt-io-v1alpha1-yurtappdaemon"}}}}},
                          {"rules",
                           {{{"apiGroups", {"apps.openyurt.io"}},
                             {"apiVersions", {"v1alpha1"}},
                             {"operations", {"CREATE", "UPDATE"}},
                             {"resources", {resource}}}}},
                          {"namespaceSelector", {{"matchLabels", {{"kubernetes.io/metadata.name", ns()}}}}},
                          {"failurePolicy", "Fail"},
                          {"sideEffects", "None"},
                          {"admissionReviewVersions", {"v1"}}});
    }
    return {{"metadata", {{"name", name}}}, {"webhooks", webhooks}};
  }
  // Starts two replicas whose certificates are valid for `validity`.
  void StartReplicas(const std::string& validity) {
    replicas_.clear();
    for (std::size_t i = 0; i < 2; ++i) replicas_.push_back(Start(i, validity));
    for (const auto& replica : replicas_) replica->WaitUntilReady();
  }
  void StopReplicas() {
    for (const auto& replica : replicas_) EXPECT_EQ(replica->Stop(), 0);
  }
  std::unique_ptr<OperatorProcess> Start(std::size_t i, const std::string& validity) {
    OperatorOptions options = DefaultOptions();
    options.kubeconfig = kubeconfig_;
    options.leader_elect = true;
    options.log_file = plane().dir() + "/" + Name() + std::to_string(i) + ".log";
    options.flags = {"--webhook-port=" + std::to_string(ports_[i]), std::string("--webhook-cert-secret=") + kSecret,
                     std::string("--webhook-service=") + kService, "--webhook-configuration=" + Name(),
                     "--webhook-cert-validity=" + validity};
    return std::make_unique<OperatorProcess>(options);
  }

  std::string Bundle(const ResourceType& type, std::size_t i) const {
    return Base64Decode(StringAt(kube().Get(type, Name()).at("webhooks").at(i), {"clientConfig", "caBundle"}))
        .value_or("");
  }
  // Returns "" if both replicas admit a daemon in a dry run.
  std::string WhyNotCreated(const std::string& name) const {
    Json daemon = Daemon(name);
    daemon["apiVersion"] = kYurtAppDaemonType.ApiVersion();
    daemon["kind"] = kYurtAppDaemonType.kind;
    daemon["metadata"]["namespace"] = ns();
    WriteOptions options;
    options.dry_run = true;
    const Result<Json> created = kube().client().Create(kYurtAppDaemonType, daemon, options);
    return created ? "" : created.error().ToString();
  }
  // Opens a new connection to replica `i`, and trusts only its caBundle. The apiserver reuses connections, so its calls
  // would not test a new certificate.
  std::string WhyNotTrusted(std::size_t i) const {
    ClusterConfig config;
    config.server = "https://127.0.0.1:" + std::to_string(ports_[i]);
    config.tls_server_name = std::string(kService) + "." + ns() + ".svc";
    config.tls.ca_pem = Bundle(kValidatingType, i);
    const auto client = MakeClient(config, {});
    if (!client) return client.error().ToString();
    const Result<std::string> answer = (*client)->GetRaw("/");
    return answer || answer.error().http_status != 0 ? "" : answer.error().ToString();
  }

  // Adds the certificates in the Secret to `served` until it has this many.
  void AwaitCertificates(std::size_t certificates, std::set<std::string>& served) const {
    Eventually(
        std::to_string(certificates) + " certificates have been served",
        [&]() -> std::string {
          const auto secret = kube().Find(kSecretType, kSecret);
          const std::string certificate = secret ? StringAt(*secret, {"data", "tls.crt"}) : "";
          if (!certificate.empty()) served.insert(certificate);
          return served.size() >= certificates ? "" : "only " + std::to_string(served.size());
        },
        std::chrono::minutes(5));
  }
  // Replaces the certificates several times, and deletes the Secret once. Returns the errors of the calls and
  // handshakes during this time.
  std::vector<std::string> FailuresDuringRotations() {
    std::atomic<bool> done = false;
    std::atomic<int> calls = 0, handshakes = 0;
    std::mutex mutex;
    std::vector<std::string> failures;
    const auto loop = [&](const std::function<std::string(int)>& call, std::atomic<int>& count) {
      return std::jthread([&, call] {
        for (int i = 0; !done; ++i) {
          std::string why;
          try {
            why = call(i);
          } catch (const TestFailure& failure) {
            why = failure.what();
          }
          ++count;
          std::lock_guard lock(mutex);
          if (!why.empty()) failures.push_back(why);
        }
      });
    };
    std::set<std::string> served;
    {
      const auto a = loop([&](int i) { return WhyNotCreated("a" + std::to_string(i)); }, calls);
      const auto b = loop([&](int i) { return WhyNotCreated("b" + std::to_string(i)); }, calls);
      const auto c = loop([&](int i) { return WhyNotTrusted(static_cast<std::size_t>(i % 2)); }, handshakes);
      try {
        AwaitCertificates(3, served);
        kube().Delete(kSecretType, kSecret);
        AwaitCertificates(6, served);
      } catch (const TestFailure& failure) {
        ADD_FAILURE() << failure.what();
      }
      done = true;
    }
    EXPECT_GT(calls, 20);
    EXPECT_GT(handshakes, 20);
    return failures;
  }
  void ExpectRotations(int at_least) {
    double rotations = 0;
    for (const auto& replica : replicas_) {
      rotations += replica->Metric("yurtappdaemon_webhook_certificate_rotations_total");
      EXPECT_TRUE(replica->Ready()) << replica->Readyz();
      EXPECT_THAT(replica->Log(), ::testing::Not(::testing::HasSubstr("PRIVATE KEY")));
    }
    EXPECT_GE(rotations, at_least);
  }
  void ExpectForeignConfigurationsUntouched() const {
    for (const ResourceType* type : kBoth) {
      const Json foreign = kube().Get(*type, Name() + "-foreign");
      EXPECT_EQ(At(foreign, "/metadata/generation"), 1);
      EXPECT_EQ(At(foreign, "/webhooks/0/clientConfig/caBundle"), nullptr);
    }
  }

  std::string kubeconfig_;
  const std::vector<int> ports_ = {FreePort(), FreePort()};
  std::vector<std::unique_ptr<OperatorProcess>> replicas_;
};

TEST_F(ClusterCertificatesTest, NoCallFailsWhileCertificatesRotateAndTheSecretIsDeleted) {
  std::vector<std::string> failures = FailuresDuringRotations();
  if (!failures.empty()) {
    // On a slow machine, a certificate that is valid for only 10 s can expire before its replacement is served.
    std::cerr << "repeated with a longer validity, because of: " << failures.front() << "\n";
    StopReplicas();
    kube().Delete(kSecretType, kSecret);
    StartReplicas("1m");
    failures = FailuresDuringRotations();
  }
  EXPECT_THAT(failures, ::testing::IsEmpty());
  ExpectRotations(4);
  ExpectForeignConfigurationsUntouched();
}

TEST_F(ClusterCertificatesTest, EmptiedCaBundlesAndRecreatedConfigurationsAreRepaired) {
  kube().Edit(kValidatingType, Name(), [](Json& configuration) {
    for (Json& webhook : configuration["webhooks"]) webhook["clientConfig"].erase("caBundle");
  });
  kube().Delete(kMutatingType, Name());
  kube().Create(kMutatingType, Configuration(kMutatingType, Name(), "yurtappdaemons"));
  Eventually("the apiserver trusts both replicas again", [&] { return WhyNotCreated("web"); });
  for (const auto& replica : replicas_) Eventually("the replica is ready", [&] { return replica->Readyz() == "ok\n"; });
}

}  // namespace
}  // namespace yad::testing
