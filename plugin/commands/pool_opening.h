// The update windows of one pool at one moment. Pure, except for the time zone database of the system.
#ifndef PLUGIN_COMMANDS_POOL_OPENING_H_
#define PLUGIN_COMMANDS_POOL_OPENING_H_

#include <string>
#include <vector>

#include "operator/yurtappdaemon/plan/gates.h"

namespace yad {

struct PoolOpening {
  std::string name;
  std::vector<std::string> zones;  // the time zones of the windows; without windows, the time zone of the pool
  std::string from;                // the object that sets the windows: "daemon", "pool" or "none"
  WindowState state;
  bool held = false;  // true: the pool's annotations about windows are invalid
  std::string fault;
};

// Returns when the update windows allow updates of this NodePool. The windows come from the pool or from `daemon`. The
// snapshot in `gates` must contain the same daemon.
PoolOpening OpeningOf(const Json& node_pool, const YurtAppDaemon& daemon, Gates& gates);

// Describes when the windows open: "now", "no" (never), or a time such as "2026-01-03T01:00:00Z (Sat 02:00
// Europe/Oslo)". Returns "<unknown>" if this computer has no time zone database.
std::string DescribeOpening(const PoolOpening& opening);
// Returns an object with the fields windowsFrom, open, opens, opensLocally and fault.
Json ToJson(const PoolOpening& opening);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_POOL_OPENING_H_
