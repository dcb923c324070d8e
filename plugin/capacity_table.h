// NodePoolAutoscalers, leased nodes, shortages and plans as tables. Pure.
#ifndef PLUGIN_CAPACITY_TABLE_H_
#define PLUGIN_CAPACITY_TABLE_H_

#include <map>
#include <string>
#include <vector>

#include "operator/capacity/planner.h"
#include "plugin/table.h"

namespace yad {

// NAME POOL MODE LEASED IDLE INUSE JOINING RELEASING QUARANTINED STANDBY SHORT CONDITIONS AGE, of objects as they are.
Table AutoscalerTable(const std::vector<Json>& autoscalers, WallTime now);
// "NoCapacity: 3 pods, MaxNodes: standby"; "" where nothing is short.
std::string DescribeShortages(const Json& autoscaler);
// "Ready=False (HostNetwork)": those that are not as they should be, but for Short, which DescribeShortages tells.
std::string DescribeConditions(const Json& autoscaler);

// NODE PHASE FOR SINCE READY: of these Nodes the leased ones. `pods`: names by uid, as far as they are known.
Table LeaseTable(const std::vector<Json>& nodes, const std::string& pool,
                 const std::map<std::string, std::string>& pods, WallTime now);
// QUARANTINED NODE, WHY
Table QuarantineTable(const std::vector<Json>& nodes);
// STANDBY WANT HAVE
Table StandbyTable(const Json& autoscaler);
// SHORT REQUIREMENTS SINCE RETRY PODS
Table ShortageTable(const std::vector<Shortage>& shortages, WallTime now);

// A plan for people: what would be leased, given back and expected, what is short, and when to look again.
std::vector<std::string> DescribePlan(const CapacityPlan& plan, const NodePoolAutoscaler& autoscaler, WallTime now);

}  // namespace yad

#endif  // PLUGIN_CAPACITY_TABLE_H_
