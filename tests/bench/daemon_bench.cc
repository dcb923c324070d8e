// Measures one daemon. The scenarios:
// - 1,000 pools: status events of all workloads, and then the removal of 100 pools
// - 1,000 pools that wait for their update windows: status events of all workloads
// - 1,000 pools, each with an override: status events of all workloads
// - 16 pools, and a template almost as large as the apiserver permits: new images
#include <memory>
#include <string>
#include <utility>

#include "operator/api/well_known.h"
#include "tests/bench/bench.h"
#include "tests/bench/load.h"
#include "tests/bench/measure.h"
#include "tests/bench/raw_watch.h"
#include "tests/support/eventually.h"

namespace yad::bench {
namespace {

constexpr char kDaemon[] = "till";
constexpr int kPools = 1000;
constexpr int kLeaving = 100;

// An operator and one daemon, whose workloads have replicas 1. No controllers run.
class OneDaemon {
 public:
  explicit OneDaemon(const std::string& ns) : cluster_(/*audit=*/false), kube_(cluster_.Namespace(ns)) {}

  void Create(Json daemon, std::size_t workloads) {
    operator_ = cluster_.Operator(kube_.ns());
    operator_->WaitUntilReady();
    const RawWatch watch(cluster_.beast(), Path());
    kube_.Create(kYurtAppDaemonType, std::move(daemon));
    watch.WaitForCount(workloads);
    WaitUntilQuiet(pid(), std::chrono::milliseconds(1500));
  }

  // Writes the status of each workload, as Kubernetes' controller does for one pod that is ready or not.
  void SetReady(bool ready) {
    std::vector<HttpRequest> patches;
    for (const Json& workload : kube_.List(kDeploymentType)) {
      Json patch = HealthyPatch(workload);
      Json& status = patch["status"];
      status["replicas"] = status["updatedReplicas"] = 1;
      status["readyReplicas"] = status["availableReplicas"] = ready ? 1 : 0;
      status["unavailableReplicas"] = ready ? 0 : 1;
      status["conditions"][0]["status"] = ready ? "True" : "False";
      const std::string path = ResourcePath(kDeploymentType, kube_.ns(), testing::NameOf(workload), "status");
      patches.push_back(Write("PATCH", path, patch.dump(), kMergePatch));
    }
    SendAll(cluster_.beast(), patches, kParallelWrites);
    WaitUntilQuiet(pid(), std::chrono::milliseconds(1500));
  }

  Cluster& cluster() { return cluster_; }
  const testing::Kube& kube() const { return kube_; }
  pid_t pid() const { return operator_->pid(); }
  std::string Path() const { return ResourcePath(kDeploymentType, kube_.ns()); }

