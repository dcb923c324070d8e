// The controller of an object: the owner that its ownerReferences mark as such.
#ifndef OPERATOR_YURTAPPDAEMON_CONTROLLED_H_
#define OPERATOR_YURTAPPDAEMON_CONTROLLED_H_

#include <string>

#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

bool ControlledBy(const ObjectMeta& object, const std::string& uid);
// Returns text such as "Deployment web"; "nobody" without a controller.
std::string ControllerOf(const ObjectMeta& object);
// Returns kAlreadyExists: another object has the name of an object that the operator must write.
tl::unexpected<Error> Taken(const ResourceType& type, const std::string& name, const std::string& why);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_CONTROLLED_H_
