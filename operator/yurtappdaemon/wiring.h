// Which events lead to which daemon: the informers, predicates and handlers of the YurtAppDaemon controller, as one
// table.
#ifndef OPERATOR_YURTAPPDAEMON_WIRING_H_
#define OPERATOR_YURTAPPDAEMON_WIRING_H_

#include <memory>
#include <optional>
#include <string>

#include "operator/client/client.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/manager.h"
#include "operator/yurtappdaemon/reconciler.h"

namespace yad {

struct YurtAppDaemonOptions {
  std::string ns;   // "" for all namespaces
  int workers = 4;  // daemons reconciled side by side
  std::optional<RemovalLimit> max_removals;
};

// Adds informers and the controller to the manager; `client` and `events` must outlive its Run. Returns what the
// informers keep, for others who want to read it; it lives as long as the manager.
ReconcilerStores AddYurtAppDaemonController(Manager& manager, Client& client, EventSink& events,
                                            const YurtAppDaemonOptions& options);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_WIRING_H_
