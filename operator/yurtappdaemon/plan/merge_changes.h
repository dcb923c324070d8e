// Compares a live workload with the result of a merge, and rendered workloads with each other.
#ifndef OPERATOR_YURTAPPDAEMON_PLAN_MERGE_CHANGES_H_
#define OPERATOR_YURTAPPDAEMON_PLAN_MERGE_CHANGES_H_

#include <cstdint>
#include <string>

#include "operator/api/object.h"

namespace yad {

// The changes that a merge would make to the live workload.
struct MergeChanges {
  // A digest of the workload's generation and of all its differences from the rendered workload. For each difference,
  // it covers the path of the field, the live value and the rendered value.
  std::uint64_t digest = 0;
  std::string at;  // a JSON pointer to the first difference; "" if there are no differences
  // True if all differences are in the pod template, and both workloads have a value at each of these paths.
  bool only_replaces_in_template = true;
};
MergeChanges ChangesOfMerge(const Json& live, const Json& merged);

// Replaces the pod template of `merged` with that of `live`.
void KeepPodTemplate(const Json& live, Json& merged);

// Returns whether the rendered workload `a` has all values of the rendered workload `b`, and other values. Ignores
// replicas, because another client may own them.
bool HasMoreValues(Json a, Json b);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_MERGE_CHANGES_H_
