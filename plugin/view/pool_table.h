// The tables of pools and of YurtAppDaemons. Pure.
#ifndef PLUGIN_VIEW_POOL_TABLE_H_
#define PLUGIN_VIEW_POOL_TABLE_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "operator/yurtappdaemon/observe/status_view.h"
#include "plugin/view/table.h"

namespace yad {

// Returns status.pools of a daemon in the order of the status: unhealthy pools first, then by name.
std::vector<PoolStatusView> PoolsOf(const Json& daemon);
std::vector<PoolStatusView> PoolsOf(Json&&) = delete;  // a temporary would not outlive the views

// Returns the reason why a pool is not Ready, such as "ImagePullBackOff: container …"; "" if status does not contain a
// reason.
std::string WhyNotReady(const PoolStatusView& pool);

inline constexpr std::size_t kPhaseColumn = 1;  // in PoolTable
// `wide` adds columns. It adds column SERVICE only if a pool has a Service. The table has at most `most` rows.
Table PoolTable(const Json& daemon, bool wide, WallTime now, std::size_t most);

Table DaemonTable(const std::vector<Json>& daemons, bool with_namespace, bool wide, WallTime now);

// Counts pools by phase, and returns the counts as "28 Ready, 2 Offline". Skips the first `first` pools of PoolsOf.
std::string CountPhases(const Json& daemon, std::size_t first);

}  // namespace yad

#endif  // PLUGIN_VIEW_POOL_TABLE_H_
