// Prepares the data of the page's list of YurtAppDaemons. Pure.
#ifndef PLUGIN_DASHBOARD_FLEET_MODEL_H_
#define PLUGIN_DASHBOARD_FLEET_MODEL_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Returns the time as an RFC 3339 string; null for nullopt.
Json TimeOrNull(const std::optional<WallTime>& time);
Json TimeOrNull(const std::string& time);

// Returns one YurtAppDaemon with its counts, its state, the reason of condition Progressing, and the reason why removals
// are blocked ("" if they are not).
Json FleetEntry(const Json& daemon);

// The freeze, or the reason why the dashboard does not know whether updates are frozen.
struct KnownFreeze {
  std::optional<Freeze> freeze;
  std::string warning;  // the reason why the freeze is not known; "": it is known
};

struct FleetInput {
  std::string context;        // of the kubeconfig
  std::string ns;             // "": all namespaces
  KnownFreeze freeze;         // in force now
  std::vector<Json> daemons;  // results of FleetEntry, in the order of the page
};
// Returns the data of the event `fleet`, except for its member `now`.
Json MakeFleet(const FleetInput& input);

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_FLEET_MODEL_H_
