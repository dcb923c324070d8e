#include "operator/api/yurtappdaemon.h"

#include "operator/api/well_known.h"

namespace yad {

const ResourceType& TypeOf(WorkloadKind kind) {
  return kind == WorkloadKind::kStatefulSet ? kStatefulSetType : kDeploymentType;
}

WorkloadKind KindOf(const Json& daemon) {
  const Json* stateful = Find(daemon, {"spec", "workloadTemplate", TemplateField(WorkloadKind::kStatefulSet)});
  return stateful != nullptr && !stateful->is_null() ? WorkloadKind::kStatefulSet : WorkloadKind::kDeployment;
}

const char* TemplateField(WorkloadKind kind) {
  return kind == WorkloadKind::kStatefulSet ? "statefulSetTemplate" : "deploymentTemplate";
}

std::string TemplatePath(WorkloadKind kind) { return std::string("spec.workloadTemplate.") + TemplateField(kind); }

void ReplaceNullTexts(Json& object) {
  for (const char* owner : {"/metadata", "/spec/template/metadata"}) {
    for (const char* map : {"labels", "annotations"}) {
      const Json::json_pointer at = Json::json_pointer(owner) / map;
      if (!object.contains(at) || !object[at].is_object()) continue;
      for (Json& value : object[at]) {
        if (value.is_null()) value = "";
      }
    }
  }
}

bool PoolSelection::Selects(const NodePool& pool) const {
  if (exclude.contains(pool.name)) return false;
  if (names.contains(pool.name)) return true;
  return selector.has_value() && (type.empty() || pool.type == type) && selector->Matches(pool.labels);
}

Result<YurtAppDaemon> ParseYurtAppDaemonWithoutStatus(const Json& object) {
  FieldErrors errors;
  YurtAppDaemon daemon = ReadYurtAppDaemon(object, errors);
  if (!errors.empty()) return Fail(ToError(errors));
  return daemon;
}

Result<YurtAppDaemon> ParseYurtAppDaemon(const Json& object) {
  auto daemon = ParseYurtAppDaemonWithoutStatus(object);
  const Json* status = Find(object, {"status"});
  if (daemon && status != nullptr && !IsDeeperThan(*status, kMaxJsonDepth)) daemon->status = *status;
  return daemon;
}

Result<YurtAppDaemon> ParseYurtAppDaemon(Json&& object) {
  auto daemon = ParseYurtAppDaemonWithoutStatus(object);
  const auto status = object.find("status");
  if (daemon && status != object.end() && !IsDeeperThan(*status, kMaxJsonDepth)) daemon->status = std::move(*status);
  return daemon;
}

}  // namespace yad
