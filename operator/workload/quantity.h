// Kubernetes quantities ("100m", "1Gi", "1e3"). Pure.
#ifndef OPERATOR_WORKLOAD_QUANTITY_H_
#define OPERATOR_WORKLOAD_QUANTITY_H_

#include <optional>
#include <string>
#include <string_view>

namespace yad {

// One text for all spellings of a quantity: "1", "1000m" and "1.0" give the same. nullopt: not a quantity, or one of
// more than about 38 digits.
std::optional<std::string> CanonicalQuantity(std::string_view text);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_QUANTITY_H_
