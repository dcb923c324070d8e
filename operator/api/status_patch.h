// A merge patch for a changed status.
#ifndef OPERATOR_API_STATUS_PATCH_H_
#define OPERATOR_API_STATUS_PATCH_H_

#include <string>
#include <string_view>

#include "operator/api/object.h"

namespace yad {

// Returns the merge patch that turns the status `before` into `after`, for the object with this uid. Compares top-level
// fields; null if they are equal. Fields that `after` does not have belong to other writers and stay. Only the fields
// in `come_and_go` are removed if `after` does not have them. Pure.
Json StatusPatch(const Json& before, const Json& after, const std::string& uid,
                 std::initializer_list<std::string_view> come_and_go = {});

}  // namespace yad

#endif  // OPERATOR_API_STATUS_PATCH_H_
