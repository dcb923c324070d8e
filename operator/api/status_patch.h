// What to write of a status that is to say something else.
#ifndef OPERATOR_API_STATUS_PATCH_H_
#define OPERATOR_API_STATUS_PATCH_H_

#include <string>
#include <string_view>

#include "operator/api/object.h"

namespace yad {

// The merge patch, for the object with this uid, that turns `before` into `after`, top-level fields of status only;
// null where they are equal. Fields that `after` lacks stay: they are somebody else's, but for `comes_and_goes`. Pure.
Json StatusPatch(const Json& before, const Json& after, const std::string& uid,
                 std::initializer_list<std::string_view> come_and_go = {});

}  // namespace yad

#endif  // OPERATOR_API_STATUS_PATCH_H_
