// Maps events to passes of the autoscaler.
#ifndef OPERATOR_CAPACITY_WIRING_H_
#define OPERATOR_CAPACITY_WIRING_H_

#include <memory>

#include "operator/capacity/capacity_reconciler.h"
#include "operator/client/client.h"
#include "operator/runtime/event_recorder.h"
#include "operator/runtime/manager.h"

namespace yad {

// Adds informers and the controller `nodepool-autoscaler` to the manager. `client` and `events` must outlive its Run.
// Returns the reconciler, for access to its plans.
std::shared_ptr<const CapacityReconciler> AddCapacityController(Manager& manager, Client& client, EventSink& events,
                                                                Duration resync);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_WIRING_H_
