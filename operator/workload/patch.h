// Strategic merge patches for the rendering of workloads. Pure.
#ifndef OPERATOR_WORKLOAD_PATCH_H_
#define OPERATOR_WORKLOAD_PATCH_H_

#include "operator/api/object.h"

namespace yad {

// Merges `patch` (a partial workload: metadata.labels, metadata.annotations, spec) into `workload`. Lists are merged by
// Kubernetes' keys, and a null removes a member.
void ApplyPatch(const Json& patch, Json& workload);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_PATCH_H_
