// The tables of pools and of YurtAppDaemons. Pure.
#ifndef PLUGIN_POOL_TABLE_H_
#define PLUGIN_POOL_TABLE_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "plugin/table.h"

namespace yad {

// status.pools of a daemon, as it is sorted: the unhealthy first, then by name.
std::vector<Json> PoolsOf(const Json& daemon);

// "ImagePullBackOff: container …": why a pool that is not Ready is not; "" where status does not say.
std::string WhyNotReady(const Json& pool);

inline constexpr std::size_t kPhaseColumn = 1;  // of PoolTable
// NAME PHASE REVISION REPLICAS READY AGE REASON; wide: STATE WORKLOAD MESSAGE. At most `most` rows.
Table PoolTable(const Json& daemon, bool wide, WallTime now, std::size_t most);

// (NAMESPACE) NAME TYPE POOLS UPDATED READY FAILED OFFLINE PROGRESS AGE; wide: REVISION IMAGES.
Table DaemonTable(const std::vector<Json>& daemons, bool with_namespace, bool wide, WallTime now);

// "28 Ready, 2 Offline": how many of the pools from `first` on are in which phase.
std::string CountPhases(const Json& daemon, std::size_t first);

}  // namespace yad

#endif  // PLUGIN_POOL_TABLE_H_
