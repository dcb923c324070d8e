// The labels, annotations and taints that a pool gives to its Nodes, and that the operator removes again. Other
// attributes of a Node do not change. Pure.
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

// Reads an object {labels, annotations, taints}: the spec of a NodePool, or the record of a Node's attributes in its
// annotation. Omits attributes that the apiserver would reject, and those that belong to Kubernetes, to the kubelet or
// to this operator. `left_out` gets the names of omitted attributes ("label kubernetes.io/hostname").
PoolAttributes ParseAttributes(const Json& object, std::vector<std::string>* left_out = nullptr);
Json ToJson(const PoolAttributes& attributes);
// Returns the attributes that the spec of a NodePool gives to its Nodes.
PoolAttributes AttributesOf(const Json& pool, std::vector<std::string>* left_out = nullptr);

// Returns the merge patch, with uid and resourceVersion, that gives the attributes in `wanted` to a Node; null if no
// write is needed. The Node's given attributes are those in its annotation kPreviousAttributesAnnotation, and those
// that its lease applied.
// - The patch sets each label, annotation and taint of `wanted` that the Node does not have with this value.
// - The patch removes each given attribute that is not in `wanted`, if it still has the given value.
// - The annotation records only given attributes. An attribute that the Node already had with the same value belongs to
//   another owner.
// - The patch removes attributes that are not in `wanted` from the lease, so that later values of other owners stay.
// - An unreadable annotation counts as empty, and stays until the patch has to write an attribute into it.
Json AttributesPatch(const Json& node, const PoolAttributes& wanted);

}  // namespace yad

#endif  // OPERATOR_CLUSTER_ATTRIBUTES_H_
