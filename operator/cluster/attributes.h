// The labels, annotations and taints that a NodePool defines for its Nodes, called attributes. The operator adds them
// to a Node, and removes them when they no longer apply. It does not change attributes that the NodePool never defined.
#ifndef OPERATOR_CLUSTER_ATTRIBUTES_H_
#define OPERATOR_CLUSTER_ATTRIBUTES_H_

#include <string>
#include <vector>

#include "operator/api/node.h"
#include "operator/api/object.h"

namespace yad {

struct PoolAttributes {
  StringMap labels;
  StringMap annotations;
  std::vector<NodeTaint> taints;  // at most one taint for each pair of key and effect

  bool empty() const { return labels.empty() && annotations.empty() && taints.empty(); }
  bool operator==(const PoolAttributes&) const = default;
};

// Reads an object {labels, annotations, taints}, such as the spec of a NodePool. Omits some attributes, and adds their
// names to `skipped`, such as "label kubernetes.io/hostname":
// - attributes that the apiserver would reject;
// - attributes that only Kubernetes, the kubelet or this operator may set.
PoolAttributes ParseAttributes(const Json& object, std::vector<std::string>* skipped = nullptr);
Json ToJson(const PoolAttributes& attributes);
// Returns the attributes that a NodePool defines for its Nodes.
PoolAttributes AttributesOf(const Json& pool, std::vector<std::string>* skipped = nullptr);

// Returns the merge patch that sets the attributes `wanted` on a Node, or null if nothing changes. The patch contains
// the Node's uid and resourceVersion.
//
// The operator records the attributes that it sets in the annotation kPreviousAttributesAnnotation. The autoscaler
// records the attributes that it sets in the lease annotation. The patch
// - sets attributes of `wanted` that the Node lacks, or has with another value;
// - removes recorded attributes that are not in `wanted`, unless another client has changed their value;
// - records the attributes that the operator has set. An attribute that the Node already had with this value belongs to
//   another owner, and is not recorded;
// - removes attributes that are not in `wanted` from the lease annotation. Otherwise, a later patch could remove an
//   attribute that another owner has set since then.
//
// An annotation that can't be parsed counts as empty. It is not changed until there is an attribute to record.
Json AttributesPatch(const Json& node, const PoolAttributes& wanted);

}  // namespace yad

#endif  // OPERATOR_CLUSTER_ATTRIBUTES_H_
