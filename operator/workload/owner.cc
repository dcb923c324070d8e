#include "operator/workload/owner.h"

#include "operator/api/well_known.h"

namespace yad {

Json ControllerReference(const YurtAppDaemon& daemon) {
  return {{"apiVersion", kYurtAppDaemonType.ApiVersion()},
          {"kind", kYurtAppDaemonType.kind},
          {"name", daemon.meta.key.name},
          {"uid", daemon.meta.uid},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

void EnsureOwner(Json& object, const YurtAppDaemon& daemon) {
  Json& owners = object["metadata"]["ownerReferences"];
  if (!owners.is_array()) owners = Json::array();
  for (Json& owner : owners) {
    if (StringAt(owner, {"uid"}) != daemon.meta.uid) continue;
    owner["controller"] = true;
    return;
  }
  owners.push_back(ControllerReference(daemon));
}

}  // namespace yad
