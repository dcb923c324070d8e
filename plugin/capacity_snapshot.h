// What `kubectl yad capacity plan` reads: Nodes, Pods and one NodePoolAutoscaler, as files hold them. Pure.
#ifndef PLUGIN_CAPACITY_SNAPSHOT_H_
#define PLUGIN_CAPACITY_SNAPSHOT_H_

#include <string>
#include <vector>

#include "operator/capacity/planner.h"

namespace yad {

struct CapacitySnapshot {
  NodePoolAutoscaler autoscaler;
  PoolAttributes pool;     // none where the file has no NodePool of that name
  bool pool_gone = false;  // being deleted
  bool stopped = false;    // its nodes can't leave it, and the mode is Auto
  std::vector<Node> nodes;
  std::vector<Pod> pods;
  std::vector<std::string> notes;  // what was not as an apiserver has it, and how it was taken

  CapacityPlan Plan(WallTime now) const;
};

// `source` names the file in errors. Pods without a namespace are in `ns`.
Result<CapacitySnapshot> MakeCapacitySnapshot(std::vector<Json> objects, const std::string& source,
                                              const std::string& ns);

}  // namespace yad

#endif  // PLUGIN_CAPACITY_SNAPSHOT_H_
