// Runs the operator with the chart's arguments, through upgrades and an uninstallation.
#include <algorithm>
#include <filesystem>

#include "operator/api/well_known.h"
#include "tests/chart/install_fixture.h"
#include "tests/support/eventually.h"
#include "tests/support/test_pki.h"

namespace yad::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class LifecycleTest : public InstallTest {
 protected:
  void ExpectNothingDenied(const ChartInstall& chart) {
    const std::vector<AuditedRequest> requests = plane().RequestsOf(chart.ns(), chart.name());
    EXPECT_GT(requests.size(), 10u);
    for (const AuditedRequest& request : requests) EXPECT_FALSE(request.forbidden) << ToString({request});
  }

  // Runs the command of the `helm test` pod, with the permissions of this pod.
  ProcessResult RunTest(const ChartInstall& chart) {
    const std::string name = chart.name() + "-test";
    kube(chart.ns()).Delete(kPodType, name);
    plane().Kubectl({"apply", "-f", "-"}, helm().Run({"get", "hooks", chart.release(), "--namespace", chart.ns()}));
    const Json container = At(kube(chart.ns()).Get(kPodType, name), "/spec/containers/0");
    std::vector<std::string> command = container.at("command");
    for (const Json& arg : container.at("args")) command.push_back(arg);
    return helm().TryRun(command, {{"KUBECONFIG", plane().TokenKubeconfig(chart.ns(), name)}});
  }

  // Replaces the first occurrence of `from` in the file.
  static void Edit(const std::string& file, const std::string& from, const std::string& to) {
    std::string text = ReadFile(file);
    const auto at = text.find(from);
    if (at == std::string::npos) throw TestFailure(file + " has no \"" + from + "\"");
    WriteFile(file, text.replace(at, from.size(), to));
  }

