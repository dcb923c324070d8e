// Compares values as an apiserver treats them, based on the schema.
#ifndef OPERATOR_WORKLOAD_SEMANTICS_H_
#define OPERATOR_WORKLOAD_SEMANTICS_H_

#include <string_view>

#include "operator/workload/schema.h"

namespace yad {

// Objects and lists at this depth are compared and replaced as a whole.
inline constexpr int kMaxDepth = 200;

// Returns the member, or null if it is missing or `object` is not an object.
const Json& MemberOf(const Json& object, std::string_view key);

// Returns true for 0, false and "".
bool IsZero(const Json& value);
// Returns true if an object with `value` at `key` has the same effect as an object without `key`.
bool HasNoEffect(const Field& field, std::string_view key, const Json& value, int depth = 0);
// Returns true if removing member `key` from `object` changes nothing, because the member has no effect or is the
// server's default.
bool IsDefault(const Schema& schema, std::string_view key, const Json& object, int depth = 0);
// Return true if an apiserver would store both arguments in the same way.
bool SameValue(const Field& field, const Json& a, const Json& b, int depth = 0);
bool SameObject(const Schema& schema, const Json& a, const Json& b, int depth = 0);
// Returns true if an apiserver would store member `key` of both objects in the same way. The member may be absent.
bool SameMember(const Schema& schema, std::string_view key, const Json& a, const Json& b, int depth = 0);

// Removes null members of objects. Nulls in lists stay.
Json WithoutNulls(Json value);
enum class Defaults { kKept, kDropped };
// Returns the value without members that have no effect, and with quantities in canonical form. Manifests with the same
// meaning have the same result. Defaults::kDropped also removes values that equal the server's defaults.
Json Canonical(const Schema& schema, const Json& value, Defaults defaults, int depth = 0);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_SEMANTICS_H_
