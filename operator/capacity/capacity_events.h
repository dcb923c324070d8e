// What the autoscaler tells in Events and metrics.
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

  // A node is the pool's now, and its pods are told that it is on its way.
  void Leased(const NodePoolAutoscaler& autoscaler, const CapacityPlan::Lease& lease) const;
  // A node that was there already is to take the pod.
  void Expected(const Pod& pod, const Node& node) const;
  // `quarantine`: "" where it goes back to the inventory.
  void Released(const NodePoolAutoscaler& autoscaler, const Node& node, const std::string& quarantine) const;
  // Of those shortages that status did not tell before.
  void Short(const NodePoolAutoscaler& autoscaler, const CapacityPlan& plan) const;
  // Of a refusal that status did not tell before.
  void Refused(const NodePoolAutoscaler& autoscaler, const std::string& reason, const std::string& message) const;
  // Somebody wrote into the annotation.
  void Junk(const Node& node, const std::string& fault) const;

  static void Show(const std::string& autoscaler, const CapacityPlan& plan);
  static void Forget(const std::string& autoscaler);

 private:
  EventSink& events_;
};

}  // namespace yad

#endif  // OPERATOR_CAPACITY_CAPACITY_EVENTS_H_
