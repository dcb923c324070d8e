// Typed view of a NodePool, the same for all served versions.
#ifndef OPERATOR_API_NODEPOOL_H_
#define OPERATOR_API_NODEPOOL_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/object.h"

namespace yad {

// Bytes of a hold's reason. A longer one is cut.
inline constexpr std::size_t kMaxHoldReason = 256;

struct Taint {
  std::string key;
  std::string effect;
  auto operator<=>(const Taint&) const = default;
};

struct NodePool {
  std::string name;
  StringMap labels;
  std::string type;                 // "Edge", "Cloud", or a type of a later version
  std::vector<Taint> taints;        // without duplicates, in the pool's order; malformed ones are left out
  std::optional<std::string> hold;  // the reason of the site's hold on updates; nullopt: no hold
  bool deleting = false;
  bool offline = false;  // status.readyNodeNum is 0; an absent number does not count as 0

  bool operator==(const NodePool&) const = default;
};

// Never fails: malformed values count as absent.
NodePool ParseNodePool(const Json& object);

}  // namespace yad

#endif  // OPERATOR_API_NODEPOOL_H_
