#include "operator/workload/render.h"

#include <limits>
#include <optional>
#include <set>

#include "operator/api/well_known.h"
#include "operator/workload/overrides.h"
#include "operator/workload/owner.h"
#include "operator/workload/semantics.h"

namespace yad {
namespace {

// Returns the object at `key`, and creates it if it is missing. Returns nullptr if the value is not an object, or if
// `parent` is nullptr.
Json* ObjectIn(Json* parent, const char* key) {
  if (parent == nullptr) return nullptr;
  Json& member = (*parent)[key];
  if (member.is_null()) member = Json::object();
  return member.is_object() ? &member : nullptr;
}

// Adds a toleration for each taint to the pod spec. If `once` is true, skips taints that the pod already tolerates.
// (OpenYurt does not skip them.) An existing toleration with tolerationSeconds is enough. Kubernetes uses the shortest
// time, so a second toleration would change nothing.
bool AddTolerations(const std::vector<Taint>& taints, bool once, Json& pod) {
  if (taints.empty()) return true;
  Json& tolerations = pod["tolerations"];
  if (tolerations.is_null()) tolerations = Json::array();
  if (!tolerations.is_array()) return false;
  std::set<Taint> tolerated;
  for (const Json& toleration : tolerations) {
    if (StringAt(toleration, {"operator"}) != "Exists") continue;
    tolerated.insert({StringAt(toleration, {"key"}), StringAt(toleration, {"effect"})});
  }
  for (const Taint& taint : taints) {
    if (once && !tolerated.insert(taint).second) continue;
    Json toleration = {{"operator", "Exists"}};
    if (!taint.key.empty()) toleration["key"] = taint.key;
    if (!taint.effect.empty()) toleration["effect"] = taint.effect;
    tolerations.push_back(std::move(toleration));
  }
  return true;
}

void DropRequiredNodeAffinity(Json& pod) {
  const auto affinity = pod.find("affinity");
  if (affinity == pod.end() || !affinity->is_object()) return;
  const auto node_affinity = affinity->find("nodeAffinity");
  if (node_affinity != affinity->end() && node_affinity->is_object()) {
    node_affinity->erase("requiredDuringSchedulingIgnoredDuringExecution");
  }
}

// Adds the labels, annotations, nodeSelector and tolerations of the pool to the workload (see Render). Returns false if
// one of the changed fields has a wrong type.
bool BindToPool(const RenderInputs& inputs, const std::string& pool, const std::string& revision_label,
                Json& workload) {
  Json* labels = ObjectIn(ObjectIn(&workload, "metadata"), "labels");
  Json* annotations = ObjectIn(ObjectIn(&workload, "metadata"), "annotations");
  Json* spec = ObjectIn(&workload, "spec");
  Json* match_labels = ObjectIn(ObjectIn(spec, "selector"), "matchLabels");
  Json* pod_template = ObjectIn(spec, "template");
  Json* pod_labels = ObjectIn(ObjectIn(pod_template, "metadata"), "labels");
  Json* pod = ObjectIn(pod_template, "spec");
  if (labels == nullptr || annotations == nullptr || match_labels == nullptr || pod_labels == nullptr || pod == nullptr)
    return false;

  if (inputs.rules == 0) {
    labels->update(*match_labels);
    (*pod_labels)[kRevisionLabel] = inputs.pod_revision.empty() ? revision_label : inputs.pod_revision;
    (*pod)["nodeSelector"] = Json::object();
    DropRequiredNodeAffinity(*pod);
  }
  // Removes the labels and annotations that controllers write. A template has them if a user copied it from a workload
  // of the operator. The operator writes all of them except deployment.kubernetes.io/revision, which the Deployment
  // controller writes.
  labels->erase(kRevisionLabel);
  for (const char* key : {kRenderedFromAnnotation, kUpdateRecordAnnotation, kRemovalAllowedAnnotation,
                          "deployment.kubernetes.io/revision"})
    annotations->erase(key);
  (*labels)[kPoolNameLabel] = pool;
  (*annotations)[kRefNodePoolAnnotation] = pool;
  (*match_labels)[kPoolNameLabel] = pool;
  return BindPodsToPool(inputs.tolerations, inputs.rules > 0, pool, *pod_template);
}

// Returns the number, or nullopt if it is negative or not an int.
std::optional<int> ParseNumber(const Json& value) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<int>::max()) return std::nullopt;
  return value.get<int>();
}

// Parses the indices of the overrides that a workload has. They must be in ascending order, because each override
// applies once, in the order of the spec. Returns false if the list is not valid.
bool ParseIndices(const Json& list, std::vector<int>& indices) {
  if (list.is_null()) return true;
  if (!list.is_array()) return false;
  for (const Json& item : list) {
    const auto index = ParseNumber(item);
    if (!index || (!indices.empty() && *index <= indices.back())) return false;
    indices.push_back(*index);
  }
  return true;
}

bool ParseTaints(const Json& list, std::vector<Taint>& taints) {
  if (list.is_null()) return true;
  if (!list.is_array()) return false;
  for (const Json& item : list) {
    if (!item.is_object()) return false;
    taints.push_back({StringAt(item, {"key"}), StringAt(item, {"effect"})});
  }
  return true;
}

}  // namespace

