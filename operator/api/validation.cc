#include "operator/api/validation.h"

#include <iterator>
#include <nlohmann/json.hpp>

#include "operator/api/quantity.h"
#include "operator/api/yurtappdaemon.h"

namespace yad {
namespace {

constexpr WorkloadKind kKinds[] = {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet};

JsonField TemplateOf(const JsonField& spec, WorkloadKind kind) {
  return spec.Child("workloadTemplate").Child(TemplateField(kind));
}

// Returns whether the spec has a valid depth. Must be called before the other functions of this file, because they
// recurse into the spec.
bool CheckDepth(const Json& object, FieldErrors& errors) {
  const Json* spec = Find(object, {"spec"});
  if (spec == nullptr || !IsDeeperThan(*spec, kMaxJsonDepth)) return true;
  errors.Add(FieldError::Invalid("spec", "...",
                                 "must not be nested more than " + std::to_string(kMaxJsonDepth) + " levels deep"));
  return false;
}

LabelSelector ReadSelector(const JsonField& selector, const char* kind, FieldErrors& errors) {
  if (!selector.present()) {
    errors.Add(FieldError::Required(selector.path));
    return {};
  }
  const std::size_t faults = errors.size();
  LabelSelector parsed = LabelSelector::Parse(*selector.value, selector.path, errors);
  if (errors.size() == faults && parsed.empty()) {
    errors.Add(
        FieldError::Invalid(selector.path, *selector.value, std::string("empty selector is invalid for ") + kind));
  }
  return parsed;
}

PoolSelection ReadPoolSelection(const JsonField& spec, FieldErrors& errors) {
  PoolSelection selection;
  const JsonField pools = spec.Child("nodePools");
  const JsonField names = pools.Child("names");
  AsObject(pools, errors);
  selection.names = CheckNames(names, errors);
  selection.exclude = CheckNames(pools.Child("exclude"), errors);
  selection.type = CheckOneOf(pools.Child("type"), {"Cloud", "Edge"}, errors);

  const JsonField selector = spec.Child("nodepoolSelector");
  if (selector.present()) {
    selection.selector = LabelSelector::Parse(*selector.value, selector.path, errors);
  } else if (!names.present() || names.value->empty()) {
    errors.Add(FieldError::Required(
        selector.path,
        "must be specified unless `nodePools.names` lists pools; an empty selector `{}` selects all pools"));
  }
  return selection;
}

// Sets the fields of the daemon that stay JSON. The spec must be valid.
void CopyTemplates(const JsonField& spec, YurtAppDaemon& daemon) {
  daemon.selector = *spec.Child("selector").value;
  const JsonField workload = TemplateOf(spec, daemon.kind);
  const JsonField metadata = workload.Child("metadata");
  daemon.workload_template["metadata"] = metadata.present() ? *metadata.value : Json::object();
  daemon.workload_template["spec"] = *workload.Child("spec").value;
  // spec.selector replaces the selector of the template, as OpenYurt's webhook has always done.
  daemon.workload_template["spec"]["selector"] = daemon.selector;
  ReplaceNullTexts(daemon.workload_template);
  if (const JsonField service = spec.Child("serviceTemplate"); service.present()) {
    daemon.service_template = *service.value;
    ReplaceNullTexts(daemon.service_template);
  }
  const JsonField overrides = spec.Child("overrides");
  daemon.overrides = overrides.present() ? *overrides.value : Json::array();
}

// Removes values that have no meaning: nulls, empty objects and empty lists. Recursive, so the depth must be checked
// first.
void RemoveEmpty(Json& value) {
  if (!value.is_structured()) return;
  for (auto child = value.begin(); child != value.end();) {
    RemoveEmpty(*child);
    const bool is_empty = child->is_null() || (child->is_structured() && child->empty());
    // Empty elements of a list stay, so that the other elements keep their positions.
    child = is_empty && value.is_object() ? value.erase(child) : std::next(child);
  }
}

Json Comparable(const Json* value) {
  Json copy = value == nullptr ? Json() : *value;
  RemoveEmpty(copy);
  return copy;
}

// Returns the fields of a StatefulSet's spec that can't be changed on an update. Omits fields with default values.
Json ImmutableStatefulSetPart(const Json& statefulset_template) {
  Json spec = Comparable(Find(statefulset_template, {"spec"}));
  if (!spec.is_object()) return spec;
  for (const char* key : {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
                          "persistentVolumeClaimRetentionPolicy", "minReadySeconds",
                          "selector"}) {  // spec.selector replaces this selector
    spec.erase(key);
  }
  if (StringAt(spec, {"podManagementPolicy"}) == "OrderedReady") spec.erase("podManagementPolicy");
  if (Find(spec, {"serviceName"}) != nullptr && StringAt(spec, {"serviceName"}, "-").empty()) spec.erase("serviceName");
  const auto claims = spec.find("volumeClaimTemplates");
  if (claims != spec.end() && claims->is_array()) {
    for (Json& claim : *claims) {
      if (!claim.is_object()) continue;
      for (const char* key : {"apiVersion", "kind", "status"}) claim.erase(key);
      if (StringAt(claim, {"spec", "volumeMode"}) == "Filesystem") claim["spec"].erase("volumeMode");
      for (const char* kind : {"limits", "requests"}) {
        const Json::json_pointer at = Json::json_pointer("/spec/resources") / kind;
        if (Find(claim, {"spec", "resources", kind}) == nullptr || !claim[at].is_object()) continue;
        for (Json& amount : claim[at]) {
          const std::string text = amount.is_string() ? amount.get<std::string>() : amount.dump();
          if (const auto canonical = CanonicalQuantity(text)) amount = *canonical;
        }
      }
    }
  }
  return spec;
}

}  // namespace

YurtAppDaemon ReadYurtAppDaemon(const Json& object, FieldErrors& errors) {
  YurtAppDaemon daemon;
  if (!CheckDepth(object, errors)) return daemon;
  const JsonField spec = JsonField{&object, ""}.Child("spec");
  if (AsRequiredObject(spec, errors) == nullptr) return daemon;

  daemon.kind = KindOf(object);
  const JsonField workload = spec.Child("workloadTemplate");
  const bool statefulset = daemon.kind == WorkloadKind::kStatefulSet;
  const LabelSelector selector =
      ReadSelector(spec.Child("selector"), statefulset ? "statefulset" : "deployment", errors);
  const LabelSelector* good_selector = errors.empty() ? &selector : nullptr;

  AsObject(workload, errors);
  int templates = 0;
  for (WorkloadKind kind : kKinds) {
    const JsonField workload_template = TemplateOf(spec, kind);
    if (!workload_template.present()) continue;
    ++templates;
    ValidateWorkloadTemplate(workload_template, good_selector, errors);
  }
  if (templates == 0) {
    errors.Add(FieldError::Required(workload.path, "should provide one of (statefulSetTemplate/deploymentTemplate)"));
  } else if (templates > 1) {
    errors.Add(
        FieldError::Forbidden(workload.path, "should provide only one of (statefulSetTemplate/deploymentTemplate)"));
  }

  ValidateServiceTemplate(spec.Child("serviceTemplate"), spec.Child("selector"), errors);
  daemon.pools = ReadPoolSelection(spec, errors);
  if (const auto limit = AsInt(spec.Child("revisionHistoryLimit"), 0, kMaxInt32, errors))
    daemon.revision_history_limit = static_cast<int>(*limit);
  daemon.paused = AsBool(spec.Child("paused"), errors).value_or(false);
  daemon.strategy = ReadUpdateStrategy(spec.Child("updateStrategy"), errors);
  ValidateOverrides(spec.Child("overrides"), errors);
  if (!errors.empty()) return daemon;
  daemon.meta = ParseMeta(object);
  CopyTemplates(spec, daemon);
  return daemon;
}

FieldErrors ValidateYurtAppDaemon(const Json& object) {
  FieldErrors errors;
  ReadYurtAppDaemon(object, errors);
  return errors;
}

FieldErrors ValidateYurtAppDaemonUpdate(const Json& object, const Json& old_object) {
  FieldErrors errors;
  if (!StringAt(object, {"metadata", "deletionTimestamp"}).empty()) return errors;
  FieldErrors old_errors;
  if (!CheckDepth(object, errors) || !CheckDepth(old_object, old_errors)) return errors;
  const JsonField spec = JsonField{&object, ""}.Child("spec");
  const JsonField old_spec = JsonField{&old_object, ""}.Child("spec");
  if (Comparable(spec.value) == Comparable(old_spec.value)) return errors;

  const JsonField selector = spec.Child("selector");
  const JsonField old_selector = old_spec.Child("selector");
  // The CRD has the same rule, but an older version of the CRD does not.
  if (selector.present() && old_selector.present() && Comparable(selector.value) != Comparable(old_selector.value)) {
    errors.Add(FieldError::Invalid(
        selector.path, *selector.value,
        "field is immutable: restore the old selector, or create a YurtAppDaemon with another name"));
  }

  const WorkloadKind kind = KindOf(object);
  const WorkloadKind old_kind = KindOf(old_object);
  // An object with both templates, or with none, has an error already.
  if (kind != old_kind && TemplateOf(spec, kind).present() && !TemplateOf(spec, old_kind).present() &&
      TemplateOf(old_spec, old_kind).present() && !TemplateOf(old_spec, kind).present()) {
    errors.Add(
        FieldError::Forbidden(spec.Child("workloadTemplate").path,
                              std::string(TemplateField(old_kind)) + " can't be replaced by " + TemplateField(kind) +
                                  ": the workloads would have to be recreated. Create a new YurtAppDaemon instead"));
  }

  const JsonField statefulset = TemplateOf(spec, WorkloadKind::kStatefulSet);
  const JsonField old_statefulset = TemplateOf(old_spec, WorkloadKind::kStatefulSet);
  if (statefulset.present() && old_statefulset.present() &&
      ImmutableStatefulSetPart(*statefulset.value) != ImmutableStatefulSetPart(*old_statefulset.value)) {
    errors.Add(FieldError::Forbidden(
        statefulset.Child("spec").path,
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
        "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"));
  }
  const JsonField service = spec.Child("serviceTemplate");
  const JsonField old_service = old_spec.Child("serviceTemplate");
  if ((service.present() || old_service.present()) && statefulset.present() && old_statefulset.present() &&
      StringAt(*statefulset.value, {"spec", "serviceName"}) !=
          StringAt(*old_statefulset.value, {"spec", "serviceName"})) {
    errors.Add(
        FieldError::Forbidden(statefulset.Child("spec").Child("serviceName").path,
                              "can't be changed: a StatefulSet keeps the serviceName that it was created with. If the "
                              "template had none, the StatefulSet has the name of the pool's Service"));
  }
  ValidateServiceUpdate(service, old_service, errors);
  return errors;
}

}  // namespace yad
