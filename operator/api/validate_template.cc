#include <nlohmann/json.hpp>

#include "operator/api/names.h"
#include "operator/api/validation.h"

namespace yad {
namespace {

constexpr char kSelectorMismatch[] = "`selector` does not match template `labels`";

StringMap ReadLabels(const JsonField& labels, FieldErrors& errors, bool variables = false) {
  StringMap result;
  const Json* object = AsObject(labels, errors);
  if (object == nullptr) return result;
  for (const auto& [key, value] : object->items()) {
    errors.AddIfFault(labels.path, key, CheckLabelKey(key));
    if (!value.is_string() && !value.is_null()) {
      errors.Add(FieldError::TypeInvalid(labels.path + "[" + key + "]", value, "must be a string"));
      continue;
    }
    const std::string text = value.is_null() ? "" : value.get<std::string>();  // as in ReplaceNullTexts
    // The labels of a Service template may have variables, which are replaced with the pool's name later.
    const bool has_variable = text.find("{{nodepool") != std::string::npos;
    if (!variables || !has_variable) errors.AddIfFault(labels.path, text, CheckLabelValue(text));
    result.emplace(key, text);
  }
  return result;
}

void CheckAnnotations(const JsonField& annotations, FieldErrors& errors) {
  const Json* object = AsObject(annotations, errors);
  if (object == nullptr) return;
  for (const auto& [key, value] : object->items()) {
    errors.AddIfFault(annotations.path, key, CheckAnnotationKey(key));
    if (!value.is_string() && !value.is_null()) {
      errors.Add(FieldError::TypeInvalid(annotations.path + "[" + key + "]", value, "must be a string"));
    }
  }
}

void CheckMetadata(const JsonField& metadata, const LabelSelector* selector, FieldErrors& errors) {
  if (metadata.present() && AsObject(metadata, errors) == nullptr) return;
  const JsonField labels = metadata.Child("labels");
  const std::size_t faults = errors.size();
  const StringMap map = ReadLabels(labels, errors);
  // Invalid labels are not compared with the selector, so that they are reported only once.
  if (selector != nullptr && errors.size() == faults && !selector->Matches(map)) {
    errors.Add(FieldError::Invalid(labels.path, labels.present() ? *labels.value : Json::object(), kSelectorMismatch));
  }
  CheckAnnotations(metadata.Child("annotations"), errors);
}

}  // namespace

void CheckTemplateMetadata(const JsonField& metadata, FieldErrors& errors) {
  if (AsObject(metadata, errors) == nullptr) return;
  ReadLabels(metadata.Child("labels"), errors, true);
  CheckAnnotations(metadata.Child("annotations"), errors);
}

void ValidateWorkloadTemplate(const JsonField& workload_template, const LabelSelector* selector, FieldErrors& errors) {
  if (AsObject(workload_template, errors) == nullptr) return;
  CheckMetadata(workload_template.Child("metadata"), selector, errors);
  const JsonField spec = workload_template.Child("spec");
  if (AsRequiredObject(spec, errors) == nullptr) return;
  AsInt(spec.Child("replicas"), 0, kMaxInt32, errors);
  // Checks only that this selector is an object. Its content does not matter, because spec.selector replaces it, as in
  // OpenYurt.
  AsObject(spec.Child("selector"), errors);
  const JsonField pod = spec.Child("template");
  if (AsRequiredObject(pod, errors) == nullptr) return;
  CheckMetadata(pod.Child("metadata"), selector, errors);
  CheckPodSpec(pod.Child("spec"), {"Always"}, errors);
}

}  // namespace yad
