// The rules by which values are equivalent for an apiserver, based on the schema. Pure.
#ifndef OPERATOR_WORKLOAD_SEMANTICS_H_
#define OPERATOR_WORKLOAD_SEMANTICS_H_

#include <string_view>

#include "operator/workload/schema.h"

namespace yad {

// Values that are nested deeper than this are compared and replaced as a whole.
inline constexpr int kMaxDepth = 200;

// Returns the member, or null if it is missing or `object` is not an object.
const Json& MemberOf(const Json& object, std::string_view key);

// Returns true for 0, false and "".
bool IsZero(const Json& value);
// Returns true if `value` at `key` is equivalent to an absent value.
bool SaysNothing(const Field& field, std::string_view key, const Json& value, int depth = 0);
// Returns true if member `key` of `object` is equivalent to an absent value, because it has no effect or is the
// server's default.
bool IsDefault(const Schema& schema, std::string_view key, const Json& object, int depth = 0);
// Return true if an apiserver would store both values in the same way.
bool SameValue(const Field& field, const Json& a, const Json& b, int depth = 0);
bool SameObject(const Schema& schema, const Json& a, const Json& b, int depth = 0);
// Returns true if member `key` is equivalent in both objects. The member may be absent in one or both.
bool SameMember(const Schema& schema, std::string_view key, const Json& a, const Json& b, int depth = 0);

// Removes the nulls in objects.
Json WithoutNulls(Json value);
enum class Defaults { kKept, kDropped };
// Returns the value without members that have no effect, and with one spelling of quantities. Manifests that differ
// only in these respects have the same result. kDropped also removes values that equal the server's defaults.
Json Canonical(const Schema& schema, const Json& value, Defaults defaults, int depth = 0);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_SEMANTICS_H_
