// The random acts of a FaultInjectionCell: edits by users, stops of operator processes, and faults of the network.
#include <algorithm>
#include <csignal>
#include <thread>

#include "tests/cluster/fault_injection_cell.h"

namespace yad::testing {
namespace {

constexpr char kActsRing[] = "ring";
const char* const kRings[] = {"inner", "outer"};
constexpr std::size_t kMostPools = 5;
constexpr std::size_t kMostDaemons = 3;
const char* const kDaemonNames[] = {"web", "api", "log"};

}  // namespace

const FaultInjectionCell::Act FaultInjectionCell::kActs[] = {
    {"a pool is made", 4, &FaultInjectionCell::PoolIsMade},
    {"a pool is deleted", 2, &FaultInjectionCell::PoolIsDeleted},
    {"a pool is labelled or not", 6, &FaultInjectionCell::PoolIsLabelledOrNot},
    {"a pool moves to a ring", 4, &FaultInjectionCell::PoolMovesToARing},
    {"a pool is tainted or not", 4, &FaultInjectionCell::PoolIsTaintedOrNot},
    {"a daemon is made", 4, &FaultInjectionCell::DaemonIsMade},
    {"a daemon is deleted", 2, &FaultInjectionCell::DaemonIsDeleted},
    {"a daemon is orphaned and applied again", 3, &FaultInjectionCell::DaemonIsOrphanedAndAppliedAgain},
    {"a daemon gets a new image", 6, &FaultInjectionCell::DaemonGetsANewImage},
    {"a daemon gets an old image", 4, &FaultInjectionCell::DaemonGetsAnOldImage},
    {"a daemon is paused or not", 3, &FaultInjectionCell::DaemonIsPausedOrNot},
    {"a daemon moves to a ring", 3, &FaultInjectionCell::DaemonMovesToARing},
    {"a daemon gets another strategy", 4, &FaultInjectionCell::DaemonGetsAnotherStrategy},
    {"a workload is edited", 4, &FaultInjectionCell::WorkloadIsEdited},
    {"a workload is deleted", 3, &FaultInjectionCell::WorkloadIsDeleted},
    {"a workload loses a label", 3, &FaultInjectionCell::WorkloadLosesALabel},
    {"an operator is killed", 2, &FaultInjectionCell::OperatorIsKilled},
    {"an operator is stopped", 3, &FaultInjectionCell::OperatorIsStopped},
    {"connections are closed", 3, &FaultInjectionCell::ConnectionsAreClosed},
    {"the apiserver is down", 2, &FaultInjectionCell::ApiserverIsDown},
};

int FaultInjectionCell::Throw(int sides) { return static_cast<int>(random_() % static_cast<std::uint64_t>(sides)); }

template <typename Map, typename Which>
std::string FaultInjectionCell::PickName(const Map& map, Which which) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map) {
    if (which(value)) names.push_back(name);
  }
  return names.empty() ? "" : names[static_cast<std::size_t>(Throw(static_cast<int>(names.size())))];
}

void FaultInjectionCell::SomethingHappens() {
  int weights = 0;
  for (const Act& act : kActs) weights += act.weight;
  for (bool done = false; !done;) {
    int left = Throw(weights);
    const Act* act = kActs;
    while (left >= act->weight) left -= (act++)->weight;
    done = (this->*act->perform)();
  }
}

void FaultInjectionCell::Note(const std::function<void()>& change) {
  const std::int64_t before = Version();
  change();
  model_.Note(before, Version());
}

bool FaultInjectionCell::PoolIsMade() {
  const std::string again = PickName(model_.pools, [](const ModelPool& pool) { return !pool.exists; });
  if (again.empty() && model_.pools.size() >= kMostPools) return false;
  const std::string suffix(1, static_cast<char>('a' + model_.pools.size()));
  const std::string name = again.empty() ? Pool(suffix) : again;
  const std::string ring = kRings[Throw(2)];
  Log("pool " + name + " is created in the " + ring + " ring");
  Note([&] {
    if (again.empty()) {
      AddPool(suffix, Json::object(), {{kActsRing, ring}});
    } else {
      AddPoolNamed(name, Json::object(), {{kActsRing, ring}});
    }
    model_.pools[name] = {.ring = ring};
  });
  return true;
}

bool FaultInjectionCell::PoolIsDeleted() {
  const std::string name = PickName(model_.pools, [](const ModelPool& pool) { return pool.exists; });
  if (name.empty()) return false;
  Log("pool " + name + " is deleted");
  Note([&] {
    DeletePool(name);
    model_.pools[name].exists = false;
  });
  return true;
}

