// The operator as the chart installs it.
#include "tests/cluster/installed_fixture.h"

namespace yad::testing {
namespace {

class InstalledOperatorTest : public InstalledTest {
 protected:
  void SetUp() override {
    InstalledTest::SetUp();
    if (HasControlPlane()) StartOperator();
  }
  void TearDown() override {
    if (HasControlPlane()) StopOperator();
    InstalledTest::TearDown();
  }
  std::string Apply(const Json& daemon, int exit_code) {
    Json object = daemon;
    object["apiVersion"] = kYurtAppDaemonType.ApiVersion();
    object["kind"] = kYurtAppDaemonType.kind;
    object["metadata"]["namespace"] = ns();
    const ProcessResult result = TryKubectl({"apply", "-f", "-"}, object.dump());
    EXPECT_EQ(result.exit_code, exit_code) << result.out << result.err;
    return result.out + result.err;
  }
  void ExpectRejected() {
    EXPECT_THAT(Apply(Wrong(), 1),
                ::testing::HasSubstr("The YurtAppDaemon \"wrong\" is invalid: \n"
                                     "* spec.workloadTemplate.deploymentTemplate.metadata.labels: Invalid value: "));
  }
};

TEST_F(InstalledOperatorTest, ReadyOperatorRejectsAnInvalidDaemonAndReconcilesAValidOne) {
  ExpectRejected();

  const std::string a = AddPool("a", {{"taints", {{{"key", "site"}, {"value", "a"}, {"effect", "NoSchedule"}}}}});
  const std::string b = AddPool("b");
  Apply(Daemon("web"), 0);
  EXPECT_EQ(At(GetDaemon("web"), "/spec/revisionHistoryLimit"), 10);
  WaitUntilReady("web");
  WaitForPools("web", {a, b});
  Unselect(b);
  WaitForPools("web", {a});

  EXPECT_EQ(op().Metric("leader_election_master_status"), 1);
  EXPECT_GT(op().Metric("yurtappdaemon_webhook_certificate_expiry_timestamp_seconds"), 0);
  EXPECT_GT(op().Metric("controller_runtime_webhook_requests_total", {"webhook=\"/validate-apps"}), 0);
}

TEST_F(InstalledOperatorTest, MissingHeadlessServiceOfAStatefulSetIsAWarning) {
  Json daemon = Daemon("db");
  Json& workload = daemon["spec"]["workloadTemplate"];
  workload["statefulSetTemplate"] = workload["deploymentTemplate"];
  workload.erase("deploymentTemplate");
  workload["statefulSetTemplate"]["spec"]["serviceName"] = "db";
  EXPECT_THAT(Apply(daemon, 0), ::testing::HasSubstr("Warning: "));
}

TEST_F(InstalledOperatorTest, DeletedPartsOfTheSecretAndTheConfigurationsAreRestored) {
  const std::string before = Bundle(kValidatingType);
  ASSERT_NE(before, "");
  EXPECT_EQ(Bundle(kMutatingType), before);

  own().Delete(kSecretType, install().certificate_secret());
  Eventually("the Secret is recreated", [&]() -> std::string {
    return own().Find(kSecretType, install().certificate_secret()) ? "" : "the Secret does not exist";
  });
  own().Edit(kSecretType, install().certificate_secret(),
             [](Json& secret) { secret["data"]["tls.crt"] = "bm9uc2Vuc2U="; });
  own().Edit(kValidatingType, install().name(),
             [](Json& configuration) { configuration["webhooks"][0]["clientConfig"].erase("caBundle"); });
  Eventually("both configurations have the same caBundle", [&]() -> std::string {
    return Bundle(kValidatingType) == Bundle(kMutatingType) ? "" : "validating: " + Bundle(kValidatingType);
  });
  Eventually("the Secret has a valid certificate", [&]() -> std::string {
    const Json secret = own().Get(kSecretType, install().certificate_secret());
    return StringAt(secret, {"data", "tls.crt"}) != "bm9uc2Vuc2U=" ? "" : "tls.crt is still invalid";
  });
  Eventually("the operator is ready", [&]() -> std::string { return op().Ready() ? "" : op().Readyz(); });
  ExpectRejected();
}

TEST_F(InstalledOperatorTest, SecondProcessServesWithTheSameCertificate) {
  const std::string before = Bundle(kValidatingType);
  StopOperator();
  StartOperator();
  EXPECT_EQ(Bundle(kValidatingType), before);
  ExpectRejected();
}

}  // namespace
}  // namespace yad::testing
