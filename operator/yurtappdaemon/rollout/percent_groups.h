// The group of each pool, with the groups that take a share of the pools (`percent`). Pure.
//
// Each revision has an order of the pools by a hash of the revision's and the pool's name. A group with `percent` takes
// the first pools of that order that no earlier group has. When a rollout begins, the operator stores these pools in
// annotation kPercentGroupsAnnotation of the ControllerRevision. From then on the annotation decides, so a pool that
// joins does not enter the group. If the group had all pools below a threshold of the hash instead, a pool that joins
// could enter the group by chance.
#ifndef OPERATOR_YURTAPPDAEMON_ROLLOUT_PERCENT_GROUPS_H_
#define OPERATOR_YURTAPPDAEMON_ROLLOUT_PERCENT_GROUPS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "operator/api/update_strategy.h"

namespace yad {

struct PoolGroups {
  std::vector<std::size_t> of_pool;  // in the order of the pools: an index in RollingUpdate::groups
  // The value for kPercentGroupsAnnotation; "" if no group has a percentage. The value has 8 hexadecimal digits for
  // each pool: {"canary":{"percent":10,"pools":"03c1a2f9"}}.
  std::string percent_groups;
};

// Returns the groups of the daemon's pools. `stored` is the value of the revision's annotation. A group with
// `percent` takes the first pools of the revision's order if `stored` does not contain the group, has another
// percentage for it, or is malformed.
PoolGroups AssignGroups(const RollingUpdate& strategy, const std::vector<const NodePool*>& pools,
                        const std::string& revision, const std::string& stored);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_ROLLOUT_PERCENT_GROUPS_H_
