// Reconciles one NodePool: counts its nodes by state, adds up their resources, and writes the results to its status.
#ifndef OPERATOR_NODEPOOL_POOL_RECONCILER_H_
#define OPERATOR_NODEPOOL_POOL_RECONCILER_H_

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/base/synchronized.h"
#include "operator/client/client.h"
#include "operator/nodepool/node_loads.h"
#include "operator/nodepool/pool_status.h"
#include "operator/runtime/controller.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/store.h"
#include "operator/runtime/written_versions.h"

namespace yad {

// Thread-safe, but two calls for one key must not run at the same time. A Controller ensures that.
class PoolReconciler {
 public:
  struct Stores {
    Store& pools;
    const Store& nodes;      // must have the index kNodesByPool
    const Store* csi_nodes;  // nullptr: no drivers are required
  };
  // `pool_type` returns the API version in which the status of NodePools is written.
  PoolReconciler(Client& client, Stores stores, NodeLoads& loads, EventSink& events,
                 std::function<ResourceType()> pool_type, std::vector<std::string> csi_drivers,
                 Clock& clock = Clock::Real());

  Result<ReconcileResult> Reconcile(const Request& request, std::stop_token stop);

  // Returns whether `pool` is the result of this process's last write of the status, or an older version of the pool.
  // Thread-safe.
  bool HasWrittenStatus(const ObjectMeta& pool) const { return written_.Covers(pool); }

 private:
  struct PoolState;
  std::shared_ptr<PoolState> StateOf(const ObjectMeta& meta);
  // Logs the attributes in the spec that must not be written to nodes, and emits an Event. Reports the same attributes
  // only once.
  void ReportSkipped(const ObjectMeta& meta, const Json& pool, PoolState& state);
  Result<PoolSummary> Summarize(const std::string& pool) const;
  Result<std::vector<std::string>> MissingDrivers(const std::string& node) const;

  Client& client_;
  const Stores stores_;
  NodeLoads& loads_;
  EventSink& events_;
  const std::function<ResourceType()> pool_type_;
  const std::vector<std::string> csi_drivers_;
  Clock& clock_;
  Synchronized<std::map<ObjectKey, std::shared_ptr<PoolState>>> states_;
  WrittenVersions written_;  // of the pools, after writes of their status
};

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_POOL_RECONCILER_H_
