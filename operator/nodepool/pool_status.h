// Builds the status and the metrics of a NodePool.
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

// status.nodes lists at most this many names, in sorted order. The counters include all nodes.
inline constexpr std::size_t kMaxNodesInStatus = 500;

// The amounts of a pool have at most this many resources other than cpu, memory, pods and ephemeral-storage. Kubelets
// choose the names of these other resources, and a Node may have 40,000 of them.
inline constexpr std::size_t kMaxOtherResources = 128;

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

// Returns the fields of the status that this operator owns. Copies the conditions of other clients from `previous`, the
// last status. The lastTransitionTime of a condition changes only if its status changes.
Json BuildPoolStatus(const PoolSummary& summary, const Json& previous, std::int64_t generation, WallTime now);
// Returns the merge patch {"status": …} that changes `before` to `after`, a result of BuildPoolStatus. Fields that
// `after` lacks belong to other clients, and stay. Returns null if nothing changes.
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
  std::vector<std::string> resources_;  // resources that have gauges now
};

}  // namespace yad

#endif  // OPERATOR_NODEPOOL_POOL_STATUS_H_
