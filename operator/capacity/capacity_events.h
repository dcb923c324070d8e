// Reports the actions of the autoscaler in Events and metrics.
#ifndef OPERATOR_CAPACITY_CAPACITY_EVENTS_H_
#define OPERATOR_CAPACITY_CAPACITY_EVENTS_H_

#include <string>

#include "operator/capacity/planner.h"
#include "operator/runtime/event_recorder.h"

namespace yad {

// Thread-safe.
class CapacityEvents {
 public:
  explicit CapacityEvents(EventSink& events) : events_(events) {}

  // Reports that the pool has leased a node. Each pod of the lease gets an Event that names the node.
  void Leased(const NodePoolAutoscaler& autoscaler, const CapacityPlan::Lease& lease) const;
  // Reports on `pod` that `node` is to take it. Callers use it for nodes that the pool had already; Leased covers new
  // ones.
  void Expected(const Pod& pod, const Node& node) const;
  // `quarantine` is the reason to keep the node out of the inventory; "" if it returns there.
  void Released(const NodePoolAutoscaler& autoscaler, const Node& node, const std::string& quarantine) const;
  // Reports the shortages of the plan that status did not contain before, except those of modes Manual and Drain.
  void Short(const NodePoolAutoscaler& autoscaler, const CapacityPlan& plan) const;
  // Reports a refusal. Callers report only a refusal that status did not contain before.
  void Refused(const NodePoolAutoscaler& autoscaler, const std::string& reason, const std::string& message) const;
  // Reports a lease annotation that can't be parsed, because another actor wrote it.
  void Junk(const Node& node, const std::string& fault) const;

  static void Show(const std::string& autoscaler, const CapacityPlan& plan);
  static void Forget(const std::string& autoscaler);

 private:
  EventSink& events_;
};

}  // namespace yad

#endif  // OPERATOR_CAPACITY_CAPACITY_EVENTS_H_
