// When two values mean the same to an apiserver. Pure; guided by the schema.
#ifndef OPERATOR_WORKLOAD_SEMANTICS_H_
#define OPERATOR_WORKLOAD_SEMANTICS_H_

#include <string_view>

#include "operator/workload/schema.h"

namespace yad {

// Deeper than this nothing is taken apart: such values are compared and replaced as a whole.
inline constexpr int kMaxDepth = 200;

// The member, or null where it is missing or `object` is none.
const Json& MemberOf(const Json& object, std::string_view key);

// 0, false, "".
bool IsZero(const Json& value);
// Whether `value` at `key` says as little as if it were absent.
bool SaysNothing(const Field& field, std::string_view key, const Json& value, int depth = 0);
// Whether member `key` of `object` says as little as if it were absent, because it is the server's default or nothing.
bool IsDefault(const Schema& schema, std::string_view key, const Json& object, int depth = 0);
// Whether an apiserver would store both alike.
bool SameValue(const Field& field, const Json& a, const Json& b, int depth = 0);
bool SameObject(const Schema& schema, const Json& a, const Json& b, int depth = 0);
// Whether member `key` of both is alike, present or not.
bool SameMember(const Schema& schema, std::string_view key, const Json& a, const Json& b, int depth = 0);

// Without nulls in objects.
Json WithoutNulls(Json value);
enum class Defaults { kKept, kDropped };
// Without what says nothing, quantities in one spelling: the same for all manifests that differ in nothing else.
// kDropped: values that equal the server's defaults say nothing either.
Json Canonical(const Schema& schema, const Json& value, Defaults defaults, int depth = 0);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_SEMANTICS_H_
