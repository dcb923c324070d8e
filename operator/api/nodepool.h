// Typed view of a NodePool, for all served versions.
#ifndef OPERATOR_API_NODEPOOL_H_
#define OPERATOR_API_NODEPOOL_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/api/update_window.h"

namespace yad {

// The maximum length, in bytes, of the reason from the annotation apps.openyurt.io/hold. NodePool::hold contains the
// reason, truncated to this length.
inline constexpr std::size_t kMaxHoldReason = 256;

struct Taint {
  std::string key;
  std::string effect;
  auto operator<=>(const Taint&) const = default;
};

struct NodePool {
  std::string name;
  StringMap labels;
  std::string type;                 // "Edge", "Cloud", or a type of a later version of OpenYurt
  std::vector<Taint> taints;        // in the pool's order, without duplicates and malformed taints
  std::optional<std::string> hold;  // the reason why the site blocks updates of the pool; nullopt: not blocked
  bool deleting = false;
  bool offline = false;      // status.readyNodeNum is 0 (and not absent)
  PoolWindows windows = {};  // from annotations of the pool

  bool operator==(const NodePool&) const = default;
};

// Reads a NodePool. Never fails; malformed values count as absent.
NodePool ParseNodePool(const Json& object);

}  // namespace yad

#endif  // OPERATOR_API_NODEPOOL_H_
