// helm install, upgrade and uninstall on a real control plane. The tests write the operator's objects, because no
// operator runs.
#include <gtest/gtest.h>

#include <regex>

#include "operator/api/well_known.h"
#include "tests/chart/fixture.h"
#include "tests/chart/install_fixture.h"
#include "tests/support/eventually.h"

namespace yad::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(InstallTest, AnEmptyClusterGetsOurCrdsAndTheNotesShowTheNextCommand) {
  plane().ApplyCrds();
  const Json daemon_spec = SpecOf(kDaemonCrd);
  const Json pool_spec = SpecOf(kPoolCrd);
  RemoveCrds();

  const ChartInstall chart(helm(), plane(), {"bare", "bare"});
  EXPECT_EQ(SpecOf(kDaemonCrd), daemon_spec);
  EXPECT_EQ(SpecOf(kPoolCrd), pool_spec);
  EXPECT_THAT(chart.notes(), AllOf(HasSubstr("CRD " + std::string(kDaemonCrd) + ": installed. It stays"),
                                   HasSubstr("CRD " + std::string(kPoolCrd) + ": installed. It stays"),
                                   HasSubstr("helm test bare --namespace bare"), Not(HasSubstr("WARNING"))));
  const ProcessResult next = helm().TryShell(CommandIn(chart.notes(), "get yurtappdaemons"));
  EXPECT_EQ(next.exit_code, 0) << next.err;
}

TEST_F(InstallTest, InstallWithWaitReturnsWhenTheOperatorIsReady) {
  MakeNode(kube(), "cloud");
  MakeNamespace("wait", {{"pod-security.kubernetes.io/enforce", "restricted"}});
  helm().Run({"install", "wait", helm().chart(), "--namespace=wait", "--set", kImageValue, "--wait", "--timeout=90s"});
  for (const Json& pod : kube("wait").List(kPodType)) {
    EXPECT_EQ(At(pod, "/spec/priorityClassName"), "system-cluster-critical");
  }
  helm().Run({"uninstall", "wait", "--namespace=wait", "--wait"});
  kube().Delete(kNodeType, "cloud");
}

TEST_F(InstallTest, AFailedAtomicInstallationLeavesNoWebhookConfiguration) {
  // There is no node, so no pod becomes ready.
  const ProcessResult failed = helm().Try({"install", "never", helm().chart(), "--namespace=never",
                                           "--create-namespace", "--set", kImageValue, "--atomic", "--timeout=5s"});
  EXPECT_NE(failed.exit_code, 0) << failed.out;
  for (const ResourceType* type : {&kMutatingType, &kValidatingType}) {
    EXPECT_EQ(kube().List(*type).size(), 0u) << type->kind;
  }
  EXPECT_TRUE(kube().Find(kCrdType, kDaemonCrd)) << "helm must keep the CRDs and their objects";
}

TEST_F(InstallTest, AnInstallationWithoutAnImageFailsAndTheErrorShowsTheCommands) {
  const ProcessResult rejected = helm().Try({"install", "noimage", helm().chart(), "--namespace=noimage",
                                             "--create-namespace", "--set", "image.repository="});
  EXPECT_NE(rejected.exit_code, 0);
  EXPECT_THAT(rejected.err, AllOf(HasSubstr("image.repository is empty"), HasSubstr("make image IMAGE="),
                                  HasSubstr("--set image.repository=REGISTRY/yurtappdaemon-operator")));
  for (const ResourceType* type : {&kMutatingType, &kValidatingType}) {
    EXPECT_EQ(kube().List(*type).size(), 0u) << type->kind;
  }
  EXPECT_FALSE(kube().Find(kCrdType, kDaemonCrd));
}

TEST_F(InstallTest, NoPodIsScheduledToAnEdgeNode) {
  MakeNode(kube(), "edge", {{"openyurt.io/is-edge-worker", "true"}});
  const ChartInstall chart(helm(), plane(), {"edge", "edge"});
  Eventually("the scheduler reports why it cannot place the pod", [&] {
    const std::vector<Json> pods = kube("edge").List(kPodType);
    return !pods.empty() && pods[0].dump().find("didn't match Pod's node affinity") != std::string::npos;
  });
  kube().Delete(kNodeType, "edge");
}

