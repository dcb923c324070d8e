#include "operator/cluster/attributes.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "operator/api/names.h"
#include "operator/api/well_known.h"

namespace yad {
namespace {

// Labels that a NodePool must not set on its Nodes: the label with the pool's name, and labels that the kubelet sets at
// each start.
constexpr std::array<std::string_view, 6> kReservedLabels = {kNodePoolLabel,          "kubernetes.io/hostname",
                                                             "kubernetes.io/os",      "kubernetes.io/arch",
                                                             "beta.kubernetes.io/os", "beta.kubernetes.io/arch"};
constexpr std::array<std::string_view, 4> kReservedAnnotations = {kPreviousAttributesAnnotation, kLeaseAnnotation,
                                                                  kQuarantineAnnotation, kLastAppliedAnnotation};
// A NodePool must not set taints with these prefixes, because Kubernetes or the autoscaler of this operator sets and
// removes them.
constexpr std::array<std::string_view, 3> kReservedTaints = {"node.kubernetes.io/", "node.cloudprovider.kubernetes.io/",
                                                             "capacity.openyurt.io/"};

// A kubelet must not change labels with this prefix on its own Node. So the operator also does not change them.
// Otherwise, a kubelet could change them indirectly, by writing the annotations on which the operator acts.
constexpr std::string_view kNodeRestriction = "node-restriction.kubernetes.io/";

bool MayLabel(const std::string& key, const std::string& value) {
  return std::find(kReservedLabels.begin(), kReservedLabels.end(), key) == kReservedLabels.end() &&
         !key.starts_with(kNodeRestriction) && CheckLabelKey(key).empty() && CheckLabelValue(value).empty();
}

bool MayAnnotate(const std::string& key, const std::string&) {
  return std::find(kReservedAnnotations.begin(), kReservedAnnotations.end(), key) == kReservedAnnotations.end() &&
         CheckAnnotationKey(key).empty();
}

bool MayTaint(const NodeTaint& taint) {
  return std::none_of(kReservedTaints.begin(), kReservedTaints.end(),
                      [&](std::string_view prefix) { return taint.key.starts_with(prefix); }) &&
         CheckLabelKey(taint.key).empty() && CheckLabelValue(taint.value).empty() &&
         (taint.effect == "NoSchedule" || taint.effect == "PreferNoSchedule" || taint.effect == "NoExecute");
}

const NodeTaint* FindTaint(const std::vector<NodeTaint>& taints, const NodeTaint& like) {
  const auto found =
      std::find_if(taints.begin(), taints.end(), [&](const NodeTaint& taint) { return SameTaint(taint, like); });
  return found == taints.end() ? nullptr : &*found;
}

NodeTaint TaintOf(const Json& entry) {
  return {StringAt(entry, {"key"}), StringAt(entry, {"value"}), StringAt(entry, {"effect"})};
}

template <typename MayWrite>
StringMap Allowed(const Json& object, const char* field, const char* what, MayWrite may_write,
                  std::vector<std::string>* skipped) {
  StringMap allowed;
  for (auto& [key, value] : StringMapAt(object, {field})) {
    if (may_write(key, value)) {
      allowed.emplace(key, value);
    } else if (skipped != nullptr) {
      skipped->push_back(std::string(what) + " " + key);
    }
  }
  return allowed;
}

// Returns the JSON object in an annotation, or nullopt if the annotation does not contain a JSON object.
std::optional<Json> ReadAnnotation(const Json& node, const char* annotation) {
  const std::string text = StringAt(node, {"metadata", "annotations", annotation});
  if (text.empty()) return std::nullopt;
  Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object() || IsDeeperThan(object, kMaxJsonDepth)) return std::nullopt;
  return object;
}

// Returns the labels, annotations and taints that the autoscaler added to the Node for this lease.
PoolAttributes AppliedBy(const std::optional<Json>& lease) {
  const Json* applied = lease ? Find(*lease, {"applied"}) : nullptr;
  return applied == nullptr ? PoolAttributes{} : ParseAttributes(*applied);
}

StringMap Common(const StringMap& a, const StringMap& b) {
  StringMap common;
  for (const auto& [key, value] : a) {
    if (HasValue(b, key, value)) common.emplace(key, value);
  }
  return common;
}

// Returns the attributes that `a` and `b` have with the same value.
PoolAttributes Common(const PoolAttributes& a, const PoolAttributes& b) {
  PoolAttributes common{Common(a.labels, b.labels), Common(a.annotations, b.annotations), a.taints};
  std::erase_if(common.taints, [&](const NodeTaint& taint) {
    return std::find(b.taints.begin(), b.taints.end(), taint) == b.taints.end();
  });
  return common;
}

// The attributes that the operator has set on a Node.
struct Before {
  PoolAttributes recorded;  // in kPreviousAttributesAnnotation
  PoolAttributes leased;    // in the lease annotation
};

// Returns the merge patch for the labels or annotations of a Node. `current` contains their values on the Node now, and
// `wanted` the values from the pool. Adds to `given` the values that the operator itself has written or writes with
// this patch. The caller records them in kPreviousAttributesAnnotation.
Json MapPatch(const StringMap& current, const Before& before, StringMap PoolAttributes::*field, const StringMap& wanted,
              StringMap& given) {
  const StringMap& recorded = before.recorded.*field;
  Json patch = Json::object();
  for (const StringMap* source : {&recorded, &(before.leased.*field)}) {
    for (const auto& [key, value] : *source) {
      if (!wanted.contains(key) && HasValue(current, key, value)) patch[key] = nullptr;
    }
  }
  for (const auto& [key, value] : wanted) {
    const bool there = HasValue(current, key, value);
    if (!there) patch[key] = value;
    if (!there || recorded.contains(key)) given.emplace(key, value);
  }
  return patch;
}

// Removes the taints that are in `before` and not in `wanted` from `list`. Returns true if `list` has changed.
bool RemoveTaints(Json& list, const std::vector<NodeTaint>& before, const std::vector<NodeTaint>& wanted) {
  bool changed = false;
  for (const NodeTaint& taint : before) {
    if (FindTaint(wanted, taint) != nullptr) continue;
    const auto gone =
        std::find_if(list.begin(), list.end(), [&](const Json& entry) { return TaintOf(entry) == taint; });
    if (gone == list.end()) continue;
    list.erase(gone);
    changed = true;
  }
  return changed;
}

// Adds the taints in `wanted` to `list`, the taints of a Node. Returns true if `list` has changed. Adds to `given` the
// taints that the operator itself has written or writes with this patch. The caller records them in
// kPreviousAttributesAnnotation.
bool AddTaints(Json& list, const std::vector<NodeTaint>& recorded, const std::vector<NodeTaint>& wanted,
               std::vector<NodeTaint>& given) {
  bool changed = false;
  for (const NodeTaint& taint : wanted) {
    const auto there =
        std::find_if(list.begin(), list.end(), [&](const Json& entry) { return SameTaint(TaintOf(entry), taint); });
    const bool same = there != list.end() && TaintOf(*there) == taint;
    if (!same || FindTaint(recorded, taint) != nullptr) given.push_back(taint);
    if (same) continue;
    if (there == list.end()) {
      list.push_back(ToJson(taint));
    } else {
      *there = ToJson(taint);
    }
    changed = true;
  }
  return changed;
}

}  // namespace

