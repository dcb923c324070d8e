#include "tests/support/kube.h"

#include "tests/support/eventually.h"

namespace yad::testing {

ObjectKey Kube::Key(const ResourceType& type, const std::string& name) const {
  return {type.namespaced ? ns_ : "", name};
}

Json Kube::Complete(const ResourceType& type, Json object) const {
  object["apiVersion"] = type.ApiVersion();
  object["kind"] = type.kind;
  if (type.namespaced && !object["metadata"].contains("namespace")) object["metadata"]["namespace"] = ns_;
  return object;
}

void Kube::ThrowError(const std::string& verb, const ResourceType& type, const std::string& name, const Error& error) {
  throw TestFailure(verb + " " + type.resource + " " + name + ": " + error.ToString());
}

Json Kube::Get(const ResourceType& type, const std::string& name) const {
  Result<Json> result = client_.Get(type, Key(type, name));
  if (!result.has_value()) ThrowError("get", type, name, result.error());
  return *result;
}

std::optional<Json> Kube::Find(const ResourceType& type, const std::string& name) const {
  Result<Json> result = client_.Get(type, Key(type, name));
  if (result.has_value()) return *result;
  if (result.error().reason != Reason::kNotFound) ThrowError("get", type, name, result.error());
  return std::nullopt;
}

std::vector<Json> Kube::List(const ResourceType& type, const std::string& label_selector) const {
  ListOptions options;
  if (type.namespaced) options.ns = ns_;
  options.label_selector = label_selector;
  Result<ListPage> page = client_.List(type, options);
  if (!page.has_value()) ThrowError("list", type, label_selector, page.error());
  return page->items;
}

Json Kube::Create(const ResourceType& type, Json object) const {
  object = Complete(type, std::move(object));
  Result<Json> result = client_.Create(type, object);
  if (!result.has_value()) ThrowError("create", type, NameOf(object), result.error());
  return *result;
}

Json Kube::Update(const ResourceType& type, Json object) const {
  object = Complete(type, std::move(object));
  Result<Json> result = client_.Update(type, object);
  if (!result.has_value()) ThrowError("update", type, NameOf(object), result.error());
  return *result;
}

Json Kube::MergePatch(const ResourceType& type, const std::string& name, const Json& patch,
                      const std::string& subresource) const {
  WriteOptions options;
  options.subresource = subresource;
  Result<Json> result = client_.Patch(type, Key(type, name), PatchType::kMerge, patch, options);
  if (!result.has_value()) ThrowError("patch", type, name, result.error());
  return *result;
}

Json Kube::JsonPatch(const ResourceType& type, const std::string& name, const Json& patch) const {
  Result<Json> result = client_.Patch(type, Key(type, name), PatchType::kJson, patch);
  if (!result.has_value()) ThrowError("patch", type, name, result.error());
  return *result;
}

void Kube::Delete(const ResourceType& type, const std::string& name, Propagation propagation) const {
  DeleteOptions options;
  options.propagation = propagation;
  Status result = client_.Delete(type, Key(type, name), options);
  if (!result.has_value() && result.error().reason != Reason::kNotFound) {
    ThrowError("delete", type, name, result.error());
  }
}

void MakeNode(const Kube& kube, const std::string& name, const Json& labels, const Json& taints) {
  const Json resources = {{"cpu", "64"}, {"memory", "256Gi"}, {"pods", "500"}};
  kube.Create(kNodeType, {{"metadata", {{"name", name}, {"labels", labels}}},
                          {"spec", {{"taints", taints}}},
                          {"status", {{"capacity", resources}, {"allocatable", resources}}}});
}

Json At(const Json& object, const std::string& pointer) {
  const nlohmann::json::json_pointer path(pointer);
  return object.contains(path) ? object.at(path) : Json();
}

std::string NameOf(const Json& object) { return StringAt(object, {"metadata", "name"}); }
std::string UidOf(const Json& object) { return StringAt(object, {"metadata", "uid"}); }
std::string VersionOf(const Json& object) { return StringAt(object, {"metadata", "resourceVersion"}); }

Json WithoutStatus(Json object) {
  object.erase("status");
  object["metadata"].erase("resourceVersion");
  return object;
}

}  // namespace yad::testing
