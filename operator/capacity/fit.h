// Decides whether a pod may run on a node, by these filters of kube-scheduler: node selector, required node affinity,
// taints. Resource requests are not compared. Pure.
#ifndef OPERATOR_CAPACITY_FIT_H_
#define OPERATOR_CAPACITY_FIT_H_

#include <string>
#include <vector>

#include "operator/api/node.h"
#include "operator/api/pod.h"

namespace yad {

// A node with the labels and taints that it will have when the scheduler considers it.
struct NodeShape {
  const std::string* name = nullptr;
  StringMap labels;
  std::vector<NodeTaint> taints;
};

bool Tolerates(const std::vector<Toleration>& tolerations, const NodeTaint& taint);
// Returns whether node selector, affinity and taints allow the pod on the node. Does not compare resources.
bool MayRunOn(const Placement& placement, const NodeShape& node);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_FIT_H_
