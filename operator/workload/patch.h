// Strategic merge patches for workloads.
#ifndef OPERATOR_WORKLOAD_PATCH_H_
#define OPERATOR_WORKLOAD_PATCH_H_

#include <optional>
#include <string>

#include "operator/api/object.h"

namespace yad {

// Merges `patch`, a partial workload with metadata.labels, metadata.annotations and spec, into `workload`. Lists are
// merged by the keys that Kubernetes uses, and a null removes a member.
//
// A list of the workload may have a key twice, for example the name of a variable. If `merges_duplicates` is true, an
// item of the patch is merged into the first item with its key. Otherwise, the list of the patch replaces the whole
// list.
void ApplyPatch(const Json& patch, bool merges_duplicates, Json& workload);

// Returns the path of the first item in `patch` that has the same key as an earlier item of its list, for example
// ".spec.template.spec.containers[0].env[1]". Returns nullopt if all keys are unique. ApplyPatch replaces the
// workload's list with a list that has duplicate keys.
std::optional<std::string> FindDuplicateKey(const Json& patch);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_PATCH_H_
