// How well one Node is. Pure.
#ifndef OPERATOR_NODEPOOL_NODE_HEALTH_H_
#define OPERATOR_NODEPOOL_NODE_HEALTH_H_

#include <string>
#include <string_view>
#include <vector>

#include "operator/api/node.h"

namespace yad {

enum class NodeState { kReady, kWarning, kNotReady };

// Why a Node is not well, from the mildest to the worst. Its name is a condition's reason.
enum class NodeFault {
  kNone,
  kCsiDriverMissing,  // one of --required-csi-drivers is not in its CSINode
  kAgentNotReady,     // a pod that --node-agents selects runs on it, and is not ready
  kPidPressure,
  kDiskPressure,
  kMemoryPressure,
  kNetworkUnavailable,
  kNotReady,  // its condition Ready is False
  kUnknown,   // … Unknown, or it never had one
};
std::string_view ToString(NodeFault fault);
NodeState StateOf(NodeFault fault);

struct NodeHealth {
  NodeFault fault = NodeFault::kNone;  // the worst
  std::string detail;                  // the agents, or the drivers; else ""
};
// `agents` are the names of the node agents on it that are not ready, `drivers` those that its CSINode lacks.
NodeHealth HealthOf(const Node& node, const std::vector<std::string>& agents, const std::vector<std::string>& drivers);

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_NODE_HEALTH_H_
