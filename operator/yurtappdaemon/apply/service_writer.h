// Writes the Services of a plan.
#ifndef OPERATOR_YURTAPPDAEMON_APPLY_SERVICE_WRITER_H_
#define OPERATOR_YURTAPPDAEMON_APPLY_SERVICE_WRITER_H_

#include <stop_token>

#include "operator/client/client.h"
#include "operator/runtime/store.h"
#include "operator/yurtappdaemon/plan/services.h"

namespace yad {

// Thread-safe.
class ServiceWriter {
 public:
  // Stores the responses in `store`, unless it is null.
  ServiceWriter(Client& client, Store* store) : client_(client), store_(store) {}

  // Writes the pool's Service, and returns the Service on the server.
  // - If a Service of this name has no controller, an earlier daemon of the same name may have left it
  //   (--cascade=orphan). Adopts this Service if it has the annotations and the selector of the pool's Service.
  // - If another object controls a Service of this name, fails with kAlreadyExists and does not change this Service.
  Result<ObjectPtr> Write(const YurtAppDaemon& daemon, const PoolPlan& plan, std::stop_token stop) const;

  // Deletes this Service, but not a later Service with the same name. `workload` is the pool's workload in the cache,
  // or null if the pool is not selected. Fails with kConflict if the workload on the server can't be read, was
  // replaced, or has another revision.
  Status Remove(const YurtAppDaemon& daemon, const ServiceRef& service, const StoredObject* workload,
                std::stop_token stop) const;

 private:
  Client& client_;
  Store* const store_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_SERVICE_WRITER_H_
