// The three-way merge: what we rendered last, what we render now, what is there. Pure.
#ifndef OPERATOR_WORKLOAD_MERGE_H_
#define OPERATOR_WORKLOAD_MERGE_H_

#include "operator/api/object.h"

namespace yad {

// Returns `live` with our wishes in it:
// - What `now` says is set; what `last` said and `now` no longer says is taken away; the rest of `live` stays, because
//   somebody else (a person, an HPA, another controller, the apiserver's defaults) owns it. As `kubectl apply` does it.
// - Lists are merged by Kubernetes' list keys where they have some (containers by name, ports by containerPort and
//   protocol, env, volumes, volumeMounts by mountPath ...); other lists are atomic.
// - A struct with retainKeys (deployment strategy, statefulset updateStrategy, a volume) loses the siblings of another
//   choice.
// - Values that an apiserver writes another way are equal: "1000m" and "1", null and absent, {} and absent (where {}
//   says nothing), defaults of list keys (protocol TCP).
//
// So Merge(last, now, live) == live says exactly: nothing has to be written. Only metadata.labels, metadata.annotations
// and spec are looked at; apiVersion, kind, other metadata and status are live's.
Json ThreeWayMerge(const Json& last, const Json& now, Json live);
// The same for an object {metadata, spec} of another schema.
struct Schema;
Json ThreeWayMerge(const Schema& schema, const Json& last, const Json& now, Json live);

// Whether ThreeWayMerge(now, now, live) == live: nobody changed what `now` says. Cheap where it is so.
bool IsMerged(const Json& now, const Json& live);

// Removes nulls, and empty objects except where an empty object has a meaning of its own (emptyDir, for instance).
Json DropInsignificant(const Json& value);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_MERGE_H_
