// The operator as the chart installs it: its arguments, its ServiceAccount, its webhook configurations.
#include "tests/cluster/fixture.h"

namespace yad::testing {
namespace {

const ResourceType kSecretType{"", "v1", "secrets", "Secret", true};
const ResourceType kMutatingType{"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations",
                                 "MutatingWebhookConfiguration", false};
const ResourceType kValidatingType{"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations",
                                   "ValidatingWebhookConfiguration", false};

class InstalledTest : public ClusterTest {
 protected:
  void SetUp() override {
    ClusterTest::SetUp();
    if (!HasControlPlane()) return;
    kube().MergePatch(kNamespaceType, ns(), {{"metadata", {{"labels", {{kReviewedLabel, "yes"}}}}}});
    Start();
  }
  void TearDown() override {
    if (HasControlPlane()) {
      EXPECT_EQ(process().Stop(), 0);
      // The next test finds things as helm leaves them.
      own().Delete(kSecretType, install().certificate_secret());
    }
    ClusterTest::TearDown();
  }
  void Start() {
    OperatorOptions options;
    options.binary = YAD_OPERATOR_BINARY;
    options.exactly = install().args();
    options.kubeconfig = install().kubeconfig();
    options.health_port = install().health_port();
    options.metrics_port = install().metrics_port();
    options.log_file = plane().dir() + "/installed-" + ns() + ".log";
    process_ = std::make_unique<OperatorProcess>(options);
    process_->WaitUntilReady();
  }
  OperatorProcess& process() { return *process_; }

  ChartInstall& install() const { return *SharedInstall(); }
  Kube own() const { return {plane_client(), install().ns()}; }
  std::string Apply(const Json& daemon, int exit_code) {
    Json object = daemon;
    object["apiVersion"] = kYurtAppDaemonType.ApiVersion();
    object["kind"] = kYurtAppDaemonType.kind;
    object["metadata"]["namespace"] = ns();
    const ProcessResult result = TryKubectl({"apply", "-f", "-"}, object.dump());
    EXPECT_EQ(result.exit_code, exit_code) << result.out << result.err;
    return result.out + result.err;
  }
  Json Wrong() const {
    Json daemon = Daemon("wrong");
    daemon["spec"]["revisionHistoryLimit"] = 3;
    daemon["spec"]["selector"] = {{"matchLabels", {{"app", "another"}}}};
    return daemon;
  }
  void ExpectRefused() {
    EXPECT_THAT(Apply(Wrong(), 1),
                ::testing::HasSubstr("The YurtAppDaemon \"wrong\" is invalid: \n"
                                     "* spec.workloadTemplate.deploymentTemplate.metadata.labels: Invalid value: "));
  }
  std::string Bundle(const ResourceType& type) const {
    return StringAt(own().Get(type, install().name()).at("webhooks").at(0), {"clientConfig", "caBundle"});
  }

 private:
  Client& plane_client() const { return kube().client(); }
  std::unique_ptr<OperatorProcess> process_;
};

TEST_F(InstalledTest, ReadyMeansThatAMistakeIsAnsweredAndTheRestWorks) {
  ExpectRefused();

  const std::string a = AddPool("a", {{"taints", {{{"key", "site"}, {"value", "a"}, {"effect", "NoSchedule"}}}}});
  const std::string b = AddPool("b");
  Apply(Daemon("web"), 0);
  EXPECT_EQ(At(GetDaemon("web"), "/spec/revisionHistoryLimit"), 10);
  WaitUntilReady("web");
  WaitForPools("web", {a, b});
  Unselect(b);
  WaitForPools("web", {a});

  EXPECT_EQ(process().Metric("leader_election_master_status"), 1);
  EXPECT_GT(process().Metric("yurtappdaemon_webhook_certificate_expiry_timestamp_seconds"), 0);
  EXPECT_GT(process().Metric("controller_runtime_webhook_requests_total", {"webhook=\"/validate-apps"}), 0);
}

TEST_F(InstalledTest, TheHeadlessServiceOfAStatefulSetIsLookedFor) {
  Json daemon = Daemon("db");
  Json& workload = daemon["spec"]["workloadTemplate"];
  workload["statefulSetTemplate"] = workload["deploymentTemplate"];
  workload.erase("deploymentTemplate");
  workload["statefulSetTemplate"]["spec"]["serviceName"] = "db";
  EXPECT_THAT(Apply(daemon, 0), ::testing::HasSubstr("Warning: "));
}

TEST_F(InstalledTest, WhatIsTakenOutOfTheSecretAndTheConfigurationsComesBack) {
  const std::string before = Bundle(kValidatingType);
  ASSERT_NE(before, "");
  EXPECT_EQ(Bundle(kMutatingType), before);

  own().Delete(kSecretType, install().certificate_secret());
  Eventually("the Secret is back", [&]() -> std::string {
    return own().Find(kSecretType, install().certificate_secret()) ? "" : "it is not there";
  });
  own().Edit(kSecretType, install().certificate_secret(),
             [](Json& secret) { secret["data"]["tls.crt"] = "bm9uc2Vuc2U="; });
  own().Edit(kValidatingType, install().name(),
             [](Json& configuration) { configuration["webhooks"][0]["clientConfig"].erase("caBundle"); });
  Eventually("the caBundle is back", [&]() -> std::string {
    return Bundle(kValidatingType) == Bundle(kMutatingType) ? "" : "validating: " + Bundle(kValidatingType);
  });
  Eventually("the Secret is whole", [&]() -> std::string {
    const Json secret = own().Get(kSecretType, install().certificate_secret());
    return StringAt(secret, {"data", "tls.crt"}) != "bm9uc2Vuc2U=" ? "" : "tls.crt is nonsense still";
  });
  Eventually("it is ready", [&]() -> std::string { return process().Ready() ? "" : process().Readyz(); });
  ExpectRefused();
}

TEST_F(InstalledTest, AnotherProcessServesWithTheSameCertificate) {
  const std::string before = Bundle(kValidatingType);
  EXPECT_EQ(process().Stop(), 0);
  Start();
  EXPECT_EQ(Bundle(kValidatingType), before);
  ExpectRefused();
}

}  // namespace
}  // namespace yad::testing