bool FaultInjectionCell::PoolIsLabelledOrNot() {
  const std::string name = PickName(model_.pools, [](const ModelPool& pool) { return pool.exists; });
  if (name.empty()) return false;
  ModelPool& pool = model_.pools[name];
  Log("pool " + name + (pool.labelled ? " loses its label" : " gets its label"));
  Note([&] {
    pool.labelled ? Unselect(name) : Select(name);
    pool.labelled = !pool.labelled;
  });
  return true;
}

bool FaultInjectionCell::PoolMovesToARing() {
  const std::string name = PickName(model_.pools, [](const ModelPool& pool) { return pool.exists; });
  if (name.empty()) return false;
  ModelPool& pool = model_.pools[name];
  const std::string ring = pool.ring == kRings[0] ? kRings[1] : kRings[0];
  Log("pool " + name + " moves to the " + ring + " ring");
  Note([&] {
    kube().MergePatch(kNodePoolType, name, {{"metadata", {{"labels", {{kActsRing, ring}}}}}});
    pool.ring = ring;
  });
  return true;
}

bool FaultInjectionCell::PoolIsTaintedOrNot() {
  const std::string name = PickName(model_.pools, [](const ModelPool& pool) { return pool.exists; });
  if (name.empty()) return false;
  ModelPool& pool = model_.pools[name];
  pool.tainted = !pool.tainted;
  Log("pool " + name + (pool.tainted ? " is tainted" : " loses its taint"));
  kube().MergePatch(kNodePoolType, name, {{"spec", {{"taints", pool.tainted ? kShopTaint : Json()}}}});
  return true;
}

Json FaultInjectionCell::DaemonOf(const std::string& name) {
  const ModelDaemon& wanted = model_.daemons.at(name);
  Json daemon = Daemon(name);
  Json& spec = daemon["spec"];
  if (!wanted.ring.empty()) spec["nodepoolSelector"]["matchLabels"][kActsRing] = wanted.ring;
  if (wanted.paused) spec["paused"] = true;
  if (!wanted.strategy.is_null()) spec["updateStrategy"] = wanted.strategy;
  spec["workloadTemplate"][TemplateField(kind())]["spec"]["template"]["spec"]["containers"][0]["image"] =
      Image(wanted.image);
  return daemon;
}

void FaultInjectionCell::Apply(const std::string& name) {
  ModelDaemon& daemon = model_.daemons[name];
  daemon.exists = true;
  daemon.images = daemon.left_behind;
  daemon.images.insert(daemon.image);
  daemon.uid = UidOf(CreateDaemon(DaemonOf(name)));
}

bool FaultInjectionCell::DaemonIsMade() {
  std::string name = PickName(model_.daemons, [](const ModelDaemon& daemon) { return !daemon.exists; });
  if (name.empty() && model_.daemons.size() < kMostDaemons) name = kDaemonNames[model_.daemons.size()];
  if (name.empty()) return false;
  if (!watches_.contains(name)) {
    watches_[name] = std::make_unique<WorkloadWatch>(kube().client(), type(), ns(), name);
  }
  Note([&] {
    ModelDaemon daemon;
    daemon.left_behind = model_.daemons[name].left_behind;
    daemon.image = ++last_image_;
    if (Throw(3) == 0) daemon.ring = kRings[Throw(2)];
    Log("daemon " + name + " is created, image " + std::to_string(daemon.image) + ", ring \"" + daemon.ring + "\"");
    model_.daemons[name] = daemon;
    Apply(name);
  });
  return true;
}

bool FaultInjectionCell::DaemonIsDeleted() {
  const std::string name = PickName(model_.daemons, [](const ModelDaemon& daemon) { return daemon.exists; });
  if (name.empty()) return false;
  Log("daemon " + name + " is deleted");
  ModelDaemon& daemon = model_.daemons[name];
  model_.DaemonIsDeleted(daemon.uid);
  kube().Delete(kYurtAppDaemonType, name);
  daemon.exists = false;
  return true;
}

