// Assigns each pool to its group. A group with `percent` takes a share of the pools. Pure.
//
// - Each revision has its own order of the pools: a hash of the revision's name and the pool's name.
// - A group with `percent` takes the first pools of this order that no earlier group has.
// - When the rollout begins, the operator stores the shares in kPercentGroupsAnnotation of the ControllerRevision. They
//   stay the same from then on: a pool that joins later does not enter such a group.
#ifndef OPERATOR_YURTAPPDAEMON_ROLLOUT_PERCENT_GROUPS_H_
#define OPERATOR_YURTAPPDAEMON_ROLLOUT_PERCENT_GROUPS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "operator/api/update_strategy.h"

namespace yad {

struct PoolGroups {
  // For each pool, the index of its group in RollingUpdate::groups.
  std::vector<std::size_t> of_pool;
  // The value for kPercentGroupsAnnotation, with 8 hexadecimal digits for each pool. "" if no group has a percentage.
  // Example: {"canary":{"percent":10,"pools":"03c1a2f9"}}.
  std::string percent_groups;
};

// Returns the groups of the daemon's pools. `stored` is the value of the revision's annotation. A group that it lists
// with the present percentage keeps its pools.
PoolGroups AssignGroups(const RollingUpdate& strategy, const std::vector<const NodePool*>& pools,
                        const std::string& revision, const std::string& stored);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_ROLLOUT_PERCENT_GROUPS_H_
