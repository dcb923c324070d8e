// Writes the Services that a plan asks for.
#ifndef OPERATOR_YURTAPPDAEMON_SERVICE_WRITER_H_
#define OPERATOR_YURTAPPDAEMON_SERVICE_WRITER_H_

#include <stop_token>

#include "operator/client/client.h"
#include "operator/runtime/store.h"
#include "operator/yurtappdaemon/services.h"

namespace yad {

// Thread-safe.
class ServiceWriter {
 public:
  // Without a store the answers are not kept.
  ServiceWriter(Client& client, Store* store) : client_(client), store_(store) {}

  // The pool's Service as the server has it afterwards. kAlreadyExists: its name is somebody else's, whose Service is
  // left alone. One that nobody controls, and that is what this daemon would make, is taken over: an earlier daemon of
  // this name left it (--cascade=orphan).
  Result<ObjectPtr> Write(const YurtAppDaemon& daemon, const PoolPlan& plan, std::stop_token stop) const;

  // Deletes exactly this object. `workload` is what its pool's workload was seen to be, null where the pool is selected
  // no longer. kConflict: the workload is on another revision than was seen.
  Status Remove(const YurtAppDaemon& daemon, const ServiceRef& service, const StoredObject* workload,
                std::stop_token stop) const;

 private:
  Client& client_;
  Store* const store_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_SERVICE_WRITER_H_
