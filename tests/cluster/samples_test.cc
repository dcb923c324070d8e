// Each file in docs/samples can be applied unchanged, and has the effect that its comments describe.
#include <filesystem>
#include <map>
#include <set>

#include "operator/capacity/lease.h"
#include "tests/cluster/fixture.h"

namespace yad::testing {
namespace {

constexpr char kSamples[] = YAD_SOURCE_DIR "/docs/samples";
const std::set<std::string> kSamplePools{"beijing", "hangzhou", "shanghai"};
const ResourceType kClaimType{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true};

// Returns whether `whole` contains `part`. Otherwise, sets `where` to the first difference.
bool IsPartOf(const Json& part, const Json& whole, std::string& where) {
  if (part.is_object() && whole.is_object()) {
    for (const auto& [key, value] : part.items()) {
      std::string below;
      if (whole.contains(key) && IsPartOf(value, whole[key], below)) continue;
      where = "/" + key + below;
      return false;
    }
    return true;
  }
  if (part.is_array() && whole.is_array() && part.size() <= whole.size()) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      std::string below;
      if (IsPartOf(part[i], whole[i], below)) continue;
      where = "/" + std::to_string(i) + below;
      return false;
    }
    return true;
  }
  return part == whole;
}

class SamplesTest : public ClusterTest {
 protected:
  void SetUp() override {
    ClusterTest::SetUp();
    if (!HasControlPlane()) return;
    OperatorOptions options = DefaultOptions();
    options.ns = "";
    options.flags = {"--controllers=*,nodepool-autoscaler"};
    everywhere_ = std::make_unique<OperatorProcess>(options);
    everywhere_->WaitUntilReady();
    Apply("nodepools");
    // The nodes have the taints of their pools in nodepools.yaml.
    for (const std::string& pool : kSamplePools) {
      for (int i = 0; i < 2; ++i) {
        AddNode(pool, {{{"key", "example.com/site"}, {"value", pool}, {"effect", "NoSchedule"}}});
      }
    }
  }
  void TearDown() override {
    if (HasControlPlane()) {
      for (const std::string& sample : applied_) {
        plane().Kubectl({"delete", "--ignore-not-found", "--wait=false", "-f", Path(sample)});
      }
      if (everywhere_ != nullptr) {
        EXPECT_EQ(everywhere_->Stop(), 0);
      }
    }
    ClusterTest::TearDown();
  }

  static std::string Path(const std::string& sample) { return std::string(kSamples) + "/" + sample + ".yaml"; }
  void Apply(const std::string& sample) {
    applied_.insert(applied_.begin(), sample);
    plane().Kubectl({"apply", "-f", Path(sample)});
  }

  // Applies the sample, and waits for the workloads of daemon `name`. Expects that each workload has the template's
  // fields, except replicas and `except`. Returns the workloads by pool.
  std::map<std::string, Json> Made(const std::string& sample, const std::string& ns, const std::string& name,
                                   WorkloadKind of_kind, const std::string& except = "") {
    Apply(sample);
    const Kube there(kube().client(), ns);
    std::map<std::string, Json> made;
    Eventually(sample + " has a workload in each pool", [&] {
      made.clear();
      for (const Json& workload : there.List(TypeOf(of_kind), "app=" + name))
        made[Label(workload, kPoolNameLabel)] = workload;
      return made.size() == kSamplePools.size();
    });
    const Json daemon = there.Get(kYurtAppDaemonType, name);
    Json templ = daemon["spec"]["workloadTemplate"][TemplateField(of_kind)]["spec"];
    templ.erase("replicas");
    if (!except.empty()) templ.erase(except);
    for (const auto& [pool, workload] : made) {
      EXPECT_TRUE(kSamplePools.contains(pool)) << pool;
      std::string where;
      EXPECT_TRUE(IsPartOf(templ, workload["spec"], where)) << pool << ": " << where << " of " << workload["spec"];
    }
    return made;
  }
  // Blocks until each pool has this many Ready pods on its own nodes, and no other pods.
  void AwaitPods(const std::string& ns, const std::string& app, const std::map<std::string, int>& wanted) {
    const Kube there(kube().client(), ns);
    Eventually("the pods of " + app + " are Ready", [&] {
      std::map<std::string, int> ready;
      for (const Json& pod : there.List(kPodType, "app=" + app)) {
        const Json conditions = At(pod, "/status/conditions");
        const bool is_ready = std::any_of(conditions.begin(), conditions.end(), [](const Json& condition) {
          return condition["type"] == "Ready" && condition["status"] == "True";
        });
        if (!is_ready) continue;
        const std::string pool = Label(pod, kPoolNameLabel);
        EXPECT_EQ(Label(there.Get(kNodeType, StringAt(pod, {"spec", "nodeName"})), kNodePoolLabel), pool);
        ++ready[pool];
      }
      return ready == wanted ? std::string() : Json(ready).dump();
    });
    EXPECT_EQ(ConditionStatus(there.Get(kYurtAppDaemonType, app), "WorkLoadFailure"), "");
  }

