// What the pods on each Node ask for, and which of its agents are not ready: counted once, and again only where a pod
// of that Node changed it.
#ifndef OPERATOR_NODEPOOL_NODE_LOADS_H_
#define OPERATOR_NODEPOOL_NODE_LOADS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "operator/api/resources.h"
#include "operator/base/guarded.h"
#include "operator/runtime/informer.h"

namespace yad {

struct NodeLoad {
  Resources requested;                        // by its pods that have not ended
  std::vector<std::string> agents_not_ready;  // "namespace/name", sorted
};

// Thread-safe.
class NodeLoads {
 public:
  // `pods` is the store of WatchPods(), with its index kPodsByNode.
  explicit NodeLoads(const Store& pods) : pods_(pods) {}

  // To be called for each event of that informer. Returns the Nodes whose load may have changed: none where only the
  // pod's status, or something else that counts for nothing, did.
  std::vector<std::string> Changed(const Event& event);
  Result<NodeLoad> Of(const std::string& node);
  std::size_t remembered() const;  // Nodes

 private:
  struct Entry {
    std::uint64_t changes = 0;
    std::optional<NodeLoad> load;  // nullopt: to be counted
  };
  const Store& pods_;
  mutable Guarded<std::unordered_map<std::string, Entry>> entries_;
};

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_NODE_LOADS_H_
