// The pace of repairs (operator/base/repair_pace.h) in a daemon's plans.
#ifndef OPERATOR_YURTAPPDAEMON_REPAIR_PACE_H_
#define OPERATOR_YURTAPPDAEMON_REPAIR_PACE_H_

#include <string>
#include <vector>

#include "operator/base/repair_pace.h"
#include "operator/yurtappdaemon/apply.h"
#include "operator/yurtappdaemon/plan.h"

namespace yad {

// Takes the repairs out of the plan that have to wait. Returns how long the first of them has to; zero: none has.
Duration HoldBackRepairs(Plan& plan, const RepairPace& pace, SteadyTime now);
// Notes the repairs that were made. Returns the pools whose workloads (or Services) are repaired more seldom from now
// on.
std::vector<std::string> CountRepairs(const Applied& applied, RepairPace& pace, SteadyTime now);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REPAIR_PACE_H_
