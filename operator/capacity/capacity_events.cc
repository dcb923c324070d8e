#include "operator/capacity/capacity_events.h"

#include <algorithm>
#include <span>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"
#include "operator/base/log.h"
#include "operator/base/metrics.h"
#include "operator/capacity/capacity_status.h"

namespace yad {
namespace {

constexpr char kNodes[] = "nodepool_autoscaler_nodes";
constexpr char kWaiting[] = "nodepool_autoscaler_waiting_pods";

ObjectReference Regarding(const NodePoolAutoscaler& autoscaler) {
  return ReferenceTo(kNodePoolAutoscalerType, autoscaler.meta);
}

ObjectReference Regarding(const Node& node) { return ReferenceTo(kNodeType, node.meta); }

std::string Words(const StringMap& labels) {
  std::string text;
  for (const auto& [key, value] : labels) text += (text.empty() ? "" : ",") + key + "=" + value;
  return text;
}

metrics::Counter& Moves(const std::string& pool, const char* move) {
  return metrics::GetCounter("nodepool_autoscaler_moves_total",
                             "Leases, releases and quarantines of Nodes, by kind (label move).",
                             {{"pool", pool}, {"move", move}});
}

}  // namespace

void CapacityEvents::Leased(const NodePoolAutoscaler& autoscaler, const CapacityPlan::Lease& lease) const {
  std::vector<std::string> pods;
  for (const Pod* pod : lease.pods) pods.push_back(pod->key.ToString());
  const std::string reason = pods.empty() ? "standby " + lease.standby : NameSome(pods);
  log::Info("leased a node",
            {{"nodepool", autoscaler.node_pool}, {"node", lease.node->meta.key.name}, {"for", reason}});
  events_.Record(Regarding(autoscaler), EventType::kNormal, "NodeLeased", "Lease",
                 "leased Node " + lease.node->meta.key.name + " for " + reason);
  for (const Pod* pod : lease.pods) Expected(*pod, *lease.node);
  Moves(autoscaler.node_pool, "leased").Increment();
}

void CapacityEvents::Expected(const Pod& pod, const Node& node) const {
  events_.Record({kPodType.ApiVersion(), kPodType.kind, pod.key, pod.uid, ""}, EventType::kNormal, "WaitingForNode",
                 "Lease", "Node " + node.meta.key.name + " is expected to run this pod");
}

void CapacityEvents::Released(const NodePoolAutoscaler& autoscaler, const Node& node,
                              const std::string& quarantine) const {
  const std::string& pool = autoscaler.node_pool;
  log::Info("released a node", {{"nodepool", pool}, {"node", node.meta.key.name}, {"quarantine", quarantine}});
  const std::string note = "released Node " + node.meta.key.name;
  // The placeholder for a deleted autoscaler has no uid, so it can't have Events.
  if (!autoscaler.meta.uid.empty())
    events_.Record(Regarding(autoscaler), EventType::kNormal, "NodeReleased", "Release", note);
  events_.Record(Regarding(node), EventType::kNormal, "NodeReleased", "Release", "released by NodePool " + pool);
  Moves(pool, "released").Increment();
  if (quarantine.empty()) return;
  events_.Record(Regarding(node), EventType::kWarning, "NodeQuarantined", "Release",
                 "the Node is in quarantine (" + quarantine + "): to make it free again, remove annotation " +
                     kQuarantineAnnotation);
  Moves(pool, "quarantined").Increment();
}

void CapacityEvents::Short(const NodePoolAutoscaler& autoscaler, const CapacityPlan& plan) const {
  // Status stores only the first kMaxShortages shortages. Each plan would report any further shortage as new.
  const std::size_t shown = std::min(plan.shortages.size(), kMaxShortages);
  for (const Shortage& shortage : std::span(plan.shortages).first(shown)) {
    const bool known =
        std::any_of(autoscaler.shortages.begin(), autoscaler.shortages.end(), [&](const Shortage& before) {
          return before.requirements == shortage.requirements && before.reason == shortage.reason;
        });
    if (known || shortage.reason == shortage_reason::kManual || shortage.reason == shortage_reason::kDraining) continue;
    const bool of_standby =
        std::any_of(autoscaler.standby.begin(), autoscaler.standby.end(),
                    [&](const Standby& standby) { return standby.node_selector == shortage.requirements; });
    const std::string standby = of_standby ? "the standby: " : "";
    const std::string who = shortage.pods.empty() ? standby : NameSome(shortage.pods) + ": ";
    std::string what = shortage.requirements.empty()
                           ? "no free node fits"
                           : "no free node with labels " + Words(shortage.requirements) + " fits";
    if (shortage.reason == shortage_reason::kJoinTimeout) what = "a leased node did not become Ready in time";
    if (shortage.reason == shortage_reason::kUnschedulable)
      what = "the scheduler does not use the leased node; see the Events of the pods";
    if (shortage.reason == shortage_reason::kMaxNodes) what = "spec.maxNodes is reached";
    if (shortage.reason == shortage_reason::kStopped)
      what = "the autoscaler does not lease nodes now: see condition Ready";
    events_.Record(Regarding(autoscaler), EventType::kWarning, "NoCapacity", "Lease", who + what);
  }
}

void CapacityEvents::Rejected(const NodePoolAutoscaler& autoscaler, const std::string& reason,
                              const std::string& message) const {
  log::Warn("NodePoolAutoscaler is not Ready",
            {{"name", autoscaler.meta.key.name}, {"reason", reason}, {"why", message}});
  events_.Record(Regarding(autoscaler), EventType::kWarning, reason, "Plan", message);
}

void CapacityEvents::NodeRejected(const NodePoolAutoscaler& autoscaler, const std::string& message) const {
  log::Warn("the server rejected a write to a Node; retrying in ten minutes",
            {{"nodepool", autoscaler.node_pool}, {"why", message}});
  if (!autoscaler.meta.uid.empty())
    events_.Record(Regarding(autoscaler), EventType::kWarning, kLabelChangeRefused, "Plan", message);
}

void CapacityEvents::ReportInvalidLease(const Node& node, const std::string& fault) const {
  log::Warn("ignored a Node, because its lease annotation is invalid",
            {{"node", node.meta.key.name}, {"error", fault}});
  events_.Record(
      Regarding(node), EventType::kWarning, "InvalidLease", "Plan",
      std::string("annotation ") + kLeaseAnnotation + " is invalid (" + fault +
          "), so the operator does not change the Node. To make the Node free again, remove the annotation and "
          "the pool's label");
}

void CapacityEvents::Show(const std::string& autoscaler, const CapacityPlan& plan) {
  for (const CapacityCounter& counter : kCapacityCounters) {
    metrics::GetGauge(kNodes, "Nodes of a NodePoolAutoscaler by state.",
                      {{"name", autoscaler}, {"state", counter.metric}})
        .Set(plan.*counter.count);
  }
  std::size_t waiting = 0;
  for (const Shortage& shortage : plan.shortages) waiting += shortage.pods.size();
  metrics::GetGauge(kWaiting, "Waiting pods for which a NodePoolAutoscaler has no node.", {{"name", autoscaler}})
      .Set(static_cast<double>(waiting));
}

void CapacityEvents::Forget(const std::string& autoscaler) {
  for (const CapacityCounter& counter : kCapacityCounters)
    metrics::Remove(kNodes, {{"name", autoscaler}, {"state", counter.metric}});
  metrics::Remove(kWaiting, {{"name", autoscaler}});
}

}  // namespace yad
