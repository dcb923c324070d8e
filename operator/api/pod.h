// Typed view of a Pod: a few fields and, for a waiting pod, its requirements on a node.
#ifndef OPERATOR_API_POD_H_
#define OPERATOR_API_POD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/api/resources.h"
#include "operator/base/clock.h"

namespace yad {

struct Toleration {
  std::string key;  // with `exists`, "" matches every taint
  bool exists = false;
  std::string value;
  std::string effect;  // "" matches every effect
  bool operator==(const Toleration&) const = default;
};

struct NodeRequirement {
  std::string key;
  std::string op;  // In, NotIn, Exists, DoesNotExist, Gt, Lt
  std::vector<std::string> values;
  bool operator==(const NodeRequirement&) const = default;
};

// A term of node affinity, which matches if all requirements hold. An empty term matches nothing, as in Kubernetes.
struct NodeTerm {
  std::vector<NodeRequirement> labels;
  std::vector<NodeRequirement> fields;  // on metadata.name
  bool operator==(const NodeTerm&) const = default;
};

// A pod's requirements on its node.
struct Placement {
  StringMap node_selector;
  bool has_affinity = false;
  std::vector<NodeTerm> affinity;  // the required terms, of which at least one must hold
  std::vector<Toleration> tolerations;
  std::uint64_t digest = 0;  // equal placements have equal digests
  bool operator==(const Placement&) const = default;

  // Returns the number of conditions in the node selector and the affinity.
  std::size_t constraints() const;
};

struct Pod {
  ObjectKey key;
  std::string uid;   // namespace/name if the object has no uid
  std::string node;  // "": not scheduled yet
  WallTime created;
  std::int64_t priority = 0;
  bool deleting = false;
  bool terminal = false;       // phase is Succeeded or Failed: the pod no longer uses resources
  bool ready = false;          // condition Ready is True
  bool pending = false;        // phase is Pending
  bool gated = false;          // schedulingGates are set
  bool unschedulable = false;  // the scheduler reports Unschedulable
  bool of_node = false;        // a DaemonSet's pod or a static pod, which ends with its node
  Resources requests;
  std::shared_ptr<const Placement> placement;  // set only if the pod has no node and is not terminal

  // Returns true if the pod is pending because the scheduler found no node for it.
  bool waits() const { return pending && unschedulable && node.empty() && !deleting && !gated; }
};

// Never fails: malformed values count as absent.
Pod ParsePod(const Json& object);

}  // namespace yad

#endif  // OPERATOR_API_POD_H_
