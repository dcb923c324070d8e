// Quantities: all spellings of a value have one canonical form, which is itself a quantity.
#include <string>
#include <string_view>

#include "operator/api/quantity.h"
#include "tests/fuzz/check.h"

namespace yad {
namespace {

void Quantity(std::string_view text) {
  const auto canonical = CanonicalQuantity(text);
  if (!canonical) return;
  YAD_CHECK(CanonicalQuantity(*canonical) == canonical, *canonical);
  YAD_CHECK(QuantityEqual(std::string(text), *canonical), *canonical);
  if (text.front() != '+' && text.front() != '-') {
    YAD_CHECK(CanonicalQuantity("+" + std::string(text)) == canonical, *canonical);
    YAD_CHECK(CanonicalQuantity("000" + std::string(text)) == canonical, *canonical);
    const std::string negative = *canonical == "0" ? "0" : "-" + *canonical;
    YAD_CHECK(CanonicalQuantity("-" + std::string(text)) == negative, negative);
  }
  // Adds suffixes to a plain number. A number of more than 15 characters may be too long with a suffix.
  if (text.size() > 15 || text.find_first_not_of("0123456789.") != std::string_view::npos) return;
  const std::string number(text);
  const struct {
    const char* suffix;
    const char* exponent;
  } kDecimal[] = {{"n", "e-9"}, {"u", "e-6"}, {"m", "e-3"}, {"k", "e3"},  {"M", "e6"},
                  {"G", "e9"},  {"T", "E12"}, {"P", "e15"}, {"E", "e+18"}};
  for (const auto& [suffix, exponent] : kDecimal) YAD_CHECK(QuantityEqual(number + suffix, number + exponent), suffix);
  const char* kBinary[] = {"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  if (number.find('.') != std::string::npos || number.size() > 12) return;
  unsigned long long value = std::stoull(number);
  for (const char* suffix : kBinary) {
    if (value > (1ULL << 53)) return;
    value *= 1024;
    YAD_CHECK(QuantityEqual(number + suffix, std::to_string(value)), suffix);
  }
}

}  // namespace
}  // namespace yad

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  yad::Quantity({reinterpret_cast<const char*>(data), size});
  return 0;
}
