// Plans which leased nodes are released, and sets the phases of the other leased nodes.
#ifndef OPERATOR_CAPACITY_RELEASES_H_
#define OPERATOR_CAPACITY_RELEASES_H_

#include <string>

#include "operator/capacity/capacity_plan.h"
#include "operator/capacity/survey.h"

namespace yad {

// Sets the releases, changes, counts and wake time of `plan`. `leased` are all leased nodes of the pool. Must be the
// last step of a plan, because the earlier steps mark the nodes that pods or a standby need.
void PlanReleases(const CapacityInput& input, const CandidateNodes& leased, CapacityPlan& plan);

// Returns the reason for which the release puts the node into quarantine; "" if it does not.
std::string QuarantineReason(const NodePoolAutoscaler& autoscaler, const Node& node, const NodeLease& lease,
                             WallTime now);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_RELEASES_H_
