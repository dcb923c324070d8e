// Builds snapshots for tests of the planner.
#ifndef TESTS_UNIT_CAPACITY_SNAPSHOT_H_
#define TESTS_UNIT_CAPACITY_SNAPSHOT_H_

#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/capacity/capacity_plan.h"

namespace yad::testing {

inline const WallTime kNow = ParseTime("2026-11-20T12:00:00Z");
inline WallTime Ago(int seconds) { return kNow - std::chrono::seconds(seconds); }

inline NodePoolAutoscaler Autoscaler(const Json& spec = Json::object(), const Json& shortages = Json::array()) {
  Json object{{"metadata", {{"name", "hangzhou"}, {"uid", "a"}}},
              {"spec", {{"nodePool", "hangzhou"}, {"inventorySelector", {{"matchLabels", {{"inventory", "spare"}}}}}}},
              {"status", {{"shortages", shortages}}}};
  if (spec.is_object()) object["spec"].update(spec);
  return ParseNodePoolAutoscaler(object).value();
}

// The input of a plan. Deques hold the nodes and pods, because the planner keeps pointers to them.
struct Snapshot {
  explicit Snapshot(NodePoolAutoscaler spec = Autoscaler()) : autoscaler(std::move(spec)) {}

  // Adds a spare node that has been Ready for a day.
  Node& Free(const std::string& name, const std::string& cpu = "4", const StringMap& labels = {}) {
    Node& node = nodes.emplace_back();
    node.meta.key.name = name;
    node.meta.uid = "uid-" + name;
    node.meta.resource_version = "7";
    node.meta.creation_timestamp = FormatTime(Ago(86400));
    node.meta.labels = {{"inventory", "spare"}};
    node.meta.labels.insert(labels.begin(), labels.end());
    node.conditions["Ready"] = "True";
    node.ready_since = Ago(86400);
    const Json list{{"cpu", cpu}, {"memory", "64Gi"}, {"pods", "110"}};
    node.allocatable = Resources::Parse(&list);
    return node;
  }

  Node& Leased(const std::string& name, LeasePhase phase, int seconds_ago, const std::string& for_pod = "",
               const StringMap& labels = {}) {
    Node& node = Free(name, "4", labels);
    NodeLease lease;
    lease.pool = autoscaler.node_pool;
    lease.phase = phase;
    lease.for_pod = for_pod;
    lease.since = Ago(seconds_ago);
    node.meta.annotations[kLeaseAnnotation] = FormatLease(lease);
    node.meta.labels["apps.openyurt.io/nodepool"] = autoscaler.node_pool;
    return node;
  }

  static void NotReady(Node& node, int seconds_ago) {
    node.conditions["Ready"] = "Unknown";
    node.ready_since = Ago(seconds_ago);
  }

  // Adds a pod that has been pending for a minute.
  Pod& Waiting(const std::string& name, const std::string& cpu = "1", const StringMap& selector = {}) {
    Pod& pod = pods.emplace_back();
    pod.key = {"shop", name};
    pod.uid = "uid-" + name;
    pod.created = Ago(60);
    pod.pending = pod.unschedulable = true;
    const Json list{{"cpu", cpu}};
    pod.requests = Resources::Parse(&list);
    pod.requests.pods = 1;
    Placement placement;
    placement.node_selector = {{"apps.openyurt.io/nodepool", autoscaler.node_pool}};
    placement.node_selector.insert(selector.begin(), selector.end());
    pod.placement = std::make_shared<const Placement>(std::move(placement));
    return pod;
  }

  Pod& Running(const std::string& name, const std::string& node, const std::string& cpu = "1") {
    Pod& pod = Waiting(name, cpu);
    pod.pending = pod.unschedulable = false;
    pod.ready = true;
    pod.node = node;
    pod.placement.reset();
    return pod;
  }

  CapacityPlan Plan() const {
    CapacityInput input{autoscaler, pool, pool_gone, stopped, {}, {}, kNow};
    for (const Node& node : nodes) input.nodes.push_back(&node);
    for (const Pod& pod : pods) input.pods.push_back(&pod);
    return PlanCapacity(input);
  }

  NodePoolAutoscaler autoscaler;
  PoolAttributes pool;
  bool pool_gone = false;
  bool stopped = false;
  std::deque<Node> nodes;
  std::deque<Pod> pods;
};

// Returns the leases of the plan as strings:
// - "n1: a b" is node n1 for pods a and b.
// - "n2: standby" is a standby node.
// - "none: c" is pod c without a node.
inline std::vector<std::string> Leases(const CapacityPlan& plan) {
  std::vector<std::string> leases;
  for (const CapacityPlan::Lease& lease : plan.leases) {
    std::string& text = leases.emplace_back(lease.node == nullptr ? "none" : lease.node->meta.key.name);
    text += ":";
    for (const Pod* pod : lease.pods) text += " " + pod->key.name;
    if (lease.pods.empty()) text += " standby";
  }
  return leases;
}

inline std::vector<std::string> Releases(const CapacityPlan& plan) {
  std::vector<std::string> names;
  for (const CapacityPlan::Release& release : plan.releases) names.push_back(release.node->meta.key.name);
  return names;
}

// Returns a shortage in the form of status. It began `since_ago` seconds ago, and the next attempt is in `retry_in`
// seconds.
inline Json ShortageOf(const StringMap& requirements, const char* reason, int retry_in,
                       const std::vector<std::string>& pods, int since_ago = 60) {
  return {{"requirements", requirements},
          {"pods", pods},
          {"reason", reason},
          {"since", FormatTime(Ago(since_ago))},
          {"retryAt", FormatTime(kNow + std::chrono::seconds(retry_in))}};
}

// Returns the plan's change of this node, or null.
inline const CapacityPlan::Change* ChangeOf(const CapacityPlan& plan, const std::string& node) {
  const auto found = std::find_if(plan.changes.begin(), plan.changes.end(),
                                  [&](const auto& change) { return change.node->meta.key.name == node; });
  return found == plan.changes.end() ? nullptr : &*found;
}

}  // namespace yad::testing

#endif  // TESTS_UNIT_CAPACITY_SNAPSHOT_H_
