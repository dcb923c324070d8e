#include <nlohmann/json.hpp>
#include <set>

#include "operator/api/fields.h"
#include "operator/api/names.h"

namespace yad {
namespace {

// Validates a list of containers. `names` collects the names of all containers and init containers of the pod, because
// they must be different.
void CheckContainers(const JsonField& containers, std::set<std::string>& names, FieldErrors& errors) {
  ForEachObject(containers, errors, [&](const JsonField& container) {
    CheckUniqueName(container.Child("name"), CheckDns1123Label, names, errors);
    AsRequiredText(container.Child("image"), errors);
  });
}

}  // namespace

void CheckPodSpec(const JsonField& spec, std::initializer_list<std::string_view> restart_policies,
                  FieldErrors& errors) {
  if (AsRequiredObject(spec, errors) == nullptr) return;
  std::set<std::string> names;
  const JsonField containers = spec.Child("containers");
  if (!containers.present() || (containers.value->is_array() && containers.value->empty())) {
    errors.Add(FieldError::Required(containers.path));
  }
  CheckContainers(containers, names, errors);
  CheckContainers(spec.Child("initContainers"), names, errors);
  const JsonField restart = spec.Child("restartPolicy");
  // The restartPolicy "" is accepted, because the apiserver treats it as absent. It occurs in objects that were written
  // for OpenYurt.
  if (restart.present() && *restart.value != "") CheckOneOf(restart, restart_policies, errors);
  AsObject(spec.Child("nodeSelector"), errors);
  AsArray(spec.Child("tolerations"), errors);
  AsObject(spec.Child("affinity"), errors);
}

}  // namespace yad
