#include "operator/yurtappdaemon/controlled.h"

namespace yad {

bool ControlledBy(const ObjectMeta& object, const std::string& uid) {
  const OwnerReference* controller = object.controller();
  return controller != nullptr && controller->uid == uid;
}

std::string ControllerOf(const ObjectMeta& object) {
  const OwnerReference* controller = object.controller();
  return controller == nullptr ? "nobody" : controller->kind + " " + controller->name;
}

tl::unexpected<Error> Taken(const ResourceType& type, const std::string& name, const std::string& why) {
  return Fail(Error{Reason::kAlreadyExists,
                    type.kind + " " + name + " exists already and " + why + "; it is left alone: delete or rename it",
                    0,
                    std::nullopt,
                    {}});
}

}  // namespace yad
