// Whether a pod may run on a node, by what kube-scheduler filters on: node selector, required node affinity, taints,
// requests. Pure.
#ifndef OPERATOR_CAPACITY_FIT_H_
#define OPERATOR_CAPACITY_FIT_H_

#include <string>
#include <vector>

#include "operator/api/node.h"
#include "operator/api/pod.h"

namespace yad {

// A node as a pod would find it.
struct NodeShape {
  const std::string* name = nullptr;
  StringMap labels;
  std::vector<NodeTaint> taints;
};

bool Tolerates(const std::vector<Toleration>& tolerations, const NodeTaint& taint);
// Selector, affinity, taints; not the room.
bool MayRunOn(const Placement& placement, const NodeShape& node);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_FIT_H_
