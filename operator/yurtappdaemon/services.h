// The Services of one daemon: what has to be written. Pure.
//
// A pool's Service goes with its workload: it is what the revision asks for that the workload is meant to be on. So it
// waits where the workload waits, and comes back with a rollback. It is named after the workload.
#ifndef OPERATOR_YURTAPPDAEMON_SERVICES_H_
#define OPERATOR_YURTAPPDAEMON_SERVICES_H_

#include <cstdint>
#include <string>
#include <unordered_map>

#include "operator/yurtappdaemon/plan.h"
#include "operator/yurtappdaemon/snapshot.h"

namespace yad {

// Services that were found to need no write, by name, and what that depended on. Only saves time. Not thread-safe.
using ServiceMemo = std::unordered_map<std::string, std::uint64_t>;

// Whether one of the revisions that are in use has a Service template.
bool NeedsServices(const Snapshot& snapshot);

// Fills in PoolPlan::service and Plan::service_removals; after the removals are known that do not happen now.
void PlanServices(const Snapshot& snapshot, ServiceMemo& memo, Plan& plan);

// The object to POST, or to PUT onto `live`.
Json ServiceToWrite(const YurtAppDaemon& daemon, const PoolPlan& plan, const Json* live);

// Whether the pool's workload must not be written before its Service has been: it is made now, or it moves to a
// revision with another Service.
bool WaitsForService(const PoolPlan& plan);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_SERVICES_H_
