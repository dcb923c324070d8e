// The three-way merge of the last rendered object, the newly rendered object and the live object, as in `kubectl
// apply`, and strategic merge patches.
#ifndef OPERATOR_WORKLOAD_MERGE_H_
#define OPERATOR_WORKLOAD_MERGE_H_

#include <optional>
#include <string>

#include "operator/api/object.h"

namespace yad {

struct Schema;
const Schema& WorkloadSchema();

// Returns `live` with these changes:
// - Values in `now` are set.
// - Values that are in `last` but not in `now` are removed.
// - All other values stay, because they have another owner (a user, an HPA, another controller, the defaults of the
//   apiserver).
// - A list with Kubernetes list keys is merged by key. Examples are containers (by name), ports (by containerPort and
//   protocol) and volumeMounts (by mountPath). Any other list is replaced as a whole.
// - In a union, such as the source of a volume, a new member in `now` replaces the old member (retainKeys).
//
// Values that an apiserver treats as the same are equal:
// - "1000m" and "1"
// - null and absent
// - {} and absent, unless {} has a meaning (`exec: {}`)
// - `emptyDir: {}` and no source of a volume
// - the default of a list key and absent (`protocol: TCP`)
//
// Only metadata.labels, metadata.annotations and spec are merged. If the result equals `live`, no write is needed.
// `schema` describes {metadata, spec} of the objects.
Json ThreeWayMerge(const Json& last, const Json& now, Json live, const Schema& schema = WorkloadSchema());

// Returns true if `live` already has all values of `now`. ThreeWayMerge(now, now, live) then returns `live` unchanged.
bool IsMerged(const Json& now, const Json& live);

// Merges `patch`, a partial workload with metadata.labels, metadata.annotations and spec, into `workload`. Lists are
// merged by the keys that Kubernetes uses, and a null removes a member.
//
// In a list of the workload, several items may have the same key, for example variables with the same name. If
// `merges_duplicates` is true, an item of the patch is merged into the first item with its key. Otherwise, the list of
// the patch replaces this list as a whole.
void ApplyPatch(const Json& patch, bool merges_duplicates, Json& workload);

// Returns the path of the first item in `patch` that has the same key as an earlier item of its list, for example
// ".spec.template.spec.containers[0].env[1]". Returns nullopt if all keys are unique. ApplyPatch does not merge a list
// that has duplicate keys, but replaces the workload's list with it.
std::optional<std::string> FindDuplicateKey(const Json& patch);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_MERGE_H_
