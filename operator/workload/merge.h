// The three-way merge of the last rendering, the current rendering and the live object. Pure.
#ifndef OPERATOR_WORKLOAD_MERGE_H_
#define OPERATOR_WORKLOAD_MERGE_H_

#include "operator/api/object.h"

namespace yad {

// Returns `live` with the values of `now`:
// - Values in `now` are set. Values in `last` that are no longer in `now` are removed. Other values of `live` stay,
//   because they have another owner (a user, an HPA, another controller, the apiserver's defaults). `kubectl apply`
//   does the same.
// - Lists with Kubernetes list keys are merged by key (containers by name, ports by containerPort and protocol, env,
//   volumes, volumeMounts by mountPath ...). Other lists are atomic.
// - If a struct with retainKeys (deployment strategy, statefulset updateStrategy, a volume) makes another choice, the
//   members of the old choice are removed.
// - Values that an apiserver treats as the same are equal: "1000m" and "1", null and absent, {} and absent (unless {}
//   has a meaning), defaults of list keys (protocol TCP).
//
// So ThreeWayMerge(last, now, live) == live means exactly that no write is needed. Only metadata.labels,
// metadata.annotations and spec are merged; apiVersion, kind, other metadata and status are those of `live`.
Json ThreeWayMerge(const Json& last, const Json& now, Json live);
// The same merge for objects {metadata, spec} of another schema. This merge does not keep serviceAccount, the
// deprecated copy of serviceAccountName, equal to that field.
struct Schema;
Json ThreeWayMerge(const Schema& schema, const Json& last, const Json& now, Json live);

// Returns true if `live` has all values of `now`: ThreeWayMerge(now, now, live) == live.
bool IsMerged(const Json& now, const Json& live);

// Removes nulls and empty objects. Empty objects that have a meaning (such as emptyDir) stay.
Json DropInsignificant(const Json& value);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_MERGE_H_
