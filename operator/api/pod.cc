#include "operator/api/pod.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "operator/api/well_known.h"

namespace yad {
namespace {

std::vector<NodeRequirement> ParseRequirements(const Json& list) {
  std::vector<NodeRequirement> requirements;
  for (const Json& entry : list) {
    NodeRequirement& requirement = requirements.emplace_back();
    requirement.key = StringAt(entry, {"key"});
    requirement.op = StringAt(entry, {"operator"});
    for (const Json& value : ListAt(entry, {"values"})) {
      if (value.is_string()) requirement.values.push_back(value.get<std::string>());
    }
  }
  return requirements;
}

Placement ParsePlacement(const Json& object) {
  Placement placement;
  placement.node_selector = StringMapAt(object, {"spec", "nodeSelector"});
  if (const Json* required =
          Find(object, {"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
      required != nullptr && required->is_object()) {
    placement.has_affinity = true;
    for (const Json& term : ListAt(*required, {"nodeSelectorTerms"})) {
      placement.affinity.push_back(
          {ParseRequirements(ListAt(term, {"matchExpressions"})), ParseRequirements(ListAt(term, {"matchFields"}))});
    }
  }
  for (const Json& entry : ListAt(object, {"spec", "tolerations"})) {
    placement.tolerations.push_back({StringAt(entry, {"key"}), StringAt(entry, {"operator"}) == "Exists",
                                     StringAt(entry, {"value"}), StringAt(entry, {"effect"})});
  }
  for (const auto& [key, value] : placement.node_selector)
    placement.digest = Fnv1a64(value, Fnv1a64(key, placement.digest));
  for (const NodeTerm& term : placement.affinity) {
    for (const auto* list : {&term.labels, &term.fields}) {
      for (const NodeRequirement& requirement : *list) {
        placement.digest = Fnv1a64(requirement.op, Fnv1a64(requirement.key, placement.digest));
        for (const std::string& value : requirement.values) placement.digest = Fnv1a64(value, placement.digest);
      }
    }
  }
  for (const Toleration& toleration : placement.tolerations)
    placement.digest = Fnv1a64(toleration.effect, Fnv1a64(toleration.key, placement.digest));
  return placement;
}

}  // namespace

std::size_t Placement::constraints() const {
  std::size_t count = node_selector.size();
  for (const NodeTerm& term : affinity) count += term.labels.size() + term.fields.size();
  return count;
}

Pod ParsePod(const Json& object) {
  const ObjectMeta meta = ParseMeta(object);
  Pod pod;
  pod.key = meta.key;
  pod.uid = meta.uid.empty() ? meta.key.ToString() : meta.uid;
  pod.node = StringAt(object, {"spec", "nodeName"});
  pod.created = ParseTime(meta.creation_timestamp);
  constexpr std::int64_t kMaxPriority = std::numeric_limits<std::int32_t>::max();
  pod.priority = std::clamp(IntAt(object, {"spec", "priority"}), -kMaxPriority, kMaxPriority);
  pod.deleting = meta.deleting();
  const std::string phase = StringAt(object, {"status", "phase"});
  pod.terminal = phase == "Succeeded" || phase == "Failed";
  pod.pending = phase == "Pending";
  pod.gated = !ListAt(object, {"spec", "schedulingGates"}).empty();
  for (const Json& condition : ListAt(object, {"status", "conditions"})) {
    const std::string type = StringAt(condition, {"type"});
    const std::string status = StringAt(condition, {"status"});
    if (type == "Ready") pod.ready = status == "True";
    if (type == "PodScheduled")
      pod.unschedulable = status == "False" && StringAt(condition, {"reason"}) == "Unschedulable";
  }
  const OwnerReference* controller = meta.controller();
  pod.of_node = meta.annotations.contains(kMirrorAnnotation) ||
                (controller != nullptr && (controller->kind == "DaemonSet" || controller->kind == "Node"));
  pod.requests = RequestsOf(object);
  if (pod.node.empty() && !pod.terminal) pod.placement = std::make_shared<const Placement>(ParsePlacement(object));
  return pod;
}

}  // namespace yad
