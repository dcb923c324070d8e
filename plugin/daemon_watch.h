// YurtAppDaemons as they change.
#ifndef PLUGIN_DAEMON_WATCH_H_
#define PLUGIN_DAEMON_WATCH_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "operator/client/client.h"
#include "operator/runtime/informer.h"

namespace yad {

// Reads and watches on a thread of its own from construction to destruction, and reconnects by itself. One other thread
// uses it. `client` must outlive it.
class DaemonWatch {
 public:
  // Those of a namespace ("": of all), or the one with this name.
  DaemonWatch(Client& client, const std::string& ns, const std::string& name = "");
  ~DaemonWatch();

  // Waits until something has changed since the last call, or until `end`. Before the first list nothing has.
  void Wait(SteadyTime end);
  bool synced() const { return informer_.synced(); }
  std::vector<Json> Daemons() const;  // by namespace and name

 private:
  Informer informer_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool news_ = false;
  std::jthread thread_;
};

}  // namespace yad

#endif  // PLUGIN_DAEMON_WATCH_H_
