// Strategic merge patches for workloads.
#ifndef OPERATOR_WORKLOAD_PATCH_H_
#define OPERATOR_WORKLOAD_PATCH_H_

#include "operator/api/object.h"

namespace yad {

// Merges `patch`, a partial workload with metadata.labels, metadata.annotations and spec, into `workload`. Lists are
// merged by the keys that Kubernetes uses, and a null removes a member.
void ApplyPatch(const Json& patch, Json& workload);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_PATCH_H_
