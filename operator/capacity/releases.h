// Plans which leased nodes are released, and sets the phases of the others.
#ifndef OPERATOR_CAPACITY_RELEASES_H_
#define OPERATOR_CAPACITY_RELEASES_H_

#include <string>

#include "operator/capacity/capacity_plan.h"
#include "operator/capacity/survey.h"

namespace yad {

// Sets the releases, changes, counts and wake time of `plan`. `leased` are all leased nodes of the pool. This must be
// the last step of a plan, because the earlier steps mark the nodes that pods or a standby need.
void PlanReleases(const CapacityInput& input, const CandidateNodes& leased, CapacityPlan& plan);

// Returns why the node goes into quarantine when it is released; "" if it does not.
std::string QuarantineReason(const NodePoolAutoscaler& autoscaler, const Node& node, const NodeLease& lease,
                             WallTime now);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_RELEASES_H_
