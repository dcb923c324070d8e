// Watches YurtAppDaemons and shows them.
#ifndef PLUGIN_COMMANDS_DAEMON_WATCH_H_
#define PLUGIN_COMMANDS_DAEMON_WATCH_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/error.h"
#include "plugin/commands/commands.h"

namespace yad {

// Shows the daemons, sorted by namespace and name. `screen` is the terminal, or nullopt if the output is not a
// terminal. `not_live` is the error of the watch; "" if the watch works. After an error, the daemons may be out of
// date. Returns the exit code if the command ends, or nullopt.
using ShowDaemons = std::function<std::optional<int>(const std::vector<Json>& daemons,
                                                     const std::optional<Screen>& screen, const std::string& not_live)>;

// Calls `show` with `daemons`, and again after each change, each second, and at `end`. Watches the session's daemon, or
// all daemons of the namespace ("" for all namespaces) if the session has none. Returns the result of `show` if it has
// one. If the output can't be written, returns kDone, and RunPlugin reports the error.
// - Fails if the user may not list or watch the daemons, or if the session's daemon has been deleted.
// - Reconnects after failures. If the output is not a terminal, prints a warning each time the watch begins to fail.
//   Fails only if etcd was restored from a backup, or if the server is now another cluster.
Result<int> WatchDaemons(Session& session, const std::string& ns, std::vector<Json> daemons, SteadyTime end,
                         const ShowDaemons& show);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_DAEMON_WATCH_H_
