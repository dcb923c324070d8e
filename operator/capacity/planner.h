// Plans which nodes one pool leases and releases. The plan depends only on the input, and not on the order of its nodes
// and pods. The input's shortages are the only memory of earlier plans.
#ifndef OPERATOR_CAPACITY_PLANNER_H_
#define OPERATOR_CAPACITY_PLANNER_H_

#include "operator/capacity/capacity_plan.h"

namespace yad {

CapacityPlan PlanCapacity(const CapacityInput& input);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_PLANNER_H_