TEST_F(InstallTest, CrdsThatOpenYurtInstalledAreNotChangedAndTheNotesReportThem) {
  InstallOpenYurtsCrds();
  const Json daemon = kube().Get(kCrdType, kDaemonCrd);
  const Json pool = kube().Get(kCrdType, kPoolCrd);

  ChartInstall chart(helm(), plane(), {"taking", "taking"});
  chart.Upgrade({"replicas=3"});
  EXPECT_EQ(VersionOf(kube().Get(kCrdType, kDaemonCrd)), VersionOf(daemon));
  EXPECT_EQ(VersionOf(kube().Get(kCrdType, kPoolCrd)), VersionOf(pool));
  for (const char* crd : {kDaemonCrd, kPoolCrd}) {
    EXPECT_THAT(chart.notes(), HasSubstr("CRD " + std::string(crd) +
                                         ": existed already, and was not changed, because "
                                         "this release did not create it."));
  }
  EXPECT_THAT(chart.notes(),
              AllOf(HasSubstr("It lacks spec.nodePools, spec.nodepoolSelector, spec.overrides, spec.paused"),
                    HasSubstr("status.updateRevision")));

  // The notes contain this command.
  const ProcessResult updated = helm().TryShell(CommandIn(chart.notes(), "kubectl apply --server-side"));
  EXPECT_EQ(updated.exit_code, 0) << updated.err;
  EXPECT_TRUE(SpecOf(kDaemonCrd).dump().find("updateStrategy") != std::string::npos);
  EXPECT_EQ(VersionOf(kube().Get(kCrdType, kPoolCrd)), VersionOf(pool))
      << "OpenYurt's NodePools would lose their version";
  chart.Upgrade({});
  EXPECT_THAT(chart.notes(), AllOf(HasSubstr("existed already, and was not changed"), Not(HasSubstr("It lacks"))));

  chart.Uninstall();
  EXPECT_TRUE(kube().Find(kCrdType, kDaemonCrd));
  EXPECT_TRUE(kube().Find(kCrdType, kPoolCrd));
}

TEST_F(InstallTest, TheNodePoolCrdIsNotInstalledIfItsValueIsFalse) {
  const ChartInstall chart(helm(), plane(), {"nopool", "nopool", {"crds.nodePool=false"}});
  EXPECT_TRUE(kube().Find(kCrdType, kDaemonCrd));
  EXPECT_FALSE(kube().Find(kCrdType, kPoolCrd));
  EXPECT_THAT(chart.notes(), HasSubstr("CRD " + std::string(kPoolCrd) + ": does not exist, and was not installed"));
}

