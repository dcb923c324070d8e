// A cache with one entry for each Node: the sum of its pods' resource requests, and its agent pods that are not ready.
#ifndef OPERATOR_NODEPOOL_NODE_LOADS_H_
#define OPERATOR_NODEPOOL_NODE_LOADS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "operator/api/resources.h"
#include "operator/base/synchronized.h"
#include "operator/runtime/informer.h"

namespace yad {

struct NodeLoad {
  Resources requested;                        // of pods that have not terminated
  std::vector<std::string> agents_not_ready;  // "namespace/name", sorted
};

// Thread-safe.
class NodeLoads {
 public:
  // `pods` is the store of WatchPods(), with its index kPodsByNode.
  explicit NodeLoads(const Store& pods) : pods_(pods) {}

  // Must be called for each event of the pods' informer, because the event may make cached loads outdated. Returns the
  // Nodes whose load may have changed.
  std::vector<std::string> Changed(const Event& event);
  Result<NodeLoad> Of(const std::string& node);
  std::size_t remembered() const;  // number of Nodes in the cache

 private:
  struct Entry {
    std::uint64_t count = 0;       // the number of the last count of this Node's pods
    std::optional<NodeLoad> load;  // nullopt: not counted yet
  };
  struct Known {
    std::uint64_t counts = 0;  // how many counts have begun, for all Nodes; the counts are numbered in this order
    std::unordered_map<std::string, Entry> entries;
  };
  const Store& pods_;
  mutable Synchronized<Known> known_;
};

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_NODE_LOADS_H_
