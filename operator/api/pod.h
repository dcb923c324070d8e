// Typed view of a Pod. If the pod is not scheduled yet, the view includes the requirements on a node.
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

// A term of node affinity. It matches a node if all of its requirements match. An empty term matches no node, as in
// Kubernetes.
struct NodeTerm {
  std::vector<NodeRequirement> labels;
  std::vector<NodeRequirement> fields;  // requirements on metadata.name
  bool operator==(const NodeTerm&) const = default;
};

// The requirements of a pod on its node.
struct Placement {
  StringMap node_selector;
  bool has_affinity = false;
  std::vector<NodeTerm> affinity;  // the required terms; at least one must match
  std::vector<Toleration> tolerations;
  std::uint64_t digest = 0;  // equal placements have equal digests
  bool operator==(const Placement&) const = default;

  // Returns the number of requirements in the node selector and the affinity.
  std::size_t constraints() const;
};

struct Pod {
  ObjectKey key;
  std::string uid;   // "namespace/name" if the object has no uid
  std::string node;  // "": not scheduled yet
  WallTime created;
  std::int64_t priority = 0;
  bool deleting = false;
  bool terminal = false;       // phase is Succeeded or Failed, so the pod uses no resources
  bool ready = false;          // condition Ready is True
  bool pending = false;        // phase is Pending
  bool gated = false;          // schedulingGates are set
  bool unschedulable = false;  // the scheduler reports Unschedulable
  bool of_node = false;        // a DaemonSet's pod or a static pod, which never runs on another node
  Resources requests;
  std::shared_ptr<const Placement> placement;  // set only if the pod has no node and is not terminal

  // Returns true if the pod is pending because the scheduler found no node for it.
  bool waits() const { return pending && unschedulable && node.empty() && !deleting && !gated; }
};

// Reads a Pod. Never fails; malformed values count as absent.
Pod ParsePod(const Json& object);

}  // namespace yad

#endif  // OPERATOR_API_POD_H_
