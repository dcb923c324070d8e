// Writes the Services of a plan. Thread-safe.
#ifndef OPERATOR_YURTAPPDAEMON_APPLY_SERVICE_WRITER_H_
#define OPERATOR_YURTAPPDAEMON_APPLY_SERVICE_WRITER_H_

#include <stop_token>

#include "operator/client/client.h"
#include "operator/runtime/informer.h"
#include "operator/yurtappdaemon/plan/services.h"

namespace yad {

// Writes the pool's Service, and puts the Service on the server into the cache `services`, unless it is null.
// - If a Service of this name has no controller, an earlier daemon of the same name may have left it, deleted with
//   --cascade=orphan. Adopts this Service if it has the annotations and the selector of the pool's Service.
// - If another object controls a Service of this name, fails with kAlreadyExists and does not change this Service.
Status WriteService(Client& client, Informer* services, const YurtAppDaemon& daemon, const PoolPlan& plan,
                    std::stop_token stop);

// Deletes this Service, but not a later Service with the same name. `workload` is the pool's workload in the cache, or
// null if the pool is not selected. Fails with kConflict if the workload on the server can't be read, was replaced, or
// has another revision.
Status RemoveService(Client& client, const YurtAppDaemon& daemon, const ServiceRef& service,
                     const StoredObject* workload, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_SERVICE_WRITER_H_
