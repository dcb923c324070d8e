// kubectl yad windows
#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"
#include "operator/base/join.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "operator/yurtappdaemon/plan/gates.h"
#include "operator/yurtappdaemon/rollout/rollout.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/daemon.h"
#include "plugin/commands/object_reader.h"
#include "plugin/commands/pool_opening.h"
#include "plugin/view/console.h"
#include "plugin/view/pool_table.h"
#include "plugin/view/table.h"

namespace yad {
namespace {

// Returns the NodePools that the daemon selects, sorted by name.
Result<std::vector<Json>> SelectedPools(Client& client, const YurtAppDaemon& daemon) {
  YAD_TRY(auto pools, ClusterReader(client).List(kNodePoolType, ""));
  std::erase_if(pools, [&](const Json& pool) { return !daemon.pools.Selects(ParseNodePool(pool)); });
  std::sort(pools.begin(), pools.end(), [](const Json& a, const Json& b) {
    return StringAt(a, {"metadata", "name"}) < StringAt(b, {"metadata", "name"});
  });
  return pools;
}

// Warns about pools with a hold, because their updates do not start even if a window is open. Does not warn about pools
// that are held for invalid windows, because the table shows the error. Finds pools that are held by a Node in
// maintenance in the status, because the command does not read Nodes.
void WarnOfHolds(Session& session, const Json& daemon, const std::vector<Json>& pools, Gates& gates) {
  for (const Json& object : pools) {
    const NodePool pool = ParseNodePool(object);
    if (!gates.Of(pool).by_annotation()) continue;
    session.console.Warn("pool " + pool.name + " is held" + (pool.hold->empty() ? "" : ": " + *pool.hold) +
                         " (kubectl yad release " + pool.name + ")");
  }
  for (const PoolStatusView& pool : PoolsOf(daemon)) {
    if (pool.waiting_for() != ToString(WaitingFor::kHold) || pool.reason() != kNodeMaintenance) continue;
    session.console.Warn("pool " + std::string(pool.name()) + " is held: " + std::string(pool.message()));
  }
}

}  // namespace

Result<int> RunWindows(Session& session) {
  YAD_TRY(const auto object, GetDaemon(session));
  Snapshot snapshot;
  YAD_TRY(snapshot.daemon, ParseYurtAppDaemon(object));
  snapshot.now = session.clock.WallNow();
  YAD_TRY(const auto pools, SelectedPools(session.client, snapshot.daemon));
  Gates gates(snapshot);
  if (snapshot.daemon.strategy.type != UpdateStrategyType::kRollingUpdate) {
    session.console.Warn("update windows have no effect, because updateStrategy.type of " +
                         Quoted(session.options.daemon) + " is not RollingUpdate");
  } else {
    WarnOfHolds(session, object, pools, gates);
  }
  Table table({"POOL", "TIME ZONE", "WINDOWS", "OPEN", "FAULT"});
  Json list = Json::array();
  for (const Json& pool : pools) {
    const PoolOpening opening = OpeningOf(pool, snapshot.daemon, gates);
    table.Add({opening.name, Join(opening.zones, ","), opening.from, DescribeOpening(opening), opening.fault});
    Json entry = ToJson(opening);
    entry["name"] = opening.name;
    entry["timeZones"] = opening.zones;
    list.push_back(std::move(entry));
  }
  if (PrintObject(session.options, session.console, list)) return kDone;
  if (table.empty()) {
    session.console.err << Quoted(session.options.daemon) << " selects no pool\n";
    return kDone;
  }
  table.PrintTo(session.console.out);
  return kDone;
}

}  // namespace yad
