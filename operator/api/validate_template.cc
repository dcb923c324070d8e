#include <functional>
#include <nlohmann/json.hpp>

#include "operator/api/names.h"
#include "operator/api/validation.h"

namespace yad {
namespace {

constexpr char kSelectorMismatch[] = "`selector` does not match template `labels`";

// Reads a map of labels or annotations, and checks its keys and values. Each of the two functions returns the error of
// its argument, or "" if it is valid.
StringMap ReadTexts(const JsonField& map, std::string (*check_key)(std::string_view),
                    const std::function<std::string(const std::string&)>& check_value, FieldErrors& errors) {
  StringMap result;
  const Json* object = AsObject(map, errors);
  if (object == nullptr) return result;
  for (const auto& [key, value] : object->items()) {
    errors.AddIfFault(map.path, key, check_key(key));
    if (!value.is_string() && !value.is_null()) {
      errors.Add(FieldError::TypeInvalid(map.path + "[" + key + "]", value, "must be a string"));
      continue;
    }
    const std::string text = value.is_null() ? "" : value.get<std::string>();  // as in ReplaceNullTexts
    errors.AddIfFault(map.path, text, check_value(text));
    result.emplace(key, text);
  }
  return result;
}

void CheckMetadata(const JsonField& metadata, const LabelSelector* selector, FieldErrors& errors,
                   bool variables = false) {
  if (metadata.present() && AsObject(metadata, errors) == nullptr) return;
  const JsonField labels = metadata.Child("labels");
  const std::size_t faults = errors.size();
  const auto check_label = [&](const std::string& text) {
    // The labels of a Service template may have variables, which are replaced with the pool's name later.
    const bool has_variable = variables && text.find("{{nodepool") != std::string::npos;
    return has_variable ? "" : CheckLabelValue(text);
  };
  const StringMap map = ReadTexts(labels, CheckLabelKey, check_label, errors);
  // Invalid labels are not compared with the selector, so that they are reported only once.
  if (selector != nullptr && errors.size() == faults && !selector->Matches(map)) {
    errors.Add(FieldError::Invalid(labels.path, labels.present() ? *labels.value : Json::object(), kSelectorMismatch));
  }
  const auto any = [](const std::string&) { return std::string(); };
  ReadTexts(metadata.Child("annotations"), CheckAnnotationKey, any, errors);
}

}  // namespace

void CheckTemplateMetadata(const JsonField& metadata, FieldErrors& errors) {
  CheckMetadata(metadata, nullptr, errors, /*variables=*/true);
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
