// The NodePoolAutoscaler resource (capacity.openyurt.io/v1alpha1), which lets a NodePool lease spare nodes.
#ifndef OPERATOR_CAPACITY_AUTOSCALER_H_
#define OPERATOR_CAPACITY_AUTOSCALER_H_

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/api/field_error.h"
#include "operator/api/label_selector.h"
#include "operator/api/object.h"
#include "operator/base/clock.h"
#include "operator/base/error.h"

namespace yad {

inline const ResourceType kNodePoolAutoscalerType{"capacity.openyurt.io", "v1alpha1", "nodepoolautoscalers",
                                                  "NodePoolAutoscaler", false};

enum class CapacityMode {
  kAuto,
  kManual,  // only reports shortages
  kDrain,   // does not lease nodes, and releases idle nodes
};

// Nodes that are kept idle, so that new pods can start immediately.
struct Standby {
  std::string name;
  StringMap node_selector;  // labels that the nodes must have
  int count = 0;

  bool Matches(const StringMap& labels) const;
};

// A group of pods, or a standby, for which there is no node. Status stores the shortages for later plans.
struct Shortage {
  StringMap requirements;         // labels that a node must have
  std::vector<std::string> pods;  // namespace/name, sorted; empty for a standby
  std::string reason;             // one of shortage_reason
  WallTime since;
  WallTime retry_at;  // the time of the next try; the epoch: each pass tries

  bool operator==(const Shortage&) const = default;
};

namespace shortage_reason {
inline constexpr char kNoCapacity[] = "NoCapacity";    // no free node fits
inline constexpr char kJoinTimeout[] = "JoinTimeout";  // a leased node did not become Ready in time
// A node is reserved for the pod, but the scheduler does not bind the pod to that node.
inline constexpr char kUnschedulable[] = "Unschedulable";
inline constexpr char kMaxNodes[] = "MaxNodes";
inline constexpr char kManual[] = "Manual";
inline constexpr char kDraining[] = "Draining";
inline constexpr char kStopped[] = "Stopped";  // the autoscaler is not Ready; condition Ready has the cause
}  // namespace shortage_reason

struct NodePoolAutoscaler {
  ObjectMeta meta;
  std::string node_pool;
  CapacityMode mode = CapacityMode::kAuto;
  LabelSelector inventory;
  Json inventory_selector;  // spec.inventorySelector as JSON
  int min_nodes = 0;
  int max_nodes = 0;  // 0: no limit
  bool one_node_per_pod = false;
  std::vector<Standby> standby;
  std::chrono::seconds pending{10};
  int max_leases = 10;  // in one pass (spec.scaleUp.maxPerCycle)
  std::chrono::seconds join_timeout{300};
  std::chrono::seconds retry_after{180};
  std::chrono::seconds idle{600};
  std::chrono::seconds unhealthy{90};
  int max_releases = 1;     // in one pass (spec.scaleDown.maxPerCycle)
  bool quarantine = false;  // released nodes stay unused until a user removes an annotation
  std::vector<Shortage> shortages;
  Json status;  // the last written status; null if it was never written
};

// Returns all errors of the spec, or an empty list if the spec is valid. Does not read from the cluster.
FieldErrors ValidateNodePoolAutoscaler(const Json& object);
// Returns an error if the update changes spec.nodePool, which is immutable.
FieldErrors ValidateNodePoolAutoscalerUpdate(const Json& object, const Json& old_object);
// Fails with kInvalid if the spec is invalid. Ignores malformed parts of the status, because another client may have
// written them.
Result<NodePoolAutoscaler> ParseNodePoolAutoscaler(const Json& object);

Json ToJson(const Shortage& shortage);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_AUTOSCALER_H_