 private:
  std::unique_ptr<OperatorProcess> everywhere_;
  std::vector<std::string> applied_;  // in reverse order
};

TEST_F(SamplesTest, DeploymentAndStatefulSetRunInEachPool) {
  Made("deployment", "default", "web", WorkloadKind::kDeployment);
  Made("statefulset", "default", "cache", WorkloadKind::kStatefulSet);
  AwaitPods("default", "web", {{"beijing", 2}, {"hangzhou", 2}, {"shanghai", 2}});
  AwaitPods("default", "cache", {{"beijing", 1}, {"hangzhou", 1}, {"shanghai", 1}});
}

TEST_F(SamplesTest, EachPoolHasAnIngressControllerForTheClassNamedLikeThePool) {
  for (const auto& [pool, workload] :
       Made("ingress-controller", "edge-ingress", "ingress", WorkloadKind::kDeployment)) {
    EXPECT_EQ(At(workload, "/spec/replicas"), pool == "hangzhou" ? 2 : 1);
    const Json args = At(workload, "/spec/template/spec/containers/0/args");
    EXPECT_EQ(args.back(), "--providers.kubernetesingress.ingressclass=" + pool);
    EXPECT_EQ(plane().Kubectl({"get", "ingressclass", pool, "-o", "name"}),
              "ingressclass.networking.k8s.io/" + pool + "\n");
  }
  AwaitPods("edge-ingress", "ingress", {{"beijing", 1}, {"hangzhou", 2}, {"shanghai", 1}});
}

TEST_F(SamplesTest, EachPoolHasItsOwnCoreDns) {
  Made("coredns", "edge-dns", "coredns", WorkloadKind::kDeployment);
  AwaitPods("edge-dns", "coredns", {{"beijing", 2}, {"hangzhou", 2}, {"shanghai", 2}});
}

TEST_F(SamplesTest, EachPoolHasADatabaseWithItsOwnVolumeClaim) {
  const auto made =
      Made("statefulset-volumes", "default", "database", WorkloadKind::kStatefulSet, "volumeClaimTemplates");
  // The pods wait for their PersistentVolumeClaims, because no volume provisioner runs here.
  const Kube there(kube().client(), "default");
  Eventually("each pool has a pod and a claim", [&] {
    for (const auto& [pool, workload] : made) {
      const std::string pod = NameOf(workload) + "-0";
      const auto claim = there.Find(kClaimType, "data-" + pod);
      if (!there.Find(kPodType, pod) || !claim) return false;
      EXPECT_EQ(At(*claim, "/spec/resources/requests/storage"), pool == "shanghai" ? "4Gi" : "10Gi");
    }
    return true;
  });
}

TEST_F(SamplesTest, APoolLeasesASpareNodeForItsStandby) {
  const std::string spare = Pool("spare");
  // As docs/capacity.md describes, a taint with the key of the pool's taint keeps other pods away.
  MakeNode(kube(), spare, {{"example.com/inventory", "spare"}},
           {{{"key", "example.com/site"}, {"value", "spare"}, {"effect", "NoSchedule"}}});
  Apply("nodepoolautoscaler");
  Eventually("the node is in the pool, and is idle", [&] {
    const Json node = kube().Get(kNodeType, spare);
    return Label(node, kNodePoolLabel) == "hangzhou" &&
           Annotation(node, kLeaseAnnotation).find("\"phase\":\"Idle\"") != std::string::npos;
  });
  kube().Delete(kNodeType, spare);
}

TEST_F(SamplesTest, EachPoolHasAHeadlessServiceForItsPods) {
  const Kube there(kube().client(), "default");
  for (const auto& [pool, workload] : Made("service-per-pool", "default", "ledger", WorkloadKind::kStatefulSet)) {
    const Json service = there.Get(kServiceType, StringAt(workload, {"spec", "serviceName"}));
    EXPECT_EQ(At(service, "/spec/clusterIP"), "None");
    EXPECT_EQ(Label(service, kPoolNameLabel), pool);
    EXPECT_EQ(Annotation(service, "example.com/hostname"), "ledger." + pool + ".example.com");
  }
  AwaitPods("default", "ledger", {{"beijing", 2}, {"hangzhou", 2}, {"shanghai", 2}});
}

TEST(SamplesFolderTest, FolderHasExactlyTheTestedSamples) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kSamples)) files.insert(entry.path().filename());
  EXPECT_EQ(files, (std::set<std::string>{"coredns.yaml", "deployment.yaml", "ingress-controller.yaml",
                                          "nodepoolautoscaler.yaml", "nodepools.yaml", "service-per-pool.yaml",
                                          "statefulset-volumes.yaml", "statefulset.yaml"}));
}

}  // namespace
}  // namespace yad::testing