 private:
  Cluster cluster_;
  const testing::Kube kube_;
  std::unique_ptr<testing::OperatorProcess> operator_;
};

// Measures status events of all workloads. `state` is the state of the pools, for the figure's name.
void Storm(Bench& bench, OneDaemon& one, const std::string& scenario, const std::string& state) {
  constexpr int kStorms = 4;
  one.SetReady(true);
  const double cpu = CpuSeconds(one.pid());
  for (int i = 0; i < kStorms; ++i) one.SetReady(i % 2 == 1);
  bench.Add({scenario,
             "status event of one workload of 1,000 pools" + state + ": CPU per event",
             (CpuSeconds(one.pid()) - cpu) * 1e3 / (kStorms * kPools),
             "ms",
             {},
             TargetKind::kAtMost,
             0.1,
             "each workload becomes unready or ready, one after the other, as fast as the apiserver accepts the "
             "writes; includes reconciles and status writes"});
}

void Remove(Bench& bench, OneDaemon& one) {
  const RawWatch watch(one.cluster().beast(), one.Path());
  const double cpu = CpuSeconds(one.pid());
  const SteadyTime begin = std::chrono::steady_clock::now();
  const Json selector = Daemon(kDaemon, {"stay"})["spec"]["nodepoolSelector"];
  one.kube().MergePatch(kYurtAppDaemonType, kDaemon, {{"spec", {{"nodepoolSelector", selector}}}});
  watch.WaitForCount(kLeaving);
  const double seconds = Seconds(watch.event(kLeaving - 1).at - begin);
  WaitUntilQuiet(one.pid(), std::chrono::milliseconds(1500));
  if (watch.count() != kLeaving) throw testing::TestFailure("other workloads were written too");
  const double used = CpuSeconds(one.pid()) - cpu;
  bench.Add({"daemon-1000",
             "100 of 1,000 pools removed: from the edit to the last deletion",
             seconds,
             "s",
             {},
             TargetKind::kAtMost,
             0.6});
  bench.Add({"daemon-1000",
             "100 of 1,000 pools removed: CPU",
             used,
             "s",
             {},
             TargetKind::kNone,
             0,
             "includes writes of status and Events"});
}

void ThousandPools(Bench& bench) {
  OneDaemon one("thousand");
  one.cluster().AddPools("stay", kPools - kLeaving, "stay");
  one.cluster().AddPools("leave", kLeaving, "leave");
  Json daemon = Daemon(kDaemon, {"stay", "leave"});
  daemon["spec"]["workloadTemplate"]["deploymentTemplate"]["spec"]["replicas"] = 1;
  one.Create(std::move(daemon), kPools);
  Storm(bench, one, "daemon-1000", "");
  Remove(bench, one);
}

// Returns a RollingUpdate with two update windows in different time zones. Both open in 12 hours.
Json ClosedWindows() {
  const auto minute = [](WallTime time) { return FormatTime(time).substr(11, 5); };
  const WallTime opens = std::chrono::system_clock::now() + std::chrono::hours(12);
  Json windows = Json::array({{{"start", minute(opens)}, {"duration", "1h"}, {"timeZone", "UTC"}}});
  windows.push_back(
      {{"start", minute(opens + std::chrono::hours(8))}, {"duration", "1h"}, {"timeZone", "Asia/Shanghai"}});
  return {{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxUnavailable", "100%"}, {"windows", std::move(windows)}}}};
}

void ThousandWaitingPools(Bench& bench) {
  OneDaemon one("waiting");
  one.cluster().AddPools("waiting", kPools, "waiting");
  Json daemon = Daemon(kDaemon, {"waiting"});
  daemon["spec"]["updateStrategy"] = ClosedWindows();
  Json& workload = daemon["spec"]["workloadTemplate"]["deploymentTemplate"]["spec"];
  workload["replicas"] = 1;
  one.Create(daemon, kPools);
  one.SetReady(true);
  workload["template"]["spec"]["containers"][0]["image"] = kNewImage;
  one.kube().MergePatch(kYurtAppDaemonType, kDaemon, {{"spec", daemon["spec"]}});
  WaitUntilQuiet(one.pid(), std::chrono::milliseconds(1500));
  Storm(bench, one, "waiting-1000", " that wait for their window");
  if (const Json status = one.kube().Get(kYurtAppDaemonType, kDaemon)["status"]; status.value("updatedPools", -1) != 0)
    throw testing::TestFailure("a pool was updated before its window: " + status.dump());
}

void ThousandPoolsWithOverrides(Bench& bench) {
  OneDaemon one("overrides");
  one.cluster().AddPools("shop", kPools, "shops");
  Json daemon = Daemon(kDaemon, {"shops"});
  daemon["spec"]["workloadTemplate"]["deploymentTemplate"]["spec"]["replicas"] = 1;
  Json& overrides = daemon["spec"]["overrides"];
  for (int i = 0; i < kPools; ++i) {
    const Json shop = {{"name", "SHOP"}, {"value", std::to_string(i)}};
    const Json container = {{"name", "till"}, {"env", Json::array({shop})}};
    const Json patch = {{"spec", {{"template", {{"spec", {{"containers", Json::array({container})}}}}}}}};
    overrides.push_back({{"pools", {PoolName("shop", i)}}, {"patch", patch}});
  }
  one.Create(std::move(daemon), kPools);
  Storm(bench, one, "overrides-1000", ", each with an override");
}

void LargeTemplate(Bench& bench) {
  constexpr std::size_t kPoolsOfIt = 16;
  constexpr int kImages = 15;
  OneDaemon one("large");
  one.cluster().AddPools("pool", kPoolsOfIt, "shops");
  Json daemon = Daemon(kDaemon, {"shops"});
  Json& container =
      daemon["spec"]["workloadTemplate"]["deploymentTemplate"]["spec"]["template"]["spec"]["containers"][0];
  for (int i = 0; i < 9; ++i) {
    const std::string value(100'000, static_cast<char>('a' + i));
    container["env"].push_back({{"name", "LARGE_" + std::to_string(i)}, {"value", value}});
  }
  one.Create(std::move(daemon), kPoolsOfIt);
  for (int i = 0; i < kImages; ++i) {
    const RawWatch watch(one.cluster().beast(), one.Path());
    const std::string path = "/spec/workloadTemplate/deploymentTemplate/spec/template/spec/containers/0/image";
    const std::string image = "registry.example.com/shop/till:2." + std::to_string(i);
    one.kube().JsonPatch(kYurtAppDaemonType, kDaemon,
                         Json::array({{{"op", "replace"}, {"path", path}, {"value", image}}}));
    watch.WaitForCount(kPoolsOfIt);
    WaitUntilQuiet(one.pid());
  }
  const Memory memory = MemoryOf(one.pid());
  bench.Add({"large-template",
             "memory after 15 new images of a 0.9 MB template in 16 pools",
             memory.resident_mb,
             "MB",
             {},
             TargetKind::kAtMost,
             150,
             "resident; the peak was " + Number(memory.peak_mb) + " MB"});
}

}  // namespace

std::vector<Scenario> DaemonScenarios() {
  return {{"daemon-1000", ThousandPools},
          {"waiting-1000", ThousandWaitingPools},
          {"overrides-1000", ThousandPoolsWithOverrides},
          {"large-template", LargeTemplate}};
}

}  // namespace yad::bench
