// Sets a YurtAppDaemon as the controller of an object, in its ownerReferences.
#ifndef OPERATOR_WORKLOAD_OWNER_H_
#define OPERATOR_WORKLOAD_OWNER_H_

#include <string>

#include "operator/api/yurtappdaemon.h"

namespace yad {

Json ControllerReference(const YurtAppDaemon& daemon);
// Returns the type and the metadata of a new object of this name that the daemon controls. The metadata contains the
// name, the daemon's namespace and the ownerReference.
Json OwnedObject(const ResourceType& type, const std::string& name, const YurtAppDaemon& daemon);
// Makes the daemon the controller of the object. Changes an existing reference to the daemon instead of adding a second
// reference.
void EnsureOwner(Json& object, const YurtAppDaemon& daemon);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_OWNER_H_
