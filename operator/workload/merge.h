// The three-way merge of the last rendered object, the newly rendered object and the live object, as in `kubectl
// apply`.
#ifndef OPERATOR_WORKLOAD_MERGE_H_
#define OPERATOR_WORKLOAD_MERGE_H_

#include "operator/api/object.h"

namespace yad {

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
Json ThreeWayMerge(const Json& last, const Json& now, Json live);
// The same three-way merge for objects {metadata, spec} with another schema, such as Services. It does not update
// serviceAccount, the deprecated copy of serviceAccountName.
struct Schema;
Json ThreeWayMerge(const Schema& schema, const Json& last, const Json& now, Json live);

// Returns true if `live` already has all values of `now`. ThreeWayMerge(now, now, live) then returns `live` unchanged.
bool IsMerged(const Json& now, const Json& live);

// Removes nulls and empty objects. Empty objects that have a meaning (such as emptyDir) stay.
Json DropInsignificant(const Json& value);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_MERGE_H_
