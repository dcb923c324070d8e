// Plans which leased nodes leave the pool, and the phases of those that stay. Pure.
#ifndef OPERATOR_CAPACITY_RELEASES_H_
#define OPERATOR_CAPACITY_RELEASES_H_

#include <string>

#include "operator/capacity/capacity_plan.h"
#include "operator/capacity/survey.h"

namespace yad {

// Sets the releases, the changes, the counts of phases and the wake time of `plan`. `leased` are the leased nodes after
// the plan has placed its pods and counted its standby nodes.
void PlanReleases(const CapacityInput& input, const CandidateNodes& leased, CapacityPlan& plan);

// Returns the reason for a quarantine of the node after its release; "": no quarantine.
std::string QuarantineReason(const NodePoolAutoscaler& autoscaler, const Node& node, const NodeLease& lease,
                             WallTime now);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_RELEASES_H_
