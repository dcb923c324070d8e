// NodePool as the operator reads it: all served versions alike.
#ifndef OPERATOR_API_NODEPOOL_H_
#define OPERATOR_API_NODEPOOL_H_

#include <optional>
#include <string>
#include <vector>

#include "operator/api/object.h"

namespace yad {

struct Taint {
  std::string key;
  std::string effect;
  auto operator<=>(const Taint&) const = default;
};

struct NodePool {
  std::string name;
  StringMap labels;
  std::string type;           // "Edge", "Cloud", or what the future brings
  std::vector<Taint> taints;  // without duplicates, in the pool's order; bad ones left out
  bool deleting = false;
  bool offline = false;  // status says readyNodeNum: 0 (absent: not offline)

  bool operator==(const NodePool&) const = default;
};

// Never fails: what is malformed counts as absent.
NodePool ParseNodePool(const Json& object);

}  // namespace yad

#endif  // OPERATOR_API_NODEPOOL_H_
