// helm install, upgrade and uninstall against a real control plane. No operator runs here, so the tests write what it
// would write.
#include <regex>

#include "operator/api/well_known.h"
#include "tests/chart/fixture.h"
#include "tests/support/eventually.h"

namespace yad::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Returns a CRD like OpenYurt's: without our fields, and without a release that keeps it.
Json OpenYurtsCrd(const std::string& name, const std::string& kind, const std::string& version, const Json& spec) {
  const std::string plural = name.substr(0, name.find('.'));
  const Json schema = {{"type", "object"}, {"properties", {{"spec", {{"type", "object"}, {"properties", spec}}}}}};
  return {{"metadata", {{"name", name}}},
          {"spec",
           {{"group", "apps.openyurt.io"},
            {"scope", kind == "NodePool" ? "Cluster" : "Namespaced"},
            {"names", {{"kind", kind}, {"plural", plural}}},
            {"versions",
             {{{"name", version}, {"served", true}, {"storage", true}, {"schema", {{"openAPIV3Schema", schema}}}}}}}}};
}

const Json kAnything = {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};

// Returns the indented command of a text that contains these words, with all of its lines.
std::string CommandIn(const std::string& text, const std::string& words) {
  const auto at = text.find(words);
  if (at == std::string::npos) throw TestFailure("no \"" + words + "\" in:\n" + text);
  auto begin = text.rfind('\n', at) + 1;
  while (begin > 1 && text[begin - 2] == '\\') begin = text.rfind('\n', begin - 2) + 1;
  auto end = text.find('\n', at);
  while (end != std::string::npos && text[end - 1] == '\\') end = text.find('\n', end + 1);
  return text.substr(begin, end - begin);
}

class InstallTest : public ChartTest {
 protected:
  void InstallOpenYurtsCrds() {
    kube().Create(kCrdType, OpenYurtsCrd(kPoolCrd, "NodePool", "v1beta2", {{"type", {{"type", "string"}}}}));
    kube().Create(kCrdType, OpenYurtsCrd(kDaemonCrd, "YurtAppDaemon", "v1alpha1",
                                         {{"selector", kAnything}, {"workloadTemplate", kAnything}}));
    plane().AwaitCrds();
  }

  // Creates a Deployment like that of OpenYurt's chart; it has no pods.
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

