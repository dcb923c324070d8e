#include "operator/yurtappdaemon/observe/maintenance.h"

#include <algorithm>

#include "operator/api/node.h"
#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/observe/daemon_projection.h"
#include "operator/yurtappdaemon/observe/forbidden_reads.h"

namespace yad {
namespace {

constexpr char kInMaintenance[] = "maintenance";  // the name of the index, and its only key

const MaintenanceProjection& MaintenanceOf(const StoredObject& node) {
  return *static_cast<const MaintenanceProjection*>(node.projection());
}

// Returns the pools that this event of a Node affects. A Node in maintenance holds the updates of its pool. The event
// affects the pool if the Node starts or stops holding the updates, or if the condition that causes the hold changes.
std::vector<std::string> ChangedPools(const Event& node_event) {
  static const MaintenanceProjection kNone;
  const auto& before = node_event.before == nullptr ? kNone : MaintenanceOf(*node_event.before);
  const auto& after = node_event.after == nullptr ? kNone : MaintenanceOf(*node_event.after);
  std::vector<std::string> pools;
  if (before.condition == after.condition && before.pool == after.pool) return pools;
  if (before.condition != nullptr) pools.push_back(before.pool);
  if (after.condition != nullptr && after.pool != before.pool) pools.push_back(after.pool);
  return pools;
}

}  // namespace

std::unique_ptr<const Projection> ProjectMaintenance(const Json& node) {
  auto projection = std::make_unique<MaintenanceProjection>();
  projection->condition = MaintenanceConditionOf(node);
  if (projection->condition != nullptr) projection->pool = StringAt(node, {"metadata", "labels", kNodePoolLabel});
  return projection;
}

ReflectorOptions WatchingMaintenance() {
  return {.type = kNodeType,
          .label_selector = kNodePoolLabel,
          .project = ProjectMaintenance,
          .projected = {{"metadata", {{"labels", {{kNodePoolLabel}}}}},
                        {"status", {{"conditions", {{"type"}, {"status"}}}}}},
          .keeps_content = [](const ObjectMeta&) { return false; },
          .on_demand = true};
}

void AddMaintenanceIndex(Store& nodes) {
  nodes.AddIndex(kInMaintenance, [](const StoredObject& node) -> std::vector<std::string> {
    if (MaintenanceOf(node).condition == nullptr) return {};
    return {kInMaintenance};
  });
}

std::vector<Request> DaemonsOfMaintenance(const Store& daemons, const Store& pools, const Event& node_event) {
  std::vector<Request> requests;
  for (const std::string& name : ChangedPools(node_event)) {
    const auto pool = pools.Get({"", name});
    if (!pool) continue;  // The event that adds the pool to the cache causes a reconcile.
    const std::vector<Request> selecting = DaemonsSelecting(daemons, {nullptr, *pool});
    requests.insert(requests.end(), selecting.begin(), selecting.end());
  }
  return requests;
}

Result<PoolMaintenance> ReadMaintenance(const Informer& nodes, ForbiddenReads& forbidden_reads, SteadyTime now) {
  const std::string error = nodes.last_error();
  // The role of an older Helm chart allows the operator to list Nodes, but not to watch them. The cached Nodes then
  // become outdated, so they must not hold updates.
  if (forbidden_reads.IsPermanentlyForbidden(error, now)) return PoolMaintenance();
  const auto found = nodes.store().ByIndex(kInMaintenance, kInMaintenance);
  if (!found) return Fail(Reason::kNotSynced, "Nodes can't be read: " + error);
  std::map<std::string, const StoredObject*> first;  // by pool; the Node whose name sorts first
  for (const ObjectPtr& node : *found) {
    const StoredObject*& known = first[MaintenanceOf(*node).pool];
    if (known == nullptr || node->meta().key.name < known->meta().key.name) known = node.get();
  }
  PoolMaintenance held;
  for (const auto& [pool, node] : first)
    held.emplace(pool, DescribeMaintenance(node->meta().key.name, MaintenanceOf(*node).condition));
  return held;
}

bool IsInMaintenance(const Informer& nodes, const std::string& pool) {
  if (IsForbidden(nodes.last_error())) return false;
  const auto found = nodes.store().ByIndex(kInMaintenance, kInMaintenance);
  return found &&
         std::any_of(found->begin(), found->end(), [&](const auto& node) { return MaintenanceOf(*node).pool == pool; });
}

}  // namespace yad
