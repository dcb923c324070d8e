// Watches YurtAppDaemons.
#ifndef PLUGIN_COMMANDS_DAEMON_WATCH_H_
#define PLUGIN_COMMANDS_DAEMON_WATCH_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "operator/client/client.h"
#include "operator/runtime/informer.h"

namespace yad {

// A watched screen shows ages, so it is redrawn at this interval even if no object changes.
inline constexpr Duration kAgePeriod = std::chrono::seconds(1);

// Watches in a thread of its own, from construction to destruction. Reconnects after failures. Only one thread may call
// the functions. `client` must outlive this object.
class DaemonWatch {
 public:
  // Watches all daemons of a namespace ("" for all namespaces), or the one with this name.
  DaemonWatch(Client& client, const std::string& ns, const std::string& name = "");
  ~DaemonWatch();

  // Blocks until an object has changed since the last call, or until `end`.
  void Wait(SteadyTime end);
  bool synced() const { return informer_.synced(); }
  std::vector<Json> Daemons() const;  // sorted by namespace and name

 private:
  Informer informer_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool news_ = false;
  std::jthread thread_;
};

}  // namespace yad

#endif  // PLUGIN_COMMANDS_DAEMON_WATCH_H_
