// Plans the writes of one daemon's Services. Pure.
//
// A pool's Service is rendered from the revision that is planned for the workload. So it waits and rolls back together
// with the workload. Its name derives from the workload's name.
#ifndef OPERATOR_YURTAPPDAEMON_PLAN_SERVICES_H_
#define OPERATOR_YURTAPPDAEMON_PLAN_SERVICES_H_

#include <cstdint>
#include <string>
#include <unordered_map>

#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// The Services that did not need a write. Maps the name of a Service to a digest of its inputs. Only saves time. Not
// thread-safe.
using ServiceMemo = std::unordered_map<std::string, std::uint64_t>;

// Returns whether one of the revisions in use has a Service template.
bool NeedsServices(const Snapshot& snapshot);

// Sets PoolPlan::service and Plan::service_removals. Must run after plan.postponed is set.
void PlanServices(const Snapshot& snapshot, ServiceMemo& memo, Plan& plan);

// Returns the object for a POST, or for a PUT onto `live`.
Json ServiceToWrite(const YurtAppDaemon& daemon, const PoolPlan& plan, const Json* live);

// Returns whether the Service must be written before the pool's workload: at a creation of both, or at an update to a
// revision with another Service. Requires plan.service.
bool WaitsForService(const PoolPlan& plan);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_SERVICES_H_
