// Executes a plan: the writes of one daemon, in parallel up to a limit.
#ifndef OPERATOR_YURTAPPDAEMON_APPLY_H_
#define OPERATOR_YURTAPPDAEMON_APPLY_H_

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/api/well_known.h"
#include "operator/base/byte_budget.h"
#include "operator/client/client.h"
#include "operator/runtime/store.h"
#include "operator/yurtappdaemon/live_checks.h"
#include "operator/yurtappdaemon/plan.h"
#include "operator/yurtappdaemon/service_writer.h"
#include "operator/yurtappdaemon/status.h"

namespace yad {

// Returns the version of NodePool to read. Must be thread-safe.
using PoolTypeFunction = std::function<ResourceType()>;

struct Applied {
  std::vector<PoolResult> pools;     // in the order of the plan
  std::vector<WorkloadRef> leaving;  // workloads of pools that are no longer selected, which may still exist
  // Pools by the kind of write that their workload got.
  std::vector<std::string> created, moved, repaired, adopted, removed, duplicates_removed;
  std::vector<std::string> deleted;  // names of workloads that are gone, or whose deletion the server has accepted
  // Pools by the kind of write that their Service got.
  std::vector<std::string> services_created, services_updated, services_repaired, services_removed;
  // The error of a write that is retried, after the key's backoff or the server's retry_after.
  std::optional<Error> retry;
  // Set if nothing was written: the daemon has changed since the plan was made, an earlier daemon left workloads that
  // the plan does not know, or a read failed.
  std::optional<Error> refused;
};

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
        projector_(std::move(projector)),
        options_(options),
        service_writer_(client, options.services) {}

  // Stores the server's response to each write, so that the next plan sees it. `memo` learns which writes the server
  // reverts. The caller must have built a plan with removals from successful reads. Reads may be outdated, so the
  // daemon is confirmed before the first write. LiveChecks confirm the daemon and the pool before the workload of an
  // unselected pool is removed, and the pool before an update for a changed pool restarts pods.
  Applied Apply(const YurtAppDaemon& daemon, const Plan& plan, PlanMemo& memo, std::stop_token stop) const;

  // Reads the daemon's workloads from the server into the store.
  Status ReadWorkloads(const YurtAppDaemon& daemon, std::stop_token stop) const;

  // Reads the pool from the server. Fails with kConflict if the pool does not exist or is not Offline.
  Status ConfirmOffline(const std::string& pool, std::stop_token stop) const;

 private:
  // Returns a workload as the Store holds it. A document becomes a tree only in the parts that the projection reads.
  ObjectPtr Kept(const Json& object) const;
  ObjectPtr Kept(const JsonDocument& object) const;

  struct Attempt {
    Result<ObjectPtr> object = nullptr;
    Write written = Write::kNone;
    bool reclaimed = false;  // the workload existed already, and the next plan assesses it
  };
  // `remembered` is the name of the workload in status; "" if status does not list it.
  Attempt Create(const YurtAppDaemon& daemon, const PoolPlan& plan, const std::string& remembered,
                 std::stop_token stop) const;
  Attempt Update(const YurtAppDaemon& daemon, const PoolPlan& plan, std::stop_token stop) const;
  // Finds a workload of the daemon that the caches do not show (a user removed its label, or the watch lags), and
  // restores its label. Returns nullopt if no workload has that name.
  std::optional<Attempt> Reclaim(const YurtAppDaemon& daemon, const PoolPlan& plan, const std::string& name,
                                 std::stop_token stop) const;
  // Marks the workloads whose removal needs a token, so that the rest stays allowed after a crash. None of them may be
  // removed yet if this fails. `removals` get the marked workloads.
  Status MarkRemovals(const YurtAppDaemon& daemon, std::vector<Removal>& removals, std::stop_token stop) const;
  // Looks for workloads that an earlier daemon of this name may have left, before the first workloads of a daemon.
  // Fails with kConflict if the plan does not know one of them; the store then has it for the next plan.
  Status ConfirmOrphans(const YurtAppDaemon& daemon, const Plan& plan, std::stop_token stop) const;
  // Removes the Services whose pool's workload was written or removed. `staying` are pools whose workload could not be
  // removed.
  void RemoveServices(const YurtAppDaemon& daemon, const Plan& plan, const std::set<std::string>& staying,
                      LiveChecks& checks, Applied& applied, std::stop_token stop) const;
  Status Remove(const YurtAppDaemon& daemon, const Removal& removal, LiveChecks& checks, std::stop_token stop) const;

  Client& client_;
  Store& store_;
  const Projector projector_;
  const Options options_;
  const ServiceWriter service_writer_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_H_
