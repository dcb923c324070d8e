// The fixture of all chart tests, which share a control plane. Each test starts without this project's CRDs and
// releases.
#ifndef TESTS_CHART_FIXTURE_H_
#define TESTS_CHART_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/api/well_known.h"
#include "tests/support/chart_install.h"
#include "tests/support/control_plane.h"
#include "tests/support/kube.h"

namespace yad::testing {

inline const ResourceType kMutatingType{"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations",
                                        "MutatingWebhookConfiguration", false};
inline const ResourceType kValidatingType{"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations",
                                          "ValidatingWebhookConfiguration", false};
inline const ResourceType kSecretType{"", "v1", "secrets", "Secret", true};

inline constexpr char kDaemonCrd[] = "yurtappdaemons.apps.openyurt.io";
inline constexpr char kPoolCrd[] = "nodepools.apps.openyurt.io";
inline constexpr char kAutoscalerCrd[] = "nodepoolautoscalers.capacity.openyurt.io";

class ChartTest : public ::testing::Test {
 protected:
  // If programs are missing, skips the test, or fails it in CI.
  void SetUp() override;
  void TearDown() override;

  ControlPlane& plane() const { return *plane_; }
  const Helm& helm() const { return *helm_; }
  Kube kube(const std::string& ns = kOperatorNamespace) const { return {plane_->client(), ns}; }

  // Creates a namespace, and never deletes it: each test uses its own names.
  void MakeNamespace(const std::string& name, const Json& labels = Json::object()) const;
  // Returns the output of `helm template` with these values.
  std::string Render(const std::vector<std::string>& values, const std::string& release = "yad",
                     const std::string& ns = kOperatorNamespace, const std::string& flag = "--no-hooks") const;
  // Returns the rendered objects after a dry run, which validates them and sets their defaults.
  std::vector<Json> Admitted(const std::vector<std::string>& values) const;
  // Prepares Admitted for many lists of values: sends all their objects with one process of kubectl, which starts
  // slowly. Ignores errors, because Admitted then sends the objects of its values again.
  void AdmitAll(const std::vector<std::vector<std::string>>& all) const;
  // Returns the objects of `helm test` after a dry run. Throws TestFailure if the apiserver rejects one.
  std::vector<Json> AdmittedTest(const std::vector<std::string>& values, const std::string& ns) const;
  void RemoveCrds() const;
  // Starts the operator of the release, and waits until it is ready.
  static std::unique_ptr<OperatorProcess> Run(const ChartInstall& chart);

 private:
  // Renders each list of values, and sends the objects that were not sent before.
  void Admit(const std::vector<std::vector<std::string>>& all) const;
  // Removes the objects that a test leaves behind.
  void RemoveCrdsAndRivals() const;

  ControlPlane* plane_ = nullptr;
  std::unique_ptr<Helm> helm_;
};

std::vector<Json> OfKind(const std::vector<Json>& objects, const std::string& kind);
const Json& TheOne(const std::vector<Json>& objects, const std::string& kind, const std::string& name_ends = "");

}  // namespace yad::testing

#endif  // TESTS_CHART_FIXTURE_H_
