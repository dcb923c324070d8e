// Computes merge patches (RFC 7386).
#ifndef OPERATOR_API_MERGE_PATCH_H_
#define OPERATOR_API_MERGE_PATCH_H_

#include <string>
#include <string_view>

#include "operator/api/object.h"

namespace yad {

// Returns the merge patch that sets the values of `wanted` in `live`, and removes the fields that are in `last` but not
// in `wanted`. Other fields of `live` stay, because they belong to other writers. `last` may be null. If `last` is the
// manifest of the last apply, `kubectl apply` makes the same patch for custom resources. An empty patch means that
// `live` needs no change.
Json MergePatch(const Json& last, const Json& wanted, const Json& live);

// Returns the merge patch that changes the status from `before` to `after`, or null if they are equal. The patch
// contains `uid`, so that the server rejects it for a recreated object. The patch removes a field that `after` lacks
// only if it is in `removable`: other fields belong to other writers.
Json StatusPatch(const Json& before, const Json& after, const std::string& uid,
                 std::initializer_list<std::string_view> removable = {});

}  // namespace yad

#endif  // OPERATOR_API_MERGE_PATCH_H_
