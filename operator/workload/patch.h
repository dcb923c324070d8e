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
// A list of the workload may have a key twice, for example the name of a variable. With `merges_duplicates`, an item of
// the patch is merged into the first item with its key. Without it, the list of the patch replaces the whole list.
void ApplyPatch(const Json& patch, bool merges_duplicates, Json& workload);

// Returns the path of the first item in `patch` whose key an earlier item of its list has too, for example
// ".spec.template.spec.containers[0].env[1]". ApplyPatch replaces the workload's list by such a list. Returns nullopt
// if there is none.
std::optional<std::string> FindDuplicateKey(const Json& patch);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_PATCH_H_
