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

// The maximum length of a hold's reason in bytes. A longer reason is truncated.
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
  std::vector<Taint> taints;        // in the pool's order, without duplicates and malformed ones
  std::optional<std::string> hold;  // the reason of the site's hold on updates; nullopt: no hold
  bool deleting = false;
  bool offline = false;      // status.readyNodeNum is 0; an absent number does not count as 0
  PoolWindows windows = {};  // its annotations about update windows

  bool operator==(const NodePool&) const = default;
};

// Never fails: malformed values count as absent.
NodePool ParseNodePool(const Json& object);

}  // namespace yad

#endif  // OPERATOR_API_NODEPOOL_H_
