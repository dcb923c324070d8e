#include "operator/cluster/pool_projection.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace yad {
namespace {

std::uint64_t FingerprintOf(const NodePool& pool) {
  std::uint64_t hash = Fnv1a64(pool.type);
  for (const auto& [key, value] : pool.labels) hash = Fnv1a64(value, Fnv1a64("=", Fnv1a64(key, Fnv1a64(",", hash))));
  for (const Taint& taint : pool.taints) {
    hash = Fnv1a64(taint.effect, Fnv1a64(":", Fnv1a64(taint.key, Fnv1a64(";", hash))));
  }
  return hash;
}

// Returns the hashes of the names in status.nodes, sorted.
std::vector<std::uint32_t> NodeHashes(const Json& pool) {
  std::vector<std::uint32_t> hashes;
  const Json& nodes = ListAt(pool, {"status", "nodes"});
  hashes.reserve(nodes.size());
  for (const Json& node : nodes) {
    if (node.is_string()) hashes.push_back(static_cast<std::uint32_t>(Fnv1a64(node.get_ref<const std::string&>())));
  }
  std::sort(hashes.begin(), hashes.end());
  return hashes;
}

}  // namespace

std::unique_ptr<const Projection> ProjectPool(const Json& object) {
  auto projection = std::make_unique<PoolProjection>();
  projection->pool = ParseNodePool(object);
  projection->fingerprint = FingerprintOf(projection->pool);
  projection->attributes = AttributesOf(object);
  projection->ready_nodes = IntAt(object, {"status", "readyNodeNum"}, -1);
  projection->unready_nodes = IntAt(object, {"status", "unreadyNodeNum"}, -1);
  projection->nodes = NodeHashes(object);
  return projection;
}

}  // namespace yad
