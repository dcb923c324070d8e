// The labels, annotations and taints that a pool gives to its Nodes, and takes away again: that much and no more. Pure.
#ifndef OPERATOR_NODEPOOL_ATTRIBUTES_H_
#define OPERATOR_NODEPOOL_ATTRIBUTES_H_

#include <string>
#include <vector>

#include "operator/api/node.h"
#include "operator/api/object.h"

namespace yad {

struct PoolAttributes {
  StringMap labels;
  StringMap annotations;
  std::vector<NodeTaint> taints;  // each key and effect once

  bool empty() const { return labels.empty() && annotations.empty() && taints.empty(); }
  bool operator==(const PoolAttributes&) const = default;
};

// Of an object {labels, annotations, taints}: a NodePool's spec, or what a Node's annotation says that it was given.
// Left out, and named in `left_out` ("label kubernetes.io/hostname"): what the apiserver would refuse, and what belongs
// to Kubernetes, to the kubelet or to us.
PoolAttributes ParseAttributes(const Json& object, std::vector<std::string>* left_out = nullptr);
Json ToJson(const PoolAttributes& attributes);
// What `spec` of a NodePool gives to its Nodes.
PoolAttributes AttributesOf(const Json& pool, std::vector<std::string>* left_out = nullptr);

// A merge patch, with uid and resourceVersion, that brings a Node from what it was given to `wanted`; null where
// nothing has to be written. A Node was given what annotation kPreviousAttributesAnnotation says, and what its lease
// applied.
// - Given: each label, annotation and taint of `wanted` that is not there, or has another value.
// - Taken away: what the Node was given and `wanted` does not have, if it still has that value.
// - The annotation names only what was given: what was there with the same value before belongs to another owner.
// - The lease stops naming what `wanted` does not have, so that a later value of another owner stays.
// - An annotation that can't be read names nothing, and stays until there is something to write in it.
Json AttributesPatch(const Json& node, const PoolAttributes& wanted);

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_ATTRIBUTES_H_
