// Queries about one pool or several.
#ifndef OPERATOR_PROMETHEUS_POOL_QUERY_H_
#define OPERATOR_PROMETHEUS_POOL_QUERY_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace yad {

// The part of a query that stands for pools. A query must have it inside a string literal.
inline constexpr std::string_view kPoolVariable = "{{nodepool-name}}";

// The longest regular expression of WithPools.
inline constexpr std::size_t kMaxPoolExpression = 8u << 10;

// Returns whether each kPoolVariable in the query is inside a string literal. Outside of a literal, Prometheus would
// read the name of a pool as a metric, or as a subtraction (us-east).
bool PoolIsInLiteral(std::string_view query);

// Replaces kPoolVariable with the name of a pool. Bytes that cannot be part of a Kubernetes name become \xNN, so a name
// cannot end a string literal of any kind.
std::string WithPool(std::string_view query, std::string_view pool);

// Replaces kPoolVariable with a regular expression for these pools and no other, for matchers with =~ and !~. The
// expression has no backslash, so it means the same in all kinds of string literals. Without pools, the expression
// matches nothing. Names that are not possible in Kubernetes are omitted.
//
// The expression has at most kMaxPoolExpression bytes. If the names of all pools are longer, it contains only the first
// names in their order. The same pools always give the same text.
std::string WithPools(std::string_view query, std::vector<std::string> pools);

}  // namespace yad

#endif  // OPERATOR_PROMETHEUS_POOL_QUERY_H_
