// Measures the operator with 300 pools. Each pool has a node and a pod. Kubernetes' scheduler and controllers and KWOK
// run. The scenarios:
// - Pods become ready.
// - Nothing happens.
// - All nodes are lost and return.
#include <memory>
#include <thread>

#include "operator/api/well_known.h"
#include "tests/bench/bench.h"
#include "tests/bench/load.h"
#include "tests/bench/measure.h"
#include "tests/support/eventually.h"

namespace yad::bench {
namespace {

constexpr int kNodes = 300;
constexpr char kDaemon[] = "till";

class Pods {
 public:
  explicit Pods(Bench& bench)
      : bench_(bench), cluster_(/*audit=*/true, /*controllers=*/true), kube_(cluster_.Namespace("pods")) {
    cluster_.AddPools("pool", kNodes, "shops");
    for (const Json& pool : kube_.List(kNodePoolType)) {
      const std::string name = testing::NameOf(pool);
      pools_.push_back(name);
      testing::MakeNode(kube_, name, {{kNodePoolLabel, name}});
    }
    testing::Eventually("all nodes are ready", [&] { return AllNodesAreReady(); });
    testing::OperatorOptions options;
    options.kubeconfig = cluster_.account_kubeconfig();
    operator_ = cluster_.Operator(std::move(options));
    operator_->WaitUntilReady();
  }

  void Create() {
    Json daemon = Daemon(kDaemon, {"shops"});
    daemon["spec"]["workloadTemplate"]["deploymentTemplate"]["spec"]["replicas"] = 1;
    Measure("create until ready", 0.7, [&] {
      kube_.Create(kYurtAppDaemonType, daemon);
      WaitUntilComplete();
    });
  }

  void NewImage() {
    const std::string path = "/spec/workloadTemplate/deploymentTemplate/spec/template/spec/containers/0/image";
    const Json patch = Json::array({{{"op", "replace"}, {"path", path}, {"value", kNewImage}}});
    Measure("new image until ready", 1.2, [&] {
      kube_.JsonPatch(kYurtAppDaemonType, kDaemon, patch);
      WaitUntilComplete();
    });
  }

  void Rest() {
    Measure("20 s at rest", 0, [] { std::this_thread::sleep_for(std::chrono::seconds(20)); });
  }

  // Writes the conditions of lost nodes and their pods, as the node lifecycle controller does. 20 s later, writes the
  // conditions of returned nodes, as the kubelets do.
  void LoseNodes() {
    // With this annotation, KWOK ignores the nodes and their pods.
    Send([&](const std::string& node) {
      const Json patch = {{"metadata", {{"annotations", {{"kwok.x-k8s.io/status", "custom"}}}}}};
      return Write("PATCH", ResourcePath(kNodeType, "", node), patch.dump(), kMergePatch);
    });
    const std::vector<Json> pods = kube_.List(kPodType);
    Measure("all nodes lost, and back after 20 s", 0, [&] {
      SetReady(pods, "Unknown", "False");
      std::this_thread::sleep_for(std::chrono::seconds(20));
      SetReady(pods, "True", "True");
      testing::Eventually("all pools are ready", [&] {
        return testing::At(kube_.Get(kYurtAppDaemonType, kDaemon), "/status/readyPools") == kNodes;
      });
    });
  }

 private:
  bool AllNodesAreReady() const {
    for (const Json& node : kube_.List(kNodeType)) {
      bool ready = false;
      for (const Json& condition : testing::At(node, "/status/conditions")) {
        ready = ready || (condition["type"] == "Ready" && condition["status"] == "True");
      }
      if (!ready || !testing::At(node, "/spec/taints").is_null()) return false;
    }
    return true;
  }

  void WaitUntilComplete() const {
    testing::Eventually("every pool is ready", [&] {
      const Json daemon = kube_.Get(kYurtAppDaemonType, kDaemon);
      if (testing::At(daemon, "/status/observedGeneration") != testing::At(daemon, "/metadata/generation"))
        return false;
      for (const Json& condition : testing::At(daemon, "/status/conditions")) {
        if (condition["type"] == "Complete") return condition["status"] == "True";
      }
      return false;
    });
  }

  // Measures the operator from the start of `act` until it is idle. `act` returns when its change is complete. `limit`
  // is the target in seconds of CPU; 0: none.
  template <typename Act>
  void Measure(const std::string& what, double limit, Act act) {
    WaitUntilQuiet(operator_->pid(), std::chrono::seconds(2));
    const WallTime since = std::chrono::system_clock::now();
    const double cpu = CpuSeconds(operator_->pid());
    const SteadyTime begin = std::chrono::steady_clock::now();
    act();
    const double seconds = SecondsSince(begin);
    WaitUntilQuiet(operator_->pid(), std::chrono::seconds(2));
    const double used = CpuSeconds(operator_->pid()) - cpu;
    std::size_t all = 0, daemon = 0, pools = 0;
    for (const testing::AuditedRequest& request : cluster_.RequestsSince(since)) {
      if (request.verb == "get" || request.verb == "list" || request.verb == "watch") continue;
      ++all;
      daemon += request.resource == kYurtAppDaemonType.resource;
      pools += request.resource == kNodePoolType.resource;
    }
    const std::string name = "pods, 300 pools: " + what;
    const std::string note = "the step took " + Number(seconds) + " s; " + Number(static_cast<double>(daemon)) +
                             " of the writes changed the daemon's status, and " + Number(static_cast<double>(pools)) +
                             " changed the status of NodePools";
    bench_.Add(
        {"pods", name + ": CPU", used, "s", {}, limit > 0 ? TargetKind::kAtMost : TargetKind::kNone, limit, note});
    bench_.Add({"pods", name + ": writes", static_cast<double>(all), ""});
  }

  template <typename Make>
  void Send(Make make) {
    SendAll(cluster_.beast(), Requests(pools_.size(), [&](std::size_t i) { return make(pools_[i]); }), kParallelWrites);
  }

  // Patches only the condition Ready. A strategic merge patch keeps all other conditions.
  void SetReady(const std::vector<Json>& pods, const char* node_is, const char* pod_is) {
    const auto patch = [](const char* status) {
      const Json ready = {{"type", "Ready"}, {"status", status}};
      return Json({{"status", {{"conditions", Json::array({ready})}}}}).dump();
    };
    constexpr char kStrategic[] = "application/strategic-merge-patch+json";
    Send([&](const std::string& node) {
      return Write("PATCH", ResourcePath(kNodeType, "", node, "status"), patch(node_is), kStrategic);
    });
    const auto of_pod = [&](std::size_t i) {
      const std::string path = ResourcePath(kPodType, kube_.ns(), testing::NameOf(pods[i]), "status");
      return Write("PATCH", path, patch(pod_is), kStrategic);
    };
    SendAll(cluster_.beast(), Requests(pods.size(), of_pod), kParallelWrites);
  }

  Bench& bench_;
  Cluster cluster_;
  const testing::Kube kube_;
  std::vector<std::string> pools_;  // each pool and its node have the same name
  std::unique_ptr<testing::OperatorProcess> operator_;
};

void RunPods(Bench& bench) {
  Pods pods(bench);
  pods.Create();
  pods.NewImage();
  pods.Rest();
  pods.LoseNodes();
}

}  // namespace

std::vector<Scenario> PodsScenarios() { return {{"pods", RunPods}}; }

}  // namespace yad::bench
