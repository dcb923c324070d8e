#include "operator/nodepool/node_health.h"

#include "operator/api/conditions.h"

namespace yad {

std::string_view ToString(NodeFault fault) {
  // In the order of the enum.
  constexpr std::string_view kNames[] = {"",
                                         "CSIDriverMissing",
                                         "AgentNotReady",
                                         "PIDPressure",
                                         "DiskPressure",
                                         "MemoryPressure",
                                         "NetworkUnavailable",
                                         "NodeNotReady",
                                         "NodeStatusUnknown"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(NodeFault::kUnknown) + 1);
  return kNames[static_cast<std::size_t>(fault)];
}

NodeState StateOf(NodeFault fault) {
  if (fault == NodeFault::kNone) return NodeState::kReady;
  return fault < NodeFault::kNotReady ? NodeState::kWarning : NodeState::kNotReady;
}

NodeHealth HealthOf(const Node& node, const std::vector<std::string>& agents, const std::vector<std::string>& drivers) {
  if (!node.ready())
    return {HasValue(node.conditions, "Ready", "False") ? NodeFault::kNotReady : NodeFault::kUnknown, ""};
  // Each of these faults has the name of its condition.
  for (const NodeFault fault : {NodeFault::kNetworkUnavailable, NodeFault::kMemoryPressure, NodeFault::kDiskPressure,
                                NodeFault::kPidPressure}) {
    if (HasValue(node.conditions, std::string(ToString(fault)), "True")) return {fault, ""};
  }
  if (!agents.empty()) return {NodeFault::kAgentNotReady, NameSome(agents)};
  if (!drivers.empty()) return {NodeFault::kCsiDriverMissing, NameSome(drivers)};
  return {};
}

}  // namespace yad
