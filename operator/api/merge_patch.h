// Merge patches (RFC 7386) for changed objects. Pure.
#ifndef OPERATOR_API_MERGE_PATCH_H_
#define OPERATOR_API_MERGE_PATCH_H_

#include <string>
#include <string_view>

#include "operator/api/object.h"

namespace yad {

// Returns the merge patch that gives `live` the values of `wanted`, and removes the fields of `last` that `wanted`
// lacks. Other fields of `live` belong to other writers and stay. An empty patch changes nothing. `last` may be null.
// If `last` is the manifest that was last applied, the result is the patch of `kubectl apply` for types that kubectl
// does not know.
Json MergePatch(const Json& last, const Json& wanted, const Json& live);

// Returns the merge patch, for the object with this uid, that turns the status `before` into `after`; null if they are
// equal. Fields that `after` lacks belong to other writers and stay, except the fields in `come_and_go`, which the
// patch removes.
Json StatusPatch(const Json& before, const Json& after, const std::string& uid,
                 std::initializer_list<std::string_view> come_and_go = {});

}  // namespace yad

#endif  // OPERATOR_API_MERGE_PATCH_H_
