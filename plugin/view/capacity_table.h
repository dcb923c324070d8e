// NodePoolAutoscalers, leased nodes, shortages and plans as tables. Pure.
#ifndef PLUGIN_VIEW_CAPACITY_TABLE_H_
#define PLUGIN_VIEW_CAPACITY_TABLE_H_

#include <map>
#include <string>
#include <vector>

#include "operator/capacity/capacity_plan.h"
#include "plugin/view/table.h"

namespace yad {

// The objects need not be valid.
Table AutoscalerTable(const std::vector<Json>& autoscalers, WallTime now);

// Returns a table of the leased Nodes in `nodes`. `pods` maps the uids of pods to their names. It may lack some pods.
Table LeaseTable(const std::vector<Json>& nodes, const std::string& pool,
                 const std::map<std::string, std::string>& pods, WallTime now);
Table QuarantineTable(const std::vector<Json>& nodes);
Table StandbyTable(const Json& autoscaler);
Table ShortageTable(const std::vector<Shortage>& shortages, WallTime now);

// Describes a plan for users: leases, releases, expected pods and shortages. Also states the time at which the plan
// will change even if no object changes.
std::vector<std::string> DescribePlan(const CapacityPlan& plan, const NodePoolAutoscaler& autoscaler, WallTime now);

}  // namespace yad

#endif  // PLUGIN_VIEW_CAPACITY_TABLE_H_
