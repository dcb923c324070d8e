// Kubernetes quantities ("100m", "1Gi", "1e3"). Pure.
#ifndef OPERATOR_API_QUANTITY_H_
#define OPERATOR_API_QUANTITY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace yad {

// Returns the same text for all spellings of a quantity, such as "1", "1000m" and "1.0". Returns nullopt if the text is
// not a quantity, has more than about 38 digits, or is beyond 1e999.
std::optional<std::string> CanonicalQuantity(std::string_view text);

// QuantityIn returns the quantity in whole units or in thousandths (milli), rounded up as in kube-scheduler. An amount
// outside the range of the type becomes the largest or smallest value of the type. Returns nullopt if the text is not a
// quantity, or is beyond 1e999.
enum class Unit { kOne, kMilli };
std::optional<std::int64_t> QuantityIn(Unit unit, std::string_view text);

// Returns true if two quantities are equal ("1Gi" and "1024Mi"), and false if one of them is not a quantity.
bool QuantityEqual(const std::string& a, const std::string& b);

}  // namespace yad

#endif  // OPERATOR_API_QUANTITY_H_
