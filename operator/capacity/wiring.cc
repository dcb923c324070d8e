#include "operator/capacity/wiring.h"

#include <utility>

#include "operator/cluster/informers.h"

namespace yad {
namespace {

bool AutoscalerChanged(const Event& event) {
  return !IsSameObject(event) || event.before->meta().generation != event.after->meta().generation ||
         event.before->meta().deleting() != event.after->meta().deleting();
}

bool PoolChanged(const Event& event) { return !IsSameObject(event) || event.before->digest() != event.after->digest(); }

// Returns whether the event may change the plan. Returns false for heartbeats.
bool NodeChanged(const Event& event) {
  if (!IsSameObject(event)) return true;
  const Node& before = NodeOf(event.before);
  const Node& after = NodeOf(event.after);
  return before.meta.labels != after.meta.labels || before.meta.annotations != after.meta.annotations ||
         before.taints != after.taints || before.unschedulable != after.unschedulable ||
         before.ready() != after.ready() || before.allocatable != after.allocatable;
}

// Returns whether the event may change the plan. Returns false for most changes of a pod's status.
bool PodChanged(const Event& event) {
  if (!IsSameObject(event)) return true;
  const Pod& before = PodProjectionOf(event.before).pod;
  const Pod& after = PodProjectionOf(event.after).pod;
  return before.waits() != after.waits() || before.node != after.node || before.requests != after.requests;
}

}  // namespace

std::shared_ptr<const CapacityReconciler> AddCapacityController(Manager& manager, Client& client, EventSink& events,
                                                                Duration resync) {
  Informer& autoscalers = manager.InformerFor({.type = kNodePoolAutoscalerType});
  Informer& pools = manager.InformerFor(WatchNodePools(client, events));
  Informer& nodes = manager.InformerFor(WatchNodes());
  Informer& pods = manager.InformerFor(WatchPods());
  AddPodsByNode(pods.store());
  AddPodsByWantedPool(pods.store());

  const CapacityReconciler::Stores stores{autoscalers.store(), pools.store(), nodes.store(), pods.store()};
  auto reconciler = std::make_shared<CapacityReconciler>(
      manager.leader_client(), stores, events,
      CapacityReconciler::Options{.resync = resync, .pool_type = [&pools] { return pools.type(); }});
  const ControllerOptions controller_options{.name = "nodepool-autoscaler", .workers = 1, .resync = Duration::zero()};
  auto controller = std::make_unique<Controller>(
      controller_options, [reconciler](const Request&, std::stop_token stop) { return reconciler->Reconcile(stop); });
  const auto all = [](const Event&) { return std::vector<Request>{CapacityReconciler::Key()}; };
  controller->Watches(autoscalers, all, AutoscalerChanged)
      .Watches(pools, all, PoolChanged)
      .Watches(nodes, all, NodeChanged)
      .Watches(pods, all, PodChanged);
  manager.AddController(std::move(controller));
  return reconciler;
}

}  // namespace yad
