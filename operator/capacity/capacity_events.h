// Reports the actions of the autoscaler in Events and metrics.
#ifndef OPERATOR_CAPACITY_CAPACITY_EVENTS_H_
#define OPERATOR_CAPACITY_CAPACITY_EVENTS_H_

#include <string>

#include "operator/capacity/capacity_plan.h"
#include "operator/runtime/event_recorder.h"

namespace yad {

// A reason of condition Ready, and of an Event.
inline constexpr char kLabelChangeRefused[] = "LabelChangeRefused";

// Thread-safe.
class CapacityEvents {
 public:
  explicit CapacityEvents(EventSink& events) : events_(events) {}

  // Reports that the pool has leased a node. Calls Expected for each pod of the lease.
  void Leased(const NodePoolAutoscaler& autoscaler, const CapacityPlan::Lease& lease) const;
  // Emits an Event that names the node on which the pod will run.
  void Expected(const Pod& pod, const Node& node) const;
  // Reports that the pool has released a node. `quarantine` is the reason of its quarantine, or "" if it has none.
  void Released(const NodePoolAutoscaler& autoscaler, const Node& node, const std::string& quarantine) const;
  // Reports the shortages that this plan adds to the status, except shortages with reason Manual or Draining.
  void Short(const NodePoolAutoscaler& autoscaler, const CapacityPlan& plan) const;
  // Reports why the autoscaler is not Ready. Each call emits an Event, so call it only when the reason changes.
  void Rejected(const NodePoolAutoscaler& autoscaler, const std::string& reason, const std::string& message) const;
  // Reports that the server rejected a write to the node.
  void NodeRejected(const NodePoolAutoscaler& autoscaler, const std::string& message) const;
  // Reports a node whose lease annotation can't be parsed.
  void ReportInvalidLease(const Node& node, const std::string& fault) const;

  // Set and remove the metrics of the autoscaler.
  static void Show(const std::string& autoscaler, const CapacityPlan& plan);
  static void Forget(const std::string& autoscaler);

 private:
  EventSink& events_;
};

}  // namespace yad

#endif  // OPERATOR_CAPACITY_CAPACITY_EVENTS_H_
