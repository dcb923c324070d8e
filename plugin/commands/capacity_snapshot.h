// The input of `kubectl yad capacity plan`: Nodes, Pods and one NodePoolAutoscaler, from files. Pure.
#ifndef PLUGIN_COMMANDS_CAPACITY_SNAPSHOT_H_
#define PLUGIN_COMMANDS_CAPACITY_SNAPSHOT_H_

#include <string>
#include <vector>

#include "operator/capacity/capacity_plan.h"

namespace yad {

struct CapacitySnapshot {
  NodePoolAutoscaler autoscaler;
  PoolAttributes pool;     // empty if the file has no NodePool of this name
  bool pool_gone = false;  // the NodePool is being deleted
  bool stopped = false;    // the mode is Auto, but Nodes can't leave the pool because of spec.hostNetwork
  std::vector<Node> nodes;
  std::vector<Pod> pods;
  std::vector<std::string> notes;  // warnings about values that were not strings and were converted

  CapacityPlan Plan(WallTime now) const;
};

// `source` is the name of the file in error messages. The namespace of pods without a namespace is `ns`.
Result<CapacitySnapshot> MakeCapacitySnapshot(std::vector<Json> objects, const std::string& source,
                                              const std::string& ns);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_CAPACITY_SNAPSHOT_H_