  // Returns the notes of a dry run of `helm install`.
  std::string Notes() {
    return helm().Run({"install", "yad", helm().chart(), "--dry-run=server", "--hide-secret", "--set", kImageValue});
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

TEST_F(InstallTest, ABareClusterGetsTheProjectsCrdsAndTheNotesNameTheNextCommand) {
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

TEST_F(InstallTest, WaitingForTheReleaseIsEnough) {
  MakeNode(kube(), "cloud");
  MakeNamespace("wait", {{"pod-security.kubernetes.io/enforce", "restricted"}});
  helm().Run({"install", "wait", helm().chart(), "--namespace=wait", "--set", kImageValue, "--wait", "--timeout=90s"});
  for (const Json& pod : kube("wait").List(kPodType)) {
    EXPECT_EQ(At(pod, "/spec/priorityClassName"), "system-cluster-critical");
  }
  helm().Run({"uninstall", "wait", "--namespace=wait", "--wait"});
  kube().Delete(kNodeType, "cloud");
}

TEST_F(InstallTest, AnInstallationThatNeverBecomesReadyLeavesNoWebhookBehind) {
  // There is no node, so no pod becomes ready.
  const ProcessResult failed = helm().Try({"install", "never", helm().chart(), "--namespace=never",
                                           "--create-namespace", "--set", kImageValue, "--atomic", "--timeout=5s"});
  EXPECT_NE(failed.exit_code, 0) << failed.out;
  for (const ResourceType* type : {&kMutatingType, &kValidatingType}) {
    EXPECT_EQ(kube().List(*type).size(), 0u) << type->kind;
  }
  EXPECT_TRUE(kube().Find(kCrdType, kDaemonCrd)) << "CRDs stay with their objects";
}

TEST_F(InstallTest, AMissingImageInstallsNothingAndTheErrorNamesTheCommands) {
  const ProcessResult refused = helm().Try({"install", "noimage", helm().chart(), "--namespace=noimage",
                                            "--create-namespace", "--set", "image.repository="});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("image.repository is empty"), HasSubstr("make image IMAGE="),
                                 HasSubstr("--set image.repository=REGISTRY/yurtappdaemon-operator")));
  for (const ResourceType* type : {&kMutatingType, &kValidatingType}) {
    EXPECT_EQ(kube().List(*type).size(), 0u) << type->kind;
  }
  EXPECT_FALSE(kube().Find(kCrdType, kDaemonCrd));
}

TEST_F(InstallTest, NoPodGoesToAnEdgeNode) {
  MakeNode(kube(), "edge", {{"openyurt.io/is-edge-worker", "true"}});
  const ChartInstall chart(helm(), plane(), {"edge", "edge"});
  Eventually("the scheduler says why it places no pod", [&] {
    const std::vector<Json> pods = kube("edge").List(kPodType);
    return !pods.empty() && pods[0].dump().find("didn't match Pod's node affinity") != std::string::npos;
  });
  kube().Delete(kNodeType, "edge");
}

TEST_F(InstallTest, CrdsThatOpenYurtHasInstalledAreLeftAloneAndTheNotesSaySo) {
  InstallOpenYurtsCrds();
  const Json daemon = kube().Get(kCrdType, kDaemonCrd);
  const Json pool = kube().Get(kCrdType, kPoolCrd);

  ChartInstall chart(helm(), plane(), {"taking", "taking"});
  chart.Upgrade({"replicas=3"});
  EXPECT_EQ(VersionOf(kube().Get(kCrdType, kDaemonCrd)), VersionOf(daemon));
  EXPECT_EQ(VersionOf(kube().Get(kCrdType, kPoolCrd)), VersionOf(pool));
  for (const char* crd : {kDaemonCrd, kPoolCrd}) {
    EXPECT_THAT(chart.notes(), HasSubstr("CRD " + std::string(crd) +
                                         ": was there already, and was left as it is, because "
                                         "this release did not make it."));
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
  EXPECT_THAT(chart.notes(), AllOf(HasSubstr("left as it is"), Not(HasSubstr("It lacks"))));

  chart.Uninstall();
  EXPECT_TRUE(kube().Find(kCrdType, kDaemonCrd));
  EXPECT_TRUE(kube().Find(kCrdType, kPoolCrd));
}

TEST_F(InstallTest, TheNodePoolCrdCanBeLeftToOpenYurt) {
  const ChartInstall chart(helm(), plane(), {"nopool", "nopool", {"crds.nodePool=false"}});
  EXPECT_TRUE(kube().Find(kCrdType, kDaemonCrd));
  EXPECT_FALSE(kube().Find(kCrdType, kPoolCrd));
  EXPECT_THAT(chart.notes(), HasSubstr("CRD " + std::string(kPoolCrd) + ": is not there, and was not installed"));
}

TEST_F(InstallTest, UpgradeBringsOurCrdsUpToDateAndKeepsWhatTheOperatorWrote) {
  ChartInstall chart(helm(), plane(), {"upgrade", "upgrade"});
  // An older version of this chart had fewer fields.
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
  EXPECT_THAT(chart.notes(), HasSubstr("CRD " + std::string(kDaemonCrd) + ": brought up to date."));
  EXPECT_THAT(SpecOf(kDaemonCrd).dump(), HasSubstr("jsonPatches"));
  check("helm upgrade");

  // Helm 4, and tools that render the chart and apply it, write in this way.
  for (const char* file : {"webhook", "certificate"}) {
    const std::string rendered = Render({"webhook.timeoutSeconds=7"}, "upgrade", "upgrade",
                                        "--show-only=templates/" + std::string(file) + ".yaml");
    for (int i = 0; i < 2; ++i) {
      plane().Kubectl({"apply", "--server-side", "--force-conflicts", "-f", "-"}, rendered);
    }
  }
  check("kubectl apply --server-side");
}

// An upgrade of Helm deletes objects that have left the release, unless an annotation keeps them.
TEST_F(InstallTest, NoUpgradeDeletesACrdThatHasLostTheMarksOfTheRelease) {
  ChartInstall chart(helm(), plane(), {"marks", "marks"});
  plane().AwaitCrds();
  kube().Create(kNodePoolType, {{"metadata", {{"name", "marks"}}}});
  // A kubectl replace with a file has this effect.
  plane().Kubectl({"annotate", "crd", kPoolCrd, "meta.helm.sh/release-name-", "meta.helm.sh/release-namespace-",
                   "helm.sh/resource-policy-"});
  const std::vector<std::string> upgrade = {"upgrade",           "marks", helm().chart(),
                                            "--namespace=marks", "--set", kImageValue};
  const ProcessResult refused = helm().Try(upgrade);
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr(std::string(kPoolCrd) + " was installed by this release"));
  EXPECT_TRUE(kube().Find(kNodePoolType, "marks"));
  const ProcessResult mended = helm().TryShell(CommandIn(refused.err, "kubectl annotate crd"));
  ASSERT_EQ(mended.exit_code, 0) << mended.err;
  const ProcessResult upgraded = helm().Try(upgrade);
  EXPECT_EQ(upgraded.exit_code, 0) << upgraded.err;
  EXPECT_TRUE(kube().Find(kNodePoolType, "marks"));
  kube().Delete(kNodePoolType, "marks");
}

TEST_F(InstallTest, UninstallLeavesCrdsAndObjectsAndNothingElse) {
  ChartInstall first(helm(), plane(), {"again", "again"});
  plane().AwaitCrds();
  kube().Create(kNodePoolType, {{"metadata", {{"name", "again"}}}});
  first.Uninstall();
  EXPECT_THAT(first.notes(), HasSubstr(kDaemonCrd));
  EXPECT_TRUE(kube().Find(kNodePoolType, "again"));
  // kubectl's cache from another test may contain a deleted type.
  const std::string fresh = "--cache-dir=" + plane().dir() + "/kubectl-cache-again";
  const std::string left =
      plane().Kubectl({"get", fresh,
                       "all,secrets,serviceaccounts,roles,rolebindings,pdb,clusterroles,clusterrolebindings,"
                       "mutatingwebhookconfigurations,validatingwebhookconfigurations",
                       "--namespace=again", "--output=name", "--selector=app.kubernetes.io/instance=again"});
  EXPECT_EQ(left, "");

  {
    const ChartInstall second(helm(), plane(), {"again", "again"});
    EXPECT_THAT(second.notes(), HasSubstr("CRD " + std::string(kDaemonCrd) + ": brought up to date."));
    EXPECT_TRUE(kube().Find(kNodePoolType, "again"));
  }
  const ChartInstall third(helm(), plane(), {"other", "again"});
  EXPECT_THAT(third.notes(), HasSubstr("was left as it is, because it belongs to release again in namespace again."));
  EXPECT_TRUE(kube().Find(kNodePoolType, "again"));
  kube().Delete(kNodePoolType, "again");
}

TEST_F(InstallTest, NotesWarnThatUninstallingDeletesCrdsThatAreNotKept) {
  ChartInstall chart(helm(), plane(), {"drop", "drop", {"crds.keep=false"}});
  EXPECT_THAT(chart.notes(), HasSubstr("UNINSTALLING THIS RELEASE DELETES IT, AND ALL ITS OBJECTS"));
  chart.Uninstall();
  Eventually("the CRDs are gone",
             [&] { return !kube().Find(kCrdType, kDaemonCrd) && !kube().Find(kCrdType, kPoolCrd); });
}

TEST_F(InstallTest, AReleaseTakesTheCrdsOverAsTheDocumentSays) {
  InstallOpenYurtsCrds();
  ChartInstall chart(helm(), plane(), {"yad", "yurtappdaemon-system"});
  const std::string document = ReadFile(YAD_SOURCE_DIR "/docs/install.md");
  for (const char* words : {"kubectl label crd", "kubectl annotate crd"}) {
    const ProcessResult result = helm().TryShell(CommandIn(document, words));
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  chart.Upgrade({});
  EXPECT_THAT(chart.notes(), HasSubstr("CRD " + std::string(kDaemonCrd) + ": brought up to date. It stays"));
  EXPECT_TRUE(SpecOf(kDaemonCrd).dump().find("updateStrategy") != std::string::npos);
}

TEST_F(InstallTest, NotesNameTheFlagThatSwitchesYurtManagersControllersOff) {
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

TEST_F(InstallTest, NotesNameForeignWebhooksForYurtAppDaemonsButNotOurOwn) {
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

TEST_F(InstallTest, TheServiceAccountMayDoWhatTheOperatorDoesAndNoMore) {
  const ChartInstall chart(helm(), plane(), {"rights", "rights", {"nodePoolController.mode=Disabled"}});
  const std::string lease = "yurtappdaemon-operator";
  for (const char* verb : {"get", "list", "watch", "create", "update", "delete"}) {
    EXPECT_TRUE(Can(chart, verb, "deployments.apps", "default")) << verb;
    EXPECT_TRUE(Can(chart, verb, "statefulsets.apps", "default")) << verb;
    const bool of_pods = verb == std::string("list") || verb == std::string("delete");
    EXPECT_EQ(Can(chart, verb, "pods", "default"), of_pods) << verb;
    EXPECT_FALSE(Can(chart, verb, "configmaps", "default")) << verb;
  }
  EXPECT_TRUE(Can(chart, "update", "leases.coordination.k8s.io", "rights", lease));
  EXPECT_TRUE(Can(chart, "watch", "leases.coordination.k8s.io", "rights", lease));
  EXPECT_FALSE(Can(chart, "update", "leases.coordination.k8s.io", "rights", "another"));
  EXPECT_FALSE(Can(chart, "watch", "leases.coordination.k8s.io", "rights"));
  EXPECT_FALSE(Can(chart, "get", "leases.coordination.k8s.io", "default", lease));
  EXPECT_TRUE(Can(chart, "watch", "secrets", "rights", chart.certificate_secret()));
  EXPECT_FALSE(Can(chart, "watch", "secrets", "rights"));
  EXPECT_FALSE(Can(chart, "get", "secrets", "default", chart.certificate_secret()));
  EXPECT_TRUE(Can(chart, "update", "mutatingwebhookconfigurations.admissionregistration.k8s.io", "", chart.name()));
  EXPECT_FALSE(Can(chart, "update", "mutatingwebhookconfigurations.admissionregistration.k8s.io", "", "another"));
  EXPECT_FALSE(Can(chart, "delete", "validatingwebhookconfigurations.admissionregistration.k8s.io", "", chart.name()));
  EXPECT_TRUE(Can(chart, "get", "customresourcedefinitions.apiextensions.k8s.io", "", kDaemonCrd));
  EXPECT_TRUE(Can(chart, "get", "customresourcedefinitions.apiextensions.k8s.io", "", kPoolCrd));
  EXPECT_FALSE(Can(chart, "get", "customresourcedefinitions.apiextensions.k8s.io", "", "another.example.org"));
  EXPECT_FALSE(Can(chart, "update", "customresourcedefinitions.apiextensions.k8s.io", "", kPoolCrd));
  EXPECT_FALSE(Can(chart, "update", "yurtappdaemons.apps.openyurt.io", "default"));
}

TEST_F(InstallTest, TheNodePoolControllersRightsComeWithItAndAreEnough) {
  ChartInstall chart(helm(), plane(), {"counting", "counting"});
  const std::string status = "nodepools.apps.openyurt.io";
  for (const char* verb : {"list", "watch", "patch"}) EXPECT_TRUE(Can(chart, verb, "nodes", "")) << verb;
  for (const char* verb : {"create", "update", "delete"}) EXPECT_FALSE(Can(chart, verb, "nodes", "")) << verb;
  for (const char* verb : {"patch", "update", "delete"}) EXPECT_FALSE(Can(chart, verb, status, "")) << verb;
  EXPECT_FALSE(Can(chart, "list", "csinodes.storage.k8s.io", ""));
  const auto op = Run(chart);
  kube().Create(kNodePoolType, {{"metadata", {{"name", "counted"}}}, {"spec", {{"labels", {{"zone", "north"}}}}}});
  MakeNode(kube(), "of-counted", {{kNodePoolLabel, "counted"}});
  Eventually("the pool counts its node, which has its label", [&] {
    return At(kube().Get(kNodePoolType, "counted"), "/status/readyNodeNum") == 1 &&
           StringAt(kube().Get(kNodeType, "of-counted"), {"metadata", "labels", "zone"}) == "north";
  });
  kube().MergePatch(kNodePoolType, "counted", {{"spec", {{"labels", {{"zone", "south"}}}}}});
  Eventually("and another one", [&] {
    return StringAt(kube().Get(kNodeType, "of-counted"), {"metadata", "labels", "zone"}) == "south";
  });
  kube().Create(kNodePoolType, {{"metadata", {{"name", "tainted"}}},
                                {"spec", {{"taints", {{{"key", "only"}, {"effect", "NoExecute"}}}}}}});
  kube().MergePatch(kNodeType, "of-counted", {{"metadata", {{"labels", {{kNodePoolLabel, "tainted"}}}}}});
  Eventually("and what another pool gives", [&] {
    const Json node = kube().Get(kNodeType, "of-counted");
    return StringAt(node, {"metadata", "labels", "zone"}).empty() && At(node, "/spec/taints/0/key") == "only";
  });
  EXPECT_EQ(op->Stop(), 0);
  for (const char* pool : {"counted", "tainted"}) kube().Delete(kNodePoolType, pool);
  kube().Delete(kNodeType, "of-counted");
  chart.Upgrade({"nodePoolController.mode=Disabled"});
  EXPECT_FALSE(Can(chart, "patch", "nodes", ""));
  EXPECT_FALSE(Can(chart, "watch", "pods", ""));
}

// Earlier charts had the controller off by default, and made Deployments without the annotation.
TEST_F(InstallTest, AnUpgradeToAutoLeavesTheNodePoolControllerAsItWas) {
  ChartInstall chart(helm(), plane(), {"kept", "kept", {"nodePoolController.mode=Disabled"}});
  const std::string annotation = "yurtappdaemon-operator/nodepool-controller";
  const auto annotate = [&](const std::string& text) {
    plane().Kubectl({"annotate", "deployment", chart.name(), "--namespace=kept", "--overwrite", annotation + text});
  };
  const auto controllers = [&] {
    for (const std::string& arg : chart.args()) {
      if (arg.starts_with("--controllers=")) return arg;
    }
    return std::string();
  };
  annotate("-");
  for (int i = 0; i < 2; ++i) {
    chart.Upgrade({"nodePoolController.mode=Auto"});
    EXPECT_EQ(controllers(), "--controllers=*,-nodepool");
    EXPECT_FALSE(Can(chart, "patch", "nodes", ""));
    EXPECT_THAT(chart.notes(), HasSubstr("the nodepool controller stays off, because it was off before"));
  }
  const ProcessResult annotated = helm().TryShell(CommandIn(chart.notes(), "annotate deployment"));
  EXPECT_EQ(annotated.exit_code, 0) << annotated.err;
  chart.Upgrade({"nodePoolController.mode=Auto"});
  EXPECT_EQ(controllers(), "--controllers=*");
  EXPECT_TRUE(Can(chart, "patch", "nodes", ""));

  annotate("-");
  chart.Upgrade({"nodePoolController.mode=Auto", "watchNamespace=default"});
  EXPECT_EQ(controllers(), "--controllers=*") << "it was on";
  chart.Upgrade({"nodePoolController.mode=Disabled"});
  chart.Upgrade({"nodePoolController.mode=Auto"});
  EXPECT_EQ(controllers(), "--controllers=*") << "a choice of the user is no old default";
}

TEST_F(InstallTest, TheAutoscalerBringsItsCrdAndRightsAndNoOthers) {
  ChartInstall chart(helm(), plane(), {"capacity", "capacity", {"nodePoolController.mode=Disabled"}});
  EXPECT_FALSE(kube().Find(kCrdType, kAutoscalerCrd));
  EXPECT_FALSE(Can(chart, "watch", "nodes", ""));
  chart.Upgrade({"nodePoolAutoscaler.enabled=true"});
  EXPECT_THAT(chart.notes(), HasSubstr("CRD " + std::string(kAutoscalerCrd) + ": installed. It stays"));
  const std::string autoscalers = "nodepoolautoscalers.capacity.openyurt.io";
  for (const char* verb : {"list", "watch"}) {
    EXPECT_TRUE(Can(chart, verb, autoscalers, "")) << verb;
    EXPECT_TRUE(Can(chart, verb, "nodes", "")) << verb;
    EXPECT_TRUE(Can(chart, verb, "pods", "")) << verb;
  }
  EXPECT_TRUE(Can(chart, "patch", "nodes", ""));
  for (const char* verb : {"create", "update", "delete"}) EXPECT_FALSE(Can(chart, verb, "nodes", "")) << verb;
  for (const char* verb : {"create", "update", "patch", "delete"})
    EXPECT_FALSE(Can(chart, verb, autoscalers, "")) << verb;
  EXPECT_FALSE(Can(chart, "create", "pods", ""));
  chart.Upgrade({"nodePoolAutoscaler.enabled=false"});
  EXPECT_FALSE(Can(chart, "patch", "nodes", ""));
  EXPECT_TRUE(kube().Find(kCrdType, kAutoscalerCrd)) << "it is kept, with its objects";
}

TEST_F(InstallTest, AnOperatorOfOneNamespaceHasRightsInThatAlone) {
  MakeNamespace("watched");
  const ChartInstall chart(helm(), plane(), {"narrow", "narrow", {"watchNamespace=watched"}});
  EXPECT_TRUE(Can(chart, "create", "deployments.apps", "watched"));
  EXPECT_FALSE(Can(chart, "create", "deployments.apps", "default"));
  EXPECT_FALSE(Can(chart, "create", "deployments.apps", "narrow"));
  EXPECT_TRUE(Can(chart, "watch", "yurtappdaemons.apps.openyurt.io", "watched"));
  EXPECT_FALSE(Can(chart, "get", "yurtappdaemons.apps.openyurt.io", "default"));
  EXPECT_TRUE(Can(chart, "watch", "nodepools.apps.openyurt.io", ""));
  EXPECT_FALSE(Can(chart, "patch", "nodes", "")) << "the nodes belong to the whole cluster";
}

TEST_F(InstallTest, NamespaceAdministratorsMayWriteYurtAppDaemons) {
  const ChartInstall chart(helm(), plane(), {"users", "users"});
  plane().TryKubectl({"create", "rolebinding", "edit", "--clusterrole=edit", "--user=ann", "--namespace=users"});
  plane().TryKubectl({"create", "rolebinding", "view", "--clusterrole=view", "--user=bob", "--namespace=users"});
  const auto can = [&](const std::string& user, const std::string& verb, const std::string& ns) {
    return plane()
               .TryKubectl(
                   {"auth", "can-i", verb, "yurtappdaemons.apps.openyurt.io", "--namespace=" + ns, "--as=" + user})
               .out == "yes\n";
  };
  Eventually("the roles are aggregated", [&] { return can("ann", "create", "users") && can("bob", "watch", "users"); });
  EXPECT_FALSE(can("bob", "create", "users"));
  plane().TryKubectl(
      {"create", "clusterrolebinding", "site", "--clusterrole=users-yurtappdaemon-operator-site", "--user=sue"});
  const auto site_can = [&](const std::string& verb) {
    return plane().TryKubectl({"auth", "can-i", verb, "nodepools.apps.openyurt.io", "--as=sue"}).out == "yes\n";
  };
  Eventually("the site's account may hold its pool", [&] { return site_can("get") && site_can("patch"); });
  EXPECT_FALSE(site_can("delete") || site_can("create") || site_can("list"));
  plane().TryKubectl({"delete", "clusterrolebinding", "site"});
  EXPECT_FALSE(can("ann", "create", "default"));
}

}  // namespace
}  // namespace yad::testing
