#include "operator/api/nodepool.h"

#include <nlohmann/json.hpp>
#include <set>

#include "operator/api/conditions.h"
#include "operator/api/names.h"
#include "operator/api/well_known.h"

namespace yad {

NodePool ParseNodePool(const Json& object) {
  ObjectMeta meta = ParseMeta(object);
  NodePool pool;
  pool.name = std::move(meta.key.name);
  pool.labels = std::move(meta.labels);
  const auto hold = meta.annotations.find(kHoldAnnotation);
  if (hold != meta.annotations.end()) pool.hold = Cut(std::move(hold->second), kMaxHoldReason);
  pool.windows = ParsePoolWindows(meta.annotations);
  pool.deleting = !meta.deletion_timestamp.empty();
  pool.type = StringAt(object, {"spec", "type"});
  pool.offline = IntAt(object, {"status", "readyNodeNum"}, -1) == 0;

  std::set<Taint> seen;
  for (const Json& entry : ListAt(object, {"spec", "taints"})) {
    // Skips an invalid taint. Otherwise, the operator would add an invalid toleration to the pool's workload, and the
    // apiserver would reject the workload.
    Taint taint{StringAt(entry, {"key"}), StringAt(entry, {"effect"})};
    if (!CheckLabelKey(taint.key).empty()) continue;
    if (taint.effect != "NoSchedule" && taint.effect != "PreferNoSchedule" && taint.effect != "NoExecute") continue;
    if (seen.insert(taint).second) pool.taints.push_back(std::move(taint));
  }
  return pool;
}

}  // namespace yad
