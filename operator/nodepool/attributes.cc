#include "operator/nodepool/attributes.h"

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

// The pool itself, and what the kubelet writes anew at each start.
constexpr std::array<std::string_view, 6> kReservedLabels = {kNodePoolLabel,          "kubernetes.io/hostname",
                                                             "kubernetes.io/os",      "kubernetes.io/arch",
                                                             "beta.kubernetes.io/os", "beta.kubernetes.io/arch"};
constexpr std::array<std::string_view, 4> kReservedAnnotations = {
    kPreviousAttributesAnnotation, "capacity.openyurt.io/lease", "capacity.openyurt.io/quarantined",
    "kubectl.kubernetes.io/last-applied-configuration"};
// Kubernetes sets and lifts these by itself, and so does our autoscaler.
constexpr std::array<std::string_view, 3> kReservedTaints = {"node.kubernetes.io/", "node.cloudprovider.kubernetes.io/",
                                                             "capacity.openyurt.io/"};

// What a kubelet may not change of its own Node, and may not have us change by what it writes into our annotation.
constexpr std::string_view kNodeRestriction = "node-restriction.kubernetes.io/";

bool MayLabel(const std::string& key, const std::string& value) {
  return std::find(kReservedLabels.begin(), kReservedLabels.end(), key) == kReservedLabels.end() &&
         !key.starts_with(kNodeRestriction) && CheckLabelKey(key).empty() && CheckLabelValue(value).empty();
}

bool MayAnnotate(const std::string& key, const std::string&) {
  return std::find(kReservedAnnotations.begin(), kReservedAnnotations.end(), key) == kReservedAnnotations.end() &&
         CheckLabelKey(key).empty();
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
                  std::vector<std::string>* left_out) {
  StringMap allowed;
  for (auto& [key, value] : StringMapAt(object, {field})) {
    if (may_write(key, value)) {
      allowed.emplace(key, value);
    } else if (left_out != nullptr) {
      left_out->push_back(std::string(what) + " " + key);
    }
  }
  return allowed;
}

// nullopt: there is none, or none that can be read.
std::optional<PoolAttributes> ReadRecord(const Json& node) {
  const std::string text = StringAt(node, {"metadata", "annotations", kPreviousAttributesAnnotation});
  if (text.empty()) return std::nullopt;
  const Json record = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!record.is_object() || IsDeeperThan(record, kMaxJsonDepth)) return std::nullopt;
  return ParseAttributes(record);
}

std::string WriteRecord(const PoolAttributes& given) {
  return ToJson(given).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// What to change in `current`; `given` gets what is ours afterwards.
Json MapPatch(const StringMap& current, const StringMap& before, const StringMap& wanted, StringMap& given) {
  Json patch = Json::object();
  for (const auto& [key, value] : before) {
    const auto found = current.find(key);
    if (!wanted.contains(key) && found != current.end() && found->second == value) patch[key] = nullptr;
  }
  for (const auto& [key, value] : wanted) {
    const auto found = current.find(key);
    const bool there = found != current.end() && found->second == value;
    if (!there) patch[key] = value;
    if (!there || before.contains(key)) given.emplace(key, value);
  }
  return patch;
}

// True: `list`, as it stands in the Node, was changed.
bool ChangeTaints(Json& list, const std::vector<NodeTaint>& before, const std::vector<NodeTaint>& wanted,
                  std::vector<NodeTaint>& given) {
  bool changed = false;
  for (const NodeTaint& taint : before) {
    if (FindTaint(wanted, taint) != nullptr) continue;
    const auto gone =
        std::find_if(list.begin(), list.end(), [&](const Json& entry) { return TaintOf(entry) == taint; });
    if (gone == list.end()) continue;
    list.erase(gone);
    changed = true;
  }
  for (const NodeTaint& taint : wanted) {
    const auto there =
        std::find_if(list.begin(), list.end(), [&](const Json& entry) { return SameTaint(TaintOf(entry), taint); });
    const bool same = there != list.end() && TaintOf(*there) == taint;
    if (!same || FindTaint(before, taint) != nullptr) given.push_back(taint);
    if (same) continue;
    Json entry = {{"key", taint.key}, {"effect", taint.effect}};
    if (!taint.value.empty()) entry["value"] = taint.value;
    if (there == list.end()) {
      list.push_back(std::move(entry));
    } else {
      *there = std::move(entry);
    }
    changed = true;
  }
  return changed;
}

}  // namespace

PoolAttributes ParseAttributes(const Json& object, std::vector<std::string>* left_out) {
  PoolAttributes attributes;
  attributes.labels = Allowed(object, "labels", "label", MayLabel, left_out);
  attributes.annotations = Allowed(object, "annotations", "annotation", MayAnnotate, left_out);
  const Json* taints = Find(object, {"taints"});
  if (taints == nullptr || !taints->is_array()) return attributes;
  for (const Json& entry : *taints) {
    NodeTaint taint = TaintOf(entry);
    if (!MayTaint(taint)) {
      if (left_out != nullptr) left_out->push_back("taint " + taint.key + ":" + taint.effect);
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

PoolAttributes AttributesOf(const Json& pool, std::vector<std::string>* left_out) {
  const Json* spec = Find(pool, {"spec"});
  return spec == nullptr ? PoolAttributes{} : ParseAttributes(*spec, left_out);
}

Json AttributesPatch(const Json& node, const PoolAttributes& wanted) {
  const std::optional<PoolAttributes> record = ReadRecord(node);
  const PoolAttributes before = record.value_or(PoolAttributes{});
  PoolAttributes given;
  Json metadata = Json::object();
  if (Json labels = MapPatch(StringMapAt(node, {"metadata", "labels"}), before.labels, wanted.labels, given.labels);
      !labels.empty()) {
    metadata["labels"] = std::move(labels);
  }
  Json annotations = MapPatch(StringMapAt(node, {"metadata", "annotations"}), before.annotations, wanted.annotations,
                              given.annotations);
  Json taints = Json::array();
  if (const Json* live = Find(node, {"spec", "taints"}); live != nullptr && live->is_array()) taints = *live;
  const bool taints_changed = ChangeTaints(taints, before.taints, wanted.taints, given.taints);

  if (given.empty()) {
    if (record) annotations[kPreviousAttributesAnnotation] = nullptr;
  } else if (given != before) {
    annotations[kPreviousAttributesAnnotation] = WriteRecord(given);
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
