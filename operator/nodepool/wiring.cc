#include "operator/nodepool/wiring.h"

#include <memory>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/cluster/informers.h"
#include "operator/nodepool/node_loads.h"
#include "operator/nodepool/node_reconciler.h"
#include "operator/nodepool/pool_reconciler.h"

namespace yad {
namespace {

// Returns whether the event may change the status of the pool. Returns false for heartbeats and changes of the list of
// images.
bool NodeCountsDifferently(const Event& event) {
  if (!IsSameObject(event)) return true;
  const Node& before = NodeOf(event.before);
  const Node& after = NodeOf(event.after);
  return before.pool() != after.pool() || before.conditions != after.conditions ||
         before.allocatable != after.allocatable || before.capacity != after.capacity;
}

// Returns whether the Node was added or deleted, or its labels, annotations or taints have changed. They may then
// differ from the attributes of its pool.
bool NodeAttributesChanged(const Event& event) {
  if (!IsSameObject(event)) return true;
  const Node& before = NodeOf(event.before);
  const Node& after = NodeOf(event.after);
  return before.meta.labels != after.meta.labels || before.meta.annotations != after.meta.annotations ||
         before.taints != after.taints;
}

void AddPoolOf(const ObjectPtr& node, std::vector<Request>& requests) {
  if (node == nullptr) return;
  const std::string& pool = node->meta().Label(kNodePoolLabel);
  if (!pool.empty() && (requests.empty() || requests.front().name != pool)) requests.push_back({"", pool});
}

std::vector<Request> PoolsOfNode(const Event& event) {
  std::vector<Request> requests;
  AddPoolOf(event.before, requests);
  AddPoolOf(event.after, requests);
  return requests;
}

// Returns the pools of these Nodes.
std::vector<Request> PoolsOf(const Store& nodes, const std::vector<std::string>& names) {
  std::vector<Request> requests;
  for (const std::string& name : names) {
    const auto node = nodes.Get({"", name});
    if (node) AddPoolOf(*node, requests);
  }
  return requests;
}

bool PoolAttributesChanged(const Event& event) {
  return !IsSameObject(event) || PoolProjectionOf(event.before).attributes != PoolProjectionOf(event.after).attributes;
}

std::vector<Request> NodesOfPool(const Store& nodes, const Event& event) {
  std::vector<Request> requests;
  const auto members = nodes.ByIndex(kNodesByPool, event.key().name);
  if (!members) return requests;  // the Nodes are not listed yet; an event for each Node follows later
  for (const ObjectPtr& node : *members) requests.push_back(node->meta().key);
  return requests;
}

}  // namespace

void AddNodePoolController(Manager& manager, Client& client, Client& writer, EventSink& events,
                           const NodePoolOptions& options) {
  Informer& pools = manager.InformerFor(WatchNodePools(client, events));
  Informer& nodes = manager.InformerFor(WatchNodes());
  Informer& pods = manager.InformerFor(WatchPods(options.agents));
  Informer* csi_nodes = options.csi_drivers.empty() ? nullptr : &manager.InformerFor(WatchCsiNodes());
  AddNodesByPool(nodes.store());
  AddPodsByNode(pods.store());

  auto loads = std::make_shared<NodeLoads>(pods.store());
  const PoolReconciler::Stores stores{pools.store(), nodes.store(),
                                      csi_nodes == nullptr ? nullptr : &csi_nodes->store()};
  const auto pool_type = [&pools] { return pools.type(); };
  auto pool_reconciler =
      std::make_shared<PoolReconciler>(writer, stores, *loads, events, pool_type, options.csi_drivers);
  auto pool_controller = std::make_unique<Controller>(ControllerOptions{.name = "nodepool"},
                                                      [pool_reconciler](const Request& request, std::stop_token stop) {
                                                        return pool_reconciler->Reconcile(request, stop);
                                                      });
  pool_controller
      ->For(pools,
            [pool_reconciler](const Event& event) {
              if (!IsSameObject(event)) return true;
              if (event.before->meta().generation != event.after->meta().generation) return true;
              const PoolProjection& before = PoolProjectionOf(event.before);
              const PoolProjection& after = PoolProjectionOf(event.after);
              const bool counted =
                  before.ready_nodes != after.ready_nodes || before.unready_nodes != after.unready_nodes;
              return counted && !pool_reconciler->HasWrittenStatus(event.after->meta());
            })
      .Watches(nodes, PoolsOfNode, NodeCountsDifferently)
      .Watches(pods, [loads, &nodes](const Event& event) { return PoolsOf(nodes.store(), loads->Changed(event)); });
  if (csi_nodes != nullptr) {
    pool_controller->Watches(
        *csi_nodes, [&nodes](const Event& event) { return PoolsOf(nodes.store(), {event.key().name}); },
        [](const Event& event) {
          return !IsSameObject(event) || CsiNodeOf(event.before).drivers != CsiNodeOf(event.after).drivers;
        });
  }
  manager.AddController(std::move(pool_controller));

  auto node_reconciler = std::make_shared<NodeReconciler>(writer, pools.store(), nodes.store(), events, pool_type);
  auto node_controller = std::make_unique<Controller>(ControllerOptions{.name = "nodepool-nodes"},
                                                      [node_reconciler](const Request& request, std::stop_token stop) {
                                                        return node_reconciler->Reconcile(request, stop);
                                                      });
  node_controller->For(nodes, NodeAttributesChanged)
      .Watches(
          pools, [&nodes](const Event& event) { return NodesOfPool(nodes.store(), event); }, PoolAttributesChanged);
  manager.AddController(std::move(node_controller));
}

}  // namespace yad
