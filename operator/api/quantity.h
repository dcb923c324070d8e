// Parses Kubernetes quantities ("100m", "1Gi", "1e3").
#ifndef OPERATOR_API_QUANTITY_H_
#define OPERATOR_API_QUANTITY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace yad {

// Returns a string that is the same for equal quantities, such as "1", "1000m" and "1.0". Returns nullopt if `text` is
// not a quantity, has more than about 38 digits, or is above 1e999.
std::optional<std::string> CanonicalQuantity(std::string_view text);

enum class Unit { kOne, kMilli };
// Returns a quantity in whole units (kOne) or in thousandths (kMilli). Example: "1.5" becomes 2 or 1500.
// - Rounds up, as kube-scheduler does.
// - An amount that does not fit into the type becomes the limit of the type.
// - Returns nullopt if `text` is not a quantity, or is above 1e999.
std::optional<std::int64_t> QuantityIn(Unit unit, std::string_view text);

// Returns true if the quantities are equal, such as "1Gi" and "1024Mi". Returns false if one of them is not a quantity.
bool QuantityEqual(const std::string& a, const std::string& b);

}  // namespace yad

#endif  // OPERATOR_API_QUANTITY_H_
