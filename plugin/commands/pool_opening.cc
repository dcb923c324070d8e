#include "plugin/commands/pool_opening.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"

namespace yad {
namespace {

constexpr std::size_t kMaxZone = 64;  // The value of an invalid annotation may have any length.

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

}  // namespace

PoolOpening OpeningOf(const Json& node_pool, const YurtAppDaemon& daemon, Gates& gates) {
  const NodePool pool = ParseNodePool(node_pool);
  const std::vector<UpdateWindow>& of_daemon = daemon.strategy.rolling.windows;
  const bool own = ParseMeta(node_pool).annotations.contains(kUpdateWindowsAnnotation);
  PoolOpening opening;
  opening.name = pool.name;
  opening.from = own ? "pool" : of_daemon.empty() ? "none" : "daemon";
  // If the windows in the pool's annotation are invalid, `windows` stays empty. ZonesOf then returns only the time zone
  // of the pool.
  const std::vector<UpdateWindow> windows =
      own ? pool.windows.windows.value_or(std::vector<UpdateWindow>()) : of_daemon;
  opening.zones = ZonesOf(windows, pool.windows.time_zone);
  opening.state = gates.Of(pool).window;
  opening.held = !pool.windows.fault.empty();
  opening.fault = opening.held ? pool.windows.fault : opening.state.fault;
  return opening;
}

std::string DescribeOpening(const PoolOpening& opening) {
  if (opening.held) return "no";
  if (opening.state.open) return "now";
  if (!opening.state.opens) return "<unknown>";
  return FormatTime(*opening.state.opens) + " (" + opening.state.opens_locally + ")";
}

Json ToJson(const PoolOpening& opening) {
  Json json = {{"windowsFrom", opening.from}, {"open", opening.state.open && !opening.held}};
  if (!opening.held && opening.state.opens) {
    json["opens"] = FormatTime(*opening.state.opens);
    json["opensLocally"] = opening.state.opens_locally;
  }
  if (!opening.fault.empty()) json["fault"] = opening.fault;
  return json;
}

}  // namespace yad
