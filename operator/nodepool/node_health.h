// Computes the health of one Node.
#ifndef OPERATOR_NODEPOOL_NODE_HEALTH_H_
#define OPERATOR_NODEPOOL_NODE_HEALTH_H_

#include <string>
#include <string_view>
#include <vector>

#include "operator/api/node.h"

namespace yad {

enum class NodeState { kReady, kWarning, kNotReady };

// The problems of a Node, the most severe last. ToString returns the reason for a condition of the pool.
enum class NodeFault {
  kNone,
  kCsiDriverMissing,  // a driver of --required-csi-drivers is not in the Node's CSINode
  kAgentNotReady,     // a pod on the Node that --node-agents selects is not ready
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
  NodeFault fault = NodeFault::kNone;  // the most severe problem
  std::string detail;                  // the names of the agents or drivers; "" for other problems
};
// Returns the health of `node`. `agents` are the names of the node's agent pods that are not ready. `drivers` are the
// names of the required CSI drivers that the node lacks.
NodeHealth HealthOf(const Node& node, const std::vector<std::string>& agents, const std::vector<std::string>& drivers);

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_NODE_HEALTH_H_
