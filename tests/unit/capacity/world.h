// A cluster in memory with the autoscaler's controller and a simple scheduler. The test runs each pass.
#ifndef TESTS_UNIT_CAPACITY_WORLD_H_
#define TESTS_UNIT_CAPACITY_WORLD_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/api/well_known.h"
#include "operator/capacity/capacity_reconciler.h"
#include "operator/capacity/fit.h"
#include "operator/cluster/informers.h"
#include "tests/support/fake_apiserver.h"
#include "tests/support/fake_clock.h"

namespace yad::testing {

class CapacityWorld : public EventSink {
 public:
  explicit CapacityWorld(const Json& spec = Json::object()) {
    AddPodsByNode(pods);
    AddPodsByWantedPool(pods);
    cluster.Create(kCrdType, {{"metadata", {{"name", "nodepools.apps.openyurt.io"}}}});
    AddPool("hangzhou");
    AddAutoscaler("hangzhou", "hangzhou", spec);
    Restart();
  }

  void Record(const ObjectReference& regarding, EventType, const std::string& reason, const std::string&,
              const std::string&) override {
    events.push_back(regarding.kind + " " + regarding.key.name + " " + reason);
  }

  // Replaces the controller with a new controller that has no state, as a restart of the operator does.
  void Restart() {
    CapacityReconciler::Options options;
    options.pool_type = [] { return kNodePoolType; };
    reconciler = std::make_unique<CapacityReconciler>(
        client, CapacityReconciler::Stores{autoscalers, pools, nodes, pods}, *this, options, clock);
  }

  void AddPool(const std::string& name, const Json& spec = Json::object()) {
    cluster.Create(kNodePoolType, {{"metadata", {{"name", name}}}, {"spec", spec}});
  }
  void AddAutoscaler(const std::string& name, const std::string& pool, const Json& spec = Json::object()) {
    Json object{{"metadata", {{"name", name}}},
                {"spec", {{"nodePool", pool}, {"inventorySelector", {{"matchLabels", {{"inventory", "spare"}}}}}}}};
    if (spec.is_object()) object["spec"].update(spec);
    cluster.Create(kNodePoolAutoscalerType, object);
  }
  // Merges the patch into the spec of autoscaler "hangzhou".
  void EditSpec(const Json& patch) {
    cluster.Edit(kNodePoolAutoscalerType, {"", "hangzhou"}, [&](Json& object) { object["spec"].merge_patch(patch); });
  }
  void AddNode(const std::string& name, const std::string& cpu = "4") {
    const Json list{{"cpu", cpu}, {"memory", "8Gi"}, {"pods", "10"}};
    cluster.Create(
        kNodeType,
        {{"metadata", {{"name", name}, {"labels", {{"inventory", "spare"}}}}},
         {"status",
          {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}}, {"capacity", list}, {"allocatable", list}}}});
  }
  void SetReady(const std::string& name, bool ready) {
    cluster.Edit(kNodeType, {"", name}, [&](Json& node) {
      node["status"]["conditions"] = {{{"type", "Ready"},
                                       {"status", ready ? "True" : "Unknown"},
                                       {"lastTransitionTime", FormatTime(clock.WallNow())}}};
    });
  }
  void AddPod(const std::string& name, const std::string& cpu = "1", const std::string& node = "") {
    Json pod{{"metadata", {{"namespace", "shop"}, {"name", name}}},
             {"spec",
              {{"nodeSelector", {{kNodePoolLabel, "hangzhou"}}},
               {"containers", {{{"name", "c"}, {"resources", {{"requests", {{"cpu", cpu}}}}}}}}}},
             {"status", {{"phase", "Pending"}}}};
    if (!node.empty()) {
      pod["spec"]["nodeName"] = node;
      pod["status"]["phase"] = "Running";
    }
    cluster.Create(kPodType, pod);
  }
  void DeletePod(const std::string& name) { cluster.Delete(kPodType, {"shop", name}); }

  // Binds each pending pod to the first node on which it may run. Marks all other pods as unschedulable.
  void Schedule() {
    for (const Json& object : cluster.List(kPodType)) {
      const Pod pod = ParsePod(object);
      if (!pod.node.empty()) continue;
      std::string to;
      for (const Json& node_object : cluster.List(kNodeType)) {
        const Node node = ParseNode(node_object);
        Resources room = node.allocatable;
        for (const Json& other : cluster.List(kPodType)) {
          const Pod there = ParsePod(other);
          if (there.node == node.meta.key.name && !there.terminal) room.Subtract(there.requests);
        }
        const NodeShape shape{&node.meta.key.name, node.meta.labels, node.taints};
        if (to.empty() && node.ready() && pod.requests.FitsIn(room) && MayRunOn(*pod.placement, shape))
          to = node.meta.key.name;
      }
      cluster.Edit(kPodType, pod.key, [&](Json& edited) {
        if (to.empty()) {
          edited["status"]["conditions"] = {
              {{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}}};
        } else {
          edited["spec"]["nodeName"] = to;
          edited["status"] = {{"phase", "Running"}};
        }
      });
    }
  }

  void SyncPools() { SyncOne(pools, kNodePoolType, ProjectPool, nullptr); }
  void SyncNodes() { SyncOne(nodes, kNodeType, ProjectNode, StripNode); }
  void SyncPods() {
    const ReflectorOptions watch = WatchPods();
    SyncOne(pods, kPodType, watch.project, watch.transform);
  }
  void SyncAutoscalers() { SyncOne(autoscalers, kNodePoolAutoscalerType, nullptr, nullptr); }
  void Sync() {
    SyncPools();
    SyncNodes();
    SyncPods();
    SyncAutoscalers();
  }
  Result<ReconcileResult> Pass() { return reconciler->Reconcile({}); }
  // Each second, advances the clock, updates the caches and runs a pass.
  void Run(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      clock.Advance(std::chrono::seconds(1));
      Schedule();
      Sync();
      (void)Pass();
    }
  }

  Node NodeNow(const std::string& name) { return ParseNode(*cluster.Get(kNodeType, {"", name})); }
  std::string PhaseOf(const std::string& name) {
    const std::string annotation = NodeNow(name).meta.Annotation(kLeaseAnnotation);
    return annotation.empty() ? "" : std::string(ToString(ParseLease(annotation)->phase));
  }
  Json Status(const std::string& name = "hangzhou") {
    return cluster.Get(kNodePoolAutoscalerType, {"", name})->value("status", Json::object());
  }
  std::string Reason(const std::string& name = "hangzhou") {
    for (const Json& condition : Status(name).value("conditions", Json::array())) {
      if (condition["type"] == "Ready") return StringAt(condition, {"reason"});
    }
    return "";
  }

  FakeClock clock;
  FakeCluster cluster;
  Client client{cluster.transport(), {}, clock};
  std::vector<std::string> events;
  Store autoscalers, pools, nodes, pods;
  std::unique_ptr<CapacityReconciler> reconciler;

 private:
  void SyncOne(Store& store, const ResourceType& type, const Projector& project,
               const std::function<void(Json&)>& transform) {
    std::vector<ObjectPtr> objects;
    for (Json object : cluster.List(type)) {
      if (transform) transform(object);
      objects.push_back(std::make_shared<StoredObject>(object, project));
    }
    store.Replace(std::move(objects), cluster.resource_version());
  }
};

}  // namespace yad::testing

#endif  // TESTS_UNIT_CAPACITY_WORLD_H_
