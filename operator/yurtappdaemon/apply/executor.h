// Executes a plan: the writes of one daemon, in parallel up to a limit.
#ifndef OPERATOR_YURTAPPDAEMON_APPLY_EXECUTOR_H_
#define OPERATOR_YURTAPPDAEMON_APPLY_EXECUTOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "operator/api/well_known.h"
#include "operator/base/byte_budget.h"
#include "operator/client/client.h"
#include "operator/runtime/store.h"
#include "operator/yurtappdaemon/apply/collect.h"
#include "operator/yurtappdaemon/apply/live_checks.h"
#include "operator/yurtappdaemon/apply/service_writer.h"
#include "operator/yurtappdaemon/apply/workload_remover.h"
#include "operator/yurtappdaemon/apply/workload_writer.h"
#include "operator/yurtappdaemon/plan/outcome.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// Returns the version of NodePool to read. Must be thread-safe.
using PoolTypeFunction = std::function<ResourceType()>;

// Thread-safe if only one thread at a time uses each PlanMemo.
class PlanExecutor {
 public:
  struct Options {
    std::size_t parallel_writes = 16;  // writes of one daemon at the same time
    // Limits the text, in bytes, of workloads that are rendered, merged and sent at the same time, for all daemons
    // together. A tree of Json takes about ten times its text, and a merge needs several trees.
    std::shared_ptr<ByteBudget> text = std::make_shared<ByteBudget>(4u << 20);
    PoolTypeFunction pool_type = [] { return kNodePoolType; };
    Store* services = nullptr;  // null: responses about Services are not stored
    Clock* clock = &Clock::Real();
  };
  PlanExecutor(Client& client, Store& store, Projector projector, Options options)
      : client_(client),
        store_(store),
        options_(std::move(options)),
        writer_(client, std::move(projector)),
        remover_(client, store, writer_, options_.parallel_writes),
        service_writer_(client, options_.services) {}
  PlanExecutor(const PlanExecutor&) = delete;
  PlanExecutor& operator=(const PlanExecutor&) = delete;

  // Stores the server's response to each write, so that the next plan sees it. `memo` learns which writes the server
  // reverts. The caller must have built a plan with removals from successful reads. Reads may be outdated, so the
  // daemon is confirmed before the first write. LiveChecks confirm the daemon and the pool before the workload of an
  // unselected pool is removed, and the pool before an update for a changed pool restarts pods.
  Outcome Apply(const YurtAppDaemon& daemon, const Plan& plan, PlanMemo& memo, std::stop_token stop) const;

  // Reads the daemon's workloads from the server into the store.
  Status ReadWorkloads(const YurtAppDaemon& daemon, std::stop_token stop) const;

  // Reads the pool from the server. Fails with kConflict if the pool does not exist or is not Offline.
  Status ConfirmOffline(const std::string& pool, std::stop_token stop) const;

 private:
  using WorkloadNames = std::unordered_map<std::string, std::string>;  // by pool
  struct Batch;

  // Confirms the daemon before the first write, and returns the names of its workloads in status if workloads are
  // created or adopted.
  Result<WorkloadNames> Confirm(const YurtAppDaemon& daemon, const Plan& plan, const std::vector<std::size_t>& writes,
                                std::stop_token stop) const;
  // Looks for workloads that an earlier daemon of this name may have left, before the first workloads of a daemon.
  // Fails with kConflict if the plan does not know one of them; the store then has it for the next plan.
  Status ConfirmOrphans(const YurtAppDaemon& daemon, const Plan& plan, std::stop_token stop) const;
  // Writes the Service of a pool, then its workload.
  PoolAttempt WritePool(const PoolPlan& pool, Batch& batch) const;
  WorkloadAttempt WriteWorkload(const PoolPlan& pool, const Batch& batch) const;
  // Returns the part of the request that the server did not keep.
  std::optional<Undone> UndoneBy(const StoredObject& written, const PoolPlan& pool, Batch& batch) const;
  // Removes the Services whose pool's workload was written or removed. `staying` are pools whose workload could not be
  // removed.
  void RemoveServices(const YurtAppDaemon& daemon, const Plan& plan, const std::set<std::string>& staying,
                      LiveChecks& checks, Outcome& outcome, std::stop_token stop) const;

  Client& client_;
  Store& store_;
  const Options options_;
  const WorkloadWriter writer_;
  const WorkloadRemover remover_;
  const ServiceWriter service_writer_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_EXECUTOR_H_
