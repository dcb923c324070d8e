// The health of one Node. Pure.
#ifndef OPERATOR_NODEPOOL_NODE_HEALTH_H_
#define OPERATOR_NODEPOOL_NODE_HEALTH_H_

#include <string>
#include <string_view>
#include <vector>

#include "operator/api/node.h"

namespace yad {

enum class NodeState { kReady, kWarning, kNotReady };

// The faults of a Node, in ascending order of severity. ToString returns the reason of a condition.
enum class NodeFault {
  kNone,
  kCsiDriverMissing,  // its CSINode does not have one of --required-csi-drivers
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
  NodeFault fault = NodeFault::kNone;  // the worst fault
  std::string detail;                  // the names of the agents or drivers; "" for other faults
};
// Returns the health of `node`. `agents` contains the names of its node agents that are not ready; `drivers` contains
// the required drivers that its CSINode does not have.
NodeHealth HealthOf(const Node& node, const std::vector<std::string>& agents, const std::vector<std::string>& drivers);

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_NODE_HEALTH_H_
