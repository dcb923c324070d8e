// Follows the cluster for the page: the YurtAppDaemons, the NodePools, the freeze, and the workloads of the daemons
// that a browser shows.
#ifndef PLUGIN_DASHBOARD_LIVE_H_
#define PLUGIN_DASHBOARD_LIVE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "plugin/dashboard/daemon_model.h"
#include "plugin/dashboard/http_server.h"

namespace yad {

struct LiveOptions {
  std::string context;         // of the kubeconfig; the page shows it
  std::string ns;              // "": all namespaces
  std::string operator_ns;     // "": not known
  std::string freeze_warning;  // the reason why operator_ns is not known
};

// Thread-safe. Internal threads watch from construction to destruction. `client` must outlive this object; feeds may
// outlive it, and then have no events.
class Live {
 public:
  // `changed` is called on an internal thread, at most once per second, when feeds have new events.
  Live(Client& client, LiveOptions options, std::function<void()> changed, Clock& clock = Clock::Real());
  ~Live();

  // Returns a stream of the fleet and, if `daemon` is set, of this daemon.
  std::unique_ptr<EventFeed> Open(const std::optional<ObjectKey>& daemon);
  // Returns the state of a daemon, and follows the daemon from now on. Returns null if the state is not known within
  // `timeout`.
  ShownDaemonPtr StateOf(const ObjectKey& daemon, Duration timeout);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_LIVE_H_
