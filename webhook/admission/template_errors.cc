#include "webhook/admission/template_errors.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "operator/api/fields.h"
#include "operator/api/quantity.h"
#include "operator/api/yurtappdaemon.h"

namespace yad {
namespace {

constexpr std::int64_t kMaxPort = 65535;
constexpr const char* kContainerLists[] = {"initContainers", "containers"};

bool IsMap(const JsonField& field) { return field.present() && field.value->is_object(); }

void CheckText(const JsonField& field, FieldErrors& errors) {
  // A null in a list is read as "".
  if (!field.present() || field.value->is_string() || field.value->is_null()) return;
  const bool scalar = field.value->is_number() || field.value->is_boolean();
  errors.Add(FieldError::TypeInvalid(field.path, *field.value,
                                     scalar ? "must be a string: put it in quotes" : "must be a string"));
}

void CheckPort(const JsonField& field, FieldErrors& errors) {
  if (field.present() && field.value->is_string()) {
    errors.Add(FieldError::TypeInvalid(field.path, *field.value, "must be an integer: remove the quotes"));
    return;
  }
  // 0 means no port. If a port is required, the apiserver reports the error.
  if (!field.present() || *field.value == 0) return;
  FieldErrors found;
  AsInt(field, 1, kMaxPort, found);
  for (FieldError error : found) {
    if (field.value->is_number_integer()) error.detail = "must be between 1 and 65535, inclusive";
    errors.Add(std::move(error));
  }
}

void CheckQuantity(const JsonField& field, FieldErrors& errors) {
  if (!field.present()) return;
  const Json& value = *field.value;
  const std::string text = value.is_string() ? value.get<std::string>() : value.is_number() ? value.dump() : "";
  if (CanonicalQuantity(text)) return;
  errors.Add(FieldError::Invalid(
      field.path, value,
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$', for instance "
      "\"500m\" or \"1Gi\""));
}

void CheckResources(const JsonField& resources, FieldErrors& errors) {
  for (const char* kind : {"limits", "requests"}) {
    const JsonField amounts = resources.Child(kind);
    if (!IsMap(amounts)) continue;
    for (const auto& [name, amount] : amounts.value->items()) {
      if (!amount.is_null()) CheckQuantity({&amount, amounts.path + "[" + name + "]"}, errors);
    }
  }
}

void CheckContainer(const JsonField& container, FieldErrors& errors) {
  // Each of these fields must be a list. The apiserver would also reject other types, but its error does not contain
  // the container's name.
  for (const char* list : {"command", "args", "env", "envFrom", "ports", "volumeMounts"}) {
    AsArray(container.Child(list), errors);
  }
  for (const char* list : {"command", "args"}) {
    ForEachElement(container.Child(list), errors, [&](const JsonField& word) { CheckText(word, errors); });
  }
  ForEachElement(container.Child("env"), errors, [&](const JsonField& variable) {
    CheckText(variable.Child("name"), errors);
    CheckText(variable.Child("value"), errors);
  });
  ForEachElement(container.Child("ports"), errors, [&](const JsonField& port) {
    CheckPort(port.Child("containerPort"), errors);
    CheckPort(port.Child("hostPort"), errors);
  });
  CheckResources(container.Child("resources"), errors);
}

void CheckPod(const JsonField& pod, FieldErrors& errors) {
  for (const char* list : kContainerLists) {
    ForEachElement(pod.Child(list), errors, [&](const JsonField& container) { CheckContainer(container, errors); });
  }
  if (const JsonField selector = pod.Child("nodeSelector"); IsMap(selector)) {
    for (const auto& [key, value] : selector.value->items()) {
      if (!value.is_null()) CheckText({&value, selector.path + "[" + key + "]"}, errors);
    }
  }
  ForEachElement(pod.Child("volumes"), errors,
                 [&](const JsonField& volume) { CheckQuantity(volume.Child("emptyDir").Child("sizeLimit"), errors); });
}

bool IsDirective(const std::string& key) {
  return key == "$patch" || key == "$retainKeys" || key.starts_with("$setElementOrder/") ||
         key.starts_with("$deleteFromPrimitiveList/");
}

// Reports the directives of strategic merge patches, such as $patch. The operator would write them into the workload as
// fields. Ignores members whose path is longer than the path of any field of a workload. Users choose the keys, and the
// path of a member contains all keys above it, so the paths of deeply nested members could take much memory.
void CheckDirectives(const JsonField& patch, FieldErrors& errors) {
  constexpr std::size_t kMaxPath = 1024;
  if (patch.path.size() > kMaxPath) return;
  ForEachElement(patch, errors, [&](const JsonField& item) { CheckDirectives(item, errors); });
  if (!IsMap(patch)) return;
  for (const auto& [key, value] : patch.value->items()) {
    if (errors.full()) return;
    const JsonField member{&value, patch.path + "." + key};
    if (IsDirective(key)) {
      errors.Add(FieldError::Forbidden(member.path, "not supported; use jsonPatches with op remove"));
    } else {
      CheckDirectives(member, errors);
    }
  }
}

// Adds the names of the containers in a partial workload.
void AddContainerNames(const Json& workload, std::set<std::string>& names) {
  for (const char* list : kContainerLists) {
    for (const Json& container : ListAt(workload, {"spec", "template", "spec", list}))
      names.insert(StringAt(container, {"name"}));
  }
}

void CheckOverrideImages(const JsonField& overrides, const Json& workload_template, FieldErrors& errors) {
  std::set<std::string> names;
  AddContainerNames(workload_template, names);
  bool has_json_patches = false;  // JSON patches may add any container, so every name is valid
  ForEachElement(overrides, errors, [&](const JsonField& entry) {
    ForEachElement(entry.Child("images"), errors, [&](const JsonField& image) {
      const JsonField name = image.Child("name");
      if (has_json_patches || !name.present() || !name.value->is_string()) return;
      const std::string& text = name.value->get_ref<const std::string&>();
      if (text.empty() || names.contains(text)) return;
      errors.Add(FieldError::Invalid(name.path, *name.value,
                                     "no container and no init container of the template has this name"));
    });
    if (const JsonField patch = entry.Child("patch"); patch.present()) AddContainerNames(*patch.value, names);
    has_json_patches = has_json_patches || entry.Child("jsonPatches").present();
  });
}

}  // namespace

FieldErrors TemplateErrors(const Json& object) {
  FieldErrors errors;
  const JsonField spec = JsonField{&object, ""}.Child("spec");
  if (!spec.present() || IsDeeperThan(*spec.value, kMaxJsonDepth)) return errors;
  for (const WorkloadKind kind : {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet}) {
    const JsonField workload = spec.Child("workloadTemplate").Child(TemplateField(kind));
    if (!workload.present()) continue;
    CheckPod(workload.Child("spec").Child("template").Child("spec"), errors);
    ForEachElement(workload.Child("spec").Child("volumeClaimTemplates"), errors,
                   [&](const JsonField& claim) { CheckResources(claim.Child("spec").Child("resources"), errors); });
    CheckOverrideImages(spec.Child("overrides"), *workload.value, errors);
  }
  ForEachElement(spec.Child("overrides"), errors,
                 [&](const JsonField& entry) { CheckDirectives(entry.Child("patch"), errors); });
  return errors;
}

}  // namespace yad
