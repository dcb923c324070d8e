// Watches YurtAppDaemons.
#ifndef PLUGIN_COMMANDS_DAEMON_WATCH_H_
#define PLUGIN_COMMANDS_DAEMON_WATCH_H_

#include <condition_variable>
#include <mutex>
#include <ostream>
#include <string>
#include <vector>

#include "operator/base/error.h"
#include "operator/client/client.h"
#include "plugin/commands/running_reflector.h"

namespace yad {

// Fails if the user may not list or watch these daemons. Callers check this before they make a DaemonWatch, which would
// retry a forbidden request forever.
Status CheckWatchPermissions(Client& client, const std::string& ns, const std::string& name);

// The interval at which a watched screen is redrawn even if no object changes, because it shows ages.
inline constexpr Duration kAgePeriod = std::chrono::seconds(1);

// Keeps a list of daemons up to date. Watches on its own thread, from construction to destruction.
// - Reconnects after failures. Ends only if etcd was restored from a backup, or if the server is now another cluster.
// - Only one thread may call the functions. `client` must outlive this object.
class DaemonWatch {
 public:
  // Watches all daemons of a namespace ("" for all namespaces), or only the daemon with this name.
  DaemonWatch(Client& client, const std::string& ns, const std::string& name = "");

  // Blocks until an object has changed since the last call, or until `end`. Fails if the watch has ended.
  Status Wait(SteadyTime end);
  // Returns the error of the watch, or "" if the watch works. After an error, Daemons() may be out of date.
  std::string error() const { return reflector_.error(); }
  bool synced() const { return reflector_.synced(); }
  std::vector<Json> Daemons() const;  // sorted by namespace and name

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool news_ = false;  // guarded by mutex_
  RunningReflector reflector_;
};

// Prints a warning each time the watch begins to fail, because the output then shows old data. Used if the output is
// not a terminal.
class WatchErrorWarning {
 public:
  void Print(const std::string& error, std::ostream& err);

 private:
  bool printed_ = false;
};

}  // namespace yad

#endif  // PLUGIN_COMMANDS_DAEMON_WATCH_H_
