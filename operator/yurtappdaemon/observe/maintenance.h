// Finds the Nodes in maintenance. A condition of such a Node holds the updates of its pool.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_MAINTENANCE_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_MAINTENANCE_H_

#include <memory>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/runtime/controller.h"
#include "operator/runtime/informer.h"
#include "operator/yurtappdaemon/observe/denial.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// The data that the cache stores for a Node, besides its name and versions. Both members are empty for most Nodes.
struct MaintenanceProjection : Projection {
  std::string pool;                 // "" if there is no condition
  const char* condition = nullptr;  // one of kMaintenanceConditions; null: none is True
};
std::unique_ptr<const Projection> ProjectMaintenance(const Json& node);
inline const JsonParts kProjectedOfMaintenance = {{"metadata", {{"labels", {{kNodePoolLabel}}}}},
                                                  {"status", {{"conditions", {{"type"}, {"status"}}}}}};

// Watches the Nodes that belong to a pool, without their content. The watch starts on demand, and readiness does not
// wait for it.
ReflectorOptions WatchingMaintenance();
// Adds the index that ReadMaintenance needs. Must be called before the informer runs.
void AddMaintenanceIndex(Store& nodes);

// Returns the daemons that select a pool for which this event matters: the Node starts or stops to hold the pool, or
// holds it for another condition.
std::vector<Request> DaemonsOfMaintenance(const Store& daemons, const Store& pools, const Event& node_event);

// Returns the held pools. Without the right to list and watch Nodes, as with an older chart, no pool is held. Fails
// with kNotSynced if the conditions are not known yet.
Result<PoolMaintenance> ReadMaintenance(const Informer& nodes, Denial& denial, SteadyTime now);
// Returns whether the cache shows that a Node holds the pool. If the watch fails, the cache may be outdated, and the
// result is false.
bool IsInMaintenance(const Informer& nodes, const std::string& pool);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_MAINTENANCE_H_
