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
  // Responses are not stored if `store` is null.
  ServiceWriter(Client& client, Store* store) : client_(client), store_(store) {}

  // Writes the pool's Service, and returns it as the server has it afterwards. Fails with kAlreadyExists if a Service
  // of another controller has the name; that Service stays as it is. Adopts a Service without a controller that an
  // earlier daemon of this name left (--cascade=orphan): its annotations and its selector are those of the pool's
  // Service.
  Result<ObjectPtr> Write(const YurtAppDaemon& daemon, const PoolPlan& plan, std::stop_token stop) const;

  // Deletes this Service, but not a later Service with the same name. `workload` is the observed workload of the
  // Service's pool; null if the pool is no longer selected. Fails with kConflict if the workload's revision is not the
  // observed one.
  Status Remove(const YurtAppDaemon& daemon, const ServiceRef& service, const StoredObject* workload,
                std::stop_token stop) const;

 private:
  Client& client_;
  Store* const store_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_SERVICE_WRITER_H_
