// Installs the chart in a cluster with objects of OpenYurt 1.6. Neither the installation nor the update of OpenYurt's
// CRD may change a workload.
#include <set>

#include "operator/api/well_known.h"
#include "tests/chart/fixture.h"
#include "tests/support/eventually.h"
#include "tests/support/openyurt_state.h"
#include "tests/support/yaml.h"

namespace yad::testing {
namespace {

class TakeoverTest : public ChartTest {
 protected:
  static Json CrdFile(const std::string& name) {
    return ParseYaml(ReadFile(std::string(YAD_SOURCE_DIR) + "/crds/" + name)).at(0);
  }
  // Returns this project's CRD without the fields that OpenYurt's CRD lacks.
  static Json OpenYurtsDaemonCrd() {
    Json crd = CrdFile("apps.openyurt.io_yurtappdaemons.yaml");
    Json& version = crd["spec"]["versions"][0];
    version.erase("additionalPrinterColumns");
    Json& schema = version["schema"]["openAPIV3Schema"];
    schema.erase("x-kubernetes-validations");
    Json& spec = schema["properties"]["spec"];
    spec.erase("x-kubernetes-validations");
    for (const char* ours : {"nodePools", "paused", "updateStrategy", "overrides"}) spec["properties"].erase(ours);
    spec["properties"]["revisionHistoryLimit"].erase("default");
    spec["properties"]["selector"].erase("x-kubernetes-validations");
    spec["properties"]["workloadTemplate"].erase("x-kubernetes-validations");
    Json& status = schema["properties"]["status"]["properties"];
    for (const char* ours : {"updateRevision", "desiredPools", "updatedPools", "readyPools", "failedPools",
                             "offlinePools", "replicas", "readyReplicas", "images", "pools", "poolsTruncated"}) {
      status.erase(ours);
    }
    status["conditions"]["items"]["properties"].erase("observedGeneration");
    return crd;
  }

  Kube work() const { return kube("left"); }
  // Returns the data that must not change: the uid, generation and spec of each workload, and the pods.
  Json State() const {
    Json state = Json::object();
    for (const Json& workload : work().List(kDeploymentType)) {
      state[NameOf(workload)] = {UidOf(workload), At(workload, "/metadata/generation"), At(workload, "/spec")};
    }
    for (const Json& pod : work().List(kPodType)) state["pods"].push_back(UidOf(pod));
    return state;
  }
  std::string ReadyStatus() const {
    for (const Json& condition : At(work().Get(kYurtAppDaemonType, "web"), "/status/conditions")) {
      if (StringAt(condition, {"type"}) == "Ready") return StringAt(condition, {"status"});
    }
    return "";
  }
  // Makes two pools with nodes, and a daemon with workloads as OpenYurt 1.6 leaves them.
  void MakeClusterOfOpenYurt() {
    for (const Json& crd : {OpenYurtsDaemonCrd(), CrdFile("apps.openyurt.io_nodepools.yaml")}) {
      kube().Create(kCrdType, crd);
    }
    plane().AwaitCrds();
    MakeNamespace("left");
    const Json taint = {{"key", "region"}, {"value", "x"}, {"effect", "NoSchedule"}};
    std::vector<Json> pools;
    for (const char* name : {"beijing", "hangzhou"}) {
      kube().Create(kNodePoolType, {{"metadata", {{"name", name}, {"labels", {{"type", "shop"}}}}},
                                    {"spec", {{"type", "Edge"}, {"taints", Json::array({taint})}}}});
      pools.push_back(kube().Get(kNodePoolType, name));
      Json labels = LostNodeSelector();
      labels[kNodePoolLabel] = name;
      MakeNode(kube(), std::string(name) + "-1", labels, Json::array({taint}));
    }
    MakeOpenYurtState(work(), OpenYurtDaemon("web", {{"matchLabels", {{"type", "shop"}}}}, 1), pools);
    for (const Json& pool : pools) {
      Eventually("the pod of " + NameOf(pool) + " is Ready", [&] {
        return At(work().Get(kDeploymentType, OpenYurtName("web", NameOf(pool))), "/status/availableReplicas") == 1;
      });
    }
  }
  void RollOutTheOldestTemplate(const Json& before) {
    const std::string oldest = OpenYurtRevisions("web").front();
    work().Edit(kYurtAppDaemonType, "web", [](Json& daemon) {
      daemon["spec"]["workloadTemplate"]["deploymentTemplate"]["spec"]["template"]["spec"]["containers"][0]["image"] =
          "example.org/app:0";
    });
    Eventually("the daemon is rolled out", [&]() -> std::string {
      const Json status = At(work().Get(kYurtAppDaemonType, "web"), "/status");
      return At(status, "/currentRevision") == oldest ? "" : status.dump();
    });
    EXPECT_EQ(At(work().Get(kControllerRevisionType, oldest), "/revision"), 3);
    EXPECT_EQ(work().List(kControllerRevisionType).size(), 2U);
    for (const Json& workload : work().List(kDeploymentType)) {
      EXPECT_EQ(before[NameOf(workload)][0], Json(UidOf(workload)));
    }
  }
};

TEST_F(TakeoverTest, InstallingTheChartOverOpenYurtsCrdRestartsNoPod) {
  MakeClusterOfOpenYurt();
  const Json before = State();

  const ChartInstall chart(helm(), plane(), {"taken", "taken"});
  auto process = Run(chart);
  Eventually("the daemon is Ready with OpenYurt's CRD", [&] { return ReadyStatus() == "True"; });
  EXPECT_EQ(At(work().Get(kYurtAppDaemonType, "web"), "/status/updateRevision"), Json())
      << "the CRD must lack this project's fields at first";
  EXPECT_EQ(State(), before);

  EXPECT_EQ(process->Stop(), 0);
  process = Run(chart);
  EXPECT_EQ(State(), before);

  // The command of docs/install.md.
  plane().Kubectl({"apply", "--server-side", "--force-conflicts", "-f",
                   std::string(YAD_SOURCE_DIR) + "/crds/apps.openyurt.io_yurtappdaemons.yaml"});
  EXPECT_EQ(process->Stop(), 0);
  process = Run(chart);
  Eventually("status has all fields of this operator", [&] {
    const Json status = At(work().Get(kYurtAppDaemonType, "web"), "/status");
    return At(status, "/updateRevision") == OpenYurtRevisions("web").back() &&
           At(status, "/currentRevision") == OpenYurtRevisions("web").back() && At(status, "/readyPools") == 2;
  });
  EXPECT_EQ(State(), before);

  // An update to the oldest template reuses the oldest revision.
  RollOutTheOldestTemplate(before);

  EXPECT_EQ(process->Stop(), 0);
  for (const char* name : {"beijing", "hangzhou"}) kube().Delete(kNodeType, std::string(name) + "-1");
  kube().Delete(kNamespaceType, "left");
}

}  // namespace
}  // namespace yad::testing
