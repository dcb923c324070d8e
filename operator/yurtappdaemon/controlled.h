// Whose an object is.
#ifndef OPERATOR_YURTAPPDAEMON_CONTROLLED_H_
#define OPERATOR_YURTAPPDAEMON_CONTROLLED_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/runtime/store.h"

namespace yad {

bool ControlledBy(const ObjectMeta& object, const std::string& uid);
// The objects of a store with Controller::kControllerUidIndex that `owner` controls. A controller stands in the
// namespace of its objects: a reference to its uid from another namespace is somebody's invention, and counts nowhere.
Result<std::vector<ObjectPtr>> ControlledObjects(const Store& store, const ObjectMeta& owner);
// "Deployment web", "nobody"
std::string ControllerOf(const ObjectMeta& object);
// kAlreadyExists: the name of what we want to write is another's.
tl::unexpected<Error> Taken(const ResourceType& type, const std::string& name, const std::string& why);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_CONTROLLED_H_
