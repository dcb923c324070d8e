// Assigns each pool to a group of the rollout. Pure.
//
// A group with `percent` receives this share of the pools:
//
// - Each revision has its own order of the pools: a hash of the revision's name and the pool's name.
// - A group with `percent` receives the first pools of this order that no earlier group has.
// - When the rollout begins, the operator stores the pools of these groups in kPercentGroupsAnnotation of the
//   ControllerRevision. From then on, they do not change: a pool that joins later is not added to a group with
//   `percent`.
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
  // The value for kPercentGroupsAnnotation, such as {"canary":{"percent":10,"pools":"03c1a2f9"}}, with 8 hexadecimal
  // digits for each pool. "" if no group has a percentage.
  std::string percent_groups;
};

// Assigns `pools` to groups. `stored` is the value of kPercentGroupsAnnotation of the revision. If a group still has
// the percentage that `stored` contains, it keeps the pools that `stored` lists.
PoolGroups AssignGroups(const RollingUpdate& strategy, const std::vector<const NodePool*>& pools,
                        const std::string& revision, const std::string& stored);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_ROLLOUT_PERCENT_GROUPS_H_
