// The controller of an object: the owner whose ownerReference has `controller: true`.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_OWNERSHIP_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_OWNERSHIP_H_

#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/runtime/store.h"

namespace yad {

bool ControlledBy(const ObjectMeta& object, const std::string& uid);
// Returns the objects that `owner` controls. Only objects in the owner's namespace count. The store must have
// Controller::kControllerUidIndex.
Result<std::vector<ObjectPtr>> ControlledObjects(const Store& store, const ObjectMeta& owner);
// Returns whether the object may belong to a YurtAppDaemon: its controller is a YurtAppDaemon, or it has no controller.
// The caches keep only the metadata of all other objects.
bool MayBeOfOurs(const ObjectMeta& object);
// Like MayBeOfOurs, but a workload without a controller must have the annotation of its pool. Otherwise, the operator
// does not adopt it.
bool MayBeWorkloadOfOurs(const ObjectMeta& workload);
// Returns a description for messages, such as "Deployment web", or "no object" if the object has no controller.
std::string ControllerOf(const ObjectMeta& object);
// Returns the error kAlreadyExists with a message that the object `name` already exists and that the operator does not
// change it. `why` completes the sentence "it exists already and".
tl::unexpected<Error> NameConflictError(const ResourceType& type, const std::string& name, const std::string& why);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_OWNERSHIP_H_
