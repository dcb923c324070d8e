// Finds the Nodes in maintenance, whose pools are not updated. A Node is in maintenance if one of the conditions
// kMaintenanceConditions is True.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_MAINTENANCE_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_MAINTENANCE_H_

#include <memory>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/runtime/controller.h"
#include "operator/runtime/informer.h"
#include "operator/yurtappdaemon/observe/forbidden_reads.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// The data that the cache stores for a Node. Both members are empty for a Node that is not in maintenance.
struct MaintenanceProjection : Projection {
  std::string pool;                 // "" if no condition is True
  const char* condition = nullptr;  // one of kMaintenanceConditions; null: none is True
};
std::unique_ptr<const Projection> ProjectMaintenance(const Json& node);

// Returns the options of the watch of the Nodes that belong to a pool. The cache does not keep their content. The watch
// starts on demand, and the operator's readiness does not wait for it.
ReflectorOptions WatchingMaintenance();
// Adds the index that ReadMaintenance needs. Must be called before the informer runs.
void AddMaintenanceIndex(Store& nodes);

// Returns the daemons to reconcile after an event of a Node. They are the daemons that select the Node's pool, if the
// Node starts or stops holding the updates of this pool, or if the condition that causes the hold changes.
std::vector<Request> DaemonsOfMaintenance(const Store& daemons, const Store& pools, const Event& node_event);

// Returns the pools whose updates a Node in maintenance holds. If the operator lacks the permission to list and watch
// Nodes, as with an older Helm chart, no pool is held. Fails with kNotSynced if the Nodes have not been listed yet.
Result<PoolMaintenance> ReadMaintenance(const Informer& nodes, ForbiddenReads& forbidden_reads, SteadyTime now);
// Returns whether the cache shows that a Node in maintenance holds the updates of the pool. Returns false if the
// operator lacks the permission to read Nodes.
bool IsInMaintenance(const Informer& nodes, const std::string& pool);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_MAINTENANCE_H_
