// Prepares the data of one YurtAppDaemon for the page, and the changes between two states. Pure.
#ifndef PLUGIN_DASHBOARD_DAEMON_MODEL_H_
#define PLUGIN_DASHBOARD_DAEMON_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugin/dashboard/daemon_timeline.h"
#include "plugin/dashboard/pool_model.h"

namespace yad {

struct DaemonInput {
  Json object;                               // the YurtAppDaemon
  const PlannedSnapshot* planned = nullptr;  // null: an object can't be read, or the spec is invalid
  std::vector<std::string> warnings;         // the reasons why `planned` is null
  std::vector<TimelineEntry> timeline;       // newest first
  std::int64_t undo_to = 0;  // the number of the revision that an undo restores; 0: no revision, or unknown
  WallTime now;
};

// The state of one daemon as the page shows it. A state is immutable, so successive states share the pools that do not
// change.
struct ShownDaemon {
  struct Pool {
    PoolFacts facts;
    std::string group;  // its name
    std::string json;
  };
  bool gone = false;  // the daemon does not exist
  std::string head;   // the daemon without its pools, as JSON
  std::vector<std::shared_ptr<const Pool>> pools;
};
using ShownDaemonPtr = std::shared_ptr<const ShownDaemon>;

// Makes a state. Shares the unchanged pools of `before`, the previous state, which may be null.
ShownDaemonPtr MakeShownDaemon(const DaemonInput& input, const std::vector<PoolFacts>& pools,
                               const ShownDaemon* before);

// Returns the data of the event `pools` that updates a page from `before` to `after`; "" if no pool has changed.
// `before` is null for a page that has no state yet.
std::string PoolsChange(const ShownDaemon* before, const ShownDaemon& after);

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_DAEMON_MODEL_H_
