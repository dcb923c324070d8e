// Computes merge patches (RFC 7386).
#ifndef OPERATOR_API_MERGE_PATCH_H_
#define OPERATOR_API_MERGE_PATCH_H_

#include <string>
#include <string_view>

#include "operator/api/object.h"

namespace yad {

// Returns the merge patch that updates `live`. An empty patch means that `live` does not have to change.
// - Sets the values of `wanted`.
// - Removes the fields that are in `last` but not in `wanted`. `last` may be null.
// - Does not touch other fields, because they belong to other writers.
// `kubectl apply` makes the same patch for custom resources, with the last applied manifest as `last`.
Json MergePatch(const Json& last, const Json& wanted, const Json& live);

// Returns the merge patch that changes the status from `before` to `after`, or null if they are equal.
// - The patch contains `uid`, so that the server rejects it for a recreated object.
// - The patch removes only fields in `removable`. Other fields that `after` lacks belong to other writers.
Json StatusPatch(const Json& before, const Json& after, const std::string& uid,
                 std::initializer_list<std::string_view> removable = {});

}  // namespace yad

#endif  // OPERATOR_API_MERGE_PATCH_H_
