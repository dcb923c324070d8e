// The fixture of tests that run `helm install` on a real control plane, with or without OpenYurt.
#ifndef TESTS_CHART_INSTALL_FIXTURE_H_
#define TESTS_CHART_INSTALL_FIXTURE_H_

#include "operator/api/well_known.h"
#include "tests/chart/fixture.h"
#include "tests/support/eventually.h"

namespace yad::testing {

class InstallTest : public ChartTest {
 protected:
  // Returns a CRD like OpenYurt's: without this project's fields and the annotations of a Helm release.
  static Json OpenYurtsCrd(const std::string& name, const std::string& kind, const std::string& version,
                           const Json& spec) {
    const std::string plural = name.substr(0, name.find('.'));
    const Json schema = {{"type", "object"}, {"properties", {{"spec", {{"type", "object"}, {"properties", spec}}}}}};
    return {
        {"metadata", {{"name", name}}},
        {"spec",
         {{"group", "apps.openyurt.io"},
          {"scope", kind == "NodePool" ? "Cluster" : "Namespaced"},
          {"names", {{"kind", kind}, {"plural", plural}}},
          {"versions",
           {{{"name", version}, {"served", true}, {"storage", true}, {"schema", {{"openAPIV3Schema", schema}}}}}}}}};
  }

  static inline const Json kAnything = {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};

  // Returns the command in `text` that contains `words`. It may have several lines.
  static std::string CommandIn(const std::string& text, const std::string& words) {
    const auto at = text.find(words);
    if (at == std::string::npos) throw TestFailure("no \"" + words + "\" in:\n" + text);
    auto begin = text.rfind('\n', at) + 1;
    while (begin > 1 && text[begin - 2] == '\\') begin = text.rfind('\n', begin - 2) + 1;
    auto end = text.find('\n', at);
    while (end != std::string::npos && text[end - 1] == '\\') end = text.find('\n', end + 1);
    return text.substr(begin, end - begin);
  }

  // Checks that the upgrade fails with this message, and succeeds after the command in the message. The CRD stays.
  void UpgradeNeedsTheAnnotation(const std::vector<std::string>& upgrade, const std::string& crd,
                                 const std::string& message) {
    const ProcessResult rejected = helm().Try(upgrade);
    EXPECT_NE(rejected.exit_code, 0);
    ASSERT_THAT(rejected.err, ::testing::HasSubstr(message));
    const ProcessResult annotated = helm().TryShell(CommandIn(rejected.err, "kubectl annotate crd"));
    ASSERT_EQ(annotated.exit_code, 0) << annotated.err;
    const ProcessResult upgraded = helm().Try(upgrade);
    EXPECT_EQ(upgraded.exit_code, 0) << upgraded.err;
    EXPECT_TRUE(kube().Find(kCrdType, crd));
  }

  void InstallOpenYurtsCrds() {
    kube().Create(kCrdType, OpenYurtsCrd(kPoolCrd, "NodePool", "v1beta2", {{"type", {{"type", "string"}}}}));
    kube().Create(kCrdType, OpenYurtsCrd(kDaemonCrd, "YurtAppDaemon", "v1alpha1",
                                         {{"selector", kAnything}, {"workloadTemplate", kAnything}}));
    plane().AwaitCrds();
  }

  // Creates a Deployment as OpenYurt's chart does, without pods.
  void InstallYurtManager(const std::string& image, const std::vector<std::string>& args) {
    const Json labels = {{"app", "yurt-manager"}};
    kube("kube-system")
        .Create(kDeploymentType,
                {{"metadata", {{"name", "yurt-manager"}}},
                 {"spec",
                  {{"replicas", 0},
                   {"selector", {{"matchLabels", labels}}},
                   {"template",
                    {{"metadata", {{"labels", labels}}},
                     {"spec", {{"containers", {{{"name", "yurt-manager"}, {"image", image}, {"args", args}}}}}}}}}}});
  }

  // Returns the notes of a dry run of `helm install`. If a key occurs twice, its last value applies.
  std::string Notes(const std::vector<std::string>& values = {}) {
    std::vector<std::string> command = {"install",       "yad",   helm().chart(), "--dry-run=server",
                                        "--hide-secret", "--set", kImageValue};
    for (const std::string& value : values) command.insert(command.end(), {"--set", value});
    return helm().Run(command);
  }

  Json SpecOf(const std::string& crd) { return At(kube().Get(kCrdType, crd), "/spec"); }

  bool Can(const ChartInstall& chart, const std::string& verb, const std::string& resource, const std::string& ns,
           const std::string& name = "") {
    std::vector<std::string> command = {"auth", "can-i", verb, resource + (name.empty() ? "" : "/" + name)};
    if (!ns.empty()) command.push_back("--namespace=" + ns);
    command.push_back("--as=system:serviceaccount:" + chart.ns() + ":" + chart.name());
    return plane().TryKubectl(command).out == "yes\n";
  }
};

}  // namespace yad::testing

#endif  // TESTS_CHART_INSTALL_FIXTURE_H_
