// Decides whether a pod may run on a node. Implements three filters of kube-scheduler: node selector, required node
// affinity, and taints.
#ifndef OPERATOR_CAPACITY_FIT_H_
#define OPERATOR_CAPACITY_FIT_H_

#include <string>
#include <vector>

#include "operator/api/node.h"
#include "operator/api/pod.h"

namespace yad {

// The name, labels and taints of a node. For a free node, the planner passes the labels and taints that the node will
// have in the pool.
struct NodeShape {
  const std::string* name = nullptr;
  StringMap labels;
  std::vector<NodeTaint> taints;
};

bool Tolerates(const std::vector<Toleration>& tolerations, const NodeTaint& taint);
// Returns whether the three filters allow the pod on the node. Does not compare resource requests.
bool MayRunOn(const Placement& placement, const NodeShape& node);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_FIT_H_
