// Executes the plan of one daemon. Its writes run in parallel, up to a limit.
#ifndef OPERATOR_YURTAPPDAEMON_APPLY_EXECUTOR_H_
#define OPERATOR_YURTAPPDAEMON_APPLY_EXECUTOR_H_

#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "operator/api/well_known.h"
#include "operator/base/byte_budget.h"
#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/runtime/store.h"
#include "operator/yurtappdaemon/apply/collect.h"
#include "operator/yurtappdaemon/apply/live_checks.h"
#include "operator/yurtappdaemon/apply/workload_writer.h"
#include "operator/yurtappdaemon/observe/stores.h"
#include "operator/yurtappdaemon/plan/outcome.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// Thread-safe if only one thread at a time uses each PlanMemo.
class PlanExecutor {
 public:
  struct Options {
    std::size_t parallel_writes = 16;  // maximum number of parallel writes for one daemon
    // Returns the NodePool type with the API version that requests must use. Must be thread-safe.
    std::function<ResourceType()> pool_type = [] { return kNodePoolType; };
  };
  PlanExecutor(Client& client, const ReconcilerStores& stores, Clock& clock, Options options)
      : client_(client), stores_(stores), clock_(clock), options_(std::move(options)) {}

  // Executes the plan. Puts the server's response to each write into the store, so that the next plan sees it. Records
  // in `memo` the values that the server did not keep. If the plan has removals, all reads for the plan must have
  // succeeded.
  //
  // Because the caches may have been stale when the plan was made, live reads confirm:
  // - the daemon, before the first write
  // - the daemon and the pool, before the removal of the workload of an unselected pool
  // - the pool, before an update that follows a change of the pool, because this update restarts pods
  //
  // If the caches show during the execution that the plan no longer applies (cache_checks.h), the remaining writes fail
  // with kConflict.
  Outcome Apply(const YurtAppDaemon& daemon, const Plan& plan, PlanMemo& memo, std::stop_token stop) const;

  // Reads the daemon's workloads from the server into the store.
  Status ReadWorkloads(const YurtAppDaemon& daemon, std::stop_token stop) const;

  // Reads the failed pools, the workloads and the Jobs of failed checks from the server, before the revision is marked
  // as failed. Puts the workloads and the Jobs into the stores, so that the next plan shows whether the pools have
  // really failed. Fails if a failed pool does not exist, or if it is Offline only on the server or only in the plan.
  // Also fails if a Job has been deleted.
  Status ConfirmFailures(const Snapshot& snapshot, const Plan& plan, std::stop_token stop) const;

 private:
  using WorkloadNames = std::unordered_map<std::string, std::string>;  // the keys are names of pools
  struct Batch;

  // Confirms by a live read that the plan still applies to the daemon. Must be called before the first write. Returns
  // the names of the workloads in the daemon's status, or an empty map if the plan does not create or adopt workloads.
  Result<WorkloadNames> Confirm(const YurtAppDaemon& daemon, const Plan& plan, const std::vector<std::size_t>& writes,
                                std::stop_token stop) const;
  // Lists the workloads that an earlier daemon of this name left. Must be called before this daemon creates its first
  // workload. If a listed workload is not in the plan, puts it into the store for the next plan, and fails with
  // kConflict.
  Status ConfirmOrphans(const YurtAppDaemon& daemon, const Plan& plan, std::stop_token stop) const;
  // Fails with kCancelled after a stop, and with kConflict if the caches show that the write no longer applies.
  Status MayWrite(const PoolPlan& pool, const Batch& batch) const;
  // Writes the Service of a pool, then its workload. If the pool has a Service and no workload, writes the workload
  // first, because the caches may lack a workload that exists.
  PoolAttempt WritePool(const PoolPlan& pool, Batch& batch) const;
  Result<WrittenWorkload> WriteWorkload(const PoolPlan& pool, const Batch& batch) const;
  // Compares the response to a write, `written`, with the request. Returns the requested values that the response
  // lacks, or nullopt if the response has all of them.
  std::optional<MergeChanges> NotKeptBy(const StoredObject& written, const PoolPlan& pool, Batch& batch) const;
  // Removes the Services in Plan::service_removals, after the workloads of their pools were written or removed.
  // `staying` contains the unselected pools whose workload could not be removed. The Services of these pools also stay.
  void RemoveServices(const Batch& batch, const std::set<std::string>& staying, Outcome& outcome) const;

  Client& client_;
  const ReconcilerStores stores_;
  Clock& clock_;
  const Options options_;
  // Limits the memory for the concurrent writes of all daemons together. Counts bytes of encoded JSON. A merge needs
  // several Json trees, and each tree needs about ten times the memory of its encoding.
  mutable ByteBudget budget_{4u << 20};
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_EXECUTOR_H_