bool FaultInjectionCell::DaemonIsOrphanedAndAppliedAgain() {
  const std::string name = PickName(model_.daemons, [](const ModelDaemon& daemon) { return daemon.exists; });
  if (name.empty()) return false;
  for (const Json& workload : kube().List(type())) {
    const ObjectMeta meta = ParseMeta(workload);
    if (meta.controller() != nullptr && meta.controller()->uid == model_.daemons[name].uid &&
        meta.Label(kPoolNameLabel).empty()) {
      // A workload without owner and label belongs to no daemon: the operator reports a conflict, and does not change
      // it.
      Log("workload " + meta.key.name + " does not have its label yet, so daemon " + name + " is not orphaned");
      return true;
    }
  }
  if (Throw(2) == 0) model_.daemons[name].image = ++last_image_;
  Log("daemon " + name + " is orphaned and applied again, image " + std::to_string(model_.daemons[name].image));
  // The operator may still create a workload after the orphaning. The garbage collector deletes it, because its owner
  // does not exist.
  model_.DaemonIsDeleted(model_.daemons[name].uid);
  model_.daemons[name].left_behind.insert(model_.daemons[name].images.begin(), model_.daemons[name].images.end());
  kube().Delete(kYurtAppDaemonType, name, Propagation::kOrphan);
  Eventually("the daemon is gone", [&] { return !kube().Find(kYurtAppDaemonType, name).has_value(); });
  Apply(name);
  return true;
}

void FaultInjectionCell::EditDaemon(const std::string& name, const std::function<void(Json& spec)>& edit) {
  kube().Edit(kYurtAppDaemonType, name, [&](Json& daemon) { edit(daemon["spec"]); });
}

void FaultInjectionCell::GiveImage(const std::string& name, int image) {
  Log("daemon " + name + " gets image " + std::to_string(image));
  ModelDaemon& daemon = model_.daemons[name];
  daemon.image = image;
  daemon.images.insert(image);
  SetImage(name, Image(image));
}

bool FaultInjectionCell::DaemonGetsANewImage() {
  const std::string name = PickName(model_.daemons, [](const ModelDaemon& daemon) { return daemon.exists; });
  if (name.empty()) return false;
  GiveImage(name, ++last_image_);
  return true;
}

bool FaultInjectionCell::DaemonGetsAnOldImage() {
  const std::string name =
      PickName(model_.daemons, [](const ModelDaemon& daemon) { return daemon.exists && daemon.images.size() > 1; });
  if (name.empty()) return false;
  std::vector<int> old(model_.daemons[name].images.begin(), model_.daemons[name].images.end());
  std::erase(old, model_.daemons[name].image);
  GiveImage(name, old[static_cast<std::size_t>(Throw(static_cast<int>(old.size())))]);
  return true;
}

bool FaultInjectionCell::DaemonIsPausedOrNot() {
  const std::string name = PickName(model_.daemons, [](const ModelDaemon& daemon) { return daemon.exists; });
  if (name.empty()) return false;
  ModelDaemon& daemon = model_.daemons[name];
  daemon.paused = !daemon.paused;
  Log("daemon " + name + (daemon.paused ? " is paused" : " is resumed"));
  EditDaemon(name, [&](Json& spec) { spec["paused"] = daemon.paused; });
  return true;
}

bool FaultInjectionCell::DaemonMovesToARing() {
  const std::string name = PickName(model_.daemons, [](const ModelDaemon& daemon) { return daemon.exists; });
  if (name.empty()) return false;
  ModelDaemon& daemon = model_.daemons[name];
  const int ring = Throw(3);
  Note([&] {
    daemon.ring = ring == 2 ? "" : kRings[ring];
    Log("daemon " + name + " moves to ring \"" + daemon.ring + "\"");
    const Json selector = DaemonOf(name)["spec"]["nodepoolSelector"];
    EditDaemon(name, [&](Json& spec) { spec["nodepoolSelector"] = selector; });
  });
  return true;
}

bool FaultInjectionCell::DaemonGetsAnotherStrategy() {
  const std::string name = PickName(model_.daemons, [](const ModelDaemon& daemon) { return daemon.exists; });
  if (name.empty()) return false;
  ModelDaemon& daemon = model_.daemons[name];
  daemon.strategy = {{"type", "All"}};
  if (Throw(3) > 0) {
    daemon.strategy = {{"type", "RollingUpdate"},
                       {"rollingUpdate", {{"maxUnavailable", 1 + Throw(2)}, {"minReadySeconds", Throw(2)}}}};
  }
  Log("daemon " + name + " has strategy " + daemon.strategy.dump());
  EditDaemon(name, [&](Json& spec) { spec["updateStrategy"] = daemon.strategy; });
  return true;
}

