// One YurtAppDaemon as the page gets it, and the changes between two states. Pure.
#ifndef PLUGIN_DASHBOARD_DAEMON_MODEL_H_
#define PLUGIN_DASHBOARD_DAEMON_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "plugin/dashboard/daemon_timeline.h"
#include "plugin/dashboard/pool_model.h"

namespace yad {

struct DaemonInput {
  Json object;                               // the YurtAppDaemon
  const PlannedSnapshot* planned = nullptr;  // null: something can't be read, or the spec is invalid
  std::vector<std::string> warnings;         // the reasons why `planned` is null
  std::vector<TimelineEntry> timeline;       // newest first
  WallTime now;
};

// The state of one daemon at a moment. Immutable; states share unchanged pools.
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

// `before` may be null.
ShownDaemonPtr MakeShownDaemon(const DaemonInput& input, const std::vector<PoolFacts>& pools,
                               const ShownDaemon* before);

// Returns the data of event `pools` that leads from one state to the next; "" if there is no change. `before` is null
// for a client that has no state yet.
std::string PoolsChange(const ShownDaemon* before, const ShownDaemon& after);

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_DAEMON_MODEL_H_
