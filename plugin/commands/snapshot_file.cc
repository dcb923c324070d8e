#include "plugin/commands/snapshot_file.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "operator/api/conditions.h"
#include "operator/api/label_selector.h"
#include "operator/api/well_known.h"
#include "operator/api/yurtappdaemon.h"
#include "operator/yurtappdaemon/observe/status_view.h"

namespace yad {
namespace {

// The command that writes a snapshot, for messages.
constexpr char kSnapshotCommand[] =
    "kubectl get yurtappdaemons,nodepools,deployments,statefulsets,controllerrevisions,services,configmaps -A -o yaml";

// Returns the type of an object; nullptr if simulations do not need objects of its type.
const ResourceType* TypeOfObject(const Json& object) {
  static const std::array<const ResourceType*, 7> kTypes{
      &kYurtAppDaemonType,      &kNodePoolType, &kDeploymentType, &kStatefulSetType,
      &kControllerRevisionType, &kServiceType,  &kConfigMapType};
  const auto found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const ResourceType* type) { return IsOfType(object, *type); });
  return found == kTypes.end() ? nullptr : *found;
}

struct InvalidField {
  std::string field;
  std::string why;
};

// Checks that the member exists and is a string that is not empty.
std::optional<InvalidField> CheckText(const Json& object, const char* member, const std::string& path) {
  const auto found = object.find(member);
  const std::string field = path + member;
  if (found == object.end()) return InvalidField{field, "is missing"};
  if (!found->is_string()) return InvalidField{field, "must be a string: put it in quotes"};
  if (found->get_ref<const std::string&>().empty()) return InvalidField{field, "must not be empty"};
  return std::nullopt;
}

// Checks that the member is an object, null or missing.
std::optional<InvalidField> CheckObject(const Json& object, const char* member, const std::string& path) {
  const auto found = object.find(member);
  if (found == object.end() || found->is_null() || found->is_object()) return std::nullopt;
  return InvalidField{path + member, "must be an object"};
}

std::optional<InvalidField> CheckTexts(const Json& metadata, const char* member) {
  const std::string path = "metadata.";
  if (auto invalid = CheckObject(metadata, member, path)) return invalid;
  const auto found = metadata.find(member);
  if (found == metadata.end() || found->is_null()) return std::nullopt;
  for (const auto& [key, value] : found->items()) {
    if (!value.is_string()) return InvalidField{path + member + "[" + key + "]", "must be a string: put it in quotes"};
  }
  return std::nullopt;
}

std::optional<InvalidField> CheckObjectOf(const ResourceType& type, const Json& object) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end()) return InvalidField{"metadata", "is missing"};
  if (!metadata->is_object()) return InvalidField{"metadata", "must be an object"};
  for (const char* member : {"name", "uid", "namespace"}) {
    if (!type.namespaced && member == std::string_view("namespace")) continue;
    if (auto invalid = CheckText(*metadata, member, "metadata.")) return invalid;
  }
  for (const char* member : {"labels", "annotations"}) {
    if (auto invalid = CheckTexts(*metadata, member)) return invalid;
  }
  for (const char* member : {"spec", "status"}) {
    if (auto invalid = CheckObject(object, member, "")) return invalid;
  }
  if (IsDeeperThan(object, kMaxJsonDepth)) return InvalidField{"", "is nested too deeply"};
  return std::nullopt;
}

ObjectKey KeyOf(const Json& object) {
  return {StringAt(object, {"metadata", "namespace"}), StringAt(object, {"metadata", "name"})};
}

}  // namespace

Result<SnapshotFile> SnapshotFile::Read(const std::string& path, Console& console) {
  YAD_TRY(auto file, ReadManifestFile(path, kMaxBytes, console));
  return Make(std::move(file));
}

Result<SnapshotFile> SnapshotFile::Make(ManifestFile file) {
  if (file.objects.size() > kMaxObjects) {
    return Fail(Reason::kConfig, file.source + ": the snapshot has " + std::to_string(file.objects.size()) +
                                     " objects, and may have at most " + std::to_string(kMaxObjects));
  }
  SnapshotFile snapshot;
  snapshot.file_ = std::move(file);
  for (std::size_t i = 0; i < snapshot.file_.objects.size(); ++i) YAD_TRY_VOID(snapshot.Add(i));
  return snapshot;
}

