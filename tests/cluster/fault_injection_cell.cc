#include "tests/cluster/fault_injection_cell.h"

#include <algorithm>
#include <cstdio>
#include <thread>

namespace yad::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A new operator waits up to 15 s for the lease of a killed operator, and on a busy machine may lose it again.
constexpr milliseconds kRecoveryTimeout = seconds(120);
constexpr std::size_t kFaultsInStory = 60;

const ResourceType kRoleType{"rbac.authorization.k8s.io", "v1", "roles", "Role", true};
const ResourceType kRoleBindingType{"rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", true};

}  // namespace

FaultInjectionCell::FaultInjectionCell(std::uint64_t seed)
    : Cell(seed % 2 == 0 ? WorkloadKind::kStatefulSet : WorkloadKind::kDeployment),
      seed_(seed),
      random_(seed),
      begin_(std::chrono::steady_clock::now()) {}

void FaultInjectionCell::Close() {
  watches_.clear();
  for (Replica& replica : replicas_) {
    replica.process.reset();
    replica.proxy.reset();
  }
  Cell::Close();
}

void FaultInjectionCell::Log(const std::string& what) {
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin_;
  char text[32];
  std::snprintf(text, sizeof text, "%6.2f s  ", time.count());
  story_.push_back(text + what);
}

std::string FaultInjectionCell::Details() {
  std::string text = "\n  what happened:";
  for (const std::string& line : story_) text += "\n    " + line;
  for (const Replica& replica : replicas_) {
    const std::vector<std::string> faults = replica.faults->faults();
    text += "\n  the faults of operator " + std::to_string(&replica - replicas_.data()) + ":";
    for (std::size_t i = faults.size() - std::min(faults.size(), kFaultsInStory); i < faults.size(); ++i) {
      text += "\n    " + faults[i];
    }
  }
  return text + Cell::Details();
}

// ---- operators ----

void FaultInjectionCell::SetUpReplicas() {
  replicas_.resize(1 + static_cast<std::size_t>(Throw(2)));
  const bool elected = replicas_.size() > 1 || Throw(3) == 0;
  if (elected) GrantLease();
  for (Replica& replica : replicas_) {
    const std::string name = ns() + "-" + std::to_string(&replica - replicas_.data());
    replica.faults =
        std::make_unique<RandomFaults>(seed_ * 7 + static_cast<std::uint64_t>(&replica - replicas_.data()));
    replica.options = ClusterTest::DefaultOptions();
    std::string& kubeconfig = replica.options.kubeconfig;
    replica.proxy =
        MakeProxy(kubeconfig, [faults = replica.faults.get()](const ProxiedRequest& r) { return (*faults)(r); });
    kubeconfig = KubeconfigThrough(*replica.proxy, kubeconfig, plane().dir() + "/" + name + ".kubeconfig");
    replica.options.all_flags = {"--namespace=" + ns(), "--controllers=*,-nodepool", "--metrics-bind-address=0",
                                 "--health-probe-bind-address=0", "--leader-election-namespace=" + ns()};
    if (elected) replica.options.all_flags.push_back("--leader-elect");
    replica.process = std::make_unique<OperatorProcess>(replica.options);
  }
  Log(std::to_string(replicas_.size()) + " operator(s), " + (elected ? "one of them elected" : "no election"));
}

// Grants the permission on Leases in the cell's namespace, because each cell has its own lease. The chart grants it
// only in the operator's namespace.
void FaultInjectionCell::GrantLease() {
  kube().Create(kRoleType, {{"metadata", {{"name", "lease"}}},
                            {"rules",
                             {{{"apiGroups", {"coordination.k8s.io"}},
                               {"resources", {"leases"}},
                               {"verbs", {"create", "get", "update"}}}}}});
  kube().Create(
      kRoleBindingType,
      {{"metadata", {{"name", "lease"}}},
       {"roleRef", {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "Role"}, {"name", "lease"}}},
       {"subjects",
        {{{"kind", "ServiceAccount"}, {"name", SharedInstall()->name()}, {"namespace", SharedInstall()->ns()}}}}});
}

void FaultInjectionCell::Supervise() {
  for (Replica& replica : replicas_) {
    const std::optional<int> code = replica.process->ExitCode();
    if (!code) continue;
    Log("operator " + std::to_string(&replica - replicas_.data()) + " has exited with code " + std::to_string(*code));
    if (*code != kLeaseLost) throw TestFailure("an operator exited by itself with code " + std::to_string(*code));
    replica.process = std::make_unique<OperatorProcess>(replica.options);
  }
}

std::int64_t FaultInjectionCell::Version() {
  ListOptions options;
  options.ns = ns();
  const Result<ListPage> page = kube().client().List(kPodType, options);
  if (!page) throw TestFailure("list pods: " + page.error().ToString());
  return std::stoll(page->resource_version);
}

// ---- the run ----