Json FaultInjectionCell::SomeWorkload() {
  const std::string name = PickName(model_.daemons, [](const ModelDaemon& daemon) { return daemon.exists; });
  if (name.empty()) return {};
  const int choice = Throw(1000);
  const std::vector<std::string> pools = model_.PoolsOf(name);
  if (pools.empty()) return {};
  const std::string& pool = pools[static_cast<std::size_t>(choice) % pools.size()];
  for (const Json& workload : kube().List(type())) {
    const ObjectMeta meta = ParseMeta(workload);
    if (meta.controller() != nullptr && meta.controller()->uid == model_.daemons[name].uid &&
        meta.Annotation(kRefNodePoolAnnotation) == pool) {
      return workload;
    }
  }
  Log("daemon " + name + " has no workload for pool " + pool + " yet, so the act is skipped");
  return {};
}

bool FaultInjectionCell::WorkloadIsEdited() {
  const Json workload = SomeWorkload();
  const bool image = Throw(2) == 0;
  if (workload.is_null()) return true;
  Log("workload " + NameOf(workload) + (image ? " gets another image by hand" : " is scaled by hand"));
  Json patch = {{"spec", {{"replicas", 2}}}};
  if (image) {
    patch = {
        {"spec", {{"template", {{"spec", {{"containers", {{{"name", "main"}, {"image", "example.org/evil:1"}}}}}}}}}}};
  }
  // Ignores errors, because the workload may have been deleted.
  kube().client().Patch(type(), {ns(), NameOf(workload)}, PatchType::kStrategicMerge, patch, {});
  return true;
}

bool FaultInjectionCell::WorkloadIsDeleted() {
  const Json workload = SomeWorkload();
  if (workload.is_null()) return true;
  Log("workload " + NameOf(workload) + " is deleted by hand");
  model_.AllowRemoval(UidOf(workload));
  DeleteOptions options;
  options.uid = UidOf(workload);
  kube().client().Delete(type(), {ns(), NameOf(workload)}, options);
  return true;
}

bool FaultInjectionCell::WorkloadLosesALabel() {
  const Json workload = SomeWorkload();
  const char* const label = Throw(2) == 0 ? kPoolNameLabel : kRevisionLabel;
  if (workload.is_null()) return true;
  // A workload without the label is not in the operator's cache. Once its pool is removed, the operator finds the
  // workload only by its name in the daemon's status (docs/running.md).
  const Json daemon = kube().Find(kYurtAppDaemonType, ParseMeta(workload).controller()->name).value_or(Json());
  const Json pools = At(daemon, "/status/pools");
  if (std::none_of(pools.begin(), pools.end(),
                   [&](const Json& pool) { return StringAt(pool, {"workload"}) == NameOf(workload); })) {
    Log("no status contains workload " + NameOf(workload) + " yet, so its labels stay");
    return true;
  }
  Log("workload " + NameOf(workload) + " loses label " + label);
  kube().client().Patch(type(), {ns(), NameOf(workload)}, PatchType::kMerge,
                        {{"metadata", {{"labels", {{label, nullptr}}}}}}, {});
  return true;
}

bool FaultInjectionCell::OperatorIsKilled() {
  Replica& replica = replicas_[static_cast<std::size_t>(Throw(static_cast<int>(replicas_.size())))];
  Log("operator " + std::to_string(&replica - replicas_.data()) + " is killed");
  replica.process->Kill();
  replica.process = std::make_unique<OperatorProcess>(replica.options);
  return true;
}

bool FaultInjectionCell::OperatorIsStopped() {
  Replica& replica = replicas_[static_cast<std::size_t>(Throw(static_cast<int>(replicas_.size())))];
  const int code = replica.process->Stop();
  Log("operator " + std::to_string(&replica - replicas_.data()) + " is stopped, and exits with code " +
      std::to_string(code));
  if (code != 0 && code != kLeaseLost && code != kNotYetBegun)
    throw TestFailure("after SIGTERM, the operator exited with code " + std::to_string(code));
  replica.process = std::make_unique<OperatorProcess>(replica.options);
  return true;
}

bool FaultInjectionCell::ConnectionsAreClosed() {
  Log("all connections are closed");
  for (Replica& replica : replicas_) replica.proxy->CloseConnections();
  return true;
}

bool FaultInjectionCell::ApiserverIsDown() {
  const std::chrono::milliseconds time(300 + Throw(1200));
  Replica& replica = replicas_[static_cast<std::size_t>(Throw(static_cast<int>(replicas_.size())))];
  Log("operator " + std::to_string(&replica - replicas_.data()) + " can't reach the apiserver for " +
      std::to_string(time.count()) + " ms");
  replica.proxy->GoDown();
  std::this_thread::sleep_for(time);
  replica.proxy->ComeBack();
  return true;
}

}  // namespace yad::testing
