// The informers of the YurtAppDaemon controller, and the predicates and handlers that decide which events cause a
// reconcile.
#ifndef OPERATOR_YURTAPPDAEMON_WIRING_H_
#define OPERATOR_YURTAPPDAEMON_WIRING_H_

#include <optional>
#include <string>

#include "operator/client/client.h"
#include "operator/prometheus/client.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/manager.h"
#include "operator/yurtappdaemon/reconciler.h"

namespace yad {

struct YurtAppDaemonOptions {
  std::string ns;                          // "" for all namespaces
  std::string freeze_ns;                   // the namespace of the ConfigMap that freezes updates; "": it is not read
  PrometheusClient* prometheus = nullptr;  // must outlive the manager; null: checks with Prometheus can't run
  std::string prefetch_image = kDefaultPrefetchImage;
  int workers = 4;  // number of daemons that are reconciled in parallel
  // The maximum number or percentage of pools whose workloads may be deleted together. If more have to be deleted, the
  // deletion waits until a user allows it. nullopt: no limit.
  std::optional<IntOrPercent> max_removals;
  RolloutListeners listeners;
};

// Adds the informers and the controller to the manager, before Manager::Run. Returns the stores of the informers, which
// live as long as the manager. `client` and `events` must outlive Run.
ReconcilerStores AddYurtAppDaemonController(Manager& manager, Client& client, EventSink& events,
                                            const YurtAppDaemonOptions& options);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_WIRING_H_
