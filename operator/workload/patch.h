// A strategic merge patch on a workload that is being rendered. Pure.
#ifndef OPERATOR_WORKLOAD_PATCH_H_
#define OPERATOR_WORKLOAD_PATCH_H_

#include "operator/api/object.h"

namespace yad {

// Puts `patch` (a partial workload: metadata.labels, metadata.annotations, spec) into `workload`, lists by Kubernetes'
// keys; a null takes away.
void ApplyPatch(const Json& patch, Json& workload);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_PATCH_H_
