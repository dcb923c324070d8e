// Inserts the names of pools into a query.
#ifndef OPERATOR_PROMETHEUS_POOL_QUERY_H_
#define OPERATOR_PROMETHEUS_POOL_QUERY_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace yad {

// The variable in a query that is replaced with the name of a pool, or with a regular expression for several pools. It
// must be inside a string literal.
inline constexpr std::string_view kPoolVariable = "{{nodepool-name}}";

// The maximum length of the regular expression in WithPools, in bytes.
inline constexpr std::size_t kMaxPoolExpression = 8u << 10;

// Returns whether each kPoolVariable in the query is inside a string literal. Outside a literal, Prometheus would read
// the name of a pool as the name of a metric, or as a subtraction (us-east).
bool PoolIsInLiteral(std::string_view query);

// Replaces kPoolVariable with the name of a pool. Bytes that cannot be part of a Kubernetes name become \xNN, so a name
// cannot end a string literal of any kind.
std::string WithPool(std::string_view query, std::string_view pool);

// Replaces kPoolVariable with a regular expression that matches exactly these pools, for the operators =~ and !~. The
// same pools always result in the same string.
// - The expression has no backslash, so it means the same in all kinds of string literals.
// - Without pools, the expression matches nothing. Names that are not valid in Kubernetes are omitted.
// - The expression has at most kMaxPoolExpression bytes. If not all names fit, it contains only the first names in
//   alphabetical order.
std::string WithPools(std::string_view query, std::vector<std::string> pools);

}  // namespace yad

#endif  // OPERATOR_PROMETHEUS_POOL_QUERY_H_
