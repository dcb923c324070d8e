// Prepares the data of the page's list of YurtAppDaemons. Pure.
#ifndef PLUGIN_DASHBOARD_FLEET_MODEL_H_
#define PLUGIN_DASHBOARD_FLEET_MODEL_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Returns the time as an RFC 3339 string; null for nullopt.
Json TimeOrNull(const std::optional<WallTime>& time);
Json TimeOrNull(const std::string& time);

// Returns one YurtAppDaemon with its counts, its state, the reason of condition Progressing, and the reason why
// removals are blocked ("" if they are not).
Json FleetEntry(const Json& daemon);

// The freeze in force; nullopt: updates are not frozen. An error is the reason why the dashboard does not know whether
// updates are frozen; its message is "" if the first list is pending.
using KnownFreeze = Result<std::optional<Freeze>>;

// Returns the data of the event `fleet`, except for its member `now`. `context` is that of the kubeconfig. `ns` is ""
// for all namespaces. `daemons` are results of FleetEntry, in the order of the page.
Json MakeFleet(const std::string& context, const std::string& ns, const KnownFreeze& freeze,
               const std::vector<Json>& daemons);

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_FLEET_MODEL_H_
