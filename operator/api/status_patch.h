// A merge patch for a changed status.
#ifndef OPERATOR_API_STATUS_PATCH_H_
#define OPERATOR_API_STATUS_PATCH_H_

#include <string>
#include <string_view>

#include "operator/api/object.h"

namespace yad {

// Returns the merge patch, for the object with this uid, that turns `before` into `after`, comparing top-level fields
// of the status; null if they are equal. Fields that `after` lacks belong to other writers and stay, except the fields
// in `come_and_go`, which the patch removes. Pure.
Json StatusPatch(const Json& before, const Json& after, const std::string& uid,
                 std::initializer_list<std::string_view> come_and_go = {});

}  // namespace yad

#endif  // OPERATOR_API_STATUS_PATCH_H_
