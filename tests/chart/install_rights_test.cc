// Tests of the permissions that the chart grants, on a real control plane.
#include <gtest/gtest.h>

#include "operator/api/well_known.h"
#include "tests/chart/fixture.h"
#include "tests/chart/install_fixture.h"
#include "tests/support/eventually.h"

namespace yad::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST_F(InstallTest, ServiceAccountHasTheExpectedPermissionsOnEachType) {
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
  for (const char* verb : {"list", "watch"}) EXPECT_TRUE(Can(chart, verb, "configmaps", "rights", kFreezeName)) << verb;
  for (const char* verb : {"create", "update", "patch", "delete"})
    EXPECT_FALSE(Can(chart, verb, "configmaps", "rights", kFreezeName)) << verb;
  EXPECT_FALSE(Can(chart, "list", "configmaps", "rights"));
  EXPECT_FALSE(Can(chart, "list", "configmaps", "rights", "another"));
  EXPECT_FALSE(Can(chart, "list", "configmaps", "default", kFreezeName));
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

TEST_F(InstallTest, NodePoolControllerGetsItsPermissionsOnlyIfItIsEnabled) {
  ChartInstall chart(helm(), plane(), {"counting", "counting"});
  const std::string status = "nodepools.apps.openyurt.io";
  for (const char* verb : {"list", "watch", "patch"}) EXPECT_TRUE(Can(chart, verb, "nodes", "")) << verb;
  for (const char* verb : {"create", "update", "delete"}) EXPECT_FALSE(Can(chart, verb, "nodes", "")) << verb;
  for (const char* verb : {"patch", "update", "delete"}) EXPECT_FALSE(Can(chart, verb, status, "")) << verb;
  EXPECT_FALSE(Can(chart, "list", "csinodes.storage.k8s.io", ""));
  for (const char* lease : {"yurt-manager", "yurt-app-manager"})
    EXPECT_TRUE(Can(chart, "get", "leases.coordination.k8s.io", "kube-system", lease)) << lease;
  const auto op = Run(chart);
  kube().Create(kNodePoolType, {{"metadata", {{"name", "counted"}}}, {"spec", {{"labels", {{"zone", "north"}}}}}});
  MakeNode(kube(), "of-counted", {{kNodePoolLabel, "counted"}});
  Eventually("the pool counts its node, and the node has the pool's label", [&] {
    return At(kube().Get(kNodePoolType, "counted"), "/status/readyNodeNum") == 1 &&
           StringAt(kube().Get(kNodeType, "of-counted"), {"metadata", "labels", "zone"}) == "north";
  });
  kube().MergePatch(kNodePoolType, "counted", {{"spec", {{"labels", {{"zone", "south"}}}}}});
  Eventually("the node has the pool's new label", [&] {
    return StringAt(kube().Get(kNodeType, "of-counted"), {"metadata", "labels", "zone"}) == "south";
  });
  kube().Create(kNodePoolType, {{"metadata", {{"name", "tainted"}}},
                                {"spec", {{"taints", {{{"key", "only"}, {"effect", "NoExecute"}}}}}}});
  kube().MergePatch(kNodeType, "of-counted", {{"metadata", {{"labels", {{kNodePoolLabel, "tainted"}}}}}});
  Eventually("the node has the attributes of its new pool", [&] {
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

// In earlier charts, the default was Disabled, and Deployments had no annotation of the mode.
TEST_F(InstallTest, AnUpgradeToModeAutoKeepsTheNodePoolControllerEnabledOrDisabled) {
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
  EXPECT_EQ(controllers(), "--controllers=*") << "the controller was on before the upgrade";
  chart.Upgrade({"nodePoolController.mode=Disabled"});
  chart.Upgrade({"nodePoolController.mode=Auto"});
  EXPECT_EQ(controllers(), "--controllers=*") << "the value that a user has set must stay";
}

// The Deployment shows whether the controller was on. If the Deployment is lost, the ClusterRole shows it.
TEST_F(InstallTest, AnUpgradeToModeAutoSwitchesNothingOnIfTheDeploymentIsLostOrGetsAnotherName) {
  const auto controllers = [&](const std::string& name) {
    const Json deployment = kube("lostmode").Get(kDeploymentType, name);
    for (const std::string arg : At(deployment, "/spec/template/spec/containers/0/args")) {
      if (arg.starts_with("--controllers=")) return arg;
    }
    return std::string();
  };
  const auto writes_nodes = [&](const std::string& name) {
    return plane().Kubectl({"get", "clusterrole", name, "--output=json"}).find("nodepools/status") != std::string::npos;
  };
  for (const bool renamed : {false, true}) {
    SCOPED_TRACE(renamed);
    ChartInstall chart(helm(), plane(), {"lostmode", "lostmode", {"nodePoolController.mode=Disabled"}});
    // Like the Deployment of an early chart, whose default was Disabled.
    plane().Kubectl({"annotate", "deployment", chart.name(), "--namespace=lostmode",
                     "yurtappdaemon-operator/nodepool-controller-"});
    const std::string name = renamed ? "lostmode-renamed" : chart.name();
    const std::vector<std::string> values = {"nodePoolController.mode=Auto", "fullnameOverride=" + name};
    if (!renamed) kube("lostmode").Delete(kDeploymentType, chart.name());
    for (int i = 0; i < 2; ++i) {
      chart.Upgrade(values);
      EXPECT_EQ(controllers(name), "--controllers=*,-nodepool");
      EXPECT_FALSE(writes_nodes(name));
      EXPECT_THAT(chart.notes(), HasSubstr("the nodepool controller stays off, because it was off before"));
    }

    const ProcessResult annotated = helm().TryShell(CommandIn(chart.notes(), "annotate deployment"));
    EXPECT_EQ(annotated.exit_code, 0) << annotated.err;
    chart.Upgrade(values);
    EXPECT_EQ(controllers(name), "--controllers=*");
    kube("lostmode").Delete(kDeploymentType, name);
    chart.Upgrade(values);
    EXPECT_EQ(controllers(name), "--controllers=*") << "the controller was on before the upgrade";
    EXPECT_TRUE(writes_nodes(name));
  }
}

TEST_F(InstallTest, AnUpgradeNeedsAModeIfTheDeploymentAndItsClusterRoleAreLost) {
  ChartInstall chart(helm(), plane(), {"nothing", "nothing"});
  kube("nothing").Delete(kDeploymentType, chart.name());
  plane().Kubectl({"delete", "clusterrole", chart.name()});
  const ProcessResult rejected =
      helm().Try({"upgrade", "nothing", helm().chart(), "--namespace=nothing", "--set", kImageValue});
  EXPECT_NE(rejected.exit_code, 0);
  EXPECT_THAT(rejected.err, HasSubstr("Set nodePoolController.mode to Enabled or Disabled for this upgrade."));
  chart.Upgrade({"watchNamespace=default"});
  kube("nothing").Delete(kDeploymentType, chart.name());
  plane().Kubectl({"delete", "clusterrole", chart.name()});
  chart.Upgrade({"nodePoolController.mode=Disabled"});
  chart.Upgrade({"nodePoolController.mode=Auto"});
  EXPECT_THAT(chart.args(), Contains("--controllers=*"));
}

TEST_F(InstallTest, TheAutoscalerAddsOnlyItsCrdAndItsPermissions) {
  ChartInstall chart(helm(), plane(), {"capacity", "capacity", {"nodePoolController.mode=Disabled"}});
  EXPECT_FALSE(kube().Find(kCrdType, kAutoscalerCrd));
  EXPECT_FALSE(Can(chart, "patch", "nodes", ""));
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
  EXPECT_TRUE(kube().Find(kCrdType, kAutoscalerCrd)) << "the CRD and its objects must stay";
}

TEST_F(InstallTest, PermissionsOnJobsAreGrantedOnlyWhileTheValueIsSet) {
  ChartInstall chart(helm(), plane(), {"jobs", "jobs"});
  for (const char* verb : {"list", "watch", "create", "delete"})
    EXPECT_FALSE(Can(chart, verb, "jobs.batch", "default")) << verb;
  chart.Upgrade({"checks.jobs=true"});
  for (const char* verb : {"list", "watch", "create", "delete"})
    EXPECT_TRUE(Can(chart, verb, "jobs.batch", "default")) << verb;
  for (const char* verb : {"get", "update", "patch", "deletecollection"})
    EXPECT_FALSE(Can(chart, verb, "jobs.batch", "default")) << verb;
  EXPECT_FALSE(Can(chart, "create", "cronjobs.batch", "default"));
  chart.Upgrade({"checks.jobs=true", "watchNamespace=default"});
  EXPECT_TRUE(Can(chart, "create", "jobs.batch", "default"));
  EXPECT_FALSE(Can(chart, "create", "jobs.batch", "jobs"));
  chart.Upgrade({"checks.jobs=false"});
  EXPECT_FALSE(Can(chart, "list", "jobs.batch", "default"));
}

TEST_F(InstallTest, AnOperatorOfOneNamespaceHasPermissionsOnlyInThatNamespace) {
  MakeNamespace("watched");
  const ChartInstall chart(helm(), plane(), {"narrow", "narrow", {"watchNamespace=watched"}});
  EXPECT_TRUE(Can(chart, "create", "deployments.apps", "watched"));
  EXPECT_FALSE(Can(chart, "create", "deployments.apps", "default"));
  EXPECT_FALSE(Can(chart, "create", "deployments.apps", "narrow"));
  EXPECT_TRUE(Can(chart, "watch", "yurtappdaemons.apps.openyurt.io", "watched"));
  EXPECT_FALSE(Can(chart, "get", "yurtappdaemons.apps.openyurt.io", "default"));
  EXPECT_TRUE(Can(chart, "watch", "nodepools.apps.openyurt.io", ""));
  EXPECT_TRUE(Can(chart, "watch", "nodes", "")) << "a node in maintenance holds its pool";
  EXPECT_FALSE(Can(chart, "patch", "nodes", "")) << "an operator of one namespace must not change nodes";
  EXPECT_TRUE(Can(chart, "watch", "configmaps", "narrow", kFreezeName)) << "the freeze is in the operator's namespace";
  EXPECT_FALSE(Can(chart, "watch", "configmaps", "watched", kFreezeName));
}

TEST_F(InstallTest, RolesForEditAndViewAndSiteGrantTheirPermissions) {
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