// Builds the JSON without a Json object, which would be slower, because each write of a workload needs the annotation
// several times. The keys are in the order in which Json would write them.
std::string RenderInputs::ToAnnotation() const {
  const auto quoted = [](const std::string& text) { return DumpJson(Json(text)); };
  std::string text = "{\"overrides\":[";
  for (const int index : overrides) text += (text.back() == '[' ? "" : ",") + std::to_string(index);
  text += "]";
  if (replicas) text += ",\"replicas\":" + std::to_string(*replicas);
  if (without_replicas) text += ",\"replicas\":null";
  text += ",\"rules\":" + std::to_string(rules) + ",\"tolerations\":[";
  for (const Taint& taint : tolerations) {
    text += text.back() == '[' ? "" : ",";
    text += "{\"effect\":" + quoted(taint.effect) + ",\"key\":" + quoted(taint.key) + "}";
  }
  return text + "]}";
}

Json MetadataOfTemplate(const Json& object_template) {
  Json result = Json::object();
  for (const char* part : {"labels", "annotations"}) {
    const Json& map = MemberOf(MemberOf(object_template, "metadata"), part);
    result[part] = map.is_object() ? map : Json::object();
  }
  return result;
}

bool BindPodsToPool(const std::vector<Taint>& taints, bool once, const std::string& pool, Json& pod_template) {
  Json* labels = ObjectIn(ObjectIn(&pod_template, "metadata"), "labels");
  Json* pod = ObjectIn(&pod_template, "spec");
  Json* node_selector = ObjectIn(pod, "nodeSelector");
  if (labels == nullptr || node_selector == nullptr) return false;
  (*labels)[kPoolNameLabel] = pool;
  (*node_selector)[kNodePoolLabel] = pool;
  return AddTolerations(taints, once, *pod);
}

RenderInputs InputsFor(const RevisionContent& revision, const NodePool& pool) {
  RenderInputs inputs;
  inputs.tolerations = pool.taints;
  inputs.overrides = revision.override_index.Of(pool);
  return inputs;
}

Result<RenderInputs> ParseRenderInputs(const std::string& annotation) {
  RenderInputs inputs;
  if (annotation.empty()) {
    inputs.rules = 0;
    return inputs;
  }
  const Json object = Json::parse(annotation, nullptr, false);
  const auto rules = ParseNumber(MemberOf(object, "rules"));
  const Json& replicas = MemberOf(object, "replicas");
  inputs.replicas = ParseNumber(replicas);
  if (!rules || !ParseTaints(MemberOf(object, "tolerations"), inputs.tolerations) ||
      !ParseIndices(MemberOf(object, "overrides"), inputs.overrides) || (!inputs.replicas && !replicas.is_null())) {
    return Fail(Reason::kDecode, std::string("annotation ") + kRenderedFromAnnotation + " is malformed");
  }
  inputs.rules = *rules;
  inputs.without_replicas = object.contains("replicas") && replicas.is_null();
  return inputs;
}

Result<Json> Render(const RevisionContent& revision, const RenderInputs& inputs, const std::string& pool,
                    const std::string& revision_label) {
  const Json& spec = MemberOf(revision.workload_template, "spec");
  if (!spec.is_object()) return Fail(Reason::kInvalid, TemplatePath(revision.kind) + ".spec: Required value");
  Json workload = Json::object();
  workload["metadata"] = MetadataOfTemplate(revision.workload_template);
  workload["spec"] = spec;
  if (inputs.rules == 0) KeepPullPolicies(inputs.pull_policies, workload);
  std::optional<OverrideBounds> bounds;
  if (!inputs.overrides.empty()) bounds.emplace(workload);
  for (const int index : inputs.overrides) {
    const auto at = static_cast<std::size_t>(index);
    if (at >= revision.overrides.size())
      return Fail(Reason::kInvalid, "spec.overrides[" + std::to_string(index) + "]: the revision has no such entry");
    YAD_TRY_VOID(ApplyOverride(revision.overrides[at], at, pool, inputs.rules, *bounds, workload));
  }
  // BindToPool is the last step, so that overrides can't undo it.
  if (!workload.is_object() || !BindToPool(inputs, pool, revision_label, workload)) {
    return Fail(Reason::kInvalid,
                TemplatePath(revision.kind) +
                    ": metadata, selector, template, labels, nodeSelector or tolerations have a wrong type");
  }
  if (inputs.replicas) workload["spec"]["replicas"] = *inputs.replicas;
  if (inputs.without_replicas) workload["spec"].erase("replicas");
  return workload;
}

Json CompleteWorkload(Json rendered, const YurtAppDaemon& daemon, const std::string& name, const RenderInputs& inputs,
                      const std::string& revision_label) {
  rendered.update(OwnedObject(TypeOf(daemon.kind), name, daemon), /*merge_objects=*/true);
  rendered["metadata"]["labels"][kRevisionLabel] = revision_label;
  rendered["metadata"]["annotations"][kRenderedFromAnnotation] = inputs.ToAnnotation();
  return rendered;
}

Difference Compare(const Json& rendered_a, const Json& rendered_b) {
  const Schema& schema = WorkloadSchema();
  const Schema& spec_schema = *schema.Of("spec").schema;
  const Json& a = MemberOf(rendered_a, "spec");
  const Json& b = MemberOf(rendered_b, "spec");
  if (!SameMember(spec_schema, "template", a, b)) return Difference::kPodTemplate;
  if (!SameMember(schema, "metadata", rendered_a, rendered_b)) return Difference::kWithoutPods;
  for (const Json* spec : {&a, &b}) {
    for (const auto& [key, member] : spec->items()) {
      if (key != "template" && key != "replicas" && !SameMember(spec_schema, key, a, b))
        return Difference::kWithoutPods;
    }
  }
  return SameMember(spec_schema, "replicas", a, b) ? Difference::kNone : Difference::kReplicasOnly;
}

}  // namespace yad
