// The ownerReference that makes a YurtAppDaemon the controller of an object.
#ifndef OPERATOR_WORKLOAD_OWNER_H_
#define OPERATOR_WORKLOAD_OWNER_H_

#include "operator/api/yurtappdaemon.h"

namespace yad {

Json ControllerReference(const YurtAppDaemon& daemon);
// Makes the daemon the controller of the object. Reuses an existing reference to the daemon.
void EnsureOwner(Json& object, const YurtAppDaemon& daemon);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_OWNER_H_
