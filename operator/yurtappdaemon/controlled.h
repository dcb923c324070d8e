// Whose an object is.
#ifndef OPERATOR_YURTAPPDAEMON_CONTROLLED_H_
#define OPERATOR_YURTAPPDAEMON_CONTROLLED_H_

#include <string>

#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

bool ControlledBy(const ObjectMeta& object, const std::string& uid);
// "Deployment web", "nobody"
std::string ControllerOf(const ObjectMeta& object);
// kAlreadyExists: the name of what we want to write is another's.
tl::unexpected<Error> Taken(const ResourceType& type, const std::string& name, const std::string& why);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_CONTROLLED_H_
