// Connects the autoscaler to the informers of the manager.
#ifndef OPERATOR_CAPACITY_WIRING_H_
#define OPERATOR_CAPACITY_WIRING_H_

#include <memory>

#include "operator/capacity/capacity_reconciler.h"
#include "operator/client/client.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/manager.h"

namespace yad {

// Adds the controller `nodepool-autoscaler` and its informers to the manager. `client` and `events` must outlive the
// manager's Run. The returned reconciler serves /debug/capacity.
std::shared_ptr<const CapacityReconciler> AddCapacityController(Manager& manager, Client& client, EventSink& events,
                                                                Duration resync);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_WIRING_H_
