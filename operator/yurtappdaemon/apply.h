// Carries out a plan: the writes of one daemon, side by side, with a bound.
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

// Which version of NodePool to ask for.
using PoolTypeFunction = std::function<ResourceType()>;

struct Applied {
  std::vector<PoolResult> pools;     // as in the plan
  std::vector<WorkloadRef> leaving;  // workloads of unselected pools that may still exist
  // Pools by what was done to them.
  std::vector<std::string> created, moved, repaired, adopted, removed, duplicates_removed;
  std::vector<std::string> deleted;  // workloads, by name, that are gone or have been told to go
  // Pools by what was done to their Services.
  std::vector<std::string> services_created, services_updated, services_repaired, services_removed;
  // Something has to be tried again, after the key's backoff or the server's own wish.
  std::optional<Error> retry;
  // The daemon is not what the plan was made for, or could not be read: nothing was written.
  std::optional<Error> refused;
};

class PlanExecutor {
 public:
  struct Options {
    std::size_t parallel_writes = 16;  // in flight at once for one daemon
    // Of all daemons: the text of workloads that are rendered, merged and sent at once. A tree of Json takes some ten
    // times its text, and a merge several trees.
    std::shared_ptr<ByteBudget> text = std::make_shared<ByteBudget>(4u << 20);
    PoolTypeFunction pool_type = [] { return kNodePoolType; };
    Store* services = nullptr;  // null: what is written is not kept
    Clock* clock = &Clock::Real();
  };
  PlanExecutor(Client& client, Store& store, Projector projector, Options options)
      : client_(client),
        store_(store),
        projector_(std::move(projector)),
        options_(options),
        service_writer_(client, options.services) {}

  // Every write's answer is put into the store, so that the next plan sees it. `memo` learns which writes the server
  // undoes. Removals go out only with a plan built from successful reads; who calls this vouches for it. But reads may
  // be late: the daemon is confirmed before the first write, and LiveChecks confirm daemon and pool before removals,
  // and before pods are restarted because the pool is another.
  Applied Apply(const YurtAppDaemon& daemon, const Plan& plan, PlanMemo& memo, std::stop_token stop) const;

  // Reads the daemon's workloads past the caches, into the store.
  Status ReadWorkloads(const YurtAppDaemon& daemon, std::stop_token stop) const;

  // Ok where the server says that the pool exists and is Offline. Conflict: it is not.
  Status ConfirmOffline(const std::string& pool, std::stop_token stop) const;

 private:
  // A workload as the Store keeps it. From a document no tree is made of what its projection does not read.
  ObjectPtr Kept(const Json& object) const;
  ObjectPtr Kept(const JsonDocument& object) const;

  struct Attempt {
    Result<ObjectPtr> object = nullptr;
    Write written = Write::kNone;
    bool reclaimed = false;  // It was there already, as nobody knows what: the next plan looks at it.
  };
  // `remembered` is the name of the workload that status knows, "" where it knows none.
  Attempt Create(const YurtAppDaemon& daemon, const PoolPlan& plan, const std::string& remembered,
                 std::stop_token stop) const;
  Attempt Update(const YurtAppDaemon& daemon, const PoolPlan& plan, std::stop_token stop) const;
  // Finds a workload of ours that the caches do not show (its label was taken away, or the watch lags), and gives it
  // its label back.
  std::optional<Attempt> Reclaim(const YurtAppDaemon& daemon, const PoolPlan& plan, const std::string& name,
                                 std::stop_token stop) const;
  // So that a crash in the middle of what a token allows leaves the rest allowed: an Error means that none of it may go
  // yet. `removals` then have the workloads as they are with the mark.
  Status MarkRemovals(const YurtAppDaemon& daemon, std::vector<Removal>& removals, std::stop_token stop) const;
  // Before the first workloads of a daemon: Ok where the plan was made with all that nobody controls and that looks
  // like what an earlier daemon of this name left. Else the store knows it now, and the next plan will.
  Status ConfirmOrphans(const YurtAppDaemon& daemon, const Plan& plan, std::stop_token stop) const;
  // Those whose pool's workload has been written, or has gone (`staying`: pools of which it has not).
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
