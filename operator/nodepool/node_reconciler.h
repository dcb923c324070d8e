// Reconciles one Node: writes the labels, annotations and taints of its pool to it.
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

// Thread-safe, but two calls for one key must not run at the same time. A Controller ensures that.
class NodeReconciler {
 public:
  // `pool_type` returns the API version in which NodePools are read from the server.
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
    kMayComeBack,  // may have been deleted with an older CRD; a user may restore it
    kGone,
  };
  // Reads from the server why `pool`, the pool of `node`, is not in the cache.
  Result<Absence> AbsenceOf(const std::string& pool, const ObjectMeta& node, std::stop_token stop);
  // A read of a pool from the server.
  struct Confirmation {
    std::string pool;              // uid and generation of the pool; "" if it does not exist
    std::string resource_version;  // the version of the list that was read; comparable with the version of any object
    SteadyTime at;
  };
  // Returns whether a recent read of the pool had the same result as `next`, and `node` has not changed since.
  bool IsConfirmed(const std::string& pool, const Confirmation& next, const ObjectMeta& node) const;
  // Stores the result of a read of the pool, and removes old results.
  void Remember(const std::string& pool, Confirmation next);
  // Checks that `pool`, the cached pool of `node`, is up to date. Fails with kConflict if the pool on the server has
  // another uid or generation.
  Status ConfirmPool(const ObjectMeta& pool, const ObjectMeta& node, std::stop_token stop);
  // Logs that the pool of the node does not exist, and emits an Event. Does this once for each Node and pool.
  void ReportMissingPool(const ObjectMeta& node, const std::string& pool);
  // Sends `patch`, which sets the attributes `wanted` on the node. If another client keeps reverting them, waits longer
  // before each new write.
  Result<ReconcileResult> WriteAttributes(const ObjectMeta& node, const PoolAttributes& wanted, const Json& patch,
                                          std::stop_token stop);

  Client& client_;
  const Store& pools_;
  Store& nodes_;
  EventSink& events_;
  const std::function<ResourceType()> pool_type_;
  Clock& clock_;
  Synchronized<std::map<std::string, std::string>> missing_pools_;  // the missing pool that was reported, by Node
  // The digest of the attributes in the last write, by Node.
  Synchronized<std::map<std::string, std::uint64_t>> written_;
  Synchronized<std::map<std::string, std::string>> created_;     // creationTimestamp of each pool seen so far
  Synchronized<std::map<std::string, Confirmation>> confirmed_;  // the last successful read, by pool
  Synchronized<SteadyTime> crd_gone_until_;  // until this time, the CRD counts as gone and is not read again
  Synchronized<RetryPace> repairs_;
};

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_NODE_RECONCILER_H_
