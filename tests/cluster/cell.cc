#include "tests/cluster/cell.h"

#include <algorithm>
#include <mutex>
#include <sstream>

namespace yad::testing {

void InTurn(const std::function<void()>& what) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  what();
}

void Cell::Close() {
  watch_.reset();
  proxy_.reset();
  TearDown();
}

std::string Cell::Details() {
  std::string text = "\n  the end of its log:";
  std::vector<std::string> lines;
  std::istringstream log(ReadFile(ClusterTest::DefaultOptions().log_file));
  for (std::string line; std::getline(log, line);) lines.push_back(line);
  for (std::size_t i = lines.size() - std::min<std::size_t>(lines.size(), 30); i < lines.size(); ++i) {
    text += "\n    " + lines[i];
  }
  if (watch_ != nullptr) {
    for (const std::string& fault : watch_->faults()) text += "\n  " + fault;
  }
  return text;
}

OperatorOptions Cell::DefaultOptions() {
  OperatorOptions options = ClusterTest::DefaultOptions();
  if (proxy_ == nullptr) {
    proxy_ = MakeProxy(options.kubeconfig, [this](const ProxiedRequest& request) { return OnRequest(request); });
  }
  options.kubeconfig = KubeconfigThrough(*proxy_, options.kubeconfig, plane().dir() + "/" + ns() + ".kubeconfig");
  return options;
}

Wanted Cell::Create() {
  CreateDaemon(Daemon(kCellDaemon));
  return {.pools = ThreePools()};
}

void Cell::Orphan() {
  kube().Delete(kYurtAppDaemonType, kCellDaemon, Propagation::kOrphan);
  Eventually("the daemon is gone", [&] { return !kube().Find(kYurtAppDaemonType, kCellDaemon).has_value(); });
}

void Cell::ExpectRemovalOf(const std::string& pool) { watch_->ExpectRemoval(NameOf(WorkloadOf(kCellDaemon, pool))); }

void Cell::AddThreePools() {
  for (const char* pool : {"a", "b", "c"}) AddPool(pool);
}

void Cell::AddBystander(const std::string& pool) {
  Json bystander = {{"metadata",
                     {{"name", std::string(kCellDaemon) + "-" + pool + "-other"},
                      {"labels", {{"app", kCellDaemon}, {kPoolNameLabel, pool}}},
                      {"annotations", {{kRefNodePoolAnnotation, pool}}}}},
                    {"spec",
                     {{"replicas", 0},
                      {"selector", {{"matchLabels", {{"app", "other"}, {kPoolNameLabel, pool}}}}},
                      {"template",
                       {{"metadata", {{"labels", {{"app", "other"}, {kPoolNameLabel, pool}}}}},
                        {"spec", {{"containers", {{{"name", "main"}, {"image", "example.org/other:1"}}}}}}}}}}};
  if (kind() == WorkloadKind::kStatefulSet) bystander["spec"]["serviceName"] = "other";
  bystander_ = kube().Create(type(), bystander);
}

std::vector<Json> Cell::AllButTheBystander() {
  std::vector<Json> workloads = kube().List(type());
  std::erase_if(workloads, [&](const Json& workload) { return NameOf(workload) == NameOf(bystander_); });
  std::sort(workloads.begin(), workloads.end(), [](const Json& a, const Json& b) {
    return Annotation(a, kRefNodePoolAnnotation) < Annotation(b, kRefNodePoolAnnotation);
  });
  return workloads;
}

void Cell::CompareBystander(Comparison& is) {
  const Json now = kube().Get(type(), NameOf(bystander_));
  for (const char* part : {"/metadata/uid", "/metadata/labels", "/metadata/ownerReferences", "/spec"}) {
    is.Is(std::string("a workload that is not ours: ") + part, At(now, part), At(bystander_, part));
  }
}

void Cell::RememberWorkloads() {
  for (const Json& workload : AllButTheBystander()) {
    uids_[Annotation(workload, kRefNodePoolAnnotation)] = UidOf(workload);
  }
}

void Cell::WatchWorkloads() { watch_ = std::make_unique<WorkloadWatch>(kube().client(), type(), ns(), kCellDaemon); }

void Cell::WaitUntil(const Wanted& wanted) {
  Eventually("the cluster has the expected state", [&] { return DifferenceFrom(wanted); });
}

std::string Cell::DifferenceFrom(const Wanted& wanted) {
  const Json daemon = GetDaemon(kCellDaemon);
  Comparison status;
  CompareStatus(daemon, wanted, status);
  if (!status.why_not().empty()) return status.why_not();  // this comparison is the cheapest, and the caller polls
  Comparison is;
  CompareRevisions(daemon, Revisions(kCellDaemon), kind(), wanted, is);
  CompareWorkloads(daemon, AllButTheBystander(), uids_, wanted, is);
  std::vector<Json> services = kube().List(kServiceType);
  std::erase_if(services, [](const Json& service) { return Label(service, kPoolNameLabel).empty(); });
  std::sort(services.begin(), services.end(), [](const Json& one, const Json& other) {
    return Label(one, kPoolNameLabel) < Label(other, kPoolNameLabel);
  });
  CompareServices(daemon, services, wanted, is);
  CompareBystander(is);
  return is.why_not();
}

void Cell::CatchUp(const WorkloadWatch& watch) {
  const Json last =
      kube().MergePatch(type(), NameOf(bystander_), {{"metadata", {{"annotations", {{"cluster-test", "the end"}}}}}});
  // If a patch changes nothing, `last` has the resourceVersion of an earlier write, which the watch has also observed.
  Eventually("the watch has observed all changes",
             [&] { return watch.HasSeen(VersionOf(last)) || !watch.broken().empty(); });
}

void Cell::ExpectNoFaultWasSeen() {
  CatchUp(*watch_);
  if (!watch_->faults().empty()) throw TestFailure("during the scenario: " + watch_->faults().front());
}

}  // namespace yad::testing
