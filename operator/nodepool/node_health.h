// The health of one Node. Pure.
#ifndef OPERATOR_NODEPOOL_NODE_HEALTH_H_
#define OPERATOR_NODEPOOL_NODE_HEALTH_H_

#include <string>
#include <string_view>
#include <vector>

#include "operator/api/node.h"

namespace yad {

enum class NodeState { kReady, kWarning, kNotReady };

// The fault of a Node, from the mildest to the worst. ToString returns the reason of a condition.
enum class NodeFault {
  kNone,
  kCsiDriverMissing,  // one of --required-csi-drivers is missing in its CSINode
  kAgentNotReady,     // a pod that --node-agents selects runs on it and is not ready
  kPidPressure,
  kDiskPressure,
  kMemoryPressure,
  kNetworkUnavailable,
  kNotReady,  // condition Ready is False
  kUnknown,   // condition Ready is Unknown, or was never set
};
std::string_view ToString(NodeFault fault);
NodeState StateOf(NodeFault fault);

struct NodeHealth {
  NodeFault fault = NodeFault::kNone;  // the worst
  std::string detail;                  // the agents or the drivers; "" for other faults
};
// Returns the health of `node`. `agents` are the names of its node agents that are not ready, and `drivers` those that
// its CSINode lacks.
NodeHealth HealthOf(const Node& node, const std::vector<std::string>& agents, const std::vector<std::string>& drivers);

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_NODE_HEALTH_H_
