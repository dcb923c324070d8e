// Daemons, pools, revisions and workloads for tests of plan and status.
#ifndef TESTS_UNIT_YURTAPPDAEMON_BUILDERS_H_
#define TESTS_UNIT_YURTAPPDAEMON_BUILDERS_H_

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/well_known.h"
#include "operator/workload/render.h"
#include "operator/workload/revision.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad::testing {

inline constexpr char kNs[] = "ns";
inline constexpr char kDaemonUid[] = "uid-web";

// Returns YurtAppDaemon ns/web, which selects all pools. Its pods have label app=web and one container "main".
inline Json DaemonJson(const std::string& image = "app:1", WorkloadKind kind = WorkloadKind::kDeployment) {
  Json object = R"({
    "apiVersion": "apps.openyurt.io/v1alpha1", "kind": "YurtAppDaemon",
    "metadata": {"name": "web", "namespace": "ns", "generation": 1},
    "spec": {"selector": {"matchLabels": {"app": "web"}}, "nodepoolSelector": {}}})"_json;
  Json workload = R"({
    "metadata": {"labels": {"app": "web"}},
    "spec": {"replicas": 1, "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main"}]}}}})"_json;
  workload["spec"]["selector"] = object["spec"]["selector"];
  workload["spec"]["template"]["spec"]["containers"][0]["image"] = image;
  if (kind == WorkloadKind::kStatefulSet) workload["spec"]["serviceName"] = "web";
  object["spec"]["workloadTemplate"] = {{TemplateField(kind), std::move(workload)}};
  object["metadata"]["uid"] = kDaemonUid;
  return object;
}

inline Json& TemplateOf(Json& daemon) { return *daemon["spec"]["workloadTemplate"].begin(); }
inline Json& PodSpecOf(Json& workload) { return workload["spec"]["template"]["spec"]; }
inline std::string ImageOf(const Json& workload) {
  return workload.at("/spec/template/spec/containers/0/image"_json_pointer).get<std::string>();
}

inline Json PoolJson(const std::string& name, const std::vector<std::string>& taints = {}) {
  Json pool = {{"apiVersion", "apps.openyurt.io/v1beta1"},
               {"kind", "NodePool"},
               {"metadata", {{"name", name}, {"resourceVersion", "1"}}},
               {"spec", {{"type", "Edge"}, {"taints", Json::array()}}}};
  for (const std::string& taint : taints) pool["spec"]["taints"].push_back({{"key", taint}, {"effect", "NoSchedule"}});
  return pool;
}
inline Json OfflinePoolJson(const std::string& name) {
  Json pool = PoolJson(name);
  pool["status"] = {{"readyNodeNum", 0}, {"unreadyNodeNum", 2}};
  return pool;
}

// Returns the object as a watch event stores it.
inline ObjectPtr AsWatched(const Json& object, const JsonParts& projected, const Projector& project) {
  const JsonDocument document = *JsonDocument::Parse(object.dump());
  return std::make_shared<StoredObject>(ParseMeta(document), document.TreeOfObject(projected), document, project);
}

inline PoolRef MakePool(const Json& pool) { return {AsWatched(pool, kProjectedOfPools, ProjectPool)}; }

inline RevisionPtr MakeRevision(const Json& daemon_json, std::int64_t number = 1) {
  const YurtAppDaemon daemon = *ParseYurtAppDaemon(daemon_json);
  auto revision = std::make_shared<Revision>();
  revision->content = ContentOf(daemon);
  revision->hash = RevisionHash(revision->content, 0);
  revision->name = RevisionName(daemon.meta.key.name, revision->hash);
  revision->label = RevisionLabelValue(revision->name, revision->hash);
  revision->number = number;
  return revision;
}

// Returns the status that the controllers of Deployments and StatefulSets write for a healthy workload.
inline Json HealthyStatus(const Json& workload) {
  const std::int64_t replicas = IntAt(workload, {"spec", "replicas"}, 1);
  Json status = {{"observedGeneration", IntAt(workload, {"metadata", "generation"})},
                 {"replicas", replicas},
                 {"readyReplicas", replicas},
                 {"availableReplicas", replicas},
                 {"updatedReplicas", replicas}};
  if (StringAt(workload, {"kind"}) == "Deployment") {
    status["conditions"] = R"([{"type": "Available", "status": "True"}])"_json;
  } else {
    status["currentRevision"] = status["updateRevision"] = "r";
  }
  return status;
}

