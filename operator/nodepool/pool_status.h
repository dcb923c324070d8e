// The desired status of a NodePool. Pure, except for the metrics, which show the same values.
#ifndef OPERATOR_NODEPOOL_POOL_STATUS_H_
#define OPERATOR_NODEPOOL_POOL_STATUS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/api/resources.h"
#include "operator/base/clock.h"
#include "operator/nodepool/node_health.h"

namespace yad {

// The maximum number of names in status.nodes, which lists the first in sorted order. The counters are always exact.
inline constexpr std::size_t kMaxNodesInStatus = 500;

struct PoolNode {
  std::string name;
  NodeHealth health;
  bool node_ready = false;  // condition Ready is True
};

struct PoolSummary {
  std::vector<PoolNode> nodes;  // sorted by name
  Resources capacity;
  Resources allocatable;
  Resources requested;

  std::size_t Count(NodeState state) const;
};

// Returns the status fields that this operator owns. `previous` is the status before. Conditions that other writers set
// stay in it, and a transition time stays as long as the status of its condition.
Json BuildPoolStatus(const PoolSummary& summary, const Json& previous, std::int64_t generation, WallTime now);
// Returns a merge patch of the difference, {"status": …}; null if there is none. Fields of other writers are not
// changed.
Json PoolStatusPatch(const Json& before, const Json& after);

// The gauges nodepool_nodes and nodepool_resource of one pool. Not thread-safe.
class PoolMetrics {
 public:
  explicit PoolMetrics(std::string pool) : pool_(std::move(pool)) {}
  ~PoolMetrics();
  PoolMetrics(const PoolMetrics&) = delete;
  PoolMetrics& operator=(const PoolMetrics&) = delete;

  void Show(const PoolSummary& summary);

 private:
  const std::string pool_;
  std::vector<std::string> resources_;  // those that have gauges now
};

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_POOL_STATUS_H_
