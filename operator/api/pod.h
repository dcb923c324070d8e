// Pod as the operator reads it: a few words of each, and what a waiting one asks of a node.
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
  std::string key;  // "" with Exists: every taint
  bool exists = false;
  std::string value;
  std::string effect;  // "": every effect
  bool operator==(const Toleration&) const = default;
};

struct NodeRequirement {
  std::string key;
  std::string op;  // In, NotIn, Exists, DoesNotExist, Gt, Lt
  std::vector<std::string> values;
  bool operator==(const NodeRequirement&) const = default;
};

// All of them must hold. An empty one matches nothing, as Kubernetes has it.
struct NodeTerm {
  std::vector<NodeRequirement> labels;
  std::vector<NodeRequirement> fields;  // metadata.name
  bool operator==(const NodeTerm&) const = default;
};

// What a pod asks of the node that it is to run on.
struct Placement {
  StringMap node_selector;
  bool has_affinity = false;
  std::vector<NodeTerm> affinity;  // required; one must hold
  std::vector<Toleration> tolerations;
  std::uint64_t digest = 0;  // of all that; equal ones have equal digests
  bool operator==(const Placement&) const = default;

  // How many conditions it states.
  std::size_t constraints() const;
};

struct Pod {
  ObjectKey key;
  std::string uid;   // namespace/name where the object has none
  std::string node;  // "": it has none yet
  WallTime created;
  std::int64_t priority = 0;
  bool deleting = false;
  bool terminal = false;       // Succeeded or Failed: it needs nothing any more
  bool ready = false;          // its condition Ready
  bool pending = false;        // phase
  bool gated = false;          // held back by schedulingGates
  bool unschedulable = false;  // the scheduler says so
  bool of_node = false;        // a DaemonSet's, or a static pod: it comes and goes with its node
  Resources requests;
  std::shared_ptr<const Placement> placement;  // only of those without a node

  // Pending, and the scheduler found no node for it.
  bool waits() const { return pending && unschedulable && node.empty() && !deleting && !gated; }
};

// Never fails: what is malformed counts as absent.
Pod ParsePod(const Json& object);

}  // namespace yad

#endif  // OPERATOR_API_POD_H_
