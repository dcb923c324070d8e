// The projection of a NodePool in the caches.
#ifndef OPERATOR_CLUSTER_POOL_PROJECTION_H_
#define OPERATOR_CLUSTER_POOL_PROJECTION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "operator/api/nodepool.h"
#include "operator/api/well_known.h"
#include "operator/cluster/attributes.h"
#include "operator/json/json_document.h"
#include "operator/runtime/store.h"

namespace yad {

// The fields of a NodePool that the operator uses. They are parsed once, when the object arrives.
struct PoolProjection : Projection {
  NodePool pool;
  std::uint64_t fingerprint = 0;  // digest of the fields that affect a workload: labels, type and taints
  PoolAttributes attributes;      // the attributes for the pool's Nodes
  std::int64_t ready_nodes = -1;  // status.readyNodeNum; -1 if absent
  std::int64_t unready_nodes = -1;
  std::vector<std::uint32_t> nodes;  // hashes of the names in status.nodes, sorted
};
std::unique_ptr<const Projection> ProjectPool(const Json& object);
// The parts of a NodePool that ProjectPool reads.
inline const JsonParts kProjectedOfPools = {
    {"metadata",
     {{"name"},
      {"labels"},
      {"annotations", {{kHoldAnnotation}, {kTimeZoneAnnotation}, {kUpdateWindowsAnnotation}}},
      {"deletionTimestamp"}}},
    {"spec"},
    {"status", {{"readyNodeNum"}, {"unreadyNodeNum"}, {"nodes"}}}};
inline const PoolProjection& PoolProjectionOf(const ObjectPtr& object) { return ProjectionOf<PoolProjection>(object); }

}  // namespace yad

#endif  // OPERATOR_CLUSTER_POOL_PROJECTION_H_
