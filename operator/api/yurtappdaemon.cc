#include "operator/api/yurtappdaemon.h"

#include "operator/api/well_known.h"

namespace yad {
namespace {

constexpr int kDefaultRevisionHistoryLimit = 10;

// Returns the value at `path`, or `fallback` if it is absent or null.
Json ValueAt(const Json& object, std::initializer_list<std::string_view> path, Json fallback) {
  const Json* value = Find(object, path);
  return value == nullptr || value->is_null() ? fallback : *value;
}

std::set<std::string> StringsAt(const Json& object, std::initializer_list<std::string_view> path) {
  std::set<std::string> result;
  for (const Json& entry : ListAt(object, path)) {
    if (entry.is_string()) result.insert(entry.get_ref<const std::string&>());
  }
  return result;
}

// Reads an object that ValidateYurtAppDaemon has accepted.
Result<YurtAppDaemon> ReadWithoutStatus(const Json& object) {
  YurtAppDaemon daemon;
  daemon.meta = ParseMeta(object);
  const Json& spec = *Find(object, {"spec"});
  daemon.kind = KindOf(object);
  daemon.selector = *Find(spec, {"selector"});
  const Json& workload = *Find(spec, {"workloadTemplate", TemplateField(daemon.kind)});
  daemon.workload_template = {{"metadata", ValueAt(workload, {"metadata"}, Json::object())},
                              {"spec", *Find(workload, {"spec"})}};
  // spec.selector replaces the selector of the template, as OpenYurt's webhook has always done.
  daemon.workload_template["spec"]["selector"] = daemon.selector;
  ReplaceNullTexts(daemon.workload_template);
  daemon.service_template = ValueAt(spec, {"serviceTemplate"}, nullptr);
  ReplaceNullTexts(daemon.service_template);
  daemon.overrides = ValueAt(spec, {"overrides"}, Json::array());

  if (Json selector = ValueAt(spec, {"nodepoolSelector"}, nullptr); !selector.is_null()) {
    YAD_TRY(daemon.pools.selector, LabelSelector::Parse(selector, "spec.nodepoolSelector"));
  }
  daemon.pools.names = StringsAt(spec, {"nodePools", "names"});
  daemon.pools.exclude = StringsAt(spec, {"nodePools", "exclude"});
  daemon.pools.type = StringAt(spec, {"nodePools", "type"});

  daemon.revision_history_limit = static_cast<int>(IntAt(spec, {"revisionHistoryLimit"}, kDefaultRevisionHistoryLimit));
  daemon.paused = BoolAt(spec, {"paused"});
  daemon.strategy = ParseUpdateStrategy(ValueAt(spec, {"updateStrategy"}, Json::object()));
  return daemon;
}

}  // namespace

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
  if (FieldErrors errors = ValidateYurtAppDaemon(object); !errors.empty()) return Fail(ToError(errors));
  return ReadWithoutStatus(object);
}

Result<YurtAppDaemon> ParseValidYurtAppDaemon(const Json& object) {
  auto daemon = ReadWithoutStatus(object);
  const Json* status = Find(object, {"status"});
  if (daemon && status != nullptr && !IsDeeperThan(*status, kMaxJsonDepth)) daemon->status = *status;
  return daemon;
}

Result<YurtAppDaemon> ParseYurtAppDaemon(const Json& object) {
  if (FieldErrors errors = ValidateYurtAppDaemon(object); !errors.empty()) return Fail(ToError(errors));
  return ParseValidYurtAppDaemon(object);
}

Result<YurtAppDaemon> ParseYurtAppDaemon(Json&& object) {
  auto daemon = ParseYurtAppDaemonWithoutStatus(object);
  const auto status = object.find("status");
  if (daemon && status != object.end() && !IsDeeperThan(*status, kMaxJsonDepth)) daemon->status = std::move(*status);
  return daemon;
}

}  // namespace yad