  // Makes an older chart: it has another version, and its CRD lacks some fields.
  std::string PreviousChart() {
    const std::string folder = plane().dir() + "/previous/yurtappdaemon-operator";
    std::filesystem::create_directories(folder);
    std::filesystem::copy(helm().chart(), folder,
                          std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
    Edit(folder + "/Chart.yaml", "\nversion: ", "\nversion: 0.0.1-");
    Edit(folder + "/files/crds/apps.openyurt.io_yurtappdaemons.yaml", "              paused:\n",
         "              stopped:\n");
    return folder;
  }

  Json Daemon(const std::string& image) {
    const Json labels = {{"app", "web"}};
    const Json pod = {{"metadata", {{"labels", labels}}},
                      {"spec", {{"containers", {{{"name", "main"}, {"image", image}}}}}}};
    const Json workload = {{"metadata", {{"labels", labels}}}, {"spec", {{"replicas", 0}, {"template", pod}}}};
    return {{"apiVersion", kYurtAppDaemonType.ApiVersion()},
            {"kind", kYurtAppDaemonType.kind},
            {"metadata", {{"name", "web"}, {"namespace", "default"}}},
            {"spec",
             {{"selector", {{"matchLabels", labels}}},
              {"nodepoolSelector", Json::object()},
              {"workloadTemplate", {{"deploymentTemplate", workload}}}}}};
  }
  void Apply(const Json& daemon) { plane().Kubectl({"apply", "-f", "-"}, daemon.dump()); }
  // Blocks until the daemon's only Deployment has this image, and returns the Deployment.
  Json WorkloadWith(const std::string& image) {
    Json workload;
    Eventually("the workload has the image " + image, [&]() -> std::string {
      const std::vector<Json> workloads = kube("default").List(kDeploymentType, kPoolNameLabel);
      if (workloads.size() != 1) return std::to_string(workloads.size()) + " workloads";
      workload = workloads[0];
      const Json has = At(workload, "/spec/template/spec/containers/0/image");
      return has == image ? "" : "it has " + has.dump();
    });
    return workload;
  }
};

TEST_F(LifecycleTest, WorkloadsSurviveUpgradeUninstallAndReinstall) {
  auto chart =
      std::make_unique<ChartInstall>(helm(), plane(), ChartInstallOptions{"life", "life", {}, PreviousChart()});
  auto process = Run(*chart);
  kube().Create(kNodePoolType, {{"metadata", {{"name", "site"}}}});
  Apply(Daemon("web:1"));
  const Json first = WorkloadWith("web:1");
  const auto expect_untouched = [&](const Json& before, const char* after) {
    const Json now = WorkloadWith(At(before, "/spec/template/spec/containers/0/image").get<std::string>());
    EXPECT_EQ(UidOf(now), UidOf(before)) << after;
    EXPECT_EQ(At(now, "/metadata/generation"), At(before, "/metadata/generation")) << after;
  };

  chart->Upgrade({"webhook.timeoutSeconds=7"});
  EXPECT_THAT(chart->notes(), HasSubstr("CRD " + std::string(kDaemonCrd) + ": updated."));
  EXPECT_TRUE(process->Ready()) << "the upgrade removed the caBundle: " << process->Readyz();
  EXPECT_EQ(process->Stop(), 0);
  process = Run(*chart);
  Json paused = Daemon("web:1");
  paused["spec"]["paused"] = true;
  Apply(paused);
  EXPECT_EQ(At(kube("default").Get(kYurtAppDaemonType, "web"), "/spec/paused"), true) << "the new CRD is not served";
  Apply(Daemon("web:1"));
  expect_untouched(first, "helm upgrade");

  // `helm uninstall` returns before the pods are gone, so the operator runs for a while without its Secret and
  // permissions.
  chart->Uninstall();
  EXPECT_FALSE(process->ExitCode().has_value());
  process->Stop();
  process.reset();
  EXPECT_FALSE(kube("life").Find(kSecretType, chart->certificate_secret()))
      << "the operator has created the Secret again";
  expect_untouched(first, "helm uninstall");
  Apply(Daemon("web:2"));  // no webhook and no operator runs

  chart = std::make_unique<ChartInstall>(helm(), plane(), ChartInstallOptions{"life", "life"});
  process = Run(*chart);
  const Json moved = WorkloadWith("web:2");
  EXPECT_EQ(UidOf(moved), UidOf(first)) << "the workload was recreated";
  EXPECT_EQ(process->Stop(), 0);

  kube("default").Delete(kYurtAppDaemonType, "web");
  kube().Delete(kNodePoolType, "site");
}

TEST_F(LifecycleTest, HelmTestFailsIfTheWebhookIsUnreachableOrNotCalled) {
  ChartInstall chart(helm(), plane(), {"tested", "tested"});
  auto process = Run(chart);
  const ProcessResult good = RunTest(chart);
  EXPECT_EQ(good.exit_code, 0) << good.out << good.err;
  EXPECT_THAT(good.out, AllOf(HasSubstr("spec.workloadTemplate.deploymentTemplate"), HasSubstr("condition met")));
  EXPECT_FALSE(kube("tested").Find(kYurtAppDaemonType, chart.name() + "-test"))
      << "helm test must delete its YurtAppDaemon";

  chart.Upgrade({"webhook.enabled=false"});
  EXPECT_EQ(process->Stop(), 0);
  process = Run(chart);
  const ProcessResult without_webhook = RunTest(chart);
  EXPECT_EQ(without_webhook.exit_code, 0) << without_webhook.out << without_webhook.err;
  EXPECT_EQ(process->Stop(), 0);

  chart.Upgrade({});
  const ProcessResult unreachable = RunTest(chart);
  EXPECT_NE(unreachable.exit_code, 0);
  EXPECT_THAT(unreachable.out, HasSubstr("failed calling webhook"));

  kube().Delete(kMutatingType, chart.name());
  kube().Delete(kValidatingType, chart.name());
  const ProcessResult not_asked = RunTest(chart);
  EXPECT_NE(not_asked.exit_code, 0);
  EXPECT_THAT(not_asked.out, HasSubstr("the apiserver accepted it, so it did not call the webhook"));
}

// A value that the older chart does not know would make its schema reject all values.
TEST_F(LifecycleTest, TheDocumentedRollbackKeepsTheNewerCrdAndInstallsAChartThatLacksAValue) {
  const std::string older = PreviousChart();
  Edit(older + "/values.yaml", "\n  jobs: false\n", "\n");
  Edit(older + "/values.schema.json", "\"jobs\": {", "\"work\": {");
  ChartInstall chart(helm(), plane(), {"yad", "yurtappdaemon-system", {}, older});
  chart.Upgrade({"checks.jobs=true"});
  const std::string document = ReadFile(YAD_SOURCE_DIR "/docs/upgrading.md");
  for (const char* words : {"kubectl annotate crd", "helm get values", "helm upgrade yad OLDER-CHART"}) {
    std::string command = "cd " + plane().dir() + "\n" + CommandIn(document, words);
    // There is no node, so no replica becomes ready.
    for (const auto& [from, to] :
         {std::pair<std::string, std::string>{"OLDER-CHART", older}, {"REVISION", "1"}, {"--wait", ""}}) {
      if (const auto at = command.find(from); at != std::string::npos) command.replace(at, from.size(), to);
    }
    const ProcessResult result = helm().TryShell(command);
    ASSERT_EQ(result.exit_code, 0) << command << result.err;
  }
  EXPECT_THAT(helm().Run({"list", "--namespace=yurtappdaemon-system"}), HasSubstr("yurtappdaemon-operator-0.0.1-"));
  EXPECT_THAT(kube().Get(kCrdType, kDaemonCrd).dump(), HasSubstr("\"paused\""));
}

TEST_F(LifecycleTest, AnOperatorOfOneNamespaceHasAllPermissionsThatItNeeds) {
  MakeNamespace("watched");
  const ChartInstall chart(helm(), plane(), {"one", "one", {"watchNamespace=watched"}});
  // The operator reports an outdated CRD in an Event. The Event is in namespace "default", because CRDs are
  // cluster-scoped.
  kube().Edit(kCrdType, kDaemonCrd, [](Json& crd) {
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"].erase("paused");
  });
  kube().Create(kNodePoolType, {{"metadata", {{"name", "site"}}}});
  auto process = Run(chart);
  Json daemon = Daemon("web:1");
  daemon["metadata"]["namespace"] = "watched";
  Apply(daemon);
  Eventually("the workload exists", [&] { return kube("watched").List(kDeploymentType, kPoolNameLabel).size() == 1; });
  Eventually("the event exists", [&] {
    const std::vector<Json> events = kube("default").List(kEventType);
    return std::any_of(events.begin(), events.end(),
                       [](const Json& event) { return StringAt(event, {"reason"}) == "OutdatedCRD"; });
  });
  kube("watched").Delete(kYurtAppDaemonType, "web");
  EXPECT_EQ(process->Stop(), 0);
  ExpectNothingDenied(chart);
  kube().Delete(kNodePoolType, "site");
}

TEST_F(LifecycleTest, ACertificateOfTheUserIsServedAndTrusted) {
  const TestCa ca;
  LeafOptions leaf;
  leaf.alt_names = "DNS:files-yurtappdaemon-operator-webhook.files.svc";
  const CertificateAndKey pair = ca.Issue(leaf);
  const ChartInstall chart(helm(), plane(),
                           {"files", "files", {"webhook.existingSecret=tls", "webhook.caBundle=" + ca.cert_pem()}});
  // On a node, the kubelet writes these files.
  const std::string folder = plane().dir() + "/files";
  std::filesystem::create_directories(folder);
  WriteFile(folder + "/tls.crt", pair.cert_pem);
  WriteFile(folder + "/tls.key", pair.key_pem);
  OperatorOptions options = chart.operator_options(YAD_OPERATOR_BINARY);
  for (std::string& arg : options.all_flags) {
    if (arg == "--webhook-cert-dir=/webhook-certificate") arg = "--webhook-cert-dir=" + folder;
  }
  OperatorProcess process(options);
  process.WaitUntilReady();
  const ProcessResult result = RunTest(chart);
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_EQ(process.Stop(), 0);
  ExpectNothingDenied(chart);
}

}  // namespace
}  // namespace yad::testing
