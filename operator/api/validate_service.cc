#include <nlohmann/json.hpp>
#include <set>

#include "operator/api/names.h"
#include "operator/api/validation.h"

namespace yad {
namespace {

constexpr std::int64_t kMaxPort = 65535;

bool IsText(const JsonField& field, std::string_view text) { return field.present() && *field.value == text; }

// Validates `field`, the selector of the Service. `selector` is spec.selector of the YurtAppDaemon. `reserved` contains
// the labels of spec.selector, which the operator adds to the Service's selector. It is nullopt if spec.selector has
// expressions that can't be written as labels.
void CheckSelector(const JsonField& field, const std::optional<StringMap>& reserved, const JsonField& selector,
                   FieldErrors& errors) {
  const Json* labels = AsObject(field, errors);
  if (!reserved && (labels == nullptr || labels->empty())) {
    errors.Add(FieldError::Required(
        field.path, selector.path + " has matchExpressions, which a Service does not support: set labels that all "
                                    "pods of the YurtAppDaemon have"));
  }
  if (labels == nullptr) return;
  for (const auto& [key, value] : labels->items()) {
    const JsonField label{&value, field.path + "[" + key + "]"};
    errors.AddIfFault(field.path, key, CheckLabelKey(key));
    const std::string* text = AsText(label, errors);
    if (text == nullptr || !reserved) continue;
    if (const auto own = reserved->find(key); own != reserved->end() && own->second != *text) {
      errors.Add(FieldError::Invalid(label.path, value, "contradicts " + selector.path));
    }
  }
}

void CheckPorts(const JsonField& spec, FieldErrors& errors) {
  const JsonField ports = spec.Child("ports");
  const Json* list = AsArray(ports, errors);
  if (list == nullptr || list->empty()) {
    const bool needs_none = IsText(spec.Child("clusterIP"), "None") || IsText(spec.Child("type"), "ExternalName");
    if ((!ports.present() || list != nullptr) && !needs_none) errors.Add(FieldError::Required(ports.path));
    return;
  }
  std::set<std::pair<std::int64_t, std::string>> seen;
  ForEachObject(ports, errors, [&](const JsonField& port) {
    const JsonField number = port.Child("port");
    if (!number.present()) {
      errors.Add(FieldError::Required(number.path));
      return;
    }
    const auto value = AsInt(number, 1, kMaxPort, errors);
    AsText(port.Child("protocol"), errors);
    const std::string name = StringAt(*port.value, {"protocol"});
    if (value && !seen.emplace(*value, name.empty() ? "TCP" : name).second) {
      errors.Add(FieldError::Duplicate(port.path, *number.value));
    }
  });
}

}  // namespace

void ValidateServiceTemplate(const JsonField& service_template, const JsonField& selector, FieldErrors& errors) {
  if (AsObject(service_template, errors) == nullptr) return;
  CheckTemplateMetadata(service_template.Child("metadata"), errors);
  const JsonField spec = service_template.Child("spec");
  if (AsRequiredObject(spec, errors) == nullptr) return;
  AsText(spec.Child("type"), errors);
  AsText(spec.Child("clusterIP"), errors);
  CheckPorts(spec, errors);
  const auto labels = selector.present() ? LabelsSelectedBy(*selector.value) : StringMap();
  CheckSelector(spec.Child("selector"), labels, selector, errors);
}

void ValidateServiceUpdate(const JsonField& service_template, const JsonField& old_template, FieldErrors& errors) {
  if (!service_template.present() || !old_template.present()) return;
  const JsonField address = service_template.Child("spec").Child("clusterIP");
  const JsonField old_address = old_template.Child("spec").Child("clusterIP");
  if (IsText(address, "None") == IsText(old_address, "None")) return;
  errors.Add(FieldError::Invalid(
      address.path, address.present() ? *address.value : Json(""),
      "field is immutable: a Service can't become headless or stop being headless. Remove spec.serviceTemplate first, "
      "and add it again after the operator has deleted the Services"));
}

}  // namespace yad
