// Clusters that lack the CRDs, a permission, or fields of a CRD.
#include "operator/yurtappdaemon/crd_check.h"
#include "tests/cluster/fixture.h"

namespace yad::testing {
namespace {

class UnusualClusterTest : public ClusterTest {
 protected:
  // Writes a kubeconfig for a service account with the operator's permissions, except those on the resource `without`.
  std::string RestrictedKubeconfig(const std::string& without) {
    const std::string name = "restricted-" + ns();
    Json rules = Json::array();
    const auto allow = [&](const std::string& group, const std::vector<std::string>& resources) {
      for (const std::string& resource : resources) {
        if (resource != without)
          rules.push_back({{"apiGroups", Json::array({group})},
                           {"resources", Json::array({resource})},
                           {"verbs", Json::array({"*"})}});
      }
    };
    allow("apps.openyurt.io", {"yurtappdaemons", "yurtappdaemons/status", "yurtappdaemons/finalizers", "nodepools"});
    allow("apps", {"deployments", "statefulsets", "controllerrevisions"});
    allow("apiextensions.k8s.io", {"customresourcedefinitions"});
    allow("events.k8s.io", {"events"});
    allow("coordination.k8s.io", {"leases"});
    Kubectl({"create", "serviceaccount", "op"});
    const Json role = {{"apiVersion", "rbac.authorization.k8s.io/v1"},
                       {"kind", "ClusterRole"},
                       {"metadata", {{"name", name}}},
                       {"rules", rules}};
    Kubectl({"apply", "-f", "-"}, role.dump());
    Kubectl({"create", "clusterrolebinding", name, "--clusterrole=" + name, "--serviceaccount=" + ns() + ":op"});
    return plane().TokenKubeconfig(ns(), "op");
  }
  void Allow() {
    Kubectl({"create", "clusterrolebinding", "all-" + ns(), "--clusterrole=cluster-admin",
             "--serviceaccount=" + ns() + ":op"});
  }
  // Applies the CRDs, and blocks until `kubectl explain` works, which may be after they are established.
  static void ApplyCrdsTo(ControlPlane& other) {
    other.Kubectl({"apply", "-f", std::string(YAD_SOURCE_DIR) + "/crds"});  // tests that client-side apply also works
    other.ApplyCrds();
    const std::string fresh = "--cache-dir=" + other.dir() + "/kubectl-cache-with-crds";
    Eventually("kubectl explain works for the CRD", [&]() -> std::string {
      const ProcessResult explained = other.TryKubectl({"explain", "yurtappdaemons.spec.paused", fresh});
      return explained.out.find("DESCRIPTION") != std::string::npos ? "" : explained.out + explained.err;
    });
  }
  // Creates the daemon once the apiserver serves its type.
  static void CreateWhenServed(ControlPlane& other, Json daemon) {
    daemon["metadata"]["namespace"] = "default";
    daemon["apiVersion"] = kYurtAppDaemonType.ApiVersion();
    daemon["kind"] = kYurtAppDaemonType.kind;
    Eventually("the apiserver serves the type",
               [&] { return other.client().Create(kYurtAppDaemonType, daemon).has_value(); });
  }
  void TearDown() override {
    if (HasControlPlane()) {
      TryKubectl({"delete", "clusterrolebinding", "restricted-" + ns(), "all-" + ns(), "--ignore-not-found"});
      TryKubectl({"delete", "clusterrole", "restricted-" + ns(), "--ignore-not-found"});
    }
    ClusterTest::TearDown();
  }
};

TEST_F(UnusualClusterTest, NoWorkloadIsDeletedIfPoolsCannotBeListed) {
  StartOperator();
  const auto pools = AddPools(3);
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  const auto before = ByPool("web");
  StopOperator();
  OperatorOptions options = DefaultOptions();
  options.kubeconfig = RestrictedKubeconfig("nodepools");
  const WallTime begin = Now();
  OperatorProcess restricted(options);
  restricted.AwaitLog("nodepools");
  restricted.AwaitLog("orbidden");
  Eventually("/readyz contains the forbidden resource",
             [&] { return restricted.Readyz().find("nodepools") != std::string::npos; });
  EXPECT_FALSE(restricted.Ready());
  SetImage("web", "example.org/app:2");
  Eventually("the operator has retried",
             [&] { return restricted.Metric("rest_client_requests_total", {"code=\"403\""}) >= 2; });
  const auto failing_since = [&] {
    return restricted.Metric("informer_failing_since_timestamp_seconds", {"resource=\"nodepools.apps.openyurt.io\""});
  };
  EXPECT_GT(failing_since(), 1.7e9);
  EXPECT_TRUE(WritesSince(begin).empty()) << ToString(WritesSince(begin));
  EXPECT_FALSE(restricted.ExitCode().has_value());
  for (const auto& [pool, workload] : ByPool("web")) EXPECT_EQ(WithoutStatus(workload), WithoutStatus(before.at(pool)));
  EXPECT_EQ(ByPool("web").size(), 3U);
  // Once the permission is granted, the operator continues by itself.
  Allow();
  restricted.WaitUntilReady();
  Eventually("all workloads have the new image", [&] {
    for (const auto& [pool, workload] : ByPool("web")) {
      if (ImageOf(workload) != "example.org/app:2") return false;
    }
    return true;
  });
  EXPECT_EQ(failing_since(), 0);
  EXPECT_EQ(restricted.Stop(), 0);
}

TEST_F(UnusualClusterTest, FailedWritesOfWorkloadsAreReportedInStatusUntilTheySucceed) {
  const auto pools = AddPools(2);
  OperatorOptions options = DefaultOptions();
  options.kubeconfig = RestrictedKubeconfig("deployments");
  // The account may read Deployments, but not write them.
  Kubectl({"create", "role", "reader", "--verb=get,list,watch", "--resource=deployments.apps"});
  Kubectl({"create", "rolebinding", "reader", "--role=reader", "--serviceaccount=" + ns() + ":op"});
  OperatorProcess restricted(options);
  restricted.WaitUntilReady();
  CreateDaemon(Daemon("web"));
  const Json daemon = WaitForStatus("web", "both pools have failed",
                                    [](const Json& status) { return At(status, "/failedPools") == 2; });
  EXPECT_THAT(StringAt(At(daemon, "/status/pools/0"), {"message"}), ::testing::HasSubstr("forbidden"));
  EXPECT_EQ(ConditionStatus(daemon, "WorkLoadFailure"), "True");
  Allow();
  WaitForPools("web", pools);
  WaitUntilReady("web");

  // Now the permission is revoked.
  const auto rejected = [&] { return restricted.Metric("rest_client_requests_total", {"code=\"403\""}); };
  const double before = rejected();
  Kubectl({"delete", "clusterrolebinding", "all-" + ns()});
  int image = 1;
  Eventually("the apiserver rejects the writes", [&] {
    SetImage("web", "example.org/app:" + std::to_string(++image));
    return rejected() >= before + 6;
  });
  const Json failed =
      WaitForStatus("web", "both pools have failed", [](const Json& s) { return At(s, "/failedPools") == 2; });
  EXPECT_THAT(StringAt(ConditionOf(failed, "WorkLoadFailure"), {"message"}), ::testing::HasSubstr("forbidden"));
  EXPECT_TRUE(restricted.Ready());
  Allow();
  WaitUntilReady("web");
  for (const auto& [pool, workload] : ByPool("web")) {
    EXPECT_EQ(ImageOf(workload), "example.org/app:" + std::to_string(image));
  }
  EXPECT_EQ(restricted.Stop(), 0);
}

TEST_F(UnusualClusterTest, OperatorWaitsForMissingCrdsAndUsesThemOnceInstalled) {
  ControlPlaneOptions bare;
  bare.controllers = false;
  bare.crds = false;
  ControlPlane other(YAD_SOURCE_DIR, bare);
  OperatorOptions options = DefaultOptions();
  options.kubeconfig = other.kubeconfig();
  options.ns = "default";
  options.log_file = plane().dir() + "/" + ns() + "-bare.log";
  OperatorProcess process(options);
  process.AwaitLog("yurtappdaemons");
  EXPECT_FALSE(process.Ready());
  EXPECT_FALSE(process.ExitCode().has_value());
  ApplyCrdsTo(other);
  const Kube there(other.client(), "default");
  there.Create(kNodePoolType, R"({"metadata": {"name": "a", "labels": {"x": "y"}}, "spec": {"type": "Edge"}})"_json);
  Json daemon = Daemon("web");
  daemon["spec"]["nodepoolSelector"] = {{"matchLabels", {{"x", "y"}}}};
  there.Create(kYurtAppDaemonType, daemon);
  Eventually("the workload exists", [&]() -> std::string {
    return there.List(kDeploymentType).size() == 1 ? "" : "its log: " + process.Log();
  });
  process.WaitUntilReady();

  // The CRD is deleted with all its objects, and created again, while the operator runs.
  const std::string crd = "yurtappdaemons.apps.openyurt.io";
  other.Kubectl({"delete", "crd", crd, "--timeout=180s"});
  Eventually("the operator reports the deleted CRD", [&] {
    return process.Metric("informer_failing_since_timestamp_seconds", {"resource=\"" + crd + "\""}) > 0;
  });
  EXPECT_EQ(there.List(kDeploymentType).size(), 1U) << "the workload stays, because no garbage collector runs here";
  EXPECT_TRUE(process.Ready());
  other.ApplyCrds();
  daemon["metadata"]["name"] = "again";
  CreateWhenServed(other, daemon);
  Eventually("the daemon's workload exists", [&]() -> std::string {
    return there.List(kDeploymentType).size() == 2 ? "" : "its log: " + process.Log();
  });
  EXPECT_EQ(process.Stop(), 0);
}

TEST_F(UnusualClusterTest, ACrdThatLacksOurFieldsIsReportedInAnEvent) {
  const char* name = "yurtappdaemons.apps.openyurt.io";
  EXPECT_EQ(FieldsMissingFrom(kube().Get(kCrdType, name)), std::vector<std::string>{}) << "crds/ must not lack a field";
  const auto restore = [this](void*) { plane().ApplyCrds(); };
  const std::unique_ptr<void, decltype(restore)> restored(this, restore);
  kube().JsonPatch(
      kCrdType, name,
      {{{"op", "remove"}, {"path", "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/overrides"}}});
  StartOperator();
  Eventually("the event exists", [&]() -> std::string {
    const Json events = Json::parse(Kubectl({"get", "events.events.k8s.io", "-n", "default", "-o", "json"}));
    for (const Json& event : events.at("items")) {
      if (StringAt(event, {"reason"}) == "OutdatedCRD" && StringAt(event, {"regarding", "name"}) == name &&
          StringAt(event, {"note"}).find(": spec.overrides. Apply") != std::string::npos) {
        return "";
      }
    }
    return events.dump(2);
  });
}

}  // namespace
}  // namespace yad::testing