TEST_F(InstallTest, UpgradeUpdatesOurCrdsAndKeepsFieldsThatTheOperatorWrote) {
  ChartInstall chart(helm(), plane(), {"upgrade", "upgrade"});
  // The CRD of an older chart had fewer fields.
  kube().Edit(kCrdType, kDaemonCrd, [](Json& crd) {
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"].erase("overrides");
  });
  const std::string bundle = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t";
  for (const ResourceType* type : {&kMutatingType, &kValidatingType}) {
    const Json patch = {{{"op", "add"}, {"path", "/webhooks/0/clientConfig/caBundle"}, {"value", bundle}}};
    plane().Kubectl({"patch", type->resource, chart.name(), "--type=json", "--patch=" + patch.dump()});
  }
  const Json data = {{"ca.crt", bundle}, {"tls.crt", "eA=="}, {"tls.key", "eQ=="}};
  kube("upgrade").MergePatch(kSecretType, chart.certificate_secret(), {{"data", data}});

  const auto check = [&](const char* after) {
    SCOPED_TRACE(after);
    for (const ResourceType* type : {&kMutatingType, &kValidatingType}) {
      const Json configuration = kube().Get(*type, chart.name());
      EXPECT_EQ(At(configuration, "/webhooks/0/clientConfig/caBundle"), bundle) << type->kind;
      EXPECT_EQ(At(configuration, "/webhooks/0/timeoutSeconds"), 7) << type->kind;
    }
    EXPECT_EQ(At(kube("upgrade").Get(kSecretType, chart.certificate_secret()), "/data"), data);
  };
  chart.Upgrade({"webhook.timeoutSeconds=7", "webhook.namespaceSelector.matchLabels.a=b"});
  EXPECT_THAT(chart.notes(), HasSubstr("CRD " + std::string(kDaemonCrd) + ": updated."));
  EXPECT_THAT(SpecOf(kDaemonCrd).dump(), HasSubstr("jsonPatches"));
  check("helm upgrade");

  // Helm 4, and tools that render the chart, use server-side apply.
  for (const char* file : {"webhook", "certificate"}) {
    const std::string manifests = Render({"webhook.timeoutSeconds=7"}, "upgrade", "upgrade",
                                         "--show-only=templates/" + std::string(file) + ".yaml");
    for (int i = 0; i < 2; ++i) {
      plane().Kubectl({"apply", "--server-side", "--force-conflicts", "-f", "-"}, manifests);
    }
  }
  check("kubectl apply --server-side");
}

// helm upgrade deletes the objects that the release no longer contains, unless an annotation keeps them.
TEST_F(InstallTest, UpgradeDoesNotDeleteACrdWithoutTheAnnotationsOfTheRelease) {
  ChartInstall chart(helm(), plane(), {"marks", "marks"});
  plane().AwaitCrds();
  kube().Create(kNodePoolType, {{"metadata", {{"name", "marks"}}}});
  // kubectl replace with a file also removes these annotations.
  plane().Kubectl({"annotate", "crd", kPoolCrd, "meta.helm.sh/release-name-", "meta.helm.sh/release-namespace-",
                   "helm.sh/resource-policy-"});
  const std::vector<std::string> upgrade = {"upgrade",           "marks", helm().chart(),
                                            "--namespace=marks", "--set", kImageValue};
  const ProcessResult rejected = helm().Try(upgrade);
  EXPECT_NE(rejected.exit_code, 0);
  EXPECT_THAT(rejected.err, HasSubstr(std::string(kPoolCrd) + " was installed by this release"));
  EXPECT_TRUE(kube().Find(kNodePoolType, "marks"));
  const ProcessResult annotated = helm().TryShell(CommandIn(rejected.err, "kubectl annotate crd"));
  ASSERT_EQ(annotated.exit_code, 0) << annotated.err;
  const ProcessResult upgraded = helm().Try(upgrade);
  EXPECT_EQ(upgraded.exit_code, 0) << upgraded.err;
  EXPECT_TRUE(kube().Find(kNodePoolType, "marks"));
  kube().Delete(kNodePoolType, "marks");
}

TEST_F(InstallTest, UpgradeDoesNotDeleteACrdThatAValueRemovesFromTheRelease) {
  const std::vector<std::pair<std::string, std::string>> cases = {{"crds.enabled=false", kDaemonCrd},
                                                                  {"crds.nodePool=false", kPoolCrd},
                                                                  {"nodePoolAutoscaler.enabled=false", kAutoscalerCrd}};
  for (const auto& [value, crd] : cases) {
    SCOPED_TRACE(value);
    {
      const ChartInstall chart(helm(), plane(), {"removed", "removed", {"nodePoolAutoscaler.enabled=true"}});
      plane().AwaitCrds();
      plane().Kubectl({"annotate", "crd", crd, "helm.sh/resource-policy-"});
      const std::vector<std::string> upgrade = {
          "upgrade", "removed",   helm().chart(), "--namespace=removed",
          "--set",   kImageValue, "--set",        "nodePoolAutoscaler.enabled=true",
          "--set",   value};
      ASSERT_NO_FATAL_FAILURE(UpgradeNeedsTheAnnotation(upgrade, crd, crd + " was installed by this release"));
    }
    RemoveCrds();
  }
}

