#include "operator/workload/owner.h"

#include "operator/api/well_known.h"

namespace yad {

// Sets the members one by one, because a braced list would copy each member twice.
Json ControllerReference(const YurtAppDaemon& daemon) {
  Json reference = Json::object();
  reference["apiVersion"] = kYurtAppDaemonType.ApiVersion();
  reference["kind"] = kYurtAppDaemonType.kind;
  reference["name"] = daemon.meta.key.name;
  reference["uid"] = daemon.meta.uid;
  reference["controller"] = true;
  reference["blockOwnerDeletion"] = true;
  return reference;
}

Json OwnedObject(const ResourceType& type, const std::string& name, const YurtAppDaemon& daemon) {
  Json object = {{"apiVersion", type.ApiVersion()}, {"kind", type.kind}};
  object["metadata"] = {{"name", name},
                        {"namespace", daemon.meta.key.ns},
                        {"ownerReferences", Json::array({ControllerReference(daemon)})}};
  return object;
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
