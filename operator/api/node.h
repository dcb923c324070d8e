// Node as the operator reads it.
#ifndef OPERATOR_API_NODE_H_
#define OPERATOR_API_NODE_H_

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
  std::string time_added = {};  // RFC 3339; "" where it does not say; makes no difference to ==

  bool operator==(const NodeTaint& other) const {
    return key == other.key && value == other.value && effect == other.effect;
  }
};

// Bad ones are left out.
std::vector<NodeTaint> ParseTaints(const Json& list);
Json ToJson(const NodeTaint& taint);
// Whether the apiserver takes them for one: a node has each key and effect once.
bool SameTaint(const NodeTaint& a, const NodeTaint& b);

struct Node {
  ObjectMeta meta;
  bool unschedulable = false;
  std::vector<NodeTaint> taints;  // as they stand there; bad ones left out
  // By type: "True", "False" or "Unknown". Heartbeats change times only, and are not seen here.
  std::map<std::string, std::string> conditions;
  WallTime ready_since;   // of the Ready condition's status, whatever that is; the epoch where it does not say
  Resources allocatable;  // where it says nothing of pods: as many as there may be
  Resources capacity;

  bool ready() const;
  const std::string& pool() const;  // "" where it belongs to none
};

// Never fails: what is malformed counts as absent.
Node ParseNode(const Json& object);

}  // namespace yad

#endif  // OPERATOR_API_NODE_H_
