// The update windows of one pool at one moment. Pure, except for the time zone database of the system.
#ifndef PLUGIN_COMMANDS_POOL_OPENING_H_
#define PLUGIN_COMMANDS_POOL_OPENING_H_

#include <string>
#include <vector>

#include "operator/yurtappdaemon/plan/gates.h"

namespace yad {

struct PoolOpening {
  std::string name;
  std::vector<std::string> zones;  // time zones of its windows; without windows, the zone of the pool
  std::string from;                // "daemon", "pool" or "none"
  WindowState state;
  bool held = false;  // its annotations are invalid
  std::string fault;
};

// Returns the opening of a NodePool for `daemon`, which must be the daemon of the snapshot of `gates`.
PoolOpening OpeningOf(const Json& node_pool, const YurtAppDaemon& daemon, Gates& gates);

// Returns "now", "no" or a text such as "2026-01-03T01:00:00Z (Sat 02:00 Europe/Oslo)"; "<unknown>" if this computer
// has no time zone database.
std::string DescribeOpening(const PoolOpening& opening);
// Returns the fields windowsFrom, open, opens, opensLocally and fault.
Json ToJson(const PoolOpening& opening);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_POOL_OPENING_H_
