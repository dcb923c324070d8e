// Decides whether a pod may run on a node, by filters of kube-scheduler: node selector, required node affinity, taints.
// Requests are not part of it. Pure.
#ifndef OPERATOR_CAPACITY_FIT_H_
#define OPERATOR_CAPACITY_FIT_H_

#include <string>
#include <vector>

#include "operator/api/node.h"
#include "operator/api/pod.h"

namespace yad {

// A node as the scheduler will see it.
struct NodeShape {
  const std::string* name = nullptr;
  StringMap labels;
  std::vector<NodeTaint> taints;
};

bool Tolerates(const std::vector<Toleration>& tolerations, const NodeTaint& taint);
// Returns whether node selector, affinity and taints allow the pod on the node. Free resources are not checked.
bool MayRunOn(const Placement& placement, const NodeShape& node);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_FIT_H_
