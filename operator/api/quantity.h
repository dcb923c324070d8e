// Kubernetes quantities ("100m", "1Gi", "1e3"). Pure.
#ifndef OPERATOR_API_QUANTITY_H_
#define OPERATOR_API_QUANTITY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace yad {

// One text for all spellings of a quantity: "1", "1000m" and "1.0" give the same. nullopt: not a quantity, or one of
// more than about 38 digits, or beyond 1e999.
std::optional<std::string> CanonicalQuantity(std::string_view text);

// The quantity in thousandths (milli) or in whole units, rounded up, as kube-scheduler counts; what is beyond the type
// is its largest or smallest value. nullopt: no quantity, or beyond 1e999.
enum class Unit { kOne, kMilli };
std::optional<std::int64_t> QuantityIn(Unit unit, std::string_view text);

// Whether two quantities are equal ("1Gi" and "1024Mi"). False where one is none.
bool QuantityEqual(const std::string& a, const std::string& b);

}  // namespace yad

#endif  // OPERATOR_API_QUANTITY_H_