// Returns the healthy workload that the operator creates for the pool from that revision.
inline Json WorkloadJson(const Json& daemon_json, const RevisionPtr& revision, const Json& pool_json) {
  const YurtAppDaemon daemon = *ParseYurtAppDaemon(daemon_json);
  const NodePool pool = ParseNodePool(pool_json);
  const RenderInputs inputs = InputsFor(revision->content, pool);
  Json workload = CompleteWorkload(*Render(revision->content, inputs, pool.name, revision->label), daemon,
                                   WorkloadName(daemon.meta.key.name, daemon.meta.uid, pool.name, daemon.kind), inputs,
                                   revision->label);
  workload["metadata"]["uid"] = "uid-of-" + pool.name;
  workload["metadata"]["resourceVersion"] = "10";
  workload["metadata"]["generation"] = 1;
  workload["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z";
  workload["status"] = HealthyStatus(workload);
  return workload;
}

// Returns the workload as yurt-manager 1.6 creates it: with a generated name, the revision as a label of the pod
// template, and without an annotation for its inputs.
inline Json OpenYurtWorkloadJson(const Json& daemon_json, const RevisionPtr& revision, const Json& pool_json) {
  const NodePool pool = ParseNodePool(pool_json);
  Json workload = WorkloadJson(daemon_json, revision, pool_json);
  RenderInputs inputs;
  inputs.rules = 0;
  inputs.tolerations = pool.taints;
  workload["spec"] = (*Render(revision->content, inputs, pool.name, revision->label))["spec"];
  workload["metadata"]["annotations"].erase(kRenderedFromAnnotation);
  workload["metadata"]["name"] = "web-" + pool.name + "-x7k2p";
  workload["metadata"]["generateName"] = "web-" + pool.name + "-";
  return workload;
}

inline WorkloadRef MakeWorkload(const Json& workload) {
  const bool deployment = StringAt(workload, {"kind"}) == "Deployment";
  return MakeWorkloadRef(
      AsWatched(workload, kProjectedOfWorkloads, deployment ? ProjectDeployment : ProjectStatefulSet));
}

// Returns the condition of this type, or null.
inline Json ConditionOf(const Json& status, const std::string& type) {
  for (const Json& condition : status.value("conditions", Json::array())) {
    if (condition["type"] == type) return condition;
  }
  return nullptr;
}
// Returns for example "True RolloutComplete", or "absent".
inline std::string ConditionReason(const Json& status, const std::string& type) {
  const Json condition = ConditionOf(status, type);
  return condition.is_null() ? "absent" : StringAt(condition, {"status"}) + " " + StringAt(condition, {"reason"});
}

// Returns the pool's entry in status.pools, or null.
inline Json PoolStatus(const Json& status, const std::string& name) {
  for (const Json& pool : status.value("pools", Json::array())) {
    if (pool["name"] == name) return pool;
  }
  return nullptr;
}

// A daemon, its pools and its workloads in JSON, and the Snapshot of them.
struct ClusterObjects {
  Json daemon = DaemonJson();
  std::vector<Json> pools = {};
  std::vector<Json> workloads = {};
  std::vector<Json> orphans = {};
  std::vector<RevisionPtr> older = {};  // revisions other than the update revision
  RevisionPtr current = nullptr;        // null: the update revision

  RevisionPtr update() const { return MakeRevision(daemon, 9); }
  // Adds a workload of the update revision for each pool.
  ClusterObjects& Deployed() {
    for (const Json& pool : pools) workloads.push_back(WorkloadJson(daemon, update(), pool));
    return *this;
  }

  Snapshot Take() const {
    Snapshot snapshot;
    snapshot.daemon = *ParseYurtAppDaemon(daemon);
    snapshot.update = update();
    snapshot.current = current == nullptr ? snapshot.update : current;
    snapshot.revisions = {snapshot.update};
    snapshot.revisions.insert(snapshot.revisions.end(), older.begin(), older.end());
    if (current != nullptr && std::find(older.begin(), older.end(), current) == older.end()) {
      snapshot.revisions.push_back(current);
    }
    for (const Json& pool : pools) snapshot.pools.push_back(MakePool(pool));
    std::sort(snapshot.pools.begin(), snapshot.pools.end(),
              [](const PoolRef& a, const PoolRef& b) { return a.pool().name < b.pool().name; });
    for (const Json& workload : workloads) snapshot.workloads.push_back(MakeWorkload(workload));
    for (const Json& orphan : orphans) snapshot.orphans.push_back(MakeWorkload(orphan));
    return snapshot;
  }
};

}  // namespace yad::testing

#endif  // TESTS_UNIT_YURTAPPDAEMON_BUILDERS_H_
