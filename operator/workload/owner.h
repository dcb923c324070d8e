// Sets a YurtAppDaemon as the controller of an object, in its ownerReferences.
#ifndef OPERATOR_WORKLOAD_OWNER_H_
#define OPERATOR_WORKLOAD_OWNER_H_

#include "operator/api/yurtappdaemon.h"

namespace yad {

Json ControllerReference(const YurtAppDaemon& daemon);
// Makes the daemon the controller of the object. Changes an existing reference to the daemon instead of adding a second
// reference.
void EnsureOwner(Json& object, const YurtAppDaemon& daemon);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_OWNER_H_
