// The operator with the chart's arguments, ServiceAccount and webhook configurations.
#ifndef TESTS_CLUSTER_INSTALLED_FIXTURE_H_
#define TESTS_CLUSTER_INSTALLED_FIXTURE_H_

#include <string>

#include "tests/cluster/fixture.h"

namespace yad::testing {

inline const ResourceType kSecretType{"", "v1", "secrets", "Secret", true};
inline const ResourceType kMutatingType{"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations",
                                        "MutatingWebhookConfiguration", false};
inline const ResourceType kValidatingType{"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations",
                                          "ValidatingWebhookConfiguration", false};

// Runs the operator of SharedInstall for all namespaces. The webhooks select only this test's namespace.
class InstalledTest : public ClusterTest {
 protected:
  void SetUp() override {
    ClusterTest::SetUp();
    if (!HasControlPlane()) return;
    kube().MergePatch(kNamespaceType, ns(), {{"metadata", {{"labels", {{kReviewedLabel, "yes"}}}}}});
  }
  void TearDown() override {
    ClusterTest::TearDown();
    // Restores the state after helm install for the next test.
    if (HasControlPlane()) own().Delete(kSecretType, install().certificate_secret());
  }
  OperatorOptions DefaultOptions() override {
    OperatorOptions options = install().operator_options(YAD_OPERATOR_BINARY);
    options.log_file = ClusterTest::DefaultOptions().log_file;
    // Turns the nodepool controller off, because the pools have no nodes.
    std::erase_if(options.all_flags, [](const std::string& flag) {
      return flag.starts_with("--controllers=") || flag.starts_with("--required-csi-drivers=");
    });
    options.all_flags.push_back("--controllers=*,-nodepool");
    return options;
  }

  ChartInstall& install() const { return *SharedInstall(); }
  Kube own() const { return {kube().client(), install().ns()}; }  // the release's namespace
  std::string Bundle(const ResourceType& type) const {
    return StringAt(own().Get(type, install().name()).at("webhooks").at(0), {"clientConfig", "caBundle"});
  }
  // Returns a daemon that only the operator's webhook rejects, because its selector does not match its labels.
  Json Wrong() const {
    Json daemon = Daemon("wrong");
    daemon["spec"]["revisionHistoryLimit"] = 3;
    daemon["spec"]["selector"] = {{"matchLabels", {{"app", "another"}}}};
    return daemon;
  }
};

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_INSTALLED_FIXTURE_H_
