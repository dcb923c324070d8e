#include "operator/yurtappdaemon/observe/ownership.h"

#include "operator/api/well_known.h"
#include "operator/runtime/controller.h"

namespace yad {

bool ControlledBy(const ObjectMeta& object, const std::string& uid) {
  const OwnerReference* controller = object.controller();
  return controller != nullptr && controller->uid == uid;
}

bool MayBeOfOurs(const ObjectMeta& object) {
  const OwnerReference* controller = object.controller();
  return controller == nullptr || (controller->kind == kYurtAppDaemonType.kind &&
                                   controller->api_version.starts_with(kYurtAppDaemonType.group + "/"));
}

bool MayBeWorkloadOfOurs(const ObjectMeta& workload) {
  return workload.controller() != nullptr ? MayBeOfOurs(workload)
                                          : !workload.Annotation(kRefNodePoolAnnotation).empty();
}

Result<std::vector<ObjectPtr>> ControlledObjects(const Store& store, const ObjectMeta& owner) {
  auto objects = store.ByIndex(Controller::kControllerUidIndex, owner.uid);
  if (!objects) return objects;
  std::erase_if(*objects, [&](const ObjectPtr& object) {
    return object->meta().key.ns != owner.key.ns || !MayBeOfOurs(object->meta());
  });
  return objects;
}

std::string ControllerOf(const ObjectMeta& object) {
  const OwnerReference* controller = object.controller();
  return controller == nullptr ? "no object" : controller->kind + " " + controller->name;
}

tl::unexpected<Error> NameConflictError(const ResourceType& type, const std::string& name, const std::string& why) {
  return Fail(Reason::kAlreadyExists, type.kind + " " + name + " exists already and " + why +
                                          "; the operator does not change it: delete or rename it");
}

}  // namespace yad
