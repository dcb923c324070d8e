#include "operator/api/node.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"

namespace yad {

bool Node::ready() const { return HasValue(conditions, "Ready", "True"); }

const std::string& Node::pool() const { return meta.Label(kNodePoolLabel); }

std::vector<NodeTaint> ParseTaints(const Json& list) {
  std::vector<NodeTaint> taints;
  if (!list.is_array()) return taints;
  for (const Json& entry : list) {
    NodeTaint taint{StringAt(entry, {"key"}), StringAt(entry, {"value"}), StringAt(entry, {"effect"}),
                    StringAt(entry, {"timeAdded"})};
    if (!taint.key.empty() && !taint.effect.empty()) taints.push_back(std::move(taint));
  }
  return taints;
}

Json ToJson(const NodeTaint& taint) {
  Json json{{"key", taint.key}, {"effect", taint.effect}};
  if (!taint.value.empty()) json["value"] = taint.value;
  if (!taint.time_added.empty()) json["timeAdded"] = taint.time_added;
  return json;
}

bool SameTaint(const NodeTaint& a, const NodeTaint& b) { return a.key == b.key && a.effect == b.effect; }

Node ParseNode(const Json& object) {
  Node node;
  node.meta = ParseMeta(object);
  node.unschedulable = BoolAt(object, {"spec", "unschedulable"});
  node.taints = ParseTaints(ListAt(object, {"spec", "taints"}));
  for (const Json& condition : ListAt(object, {"status", "conditions"})) {
    const std::string type = StringAt(condition, {"type"});
    if (type.empty()) continue;
    node.conditions[type] = StringAt(condition, {"status"});
    if (type == "Ready") node.ready_since = ParseTime(StringAt(condition, {"lastTransitionTime"}));
  }
  node.capacity = Resources::Parse(Find(object, {"status", "capacity"}));
  const Json* allocatable = Find(object, {"status", "allocatable"});
  node.allocatable = Resources::Parse(allocatable);
  if (allocatable == nullptr || Find(*allocatable, {"pods"}) == nullptr)
    node.allocatable.pods = std::numeric_limits<std::int64_t>::max();
  return node;
}

const char* MaintenanceConditionOf(const Json& node) {
  const auto is_true = [&](const char* type) { return IsTrue(FindCondition(node, type)); };
  const auto* found = std::find_if(kMaintenanceConditions.begin(), kMaintenanceConditions.end(), is_true);
  return found == kMaintenanceConditions.end() ? nullptr : *found;
}

std::string DescribeMaintenance(const std::string& node, const char* condition) {
  return "node " + node + ": " + condition;
}

}  // namespace yad
