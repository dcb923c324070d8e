// A cluster in memory with both reconcilers of the nodepool controller. The test runs each reconcile.
#ifndef TESTS_UNIT_NODEPOOL_WORLD_H_
#define TESTS_UNIT_NODEPOOL_WORLD_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/well_known.h"
#include "operator/cluster/informers.h"
#include "operator/nodepool/node_loads.h"
#include "operator/nodepool/node_reconciler.h"
#include "operator/nodepool/pool_reconciler.h"
#include "tests/support/fake_apiserver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/kube.h"

namespace yad::testing {

struct RecordedEvents : EventSink {
  void Record(const ObjectReference& regarding, EventType, const std::string& reason, const std::string&,
              const std::string& note) override {
    recorded.push_back(regarding.kind + " " + regarding.key.name + " " + reason + ": " + note);
  }
  std::vector<std::string> recorded;
};

// Count and Give first call Sync, which updates the caches.
struct NodePoolWorld {
  NodePoolWorld() {
    AddNodesByPool(nodes);
    AddPodsByNode(pods);
    cluster.Create(kCrdType, {{"metadata", {{"name", "nodepools.apps.openyurt.io"}}}});
  }

  Json AddPool(const std::string& name, const Json& spec = Json::object()) {
    return cluster.Create(kNodePoolType, {{"metadata", {{"name", name}}}, {"spec", spec}});
  }
  Json AddNode(const std::string& name, const std::string& pool, const std::string& ready = "True") {
    return cluster.Create(kNodeType, {{"metadata", {{"name", name}, {"labels", {{kNodePoolLabel, pool}}}}},
                                      {"status",
                                       {{"conditions", {{{"type", "Ready"}, {"status", ready}}}},
                                        {"capacity", {{"cpu", "4"}, {"pods", "10"}}},
                                        {"allocatable", {{"cpu", "3"}, {"pods", "10"}}}}}});
  }
  Json Pool(const std::string& name) { return *cluster.Get(kNodePoolType, {"", name}); }
  Json NodeNow(const std::string& name) { return *cluster.Get(kNodeType, {"", name}); }
  void EditNode(const std::string& name, const Json& patch) {
    cluster.Edit(kNodeType, {"", name}, [&](Json& node) { node.merge_patch(patch); });
  }
  void EditPool(const std::string& name, const Json& patch) {
    cluster.Edit(kNodePoolType, {"", name}, [&](Json& pool) { pool.merge_patch(patch); });
  }

  void Sync() {
    SyncOne(pools, kNodePoolType, ProjectPool, nullptr);
    SyncOne(nodes, kNodeType, ProjectNode, StripNode);
    const ReflectorOptions watch_pods = WatchPods();
    SyncOne(pods, kPodType, watch_pods.project, watch_pods.transform);
  }
  Result<ReconcileResult> Count(const std::string& pool) {
    Sync();
    return counting.Reconcile({"", pool}, {});
  }
  Result<ReconcileResult> Give(const std::string& node) {
    Sync();
    return giving.Reconcile({"", node}, {});
  }
  std::size_t Writes() {
    const std::size_t count = cluster.writes().size();
    cluster.ClearWrites();
    return count;
  }

  void SyncOne(Store& store, const ResourceType& type, const Projector& project,
               const std::function<void(Json&)>& transform) {
    std::vector<ObjectPtr> objects;
    for (Json object : cluster.List(type)) {
      if (transform) transform(object);
      objects.push_back(std::make_shared<StoredObject>(object, project));
    }
    for (const Store::Change& change : store.Replace(std::move(objects), cluster.resource_version())) {
      if (&store == &pods) loads.Changed(change);
    }
  }

  FakeClock clock;
  FakeCluster cluster;
  Client client{cluster.transport(), {}, clock};
  RecordedEvents events;
  Store pools, nodes, pods;
  NodeLoads loads{pods};
  ResourceType pool_type = kNodePoolType;  // the version that the informer reads
  PoolReconciler counting{client, {pools, nodes, nullptr}, loads, events, [this] { return pool_type; }, {}, clock};
  NodeReconciler giving{client, pools, nodes, events, [this] { return pool_type; }, clock};
};

}  // namespace yad::testing

#endif  // TESTS_UNIT_NODEPOOL_WORLD_H_
