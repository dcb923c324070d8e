#include "tests/bench/world.h"

#include <thread>

#include "operator/api/well_known.h"
#include "tests/bench/load.h"
#include "tests/bench/raw_watch.h"
#include "tests/support/eventually.h"

namespace yad::bench {
namespace {

std::string GroupName(int number) { return "group-" + std::to_string(number); }

}  // namespace

World::World(Bench& bench) : cluster_(/*audit=*/true), kube_(cluster_.Namespace("world")) {
  Launch();
  const SteadyTime begin = std::chrono::steady_clock::now();
  operator_->WaitUntilReady();
  WaitUntilQuiet(operator_->pid());
  const Memory idle = MemoryOf(operator_->pid());
  bench.Say("  idle: " + Number(idle.resident_mb) + " MB after " + Number(SecondsSince(begin)) + " s");
  bench.Add({"memory", "resident memory, idle", idle.resident_mb, "MB", {}, TargetKind::kAtMost, 14.5});
  bench.AddMemoryPoint(0, idle.resident_mb);

  for (int i = 0; i < kGroups; ++i) cluster_.AddPools(GroupName(i), kPools / kGroups, GroupName(i));
  // Measures the memory with 1,000 workloads first.
  const RawWatch watch(cluster_.beast(), WorkloadPath());
  constexpr int kPerDaemon = kPools / kGroups;
  for (int i = 0; i < kDaemons; ++i) {
    kube_.Create(kYurtAppDaemonType, Daemon("shop-" + std::to_string(i), {GroupName(i % kGroups), kSharedGroup}));
    if ((i + 1) * kPerDaemon != 1000) continue;
    watch.WaitForCount(1000);
    WaitUntilQuiet(operator_->pid());
    MakeHealthy(bench);
    const Memory at_1000 = Restart().memory;
    bench.Add({"memory",
               "resident memory at 1,000 workloads",
               at_1000.resident_mb,
               "MB",
               {},
               TargetKind::kAtMost,
               19,
               "with 1,000 pools, after a start; workloads of " + Number(workload_bytes_ / 1000) + " KB of JSON"});
    bench.AddMemoryPoint(1000, at_1000.resident_mb);
  }
  bench.Say("  the operator makes 10,000 workloads");
  watch.WaitForCount(1000 + 1000 + kWorkloads - 1000);  // 1,000 created, 1,000 made healthy, the rest created
  WaitUntilQuiet(operator_->pid());
  MakeHealthy(bench);
}

void World::Launch() {
  testing::OperatorOptions options;
  options.kubeconfig = cluster_.account_kubeconfig();
  operator_ = cluster_.Operator(std::move(options));
}

World::Start World::Restart() {
  if (operator_) operator_->Stop();
  Start start;
  const SteadyTime begin = std::chrono::steady_clock::now();
  Launch();
  while (!operator_->Ready()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  start.ready_seconds = SecondsSince(begin);
  start.settled_seconds = Seconds(WaitUntilQuiet(operator_->pid()) - begin);
  start.cpu_seconds = CpuSeconds(operator_->pid());
  start.memory = MemoryOf(operator_->pid());
  return start;
}

std::string World::WorkloadPath(const std::string& name, const std::string& subresource) const {
  return ResourcePath(kDeploymentType, kube_.ns(), name, subresource);
}

void World::MakeHealthy(Bench& bench) {
  std::vector<HttpRequest> patches;
  workloads_.clear();
  double bytes = 0;
  for (Json& workload : kube_.List(kDeploymentType)) {
    workloads_.push_back(testing::NameOf(workload));
    workload["metadata"].erase("managedFields");
    bytes += static_cast<double>(workload.dump().size());
    if (testing::At(workload, "/status/observedGeneration") == 1) continue;
    patches.push_back(
        Write("PATCH", WorkloadPath(workloads_.back(), "status"), HealthyPatch(workload).dump(), kMergePatch));
  }
  workload_bytes_ = bytes / static_cast<double>(workloads_.size());
  const double cpu = CpuSeconds(operator_->pid());
  SendAll(cluster_.beast(), patches, kParallelWrites);
  // Waits for more than a second, because the operator writes each status at most once a second.
  WaitUntilQuiet(operator_->pid(), std::chrono::milliseconds(1500));
  sample_ = kube_.Get(kDeploymentType, workloads_.front());
  sample_["metadata"].erase("managedFields");
  workload_bytes_ += static_cast<double>(sample_["status"].dump().size());
  if (workloads_.size() < kWorkloads) return;
  bench.Add({"status-events",
             "status events of workloads: CPU per event",
             (CpuSeconds(operator_->pid()) - cpu) * 1e6 / static_cast<double>(patches.size()),
             "µs",
             {},
             TargetKind::kNone,
             0,
             Number(static_cast<double>(patches.size())) +
                 " Deployments become healthy; includes reconciles and status writes"});
}

namespace {

std::unique_ptr<World>& Shared() {
  static std::unique_ptr<World> world;
  return world;
}

}  // namespace

World& TheWorld(Bench& bench) {
  if (!Shared()) Shared() = std::make_unique<World>(bench);
  return *Shared();
}

void EndWorld() { Shared().reset(); }

}  // namespace yad::bench
