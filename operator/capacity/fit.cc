#include "operator/capacity/fit.h"

#include <algorithm>

#include "operator/base/number.h"

namespace yad {
namespace {

// Implements k8s.io/apimachinery/pkg/labels.Requirement.Matches. `value` is null if the label is absent.
bool Holds(const NodeRequirement& requirement, const std::string* value) {
  const bool listed = value != nullptr && std::find(requirement.values.begin(), requirement.values.end(), *value) !=
                                              requirement.values.end();
  if (requirement.op == "In") return listed;
  if (requirement.op == "NotIn") return !listed;
  if (requirement.op == "Exists") return value != nullptr;
  if (requirement.op == "DoesNotExist") return value == nullptr;
  if (requirement.op != "Gt" && requirement.op != "Lt") return false;
  if (value == nullptr || requirement.values.size() != 1) return false;
  const auto left = ParseNumber<std::int64_t>(*value);
  const auto right = ParseNumber<std::int64_t>(requirement.values.front());
  return left && right && (requirement.op == "Gt" ? *left > *right : *left < *right);
}

bool Holds(const NodeTerm& term, const NodeShape& node) {
  if (term.labels.empty() && term.fields.empty()) return false;
  return std::all_of(term.labels.begin(), term.labels.end(),
                     [&](const NodeRequirement& requirement) {
                       const auto found = node.labels.find(requirement.key);
                       return Holds(requirement, found == node.labels.end() ? nullptr : &found->second);
                     }) &&
         std::all_of(term.fields.begin(), term.fields.end(), [&](const NodeRequirement& requirement) {
           return Holds(requirement, requirement.key == "metadata.name" ? node.name : nullptr);
         });
}

}  // namespace

bool Tolerates(const std::vector<Toleration>& tolerations, const NodeTaint& taint) {
  return std::any_of(tolerations.begin(), tolerations.end(), [&](const Toleration& toleration) {
    if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
    if (toleration.key.empty()) return toleration.exists;
    return toleration.key == taint.key && (toleration.exists || toleration.value == taint.value);
  });
}

bool MayRunOn(const Placement& placement, const NodeShape& node) {
  for (const auto& [key, value] : placement.node_selector) {
    if (!HasValue(node.labels, key, value)) return false;
  }
  if (placement.has_affinity && std::none_of(placement.affinity.begin(), placement.affinity.end(),
                                             [&](const NodeTerm& term) { return Holds(term, node); })) {
    return false;
  }
  return std::all_of(node.taints.begin(), node.taints.end(), [&](const NodeTaint& taint) {
    const bool filters = taint.effect == "NoSchedule" || taint.effect == "NoExecute";
    return !filters || Tolerates(placement.tolerations, taint);
  });
}

}  // namespace yad