void FaultInjectionCell::Play() {
  for (int pools = 1 + Throw(3); pools >= 0; --pools) PoolIsMade();
  AddBystander(model_.pools.begin()->first);
  SetUpReplicas();
  for (int daemons = Throw(3); daemons >= 0; --daemons) DaemonIsMade();
  for (int acts = 10 + Throw(14); acts > 0; --acts) {
    std::this_thread::sleep_for(milliseconds(Throw(4) == 0 ? Throw(2500) : Throw(300)));
    Supervise();
    SomethingHappens();
  }
  for (auto& [name, daemon] : model_.daemons) {
    if (!daemon.exists || !daemon.paused) continue;
    Log("daemon " + name + " is resumed");
    daemon.paused = false;
    EditDaemon(name, [](Json& spec) { spec["paused"] = false; });
  }
  Log("no more faults");
  for (Replica& replica : replicas_) replica.faults->Clear();
  WaitUntilAllIsWell("after the faults, the cluster matches the specs");
  RollOutAndUndo();
  ExpectNoMoreWrites();
  WaitUntilAllIsWell("at the end, the cluster matches the specs");
  ExpectNothingWrongWasSeen();
}

void FaultInjectionCell::WaitUntilAllIsWell(const std::string& what) {
  Eventually(
      what,
      [&] {
        Supervise();
        return Difference();
      },
      kRecoveryTimeout);
  Log("the cluster matches the specs");
}

std::string FaultInjectionCell::Difference() {
  for (const auto& [name, daemon] : model_.daemons) {
    if (const std::string why_not = Difference(name); !why_not.empty()) return "daemon " + name + ": " + why_not;
  }
  Comparison is;
  CompareBystander(is);
  return is.why_not();
}

std::string FaultInjectionCell::Difference(const std::string& name) {
  const ModelDaemon& daemon = model_.daemons.at(name);
  Wanted wanted;
  wanted.exactly = false;
  wanted.image = daemon.image;
  if (daemon.exists) wanted.pools = model_.PoolsOf(name);
  for (const auto& [pool_name, pool] : model_.pools) {
    if (!pool.tainted) continue;
    wanted.tolerations[pool_name] = {
        {{"key", kShopTaint[0]["key"]}, {"operator", "Exists"}, {"effect", kShopTaint[0]["effect"]}}};
  }
  Json object;
  Comparison is;
  if (daemon.exists) {
    object = GetDaemon(name);
    CompareStatus(object, wanted, is);
    if (!is.why_not().empty()) return is.why_not();
    CompareRevisions(object, Revisions(name), kind(), wanted, is);
    std::map<int, int> images;  // image -> number of its revisions
    for (const auto& [number, image] : ImagesOf(Revisions(name), kind())) ++images[image];
    for (const auto& [image, count] : images) {
      is.Is("how often image " + std::to_string(image) + " is in the history", count, 1);
      is.Is("the history knows only what was asked for: image " + std::to_string(image), daemon.images.contains(image),
            true);
    }
  }
  std::vector<Json> workloads = AllButTheBystander();
  std::erase_if(workloads, [&](const Json& workload) {
    if (StringAt(workload, {"spec", "selector", "matchLabels", "app"}) != name) return true;
    // A workload belongs to no daemon if it has no controller and the daemon does not select its pool.
    const std::string pool = Annotation(workload, kRefNodePoolAnnotation);
    return ParseMeta(workload).controller() == nullptr &&
           std::find(wanted.pools.begin(), wanted.pools.end(), pool) == wanted.pools.end();
  });
  CompareWorkloads(object, workloads, {}, wanted, is);
  return is.why_not();
}

// If there are no faults, the expected history is known exactly.
void FaultInjectionCell::RollOutAndUndo() {
  const auto found =
      std::find_if(model_.daemons.begin(), model_.daemons.end(), [](const auto& entry) { return entry.second.exists; });
  if (found == model_.daemons.end()) return;
  const std::string& name = found->first;
  std::map<int, int> history = ImagesOf(Revisions(name), kind());
  const int before = history.rbegin()->first;
  const int old = history.rbegin()->second;
  GiveImage(name, ++last_image_);
  WaitUntilAllIsWell("a new image is everywhere");
  history[before + 1] = last_image_;
  GiveImage(name, old);
  WaitUntilAllIsWell("the old image is back");
  history.erase(before);
  history[before + 2] = old;
  Comparison is;
  is.Is("the history", ImagesOf(Revisions(name), kind()), history);
  if (!is.why_not().empty()) throw TestFailure(is.why_not());
}

void FaultInjectionCell::ExpectNoMoreWrites() {
  const WallTime since = Now();
  Barrier();
  Barrier();
  std::vector<AuditedRequest> writes = WritesSince(since);
  std::erase_if(writes, [](const AuditedRequest& write) {
    return write.resource == "leases" || write.resource == "events" || write.name.starts_with("barrier-");
  });
  if (!writes.empty()) throw TestFailure("the operator wrote after the cluster matched the specs: " + ToString(writes));
}

void FaultInjectionCell::ExpectNothingWrongWasSeen() {
  for (const auto& [name, watch] : watches_) {
    CatchUp(*watch);
    if (!watch->broken().empty()) throw TestFailure(watch->broken());
    const std::vector<std::string> faults = model_.Judge(name, watch->lives());
    if (!faults.empty()) throw TestFailure("during the run, daemon " + name + ": " + Json(faults).dump(2));
  }
}

}  // namespace yad::testing
