#include "operator/nodepool/node_health.h"

#include "operator/api/conditions.h"

namespace yad {

std::string_view ToString(NodeFault fault) {
  switch (fault) {
    case NodeFault::kNone:
      return "";
    case NodeFault::kCsiDriverMissing:
      return "CSIDriverMissing";
    case NodeFault::kAgentNotReady:
      return "AgentNotReady";
    case NodeFault::kPidPressure:
      return "PIDPressure";
    case NodeFault::kDiskPressure:
      return "DiskPressure";
    case NodeFault::kMemoryPressure:
      return "MemoryPressure";
    case NodeFault::kNetworkUnavailable:
      return "NetworkUnavailable";
    case NodeFault::kNotReady:
      return "NodeNotReady";
    case NodeFault::kUnknown:
      return "NodeStatusUnknown";
  }
  return "";
}

NodeState StateOf(NodeFault fault) {
  if (fault == NodeFault::kNone) return NodeState::kReady;
  return fault < NodeFault::kNotReady ? NodeState::kWarning : NodeState::kNotReady;
}

NodeHealth HealthOf(const Node& node, const std::vector<std::string>& agents, const std::vector<std::string>& drivers) {
  const auto says = [&](const char* type, const char* status) {
    const auto found = node.conditions.find(type);
    return found != node.conditions.end() && found->second == status;
  };
  if (!node.ready()) return {says("Ready", "False") ? NodeFault::kNotReady : NodeFault::kUnknown, ""};
  if (says("NetworkUnavailable", "True")) return {NodeFault::kNetworkUnavailable, ""};
  if (says("MemoryPressure", "True")) return {NodeFault::kMemoryPressure, ""};
  if (says("DiskPressure", "True")) return {NodeFault::kDiskPressure, ""};
  if (says("PIDPressure", "True")) return {NodeFault::kPidPressure, ""};
  if (!agents.empty()) return {NodeFault::kAgentNotReady, NameSome(agents)};
  if (!drivers.empty()) return {NodeFault::kCsiDriverMissing, NameSome(drivers)};
  return {};
}

}  // namespace yad
