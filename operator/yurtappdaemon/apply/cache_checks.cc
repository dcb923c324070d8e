#include "operator/yurtappdaemon/apply/cache_checks.h"

#include "operator/cluster/pool_projection.h"
#include "operator/yurtappdaemon/observe/freeze.h"
#include "operator/yurtappdaemon/observe/maintenance.h"
#include "operator/yurtappdaemon/rollout/windows.h"

namespace yad {
namespace {

bool IsWindowOpen(const YurtAppDaemon& daemon, const PoolWindows& of_pool, WallTime now) {
  const auto& windows = of_pool.windows ? *of_pool.windows : daemon.strategy.rolling.windows;
  return WindowsAt(windows, of_pool.time_zone, now).open;
}

}  // namespace

Status DaemonIsAsPlanned(const ReconcilerStores& stores, const ObjectMeta& planned) {
  const auto cached = stores.daemons.Get(planned.key);
  if (!cached && cached.error().reason != Reason::kNotFound) return {};
  if (!cached || (*cached)->meta().uid != planned.uid)
    return Fail(Reason::kConflict,
                "YurtAppDaemon " + planned.key.ToString() + " was deleted or replaced after it was read");
  if ((*cached)->meta().generation > planned.generation)
    return Fail(Reason::kConflict,
                "the spec of YurtAppDaemon " + planned.key.ToString() + " changed after the update was planned");
  return {};
}

Status GatesAreAsPlanned(const ReconcilerStores& stores, const YurtAppDaemon& daemon, const Plan& plan,
                         const PoolPlan& pool, WallTime now) {
  if (stores.freeze != nullptr && !plan.frozen) {
    const auto config_maps = stores.freeze->store().List();
    if (config_maps && FreezeAmong(*config_maps, now))
      return Fail(Reason::kConflict, "updates of all YurtAppDaemons were frozen after the update was planned");
  }
  if (!plan.rollout) return {};
  if (pool.gate.window.closes && now >= *pool.gate.window.closes)
    return Fail(Reason::kConflict, "the update window of pool " + pool.pool + " closed after the update was planned");
  if (pool.gate.held) return {};
  const auto object = stores.pools.Get({"", pool.pool});
  const NodePool* cached = object ? &PoolProjectionOf(*object).pool : nullptr;
  if (cached != nullptr && (cached->hold || !cached->windows.fault.empty()))
    return Fail(Reason::kConflict, "the site began to hold pool " + pool.pool + " after the update was planned");
  if (cached != nullptr && pool.gate.window.open && !IsWindowOpen(daemon, cached->windows, now))
    return Fail(Reason::kConflict, "the update windows of pool " + pool.pool + " changed after the update was planned");
  if (stores.nodes != nullptr && IsInMaintenance(*stores.nodes, pool.pool))
    return Fail(Reason::kConflict,
                "a node condition began to hold pool " + pool.pool + " after the update was planned");
  return {};
}

}  // namespace yad
