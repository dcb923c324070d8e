// kubectl yad windows
#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "operator/yurtappdaemon/plan/gates.h"
#include "operator/yurtappdaemon/rollout/rollout.h"
#include "plugin/commands/cluster_snapshot.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/daemon.h"
#include "plugin/commands/exit_code.h"
#include "plugin/view/console.h"
#include "plugin/view/pool_table.h"
#include "plugin/view/table.h"

namespace yad {
namespace {

constexpr std::size_t kMaxZone = 64;  // The text of an invalid annotation may have any length.

// The windows of one pool at one moment.
struct PoolOpening {
  std::string name;
  std::vector<std::string> zones;  // of its windows; without windows, that of the pool
  std::string from;                // "daemon", "pool" or "none"
  WindowState state;
  bool held = false;  // its annotations are invalid
  std::string fault;
};

std::vector<std::string> ZonesOf(const std::vector<UpdateWindow>& windows, const std::string& of_pool) {
  const std::string own = of_pool.empty() ? "UTC" : Cut(of_pool, kMaxZone);
  std::vector<std::string> zones;
  for (const UpdateWindow& window : windows) {
    const std::string& zone = window.time_zone.empty() ? own : window.time_zone;
    if (std::find(zones.begin(), zones.end(), zone) == zones.end()) zones.push_back(zone);
  }
  if (zones.empty()) zones.push_back(own);
  return zones;
}

PoolOpening OpeningOf(const Json& object, const YurtAppDaemon& daemon, Gates& gates) {
  const NodePool pool = ParseNodePool(object);
  const std::vector<UpdateWindow>& of_daemon = daemon.strategy.rolling.windows;
  const bool own = ParseMeta(object).annotations.contains(kUpdateWindowsAnnotation);
  PoolOpening opening;
  opening.name = pool.name;
  opening.from = own ? "pool" : of_daemon.empty() ? "none" : "daemon";
  // Invalid windows of the pool's own are not parsed, and have no zones.
  const std::vector<UpdateWindow> windows =
      own ? pool.windows.windows.value_or(std::vector<UpdateWindow>()) : of_daemon;
  opening.zones = ZonesOf(windows, pool.windows.time_zone);
  opening.state = gates.Of(pool).window;
  opening.held = !pool.windows.fault.empty();
  opening.fault = opening.held ? pool.windows.fault : opening.state.fault;
  return opening;
}

std::string Join(const std::vector<std::string>& zones) {
  std::string text;
  for (const std::string& zone : zones) text += (text.empty() ? "" : ",") + zone;
  return text;
}

std::string DescribeOpening(const PoolOpening& opening) {
  if (opening.held) return "no";
  if (opening.state.open) return "now";
  if (!opening.state.opens) return "<unknown>";
  return FormatTime(*opening.state.opens) + " (" + opening.state.opens_locally + ")";
}

Json ToJson(const PoolOpening& opening) {
  Json json = {{"name", opening.name},
               {"timeZones", opening.zones},
               {"windowsFrom", opening.from},
               {"open", opening.state.open && !opening.held}};
  if (!opening.held && opening.state.opens) {
    json["opens"] = FormatTime(*opening.state.opens);
    json["opensLocally"] = opening.state.opens_locally;
  }
  if (!opening.fault.empty()) json["fault"] = opening.fault;
  return json;
}

// Returns the selected pools, by name.
Result<std::vector<Json>> SelectedPools(Client& client, const YurtAppDaemon& daemon) {
  YAD_TRY(auto pools, ListNodePools(client));
  std::erase_if(pools, [&](const Json& pool) { return !daemon.pools.Selects(ParseNodePool(pool)); });
  std::sort(pools.begin(), pools.end(), [](const Json& a, const Json& b) {
    return StringAt(a, {"metadata", "name"}) < StringAt(b, {"metadata", "name"});
  });
  return pools;
}

// Windows have no effect on a pool that is held. The operator's status has the reason.
void WarnOfHolds(Session& session, const Json& daemon) {
  for (const PoolStatusView& pool : PoolsOf(daemon)) {
    if (StringAt(pool.json(), {"waitingFor"}) != ToString(WaitingFor::kHold) || pool.reason() == kInvalidWindow)
      continue;
    session.console.err << "Warning: "
                        << Printable("pool " + std::string(pool.name()) + " is held: " + std::string(pool.message()))
                        << "\n";
  }
}

}  // namespace

Result<int> RunWindows(Session& session) {
  YAD_TRY(const auto object, GetDaemon(session));
  Snapshot snapshot;
  YAD_TRY(snapshot.daemon, ParseYurtAppDaemon(object));
  snapshot.now = session.clock.WallNow();
  YAD_TRY(const auto pools, SelectedPools(session.client, snapshot.daemon));
  if (snapshot.daemon.strategy.type != UpdateStrategyType::kRollingUpdate) {
    session.console.err << "Warning: update windows have no effect, because updateStrategy.type of "
                        << Quoted(session.options.daemon) << " is not RollingUpdate\n";
  }
  WarnOfHolds(session, object);
  Gates gates(snapshot);
  Table table({"POOL", "TIME ZONE", "WINDOWS", "OPEN", "FAULT"});
  Json list = Json::array();
  for (const Json& pool : pools) {
    const PoolOpening opening = OpeningOf(pool, snapshot.daemon, gates);
    table.Add({opening.name, Join(opening.zones), opening.from, DescribeOpening(opening), opening.fault});
    list.push_back(ToJson(opening));
  }
  if (PrintObject(session.options, session.console, list)) return kDone;
  if (table.empty()) {
    session.console.err << "no pool is selected\n";
    return kDone;
  }
  for (const std::string& line : table.Lines()) session.console.out << line << "\n";
  return kDone;
}

}  // namespace yad
