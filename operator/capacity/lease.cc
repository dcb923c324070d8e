#include "operator/capacity/lease.h"

#include <algorithm>
#include <array>
#include <utility>

#include "operator/api/well_known.h"

namespace yad {
namespace {

// The names of the phases, in the order of LeasePhase.
constexpr std::array<std::string_view, 5> kPhases{"Reserved", "Joining", "Idle", "InUse", "Releasing"};

const NodeTaint& ReleasingTaint() {
  static const NodeTaint taint{kReleasingTaint, "", "NoSchedule"};
  return taint;
}

std::vector<NodeTaint> WithoutReleasingTaint(const Node& node) {
  std::vector<NodeTaint> taints = node.taints;
  std::erase_if(taints, [](const NodeTaint& taint) { return SameTaint(taint, ReleasingTaint()); });
  return taints;
}

// Sets the taints of `node` to `wanted`. A merge patch replaces the whole list. The patch has the resourceVersion, so
// it cannot undo a change of another client.
void SetTaints(Json& patch, const Node& node, const std::vector<NodeTaint>& wanted) {
  if (wanted == node.taints) return;
  Json list = wanted.empty() ? Json() : Json::array();
  for (const NodeTaint& taint : wanted) list.push_back(ToJson(taint));
  patch["spec"]["taints"] = std::move(list);
}

Json Guarded(const Node& node) {
  return {{"metadata", {{"resourceVersion", node.meta.resource_version}, {"uid", node.meta.uid}}}};
}

}  // namespace

std::string_view ToString(LeasePhase phase) { return kPhases[static_cast<std::size_t>(phase)]; }

Result<NodeLease> ParseLease(const std::string& annotation) {
  const Json json = Json::parse(annotation, nullptr, false);
  if (!json.is_object() || IsDeeperThan(json, kMaxJsonDepth)) return Fail(Reason::kInvalid, "is not a JSON object");
  NodeLease lease;
  lease.pool = StringAt(json, {"pool"});
  if (lease.pool.empty()) return Fail(Reason::kInvalid, "has no pool");
  const std::string word = StringAt(json, {"phase"});
  const auto* const phase = std::find(kPhases.begin(), kPhases.end(), word);
  if (phase == kPhases.end()) return Fail(Reason::kInvalid, "phase is \"" + word + "\", which is not valid");
  lease.phase = static_cast<LeasePhase>(phase - kPhases.begin());
  lease.for_pod = StringAt(json, {"for"});
  lease.since = ParseTime(StringAt(json, {"since"}));
  // A kubelet can write this annotation on its own node. Without the protection in ParseAttributes, it could make the
  // operator remove protected labels and taints from the node.
  if (const Json* applied = Find(json, {"applied"})) lease.applied = ParseAttributes(*applied);
  return lease;
}

std::string FormatLease(const NodeLease& lease) {
  return DumpJson({{"pool", lease.pool},
                   {"phase", ToString(lease.phase)},
                   {"for", lease.for_pod},
                   {"since", FormatTime(lease.since)},
                   {"applied", ToJson(lease.applied)}});
}

bool Evicts(const PoolAttributes& pool, const Node& node) {
  return std::any_of(pool.taints.begin(), pool.taints.end(), [&](const NodeTaint& taint) {
    return taint.effect == "NoExecute" && std::find(node.taints.begin(), node.taints.end(), taint) == node.taints.end();
  });
}

bool HasReleasingTaint(const Node& node) {
  return std::any_of(node.taints.begin(), node.taints.end(),
                     [](const NodeTaint& taint) { return SameTaint(taint, ReleasingTaint()); });
}

Json LeasePatch(const Node& node, NodeLease lease, const PoolAttributes& pool) {
  Json patch = Guarded(node);
  lease.applied = {};
  for (const auto& [key, value] : pool.labels) {
    if (key == kNodePoolLabel || HasValue(node.meta.labels, key, value)) continue;
    lease.applied.labels.emplace(key, value);
    patch["metadata"]["labels"][key] = value;
  }
  for (const auto& [key, value] : pool.annotations) {
    if (key == kLeaseAnnotation || key == kQuarantineAnnotation) continue;
    if (HasValue(node.meta.annotations, key, value)) continue;
    lease.applied.annotations.emplace(key, value);
    patch["metadata"]["annotations"][key] = value;
  }
  std::vector<NodeTaint> taints = node.taints;
  for (const NodeTaint& taint : pool.taints) {
    if (std::find(taints.begin(), taints.end(), taint) != taints.end()) continue;
    std::erase_if(taints, [&](const NodeTaint& t) { return SameTaint(t, taint); });
    taints.push_back(taint);
    lease.applied.taints.push_back(taint);
  }
  SetTaints(patch, node, taints);
  patch["metadata"]["labels"][kNodePoolLabel] = lease.pool;
  patch["metadata"]["annotations"][kLeaseAnnotation] = FormatLease(lease);
  return patch;
}

Json PhasePatch(const Node& node, const NodeLease& lease) {
  Json patch = Guarded(node);
  std::vector<NodeTaint> taints = WithoutReleasingTaint(node);
  if (lease.phase == LeasePhase::kReleasing) taints.push_back(ReleasingTaint());
  SetTaints(patch, node, taints);
  patch["metadata"]["annotations"][kLeaseAnnotation] = FormatLease(lease);
  return patch;
}

Json UntaintPatch(const Node& node) {
  Json patch = Guarded(node);
  SetTaints(patch, node, WithoutReleasingTaint(node));
  return patch;
}

Json ReleasePatch(const Node& node, const NodeLease& lease, const std::string& quarantine) {
  Json patch = Guarded(node);
  // Removes only the labels, annotations and taints that the lease has added and that no other client has changed since
  // then.
  for (const auto& [key, value] : lease.applied.labels) {
    if (node.meta.Label(key) == value) patch["metadata"]["labels"][key] = nullptr;
  }
  for (const auto& [key, value] : lease.applied.annotations) {
    if (node.meta.Annotation(key) == value) patch["metadata"]["annotations"][key] = nullptr;
  }
  std::vector<NodeTaint> taints = WithoutReleasingTaint(node);
  std::erase_if(taints, [&](const NodeTaint& taint) {
    return std::find(lease.applied.taints.begin(), lease.applied.taints.end(), taint) != lease.applied.taints.end();
  });
  SetTaints(patch, node, taints);
  patch["metadata"]["labels"][kNodePoolLabel] = nullptr;
  patch["metadata"]["annotations"][kLeaseAnnotation] = nullptr;
  if (!quarantine.empty()) patch["metadata"]["annotations"][kQuarantineAnnotation] = quarantine;
  return patch;
}

}  // namespace yad
