// Counts misplaced pods: pods that still run on a node that has left their pool. Kubernetes does not evict them, and
// they still count as ready.
#ifndef OPERATOR_YURTAPPDAEMON_DIAGNOSE_MISPLACED_H_
#define OPERATOR_YURTAPPDAEMON_DIAGNOSE_MISPLACED_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/base/failure_log.h"
#include "operator/base/synchronized.h"
#include "operator/client/client.h"
#include "operator/client/rate_limiter.h"
#include "operator/runtime/controller.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/store.h"
#include "operator/yurtappdaemon/diagnose/diagnosis.h"
#include "operator/yurtappdaemon/observe/stores.h"
#include "operator/yurtappdaemon/plan/outcome.h"

namespace yad {

// Finds misplaced pods with few requests, because the operator has no cache of Nodes or Pods:
// - A count starts when a node disappears from the list in a NodePool's status. It reads the pool's Nodes (metadata
//   only) and the pods of its workloads. One count serves all daemons.
// - A pool with misplaced pods is counted again at growing intervals, until it has no misplaced pods.
// - A new leader takes the counts from status, and counts these pools again.
//
// If a node leaves its pool while no replica of the operator runs, the operator detects this only at the next change of
// the pool's list of nodes.
//
// Thread-safe, but each pool may have only one call of CountPods at a time.
class MisplacedPods {
 public:
  // Reads the pods of namespace `ns`; "" for all namespaces.
  MisplacedPods(Client& client, const ReconcilerStores& stores, EventSink& events, std::string ns,
                Clock& clock = Clock::Real());

  // Must be called first. The functions must schedule:
  // - `count`: CountPods for the pool
  // - `show`: a reconcile of the daemon, because its counts have changed
  void Connect(std::function<void(const Request& pool)> count, std::function<void(const Request& daemon)> show);

  // Returns whether this event of a NodePool requires a count, because a node may have left the pool, or because the
  // pool has misplaced pods and its nodes have changed.
  bool RequiresCount(const Event& pool_event) const;
  // Returns the workload's pool if the workload has misplaced pods. Otherwise, returns an empty list.
  std::vector<Request> PoolOf(const Event& workload_event) const;

  // Counts the misplaced pods of the pool.
  Result<ReconcileResult> CountPods(const Request& pool, std::stop_token stop);

  // Returns the counts of these pools, and sets the daemon's metric to their sum. `previous` is the last status. Takes
  // the counts in `previous` if `restored` is false, and sets `restored`.
  MisplacedCounts CountsOf(const ObjectKey& daemon, const std::vector<PoolOutcome>& pools, const Json& previous,
                           bool& restored);
  // Removes the daemon's metric.
  static void Forget(const ObjectKey& daemon);

 private:
  using ByWorkload = std::map<ObjectKey, std::int64_t>;
  struct Pool {
    bool counted = false;
    std::optional<SteadyTime> reserved;  // the time at which the next count may begin; nullopt: not reserved
    SteadyTime last;                     // the time of the last count
    Duration interval{0};                // from `last` to the next count
    ByWorkload counts;                   // only workloads that have misplaced pods
  };
  struct Found {
    ByWorkload counts;
    std::set<std::string> nodes;  // the nodes on which these pods run
  };

  // Reserves the requests of the pool's next count in the rate limiter. Returns the time until the count may begin, or
  // nullopt if it may begin now.
  std::optional<Duration> TimeUntilCount(const std::string& pool);
  Result<Found> Read(const std::string& pool, std::stop_token stop);
  // Returns the Nodes that exist and are in another pool or in no pool.
  Result<std::set<std::string>> NodesOutside(const std::map<std::string, ByWorkload>& nodes, const std::string& pool,
                                             std::stop_token stop);
  // Returns the workload of the pod if a YurtAppDaemon controls that workload.
  std::optional<ObjectKey> WorkloadOf(const ObjectMeta& pod) const;
  std::optional<ObjectKey> DaemonOf(const ObjectKey& workload) const;
  void Report(const std::string& pool, const ByWorkload& before, const Found& found);

  Client& client_;
  const ReconcilerStores stores_;
  EventSink& events_;
  const std::string ns_;
  Clock& clock_;
  RateLimiter budget_{/*qps=*/5, /*burst=*/10, clock_};
  std::function<void(const Request&)> count_;
  std::function<void(const Request&)> show_;
  FailureLog read_log_{"nodes or pods can't be read: status does not count misplaced pods",
                       "nodes and pods can be read again: status counts misplaced pods"};
  Synchronized<std::map<std::string, Pool>> pools_;  // pools that were read, or that have a count in status
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_DIAGNOSE_MISPLACED_H_
