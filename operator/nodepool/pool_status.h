// What the status of a NodePool should say. Pure, but for the metrics that show the same.
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

// status.nodes holds no more names than this, the first in their order; the counters are always exact.
inline constexpr std::size_t kMaxNodesInStatus = 500;

struct PoolNode {
  std::string name;
  NodeHealth health;
  bool node_ready = false;  // its condition Ready is True
};

struct PoolSummary {
  std::vector<PoolNode> nodes;  // sorted by name
  Resources capacity;
  Resources allocatable;
  Resources requested;

  std::size_t Count(NodeState state) const;
};

// The fields of ours. `previous` is the status before: what others wrote into its conditions stays, and a time of
// transition is kept while a condition's status is.
Json BuildPoolStatus(const PoolSummary& summary, const Json& previous, std::int64_t generation, WallTime now);
// A merge patch of the difference, {"status": …}; null where nothing differs. Fields of others are left alone.
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
  std::vector<std::string> resources_;  // those that are shown
};

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_POOL_STATUS_H_
