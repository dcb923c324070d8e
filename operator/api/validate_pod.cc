#include "operator/api/validate_pod.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "operator/api/names.h"

namespace yad {
namespace {

// Validates a list of containers. `names` collects the names of all containers and init containers of the pod, because
// they must be different.
void CheckContainers(const JsonField& containers, std::set<std::string>& names, FieldErrors& errors) {
  const Json* list = AsArray(containers, errors);
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size() && !errors.full(); ++i) {
    const JsonField container = containers.Element(i);
    if (AsObject(container, errors) == nullptr) continue;
    const JsonField name = container.Child("name");
    if (const std::string* text = AsRequiredText(name, errors); text != nullptr) {
      if (std::string fault = CheckDns1123Label(*text); !fault.empty()) {
        errors.Add(FieldError::Invalid(name.path, *name.value, fault));
      } else if (!names.insert(*text).second) {
        errors.Add(FieldError::Duplicate(name.path, *name.value));
      }
    }
    AsRequiredText(container.Child("image"), errors);
  }
}

}  // namespace

void CheckPodSpec(const JsonField& spec, std::initializer_list<std::string_view> restart_policies,
                  FieldErrors& errors) {
  if (!spec.present()) {
    errors.Add(FieldError::Required(spec.path));
    return;
  }
  if (AsObject(spec, errors) == nullptr) return;
  std::set<std::string> names;
  const JsonField containers = spec.Child("containers");
  if (!containers.present() || (containers.value->is_array() && containers.value->empty())) {
    errors.Add(FieldError::Required(containers.path));
  }
  CheckContainers(containers, names, errors);
  CheckContainers(spec.Child("initContainers"), names, errors);
  const JsonField restart = spec.Child("restartPolicy");
  const std::string* policy = AsText(restart, errors);
  // The restartPolicy "" is accepted, because the apiserver treats it as absent. It occurs in objects that were written
  // for OpenYurt.
  if (policy != nullptr && !policy->empty() &&
      std::find(restart_policies.begin(), restart_policies.end(), *policy) == restart_policies.end()) {
    errors.Add(FieldError::NotSupported(restart.path, *restart.value, restart_policies));
  }
  AsObject(spec.Child("nodeSelector"), errors);
  AsArray(spec.Child("tolerations"), errors);
  AsObject(spec.Child("affinity"), errors);
}

}  // namespace yad
