// Watches the objects that the page shows: the YurtAppDaemons, the NodePools, the freeze, and the workloads of the
// daemons that are open in a browser.
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
  std::string context;              // of the kubeconfig; the page shows it
  std::string ns;                   // "": all namespaces
  Result<std::string> operator_ns;  // an error if it is not known
};

// Thread-safe. Internal threads watch from construction to destruction. `client` must outlive this object. A feed may
// outlive this object, but then has no more events.
class Live {
 public:
  // `changed` is called on an internal thread, at most once per second, when feeds have new events.
  Live(Client& client, LiveOptions options, std::function<void()> changed, Clock& clock = Clock::Real());
  ~Live();

  // Returns a stream of events about the list of daemons. If `daemon` is set, the stream also has the details of this
  // daemon.
  std::unique_ptr<EventFeed> Open(const std::optional<ObjectKey>& daemon);
  // Returns the state of a daemon, and watches its objects from now on. Returns null if the state is not known within
  // `timeout`.
  ShownDaemonPtr StateOf(const ObjectKey& daemon, Duration timeout);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_LIVE_H_
