// Assigns each pool to its group. Groups with `percent` take a share of the pools. Pure.
//
// A hash of a revision's name and a pool's name gives the pool its place in the order of that revision. A group with
// `percent` takes the first pools of that order that no earlier group has. When a rollout begins, the operator stores
// these pools in annotation kPercentGroupsAnnotation of the ControllerRevision. From then on the annotation decides, so
// that a pool that joins later does not enter the group. A threshold for the hash, instead of a list, would let such a
// pool in by chance.
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
  // The value for kPercentGroupsAnnotation, or "" if no group has a percentage. The value has 8 hexadecimal digits for
  // each pool: {"canary":{"percent":10,"pools":"03c1a2f9"}}.
  std::string percent_groups;
};

// Returns the groups of the daemon's pools. `stored` is the value of the revision's annotation. Its entry for a group
// is used if it has the group's present percentage. Groups without such an entry take the first pools of the revision's
// order.
PoolGroups AssignGroups(const RollingUpdate& strategy, const std::vector<const NodePool*>& pools,
                        const std::string& revision, const std::string& stored);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_ROLLOUT_PERCENT_GROUPS_H_
