// Typed view of a Node.
#ifndef OPERATOR_API_NODE_H_
#define OPERATOR_API_NODE_H_

#include <array>
#include <map>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/api/resources.h"
#include "operator/base/clock.h"

namespace yad {

struct NodeTaint {
  std::string key;
  std::string value;
  std::string effect;
  std::string time_added = {};  // RFC 3339; "" if not set; operator== ignores it

  bool operator==(const NodeTaint& other) const {
    return key == other.key && value == other.value && effect == other.effect;
  }
};

// Reads a list of taints. Skips malformed ones.
std::vector<NodeTaint> ParseTaints(const Json& list);
Json ToJson(const NodeTaint& taint);
// Returns true if the apiserver treats both as the same taint. A node has at most one taint for each pair of key and
// effect.
bool SameTaint(const NodeTaint& a, const NodeTaint& b);

struct Node {
  ObjectMeta meta;
  bool unschedulable = false;
  std::vector<NodeTaint> taints;  // in the Node's order, without malformed ones
  // The status of each condition by type: "True", "False" or "Unknown". Times, which each heartbeat changes, are left
  // out.
  std::map<std::string, std::string> conditions;
  WallTime ready_since;   // last transition of condition Ready to any status; the epoch if not set
  Resources allocatable;  // `pods` is unlimited if the Node does not set it
  Resources capacity;

  bool ready() const;
  const std::string& pool() const;  // "" if the Node is in no pool
};

// Never fails: malformed values count as absent.
Node ParseNode(const Json& object);

// The conditions of a Node that hold the updates of its pool while their status is "True". If several are True, the
// first one of this list is reported.
inline constexpr std::array kMaintenanceConditions = {"MaintenanceInProgress", "DrainInProgress", "MaintenancePlanned"};
// Returns the element of kMaintenanceConditions that is reported; nullptr if none is True.
const char* MaintenanceConditionOf(const Json& node);
// Returns text such as "node n1: MaintenanceInProgress".
std::string DescribeMaintenance(const std::string& node, const char* condition);

}  // namespace yad

#endif  // OPERATOR_API_NODE_H_
