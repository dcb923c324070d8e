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
  std::string time_added = {};  // RFC 3339; "": not set; ignored by operator==

  bool operator==(const NodeTaint& other) const {
    return key == other.key && value == other.value && effect == other.effect;
  }
};

// Reads a list of taints, and skips malformed taints.
std::vector<NodeTaint> ParseTaints(const Json& list);
Json ToJson(const NodeTaint& taint);
// Returns true if both have the same key and effect. The apiserver then treats them as the same taint.
bool SameTaint(const NodeTaint& a, const NodeTaint& b);

struct Node {
  ObjectMeta meta;
  bool unschedulable = false;
  std::vector<NodeTaint> taints;  // in the Node's order, without malformed taints
  // The status of each condition by its type: "True", "False" or "Unknown". Times of conditions are not included,
  // because each heartbeat changes them.
  std::map<std::string, std::string> conditions;
  WallTime ready_since;   // lastTransitionTime of the condition Ready; the epoch if not set
  Resources allocatable;  // `pods` is unlimited if the Node does not set it
  Resources capacity;

  bool ready() const;
  const std::string& pool() const;  // "" if the Node is in no pool
};

// Reads a Node. Never fails; malformed values count as absent.
Node ParseNode(const Json& object);

// Conditions of a Node that block updates of its pool while they are "True".
inline constexpr std::array kMaintenanceConditions = {"MaintenanceInProgress", "DrainInProgress", "MaintenancePlanned"};
// Returns the first of kMaintenanceConditions that is True, or nullptr if none is.
const char* MaintenanceConditionOf(const Json& node);
// Returns a description such as "node n1: MaintenanceInProgress".
std::string DescribeMaintenance(const std::string& node, const char* condition);

}  // namespace yad

#endif  // OPERATOR_API_NODE_H_
