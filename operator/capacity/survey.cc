#include "operator/capacity/survey.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "operator/api/well_known.h"

namespace yad {
namespace {

constexpr std::string_view kTransientTaints[] = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable",
                                                 "node.kubernetes.io/network-unavailable"};

bool IsTransient(const NodeTaint& taint) {
  return std::find(std::begin(kTransientTaints), std::end(kTransientTaints), taint.key) != std::end(kTransientTaints);
}

bool IsSmaller(const CandidateNode* a, const CandidateNode* b) {
  const auto rank = [](const CandidateNode* candidate) {
    const Resources& size = candidate->node->allocatable;
    return std::tie(size.milli_cpu, size.memory, size.ephemeral_storage, candidate->node->meta.key.name);
  };
  return rank(a) < rank(b);
}

// Adds to the shape of a free node the labels and taints that a lease to the pool will add.
void AddPool(const CapacityInput& input, CandidateNode& candidate) {
  NodeShape& shape = candidate.shape;
  for (const auto& [key, value] : input.pool.labels) shape.labels[key] = value;
  shape.labels[kNodePoolLabel] = input.autoscaler.node_pool;
  for (const NodeTaint& taint : input.pool.taints) {
    std::erase_if(shape.taints, [&](const NodeTaint& t) { return SameTaint(t, taint); });
    shape.taints.push_back(taint);
  }
  candidate.evicts = Evicts(input.pool, *candidate.node);
}

// Returns whether the inventory would select the free node again after a lease and its release. A release removes each
// label whose value the pool replaced during the lease.
bool StaysInInventory(const CapacityInput& input, const Node& node) {
  StringMap labels = node.meta.labels;
  for (const auto& [key, value] : input.pool.labels) {
    const auto own = labels.find(key);
    if (own != labels.end() && own->second != value) labels.erase(own);
  }
  return input.autoscaler.inventory.Matches(labels);
}

void AddNodes(const CapacityInput& input, Survey& survey) {
  const NodePoolAutoscaler& autoscaler = input.autoscaler;
  for (const Node* node : input.nodes) {
    if (node->meta.annotations.contains(kQuarantineAnnotation) && node->pool().empty() &&
        autoscaler.inventory.Matches(node->meta.labels)) {
      ++survey.quarantined;
    }
    const std::string& annotation = node->meta.Annotation(kLeaseAnnotation);
    NodeLease lease;
    if (!annotation.empty()) {
      auto parsed = ParseLease(annotation);
      // If the lease and the label refer to different pools, a user has moved the node to another pool. The lease is
      // then ignored.
      if (!parsed || parsed->pool != autoscaler.node_pool || node->pool() != autoscaler.node_pool) continue;
      lease = *std::move(parsed);
    } else if (!IsFree(*node, autoscaler) || !StaysInInventory(input, *node) || input.rejected.contains(node)) {
      continue;
    }
    CandidateNode& candidate = survey.nodes.emplace_back();
    candidate.node = node;
    candidate.lease = std::move(lease);
    candidate.room = node->allocatable;
    candidate.shape = {&node->meta.key.name, node->meta.labels, node->taints};
    if (annotation.empty()) {
      AddPool(input, candidate);
      survey.free.push_back(&candidate);
    } else {
      if (candidate.joins()) std::erase_if(candidate.shape.taints, IsTransient);
      survey.leased.push_back(&candidate);
    }
  }
  std::sort(survey.free.begin(), survey.free.end(), IsSmaller);
  std::sort(survey.leased.begin(), survey.leased.end(), IsSmaller);
}

void AddPods(const CapacityInput& input, Survey& survey) {
  std::unordered_map<std::string_view, CandidateNode*> by_name;
  for (CandidateNode& candidate : survey.nodes) by_name.emplace(candidate.node->meta.key.name, &candidate);
  for (const Pod* pod : input.pods) {
    if (pod->terminal) continue;
    if (!pod->node.empty()) {
      const auto found = by_name.find(pod->node);
      if (found == by_name.end()) continue;
      found->second->room.Subtract(pod->requests);
      if (!pod->of_node) ++found->second->pods;
      continue;
    }
    // Ignores pods of DaemonSets (of_node). The pod of a DaemonSet can only run on the node in its affinity, so another
    // node does not help.
    if (pod->of_node || !pod->waits() || pod->placement == nullptr) continue;
    if (HasValue(pod->placement->node_selector, kNodePoolLabel, input.autoscaler.node_pool))
      survey.waiting.push_back(pod);
  }
  std::sort(survey.waiting.begin(), survey.waiting.end(), [](const Pod* a, const Pod* b) {
    const auto rank = [](const Pod* pod) {
      return std::tuple<std::int64_t, std::int64_t, WallTime, const ObjectKey&>(
          -static_cast<std::int64_t>(pod->placement->constraints()), -pod->priority, pod->created, pod->key);
    };
    return rank(a) < rank(b);
  });
}

}  // namespace

bool IsFree(const Node& node, const NodePoolAutoscaler& autoscaler) {
  return node.pool().empty() && !node.meta.annotations.contains(kLeaseAnnotation) &&
         !node.meta.annotations.contains(kQuarantineAnnotation) && node.ready() && !node.unschedulable &&
         !node.meta.deleting() && autoscaler.inventory.Matches(node.meta.labels);
}

Survey MakeSurvey(const CapacityInput& input) {
  Survey survey;
  AddNodes(input, survey);
  AddPods(input, survey);
  return survey;
}

}  // namespace yad
