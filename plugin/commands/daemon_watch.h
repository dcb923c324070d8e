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

// The interval at which a screen that is watched is painted without a change, because it shows ages.
inline constexpr Duration kAgePeriod = std::chrono::seconds(1);

// From construction to destruction, an internal thread reads and watches, and reconnects after failures. Used by one
// other thread. `client` must outlive this object.
class DaemonWatch {
 public:
  // Watches all daemons of a namespace ("" for all namespaces), or the one with this name.
  DaemonWatch(Client& client, const std::string& ns, const std::string& name = "");
  ~DaemonWatch();

  // Blocks until there has been a change since the last call, or until `end`. There is no change before the first list.
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
