// NodePoolAutoscaler (capacity.openyurt.io/v1alpha1): the spare nodes that a pool may lease, and the rules for leases.
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
  kManual,  // reports shortages; neither leases nor releases nodes
  kDrain,   // leases nothing; releases idle nodes
};

// Nodes that are kept idle, so that new pods can start immediately.
struct Standby {
  std::string name;
  StringMap node_selector;  // labels of the nodes
  int count = 0;

  bool Matches(const StringMap& labels) const;
};

// Pods (or a standby) that got no node, as status records them. The planner has no other memory of earlier plans.
struct Shortage {
  StringMap requirements;         // labels that a node must have
  std::vector<std::string> pods;  // namespace/name, sorted; empty for a standby
  std::string reason;             // one of shortage_reason
  WallTime since;
  WallTime retry_at;  // the epoch: every pass retries

  bool operator==(const Shortage&) const = default;
};

namespace shortage_reason {
inline constexpr char kNoCapacity[] = "NoCapacity";    // no free node fits
inline constexpr char kJoinTimeout[] = "JoinTimeout";  // a leased node did not become Ready
// The pod has a node, but the scheduler does not place the pod there.
inline constexpr char kUnschedulable[] = "Unschedulable";
inline constexpr char kMaxNodes[] = "MaxNodes";
inline constexpr char kManual[] = "Manual";
inline constexpr char kDraining[] = "Draining";
inline constexpr char kStopped[] = "Stopped";  // the conditions of the autoscaler contain the reason
}  // namespace shortage_reason

struct NodePoolAutoscaler {
  ObjectMeta meta;
  std::string node_pool;
  CapacityMode mode = CapacityMode::kAuto;
  LabelSelector inventory;
  Json inventory_selector;  // as it was written in the spec
  int min_nodes = 0;
  int max_nodes = 0;  // 0: no limit
  bool one_node_per_pod = false;
  std::vector<Standby> standby;
  std::chrono::seconds pending{10};
  int max_leases = 10;  // per cycle
  std::chrono::seconds join_timeout{300};
  std::chrono::seconds retry_after{180};
  std::chrono::seconds idle{600};
  std::chrono::seconds unhealthy{90};
  int max_releases = 1;     // per cycle
  bool quarantine = false;  // released nodes are not in the inventory until a user removes the quarantine
  std::vector<Shortage> shortages;
  Json status;  // the last written status; null if there is none
};

// Returns all faults of the spec that can be found without the cluster; empty if the spec is valid. Pure.
FieldErrors ValidateNodePoolAutoscaler(const Json& object);
// Returns the faults of an update: changes of immutable fields.
FieldErrors ValidateNodePoolAutoscalerUpdate(const Json& object, const Json& old_object);
// Fails with kInvalid and causes if the spec has faults. Malformed parts of the status, which another writer may have
// changed, are ignored.
Result<NodePoolAutoscaler> ParseNodePoolAutoscaler(const Json& object);

Json ToJson(const Shortage& shortage);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_AUTOSCALER_H_