// If the Deployment is lost, no object shows which CRDs the release had. If it has another name, the chart does not
// find it.
TEST_F(InstallTest, UpgradeDoesNotDeleteACrdIfTheDeploymentIsLostOrHasAnotherName) {
  for (const std::string value : {"replicas=1", "fullnameOverride=renamed"}) {
    SCOPED_TRACE(value);
    {
      const ChartInstall chart(helm(), plane(), {"lost", "lost"});
      plane().AwaitCrds();
      // kubectl replace with a file also removes these annotations.
      plane().Kubectl({"annotate", "crd", kDaemonCrd, "meta.helm.sh/release-name-", "meta.helm.sh/release-namespace-",
                       "helm.sh/resource-policy-"});
      if (value == "replicas=1") kube("lost").Delete(kDeploymentType, chart.name());
      const std::vector<std::string> upgrade = {"upgrade", "lost",      helm().chart(), "--namespace=lost",
                                                "--set",   kImageValue, "--set",        value};
      ASSERT_NO_FATAL_FAILURE(UpgradeNeedsTheAnnotation(
          upgrade, kDaemonCrd, "the upgrade may delete CustomResourceDefinition " + std::string(kDaemonCrd)));
    }
    RemoveCrds();
  }
}

TEST_F(InstallTest, UninstallKeepsOnlyTheCrdsAndTheirObjects) {
  ChartInstall first(helm(), plane(), {"again", "again"});
  plane().AwaitCrds();
  kube().Create(kNodePoolType, {{"metadata", {{"name", "again"}}}});
  first.Uninstall();
  EXPECT_THAT(first.notes(), HasSubstr(kDaemonCrd));
  EXPECT_TRUE(kube().Find(kNodePoolType, "again"));
  // kubectl's cache may still contain a type that another test has deleted.
  const std::string fresh = "--cache-dir=" + plane().dir() + "/kubectl-cache-again";
  const std::string left =
      plane().Kubectl({"get", fresh,
                       "all,secrets,serviceaccounts,roles,rolebindings,pdb,clusterroles,clusterrolebindings,"
                       "mutatingwebhookconfigurations,validatingwebhookconfigurations",
                       "--namespace=again", "--output=name", "--selector=app.kubernetes.io/instance=again"});
  EXPECT_EQ(left, "");

  {
    const ChartInstall second(helm(), plane(), {"again", "again"});
    EXPECT_THAT(second.notes(), HasSubstr("CRD " + std::string(kDaemonCrd) + ": updated."));
    EXPECT_TRUE(kube().Find(kNodePoolType, "again"));
  }
  const ChartInstall third(helm(), plane(), {"other", "again"});
  EXPECT_THAT(third.notes(), HasSubstr("was not changed, because it belongs to release again in namespace again."));
  EXPECT_TRUE(kube().Find(kNodePoolType, "again"));
  kube().Delete(kNodePoolType, "again");
}

