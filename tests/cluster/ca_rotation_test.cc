// Replaces the cluster's CA, the apiserver's certificate and the operator's client certificate while the operator
// watches. The test has its own control plane.
#include "operator/client/auth/config.h"
#include "tests/cluster/fixture.h"
#include "tests/support/test_pki.h"

namespace yad::testing {
namespace {

constexpr char kAlternativeNames[] = "DNS:localhost,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:10.96.0.1";

class CaRotationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = ControlPlane::Missing(YAD_SOURCE_DIR); !missing.empty()) {
      ASSERT_EQ(std::getenv("CI"), nullptr) << missing;
      GTEST_SKIP() << missing;
    }
    ControlPlaneOptions options;
    options.controllers = false;
    plane_ = std::make_unique<ControlPlane>(YAD_SOURCE_DIR, options);
    for (const char* name : {"ca.crt", "admin.crt", "admin.key"}) WriteFile(File(name), ReadFile(ServerFile(name)));
    WriteFile(File("kubeconfig"), R"(apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: ")" +
                                      plane_->server() + R"(", certificate-authority: client-ca.crt}}]
users: [{name: u, user: {client-certificate: client-admin.crt, client-key: client-admin.key}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
)");
    const Result<ClusterConfig> config = LoadClusterConfig(File("kubeconfig"));
    ASSERT_TRUE(config.has_value()) << config.error().ToString();
    auto client = MakeClient(*config, {});
    ASSERT_TRUE(client.has_value()) << client.error().ToString();
    client_ = *std::move(client);
    kube_ = std::make_unique<Kube>(*client_, "default");
  }

  std::string File(const std::string& name) const { return plane_->dir() + "/client-" + name; }
  std::string ServerFile(const std::string& name) const { return plane_->dir() + "/pki/" + name; }

  void ReplaceCertificates() {
    const TestCa ca("rotated-ca");
    const CertificateAndKey server = ca.Issue({.common_name = "kube-apiserver", .alt_names = kAlternativeNames});
    const CertificateAndKey admin = ca.Issue({.common_name = "admin", .organization = "system:masters"});
    WriteFile(ServerFile("ca.crt"), ca.cert_pem());
    WriteFile(ServerFile("apiserver.crt"), server.cert_pem);
    WriteFile(ServerFile("apiserver.key"), server.key_pem);
    WriteFile(ServerFile("admin.crt"), admin.cert_pem);
    WriteFile(ServerFile("admin.key"), admin.key_pem);
    WriteFile(File("ca.crt"), ca.cert_pem());
    WriteFile(File("admin.crt"), admin.cert_pem);
    WriteFile(File("admin.key"), admin.key_pem);
  }

  // Retries, because the client may load the new CA before the apiserver loads its new certificate.
  void AddPool(const std::string& name) {
    Eventually("NodePool " + name + " exists", [&] {
      if (!kube_->Find(kNodePoolType, name))
        kube_->Create(kNodePoolType, {{"metadata", {{"name", name}}}, {"spec", {{"type", "Edge"}}}});
      return true;
    });
  }
  void SetImage(const std::string& image) {
    kube_->JsonPatch(kYurtAppDaemonType, "web",
                     {{{"op", "replace"},
                       {"path", "/spec/workloadTemplate/deploymentTemplate/spec/template/spec/containers/0/image"},
                       {"value", image}}});
  }
  // Blocks until exactly `count` workloads exist, all with this image. Returns them by pool.
  std::map<std::string, Json> WaitFor(std::size_t count, const std::string& image) {
    std::map<std::string, Json> workloads;
    Eventually(std::to_string(count) + " workloads with " + image, [&] {
      workloads.clear();
      for (const Json& workload : kube_->List(kDeploymentType)) {
        if (ImageOf(workload) != image) return false;
        workloads.emplace(Annotation(workload, kRefNodePoolAnnotation), workload);
      }
      return workloads.size() == count;
    });
    return workloads;
  }

  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Kube> kube_;
};

TEST_F(CaRotationTest, OperatorContinuesWithTheNewCertificatesAndMissesNoChange) {
  AddPool("a");
  AddPool("b");
  kube_->Create(kYurtAppDaemonType, Json::parse(R"({"metadata": {"name": "web"}, "spec": {
      "selector": {"matchLabels": {"app": "web"}}, "nodepoolSelector": {},
      "workloadTemplate": {"deploymentTemplate": {"metadata": {"labels": {"app": "web"}},
      "spec": {"template": {"metadata": {"labels": {"app": "web"}},
      "spec": {"containers": [{"name": "main", "image": "example.org/app:1"}]}}}}}}})"));
  OperatorOptions options;
  options.binary = YAD_OPERATOR_BINARY;
  options.kubeconfig = File("kubeconfig");
  options.ns = "default";
  options.log_file = plane_->dir() + "/operator.log";
  OperatorProcess op(options);
  const auto before = WaitFor(2, "example.org/app:1");

  ReplaceCertificates();
  AddPool("c");  // The open watch still uses the old certificates.
  WaitFor(3, "example.org/app:1");

  plane_->RunScript("stop-apiserver");
  const WallTime since = std::chrono::system_clock::now();
  plane_->RunScript("start-apiserver");
  Eventually("the apiserver responds with the new certificates",
             [&] { return client_->GetRaw("/readyz").has_value(); });
  SetImage("example.org/app:2");
  kube_->Delete(kDeploymentType, NameOf(before.at("a")));
  AddPool("d");

  const auto after = WaitFor(4, "example.org/app:2");
  EXPECT_EQ(UidOf(after.at("b")), UidOf(before.at("b")));
  EXPECT_FALSE(op.ExitCode().has_value());
  EXPECT_NE(op.Log().find("the certificates have changed; new requests use the new ones"), std::string::npos);
  for (const AuditedRequest& write : plane_->OperatorWrites("default", since)) EXPECT_NE(write.verb, "delete");
  EXPECT_EQ(op.Stop(), 0);
}

}  // namespace
}  // namespace yad::testing
