// Restores etcd from a backup that is older than the operator's caches. The operator must restart, and the workloads
// must match the backup. The test has its own control plane.
#include "tests/cluster/fixture.h"

namespace yad::testing {
namespace {

constexpr char kLabel[] = "restored";
constexpr std::chrono::minutes kUntilItEnds{4};

class RestoredEtcdTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RunsEverything()) GTEST_SKIP() << "takes two minutes; set YAD_ALL=1";
    ControlPlaneOptions options;
    options.controllers = false;
    plane_ = std::make_unique<ControlPlane>(YAD_SOURCE_DIR, options);
    kube_ = std::make_unique<Kube>(plane_->client(), "default");
  }
  void AddPool(const std::string& name) {
    kube_->Create(kNodePoolType,
                  {{"metadata", {{"name", name}, {"labels", {{kLabel, "yes"}}}}}, {"spec", {{"type", "Edge"}}}});
  }
  // Blocks until exactly `count` workloads exist, all with this image. Returns their uids by pool.
  std::map<std::string, std::string> WaitFor(std::size_t count, const std::string& image) {
    std::map<std::string, std::string> uids;
    Eventually(std::to_string(count) + " workloads with " + image, [&] {
      uids.clear();
      const auto page = kube_->client().List(kDeploymentType, {});
      if (!page || page->items.size() != count) return false;
      for (const Json& workload : page->items) {
        if (ImageOf(workload) != image) return false;
        uids[Annotation(workload, kRefNodePoolAnnotation)] = UidOf(workload);
      }
      return true;
    });
    return uids;
  }

  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<Kube> kube_;
};

TEST_F(RestoredEtcdTest, ProcessWithNewerDataExitsAndTheNextOneKeepsTheRestoredData) {
  AddPool("a");
  AddPool("b");
  Json daemon = Json::parse(R"({"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"app": "web"}},
      "nodepoolSelector": {}, "workloadTemplate": {"deploymentTemplate": {"metadata": {"labels": {"app": "web"}},
      "spec": {"template": {"metadata": {"labels": {"app": "web"}},
      "spec": {"containers": [{"name": "main", "image": "example.org/app:1"}]}}}}}}})");
  kube_->Create(kYurtAppDaemonType, daemon);
  OperatorOptions options;
  options.binary = YAD_OPERATOR_BINARY;
  options.kubeconfig = plane_->kubeconfig();
  options.ns = "default";
  options.log_file = plane_->dir() + "/operator.log";
  OperatorProcess seeing(options);
  const auto saved = WaitFor(2, "example.org/app:1");
  plane_->RunScript("save-etcd");
  plane_->RunScript("start-apiserver");
  Eventually("the apiserver is ready", [&] { return kube_->client().GetRaw("/readyz").has_value(); });
  AddPool("c");
  kube_->Edit(kYurtAppDaemonType, "web", [](Json& object) {
    object[Json::json_pointer("/spec/workloadTemplate/deploymentTemplate/spec/template/spec/containers/0/image")] =
        "example.org/app:2";
  });
  WaitFor(3, "example.org/app:2");

  const WallTime begin = std::chrono::system_clock::now();
  plane_->RunScript("restore-etcd");
  plane_->RunScript("start-apiserver");
  EXPECT_EQ(seeing.Wait(kUntilItEnds), 1);
  EXPECT_NE(seeing.Log().find("restored from a backup"), std::string::npos);
  OperatorProcess anew(options);
  anew.WaitUntilReady();
  EXPECT_EQ(WaitFor(2, "example.org/app:1"), saved);
  for (const AuditedRequest& write : plane_->OperatorWrites("default", begin)) {
    EXPECT_NE(write.verb, "delete") << write.resource << " " << write.name;
  }
  EXPECT_EQ(anew.Stop(), 0);
}

}  // namespace
}  // namespace yad::testing