TEST_F(InstallTest, TheDocumentedCommandsUninstallWithoutHelmAndKeepTheCrds) {
  MakeNamespace(kOperatorNamespace);
  plane().Kubectl({"apply", "--server-side", "-f", "-"}, Render({}));
  const std::string secret = "yad-yurtappdaemon-operator-webhook";
  // The operator creates a deleted Secret again without labels.
  kube().Delete(kSecretType, secret);
  kube().Create(kSecretType, {{"metadata", {{"name", secret}}}, {"type", "Opaque"}});
  const std::string document = ReadFile(YAD_SOURCE_DIR "/docs/install.md");
  const std::regex deletion("kubectl [^`\n]*delete secret [^`\n]*");
  for (std::sregex_iterator found(document.begin(), document.end(), deletion), end; found != end; ++found) {
    EXPECT_THAT(found->str(), HasSubstr("--namespace yurtappdaemon-system"));
  }
  for (const std::string& words : {std::string("kubectl delete --all-namespaces --selector"),
                                   "kubectl delete secret " + secret + " --namespace"}) {
    const ProcessResult result = helm().TryShell(CommandIn(document, words));
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  EXPECT_FALSE(kube().Find(kSecretType, secret));
  EXPECT_FALSE(kube().Find(kDeploymentType, "yad-yurtappdaemon-operator"));
  EXPECT_EQ(kube().List(kValidatingType).size(), 0U);
  EXPECT_TRUE(kube().Find(kCrdType, kDaemonCrd));
  EXPECT_TRUE(kube().Find(kCrdType, kPoolCrd));
}

TEST_F(InstallTest, NotesWarnThatUninstallDeletesCrdsWithoutTheKeepPolicy) {
  ChartInstall chart(helm(), plane(), {"drop", "drop", {"crds.keep=false"}});
  EXPECT_THAT(chart.notes(), HasSubstr("UNINSTALLING THIS RELEASE DELETES IT, AND ALL ITS OBJECTS"));
  chart.Uninstall();
  Eventually("the CRDs are gone",
             [&] { return !kube().Find(kCrdType, kDaemonCrd) && !kube().Find(kCrdType, kPoolCrd); });
}

TEST_F(InstallTest, AReleaseAdoptsExistingCrdsAfterTheDocumentedCommands) {
  InstallOpenYurtsCrds();
  ChartInstall chart(helm(), plane(), {"yad", "yurtappdaemon-system"});
  const std::string document = ReadFile(YAD_SOURCE_DIR "/docs/install.md");
  for (const char* words : {"kubectl label crd", "kubectl annotate crd"}) {
    const ProcessResult result = helm().TryShell(CommandIn(document, words));
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  chart.Upgrade({});
  EXPECT_THAT(chart.notes(), HasSubstr("CRD " + std::string(kDaemonCrd) + ": updated. It stays"));
  EXPECT_TRUE(SpecOf(kDaemonCrd).dump().find("updateStrategy") != std::string::npos);
}

TEST_F(InstallTest, NotesOmitWebhooksOfReleasesForOtherNamespaces) {
  MakeNamespace("watched-a");
  const ChartInstall chart(helm(), plane(), {"narrow-a", "narrow-a", {"watchNamespace=watched-a"}});
  const std::string warning = "WARNING: MutatingWebhookConfiguration " + chart.name();
  EXPECT_THAT(Notes({"watchNamespace=watched-b"}), Not(HasSubstr("WARNING")));
  EXPECT_THAT(Notes({"watchNamespace=watched-a"}), HasSubstr(warning));
  EXPECT_THAT(Notes(), HasSubstr(warning));
}

TEST_F(InstallTest, TheCommandInTheNotesUpdatesAForeignAutoscalerCrd) {
  Json crd = OpenYurtsCrd(kAutoscalerCrd, "NodePoolAutoscaler", "v1alpha1", {{"pool", kAnything}});
  crd["spec"]["group"] = "capacity.openyurt.io";
  crd["spec"]["scope"] = "Cluster";
  kube().Create(kCrdType, crd);
  plane().AwaitCrds();
  const ProcessResult updated =
      helm().TryShell(CommandIn(Notes({"nodePoolAutoscaler.enabled=true"}), "kubectl apply --server-side"));
  EXPECT_EQ(updated.exit_code, 0) << updated.err;
  EXPECT_THAT(SpecOf(kAutoscalerCrd).dump(), HasSubstr("scaleUp"));
}

TEST_F(InstallTest, TheNotesAreWrittenIfGlobalIsNull) {
  EXPECT_THAT(Notes({"global=null"}), HasSubstr("Its image is"));
}

TEST_F(InstallTest, NotesSayThatNoPublicRegistryHasTheImageUnlessAValueNamesARegistry) {
  const std::string sentence = "No public registry has this image: docs/install.md#image has the commands";
  EXPECT_THAT(Notes(), HasSubstr(sentence));
  for (const char* value : {"image.repository=registry.local/yurtappdaemon-operator", "image.registry=registry.local",
                            "global.imageRegistry=registry.local"}) {
    EXPECT_THAT(Notes({value}), Not(HasSubstr(sentence))) << value;
  }
  EXPECT_THAT(ReadFile(YAD_SOURCE_DIR "/docs/install.md"), HasSubstr("\n## Image\n"));
}

TEST_F(InstallTest, NotesShowTheFlagThatDisablesYurtManagersControllers) {
  struct Case {
    std::string image;
    std::vector<std::string> args;
    std::string flag;  // empty: there is nothing to do
  };
  const std::string off = "-yurt-app-daemon-controller,-yurt-app-overrider-controller,";
  const std::vector<Case> cases = {
      {"openyurt/yurt-manager:v1.6.1", {"--v=4", "--controllers=-nodelifecycle,*"}, off + "-nodelifecycle,*"},
      {"example.org:5000/yurt-manager:v1.5.0", {"--controllers=*"}, off + "*"},
      {"openyurt/yurt-manager:v1.4.4", {}, off + "*"},
      {"openyurt/yurt-manager:latest", {"--controllers=*"}, off + "*"},
      {"openyurt/yurt-manager:v1.3.4", {"--controllers=*"}, "-yurtappdaemon,*"},
      {"openyurt/yurt-manager:v1.6.1",
       {"--controllers=*,-yurtappdaemon"},
       "-yurt-app-overrider-controller,*,-yurtappdaemon"},
      {"openyurt/yurt-manager:v1.6.1",
       {"--controllers=nodepool,yurtappdaemon"},
       "-yurt-app-daemon-controller,nodepool,yurtappdaemon"},
      {"openyurt/yurt-manager:v1.6.1", {"--controllers=" + off + "*"}, ""},
      {"openyurt/yurt-manager:v1.6.1", {"--controllers=nodepool-controller"}, ""},
      {"openyurt/yurt-manager:v1.7.0", {"--controllers=-nodelifecycle,*"}, ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.image + " " + Json(c.args).dump());
    InstallYurtManager(c.image, c.args);
    const std::string notes = Notes();
    if (c.flag.empty()) {
      EXPECT_THAT(notes, Not(HasSubstr("WARNING")));
    } else {
      EXPECT_THAT(notes,
                  AllOf(HasSubstr("\n  --controllers=" + c.flag + "\n"),
                        HasSubstr("--set 'controllers=" + std::regex_replace(c.flag, std::regex(","), "\\,") + "'")));
    }
    kube("kube-system").Delete(kDeploymentType, "yurt-manager");
  }
}

TEST_F(InstallTest, NotesListForeignYurtAppDaemonWebhooksButNotThoseOfTheChart) {
  const auto webhook = [](const std::string& resource) {
    return Json{{"name", "mutate.apps.v1alpha1." + resource + ".openyurt.io"},
                {"admissionReviewVersions", {"v1"}},
                {"clientConfig", {{"service", {{"name", "manager"}, {"namespace", "rival"}, {"path", "/x"}}}}},
                {"rules",
                 {{{"apiGroups", {"apps.openyurt.io"}},
                   {"apiVersions", {"v1alpha1"}},
                   {"operations", {"CREATE"}},
                   {"resources", {resource}}}}},
                {"failurePolicy", "Ignore"},
                {"sideEffects", "None"}};
  };
  kube().Create(kMutatingType, {{"metadata", {{"name", "rival"}}}, {"webhooks", {webhook("yurtappdaemons")}}});
  kube().Create(kMutatingType, {{"metadata", {{"name", "harmless"}}}, {"webhooks", {webhook("yurtappsets")}}});
  ChartInstall chart(helm(), plane(), {"rivals", "rivals"});
  EXPECT_THAT(chart.notes(), AllOf(HasSubstr("WARNING: MutatingWebhookConfiguration rival reviews YurtAppDaemons too"),
                                   HasSubstr("Service rival/manager"), Not(HasSubstr("harmless"))));
  chart.Upgrade({});
  EXPECT_THAT(chart.notes(), Not(HasSubstr("Configuration " + chart.name())));
}

}  // namespace
}  // namespace yad::testing
