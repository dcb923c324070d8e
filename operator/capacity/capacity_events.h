// Reports the actions of the autoscaler in Events and metrics.
#ifndef OPERATOR_CAPACITY_CAPACITY_EVENTS_H_
#define OPERATOR_CAPACITY_CAPACITY_EVENTS_H_

#include <string>

#include "operator/capacity/capacity_plan.h"
#include "operator/runtime/event_recorder.h"

namespace yad {

// Thread-safe.
class CapacityEvents {
 public:
  explicit CapacityEvents(EventSink& events) : events_(events) {}

  // Reports that the pool has leased a node. Each pod of the lease gets an Event that names the node.
  void Leased(const NodePoolAutoscaler& autoscaler, const CapacityPlan::Lease& lease) const;
  // Emits an Event about `pod`: the plan expects the pod on `node`. Must not be called for a node that the plan leases,
  // because Leased reports that node.
  void Expected(const Pod& pod, const Node& node) const;
  // Reports that the pool has released a node. `quarantine` is the reason why the node is in quarantine now; "" if it
  // is in the inventory again.
  void Released(const NodePoolAutoscaler& autoscaler, const Node& node, const std::string& quarantine) const;
  // Reports the shortages of the plan that are not yet in status, except those of modes Manual and Drain.
  void Short(const NodePoolAutoscaler& autoscaler, const CapacityPlan& plan) const;
  // Reports why the autoscaler does not do what its mode requires. Must be called only if status does not have `reason`
  // yet.
  void Refused(const NodePoolAutoscaler& autoscaler, const std::string& reason, const std::string& message) const;
  // Reports a lease annotation that can't be parsed. Another actor has written it.
  void Junk(const Node& node, const std::string& fault) const;

  static void Show(const std::string& autoscaler, const CapacityPlan& plan);
  static void Forget(const std::string& autoscaler);

 private:
  EventSink& events_;
};

}  // namespace yad

#endif  // OPERATOR_CAPACITY_CAPACITY_EVENTS_H_
