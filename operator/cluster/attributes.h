// The labels, annotations and taints that a pool gives to its Nodes, and removes again, and no others. Pure.
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
  std::vector<NodeTaint> taints;  // each pair of key and effect once

  bool empty() const { return labels.empty() && annotations.empty() && taints.empty(); }
  bool operator==(const PoolAttributes&) const = default;
};

// Reads an object {labels, annotations, taints}: a NodePool's spec, or the record in a Node's annotation of what the
// Node was given. Omits attributes that the apiserver would reject, and attributes that belong to Kubernetes, to the
// kubelet or to this operator. `left_out` gets their names ("label kubernetes.io/hostname").
PoolAttributes ParseAttributes(const Json& object, std::vector<std::string>* left_out = nullptr);
Json ToJson(const PoolAttributes& attributes);
// Returns the attributes that `spec` of a NodePool gives to its Nodes.
PoolAttributes AttributesOf(const Json& pool, std::vector<std::string>* left_out = nullptr);

// Returns a merge patch, with uid and resourceVersion, that changes a Node from the attributes that it was given to
// `wanted`; null if nothing has to be written. A Node was given the attributes that its annotation
// kPreviousAttributesAnnotation records, and those that its lease applied.
// - The patch sets each label, annotation and taint of `wanted` that the Node lacks or has with another value.
// - The patch removes each attribute that the Node was given and `wanted` lacks, if it still has the given value.
// - The annotation records only what was given. An attribute that the Node already had with the same value belongs to
//   another owner.
// - The patch removes attributes that `wanted` lacks from the lease, so that a later value of another owner stays.
// - An unreadable annotation counts as empty, and stays until there is something to write in it.
Json AttributesPatch(const Json& node, const PoolAttributes& wanted);

}  // namespace yad

#endif  // OPERATOR_CLUSTER_ATTRIBUTES_H_