PoolAttributes ParseAttributes(const Json& object, std::vector<std::string>* skipped) {
  PoolAttributes attributes;
  attributes.labels = Allowed(object, "labels", "label", MayLabel, skipped);
  attributes.annotations = Allowed(object, "annotations", "annotation", MayAnnotate, skipped);
  for (const Json& entry : ListAt(object, {"taints"})) {
    NodeTaint taint = TaintOf(entry);
    if (!MayTaint(taint)) {
      if (skipped != nullptr) skipped->push_back("taint " + taint.key + ":" + taint.effect);
    } else if (FindTaint(attributes.taints, taint) == nullptr) {
      attributes.taints.push_back(std::move(taint));
    }
  }
  return attributes;
}

Json ToJson(const PoolAttributes& attributes) {
  Json json = Json::object();
  if (!attributes.labels.empty()) json["labels"] = attributes.labels;
  if (!attributes.annotations.empty()) json["annotations"] = attributes.annotations;
  for (const NodeTaint& taint : attributes.taints) json["taints"].push_back(ToJson(taint));
  return json;
}

PoolAttributes AttributesOf(const Json& pool, std::vector<std::string>* skipped) {
  const Json* spec = Find(pool, {"spec"});
  return spec == nullptr ? PoolAttributes{} : ParseAttributes(*spec, skipped);
}

Json AttributesPatch(const Json& node, const PoolAttributes& wanted) {
  const std::optional<Json> record = ReadAnnotation(node, kPreviousAttributesAnnotation);
  std::optional<Json> lease = ReadAnnotation(node, kLeaseAnnotation);
  const Before before{record ? ParseAttributes(*record) : PoolAttributes{}, AppliedBy(lease)};
  PoolAttributes given;
  Json metadata = Json::object();
  if (Json labels = MapPatch(StringMapAt(node, {"metadata", "labels"}), before, &PoolAttributes::labels, wanted.labels,
                             given.labels);
      !labels.empty()) {
    metadata["labels"] = std::move(labels);
  }
  Json annotations = MapPatch(StringMapAt(node, {"metadata", "annotations"}), before, &PoolAttributes::annotations,
                              wanted.annotations, given.annotations);
  Json taints = ListAt(node, {"spec", "taints"});
  bool taints_changed = RemoveTaints(taints, before.recorded.taints, wanted.taints);
  taints_changed = RemoveTaints(taints, before.leased.taints, wanted.taints) || taints_changed;
  taints_changed = AddTaints(taints, before.recorded.taints, wanted.taints, given.taints) || taints_changed;

  if (given.empty()) {
    if (record) annotations[kPreviousAttributesAnnotation] = nullptr;
  } else if (given != before.recorded) {
    annotations[kPreviousAttributesAnnotation] = DumpJson(ToJson(given));
  }
  if (const PoolAttributes left = Common(before.leased, wanted); left != before.leased) {
    (*lease)["applied"] = ToJson(left);
    annotations[kLeaseAnnotation] = DumpJson(*lease);
  }
  if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
  if (metadata.empty() && !taints_changed) return nullptr;

  metadata["uid"] = StringAt(node, {"metadata", "uid"});
  metadata["resourceVersion"] = StringAt(node, {"metadata", "resourceVersion"});
  Json patch = {{"metadata", std::move(metadata)}};
  if (taints_changed) patch["spec"]["taints"] = taints.empty() ? Json(nullptr) : std::move(taints);
  return patch;
}

}  // namespace yad
