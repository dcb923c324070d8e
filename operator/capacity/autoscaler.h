// NodePoolAutoscaler (capacity.openyurt.io/v1alpha1): which spare nodes a pool may lease, and when.
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
  kManual,  // says what is short, leases and gives back nothing
  kDrain,   // leases nothing, gives back what idles
};

// Nodes that are to idle, so that pods find them at once.
struct Standby {
  std::string name;
  StringMap node_selector;  // of labels
  int count = 0;

  bool Matches(const StringMap& labels) const;
};

// Pods (or a standby) that got no node, as status keeps it: a planner remembers nothing else.
struct Shortage {
  StringMap requirements;         // labels that a node would have to have
  std::vector<std::string> pods;  // namespace/name, sorted; none: a standby's
  std::string reason;             // a word of shortage_reason
  WallTime since;
  WallTime retry_at;  // the epoch: it is tried all the time

  bool operator==(const Shortage&) const = default;
};

namespace shortage_reason {
inline constexpr char kNoCapacity[] = "NoCapacity";        // no free node fits
inline constexpr char kJoinTimeout[] = "JoinTimeout";      // a leased node did not become Ready
inline constexpr char kUnschedulable[] = "Unschedulable";  // it has a node, and still the scheduler places it nowhere
inline constexpr char kMaxNodes[] = "MaxNodes";
inline constexpr char kManual[] = "Manual";
inline constexpr char kDraining[] = "Draining";
inline constexpr char kStopped[] = "Stopped";  // the autoscaler's conditions say why
}  // namespace shortage_reason

struct NodePoolAutoscaler {
  ObjectMeta meta;
  std::string node_pool;
  CapacityMode mode = CapacityMode::kAuto;
  LabelSelector inventory;
  Json inventory_selector;  // as written
  int min_nodes = 0;
  int max_nodes = 0;  // 0: no limit
  bool one_node_per_pod = false;
  std::vector<Standby> standby;
  std::chrono::seconds pending{10};
  int max_leases = 10;  // in one cycle
  std::chrono::seconds join_timeout{300};
  std::chrono::seconds retry_after{180};
  std::chrono::seconds idle{600};
  std::chrono::seconds unhealthy{90};
  int max_releases = 1;     // in one cycle
  bool quarantine = false;  // what is given back stays out of the inventory, until a person clears it
  std::vector<Shortage> shortages;
  Json status;  // as last written; null where there is none
};

// Every fault of the spec that can be told without the cluster. Empty: good. Pure.
FieldErrors ValidateNodePoolAutoscaler(const Json& object);
// What an update may not change.
FieldErrors ValidateNodePoolAutoscalerUpdate(const Json& object, const Json& old_object);
// Faults come back as kInvalid with causes. A status of somebody else's making is read as far as it goes.
Result<NodePoolAutoscaler> ParseNodePoolAutoscaler(const Json& object);

Json ToJson(const Shortage& shortage);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_AUTOSCALER_H_
