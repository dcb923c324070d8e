#include "tests/cluster/naive_model.h"

#include <algorithm>

#include "operator/api/well_known.h"
#include "tests/support/kube.h"

namespace yad::testing {
namespace {

bool Contains(const Json& list, const std::string& text) {
  return std::find(list.begin(), list.end(), Json(text)) != list.end();
}

std::string ReplaceEach(std::string text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// Returns whether the selector matches, or nullopt if an apiserver would reject it.
std::optional<bool> Matches(const Json& selector, const Json& object) {
  const Json labels = At(object, "/metadata/labels");
  bool matches = true;
  const Json equal = At(selector, "/matchLabels");
  for (const auto& [key, value] : equal.items()) matches = matches && labels.value(key, Json()) == value;
  for (const Json& rule : At(selector, "/matchExpressions")) {
    const std::string op = StringAt(rule, {"operator"});
    const Json values = At(rule, "/values");
    const std::string key = StringAt(rule, {"key"});
    const bool has = labels.contains(key);
    const bool in = has && Contains(values, labels[key].get<std::string>());
    const bool listed = op == "In" || op == "NotIn";
    if (key.empty() || listed == values.empty()) return std::nullopt;
    if (op == "In") {
      matches = matches && in;
    } else if (op == "NotIn") {
      matches = matches && !in;
    } else if (op == "Exists") {
      matches = matches && has;
    } else if (op == "DoesNotExist") {
      matches = matches && !has;
    } else {
      return std::nullopt;
    }
  }
  return matches;
}

bool Names(const Json& pools, const std::string& pool) {
  return !Contains(pools, "-" + pool) && (Contains(pools, "*") || Contains(pools, pool));
}

// Applies the override to the workload of a selected pool. Returns false if this is impossible.
bool Override(const Json& written, const Json& pool, Json& workload) {
  const std::string name = NameOf(pool);
  const Json entry =
      Json::parse(ReplaceEach(ReplaceEach(written.dump(), "{{nodepool-name}}", name), "{{nodepool}}", name));
  if (entry.contains("nodepoolSelector")) {
    const auto matches = Matches(entry["nodepoolSelector"], pool);
    if (!matches) return false;
    if (!*matches) return true;
  } else if (!Names(At(entry, "/pools"), name)) {
    return true;
  }
  if (entry.contains("replicas")) workload["spec"]["replicas"] = entry["replicas"];
  for (const Json& image : At(entry, "/images")) {
    bool found = false;
    for (const char* list : {"containers", "initContainers"}) {
      Json& pod = workload["spec"]["template"]["spec"];
      if (!pod.contains(list)) continue;
      for (Json& container : pod[list]) {
        if (container["name"] != image["name"]) continue;
        container["image"] = image["image"];
        found = true;
      }
    }
    if (!found) return false;
  }
  if (entry.contains("patch")) workload.merge_patch(entry["patch"]);
  if (!At(entry, "/jsonPatches").empty()) workload = workload.patch(entry["jsonPatches"]);
  return true;
}

std::optional<Json> Make(const Json& spec, WorkloadKind kind, const Json& pool) {
  const std::string name = NameOf(pool);
  const Json workload_template = At(spec, std::string("/workloadTemplate/") + TemplateField(kind));
  Json workload = {{"metadata", Json::object()}, {"spec", workload_template.at("spec")}};
  for (const char* map : {"labels", "annotations"}) {
    const Json members = At(workload_template, std::string("/metadata/") + map);
    workload["metadata"][map] = members.is_null() ? Json::object() : members;
  }
  workload["spec"]["selector"] = spec.at("selector");
  for (const Json& entry : At(spec, "/overrides")) {
    if (!Override(entry, pool, workload)) return std::nullopt;
  }
  if (At(workload, "/spec/replicas").is_null()) workload["spec"].erase("replicas");
  workload["metadata"]["labels"][kPoolNameLabel] = name;
  workload["metadata"]["annotations"][kRefNodePoolAnnotation] = name;
  workload["spec"]["selector"]["matchLabels"][kPoolNameLabel] = name;
  workload["spec"]["template"]["metadata"]["labels"][kPoolNameLabel] = name;
  workload["spec"]["template"]["spec"]["nodeSelector"][kNodePoolLabel] = name;
  return workload;
}

}  // namespace

std::optional<std::vector<std::string>> NaivePools(const Json& spec, const std::vector<Json>& pools) {
  std::vector<std::string> names;
  const Json type = At(spec, "/nodePools/type");
  for (const Json& pool : pools) {
    const auto by_label = spec.contains("nodepoolSelector") ? Matches(spec["nodepoolSelector"], pool) : false;
    if (!by_label) return std::nullopt;
    const bool of_type = type.is_null() || At(pool, "/spec/type") == type;
    const bool selected = (*by_label && of_type) || Contains(At(spec, "/nodePools/names"), NameOf(pool));
    if (selected && !Contains(At(spec, "/nodePools/exclude"), NameOf(pool))) names.push_back(NameOf(pool));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<Json> NaiveWorkload(const Json& spec, WorkloadKind kind, const Json& pool) {
  try {
    return Make(spec, kind, pool);
  } catch (const Json::exception&) {  // a value of a wrong type, or a patch of a missing path
    return std::nullopt;
  }
}

}  // namespace yad::testing