Status SnapshotFile::Add(std::size_t object) {
  const Json& json = file_.objects[object];
  const auto reject = [&](const InvalidField& invalid) {
    return Fail(file_.ErrorAt(object, invalid.field, invalid.why));
  };
  if (!json.is_object()) return reject({"", "is not an object with apiVersion and kind"});
  for (const char* member : {"kind", "apiVersion"}) {
    if (const auto invalid = CheckText(json, member, "")) return reject(*invalid);
  }
  const ResourceType* type = TypeOfObject(json);
  if (type == nullptr) return {};
  if (const auto invalid = CheckObjectOf(*type, json)) return reject(*invalid);
  const auto [same, is_new] = by_key_[type->resource].emplace(KeyOf(json), object);
  if (!is_new)
    return reject(
        {"metadata.name", "is a duplicate of object " + std::to_string(same->second + 1) + ": remove one of them"});
  return {};
}

const SnapshotFile::Keys& SnapshotFile::KeysOf(const ResourceType& type) const {
  static const Keys kNoKeys;
  const auto found = by_key_.find(type.resource);
  return found == by_key_.end() ? kNoKeys : found->second;
}

Result<Json> SnapshotFile::Get(const ResourceType& type, const ObjectKey& key) {
  if (!Has(type)) return Fail(Reason::kConfig, file_.source + " has no " + type.kind + "s");
  const Keys& keys = KeysOf(type);
  if (const auto found = keys.find(key); found != keys.end()) return file_.objects[found->second];
  return Fail(Reason::kNotFound, file_.source + " has no " + type.kind + " " + key.ToString());
}

Result<std::vector<Json>> SnapshotFile::List(const ResourceType& type, const std::string& ns,
                                             const std::string& label_selector) {
  LabelSelector selector;
  if (!label_selector.empty()) {
    YAD_TRY(selector, LabelSelector::ParseText(label_selector));
  }
  std::vector<Json> objects;
  for (const auto& [key, index] : KeysOf(type)) {
    if (!ns.empty() && key.ns != ns) continue;
    const Json& object = file_.objects[index];
    if (!label_selector.empty() && !selector.Matches(StringMapAt(object, {"metadata", "labels"}))) continue;
    objects.push_back(object);
  }
  return objects;
}

Result<std::string> SnapshotFile::NamespaceOf(const std::string& name, const std::string& ns) const {
  std::vector<std::string> namespaces, all;
  for (const auto& [key, object] : KeysOf(kYurtAppDaemonType)) {
    all.push_back(key.ToString());
    if (key.name == name && (ns.empty() || key.ns == ns)) namespaces.push_back(key.ns);
  }
  if (namespaces.size() == 1) return namespaces.front();
  if (all.empty()) return Fail(Reason::kNotFound, file_.source + " has no YurtAppDaemons");
  if (namespaces.empty()) {
    return Fail(Reason::kNotFound, file_.source + " has no YurtAppDaemon \"" + name + "\"" +
                                       (ns.empty() ? "" : " in namespace \"" + ns + "\"") + "; it has " +
                                       NameSome(all));
  }
  return Fail(Reason::kBadRequest, file_.source + " has a YurtAppDaemon \"" + name + "\" in each of the namespaces " +
                                       NameSome(namespaces) + ": give -n NAMESPACE");
}

Status SnapshotFile::CheckSpec(const ObjectKey& key) const {
  const std::size_t object = KeysOf(kYurtAppDaemonType).at(key);
  const FieldErrors errors = ValidateYurtAppDaemon(file_.objects[object]);
  if (errors.empty()) return {};
  const std::string more =
      errors.size() == 1 ? "" : " (and " + std::to_string(errors.size() - 1) + " more invalid fields)";
  return Fail(file_.ErrorAt(object, errors.front().path, errors.front().ToCause().message + more));
}

Status SnapshotFile::CheckParts(const Json& daemon) const {
  const auto missing = [&](const std::string& what) {
    return Fail(Reason::kConfig, file_.source + " has no " + what + ": make the snapshot with " + kSnapshotCommand);
  };
  if (!Has(kNodePoolType)) return missing("NodePools");
  const std::string ns = KeyOf(daemon).ns;
  for (const char* field : {"currentRevision", "updateRevision"}) {
    const std::string name = StringAt(daemon, {"status", field});
    if (name.empty()) continue;
    if (!KeysOf(kControllerRevisionType).contains({ns, name}))
      return missing("ControllerRevision " + ns + "/" + name + ", which status." + field + " names");
  }
  const auto status = daemon.find("status");
  if (status == daemon.end()) return {};
  const YurtAppDaemon typed = ParseYurtAppDaemon(daemon).value_or(YurtAppDaemon());
  const ResourceType& type = TypeOf(typed.kind);
  for (const PoolStatusView& pool : StatusView(*status).pools()) {
    if (!pool.workload().empty() && !Has(type))
      return missing(type.kind + "s, but status.pools names the workload \"" + std::string(pool.workload()) + "\"");
  }
  return {};
}

}  // namespace yad
