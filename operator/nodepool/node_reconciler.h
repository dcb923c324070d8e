// Reconciles one Node: the attributes that its pool gives to it.
#ifndef OPERATOR_NODEPOOL_NODE_RECONCILER_H_
#define OPERATOR_NODEPOOL_NODE_RECONCILER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/retry_pace.h"
#include "operator/base/synchronized.h"
#include "operator/client/client.h"
#include "operator/cluster/attributes.h"
#include "operator/runtime/controller.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/store.h"

namespace yad {

// Thread-safe, if no two calls for one key run at the same time. A Controller ensures that.
class NodeReconciler {
 public:
  // `pool_type` returns the version of NodePool to read from the server.
  NodeReconciler(Client& client, const Store& pools, Store& nodes, EventSink& events,
                 std::function<ResourceType()> pool_type, Clock& clock = Clock::Real())
      : client_(client),
        pools_(pools),
        nodes_(nodes),
        events_(events),
        pool_type_(std::move(pool_type)),
        clock_(clock) {}

  Result<ReconcileResult> Reconcile(const Request& request, std::stop_token stop);

 private:
  enum class Absence {
    kUnknown,      // the server has the pool, or the CRD is gone or being deleted
    kMayComeBack,  // not on the server, but the pool was, or may have been, deleted with an older CRD
    kGone,
  };
  // Returns the reason why the cache does not have `pool`, the pool of `node`.
  Result<Absence> AbsenceOf(const std::string& pool, const ObjectMeta& node, std::stop_token stop) const;
  // Fails with kConflict unless the pool on the server has the uid and generation of `pool`. Reads the server once for
  // each uid and generation.
  Status ConfirmPool(const ObjectMeta& pool, std::stop_token stop);
  // Reports the missing pool in the log and in an event, once for each Node and pool.
  void ReportMissingPool(const ObjectMeta& node, const std::string& pool);
  // Sends `patch`, which gives the attributes in `wanted` to the node. If another actor keeps reverting the attributes,
  // the delays between these writes grow.
  Result<ReconcileResult> WriteAttributes(const ObjectMeta& node, const PoolAttributes& wanted, const Json& patch,
                                          std::stop_token stop);

  Client& client_;
  const Store& pools_;
  Store& nodes_;
  EventSink& events_;
  const std::function<ResourceType()> pool_type_;
  Clock& clock_;
  Synchronized<std::map<std::string, std::string>> told_;  // by Node: the missing pool that was reported
  // The digest of the attributes that were written last, by Node.
  Synchronized<std::map<std::string, std::uint64_t>> written_;
  Synchronized<std::map<std::string, std::string>> created_;    // by pool: creationTimestamp of a pool that was seen
  Synchronized<std::map<std::string, std::string>> confirmed_;  // by pool: the uid and generation that were confirmed
  Synchronized<RetryPace> repairs_;
};

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_NODE_RECONCILER_H_
