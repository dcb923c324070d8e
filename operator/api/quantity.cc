#include "operator/api/quantity.h"

#include <cstdlib>
#include <limits>

#include "operator/base/number.h"

namespace yad {
namespace {

constexpr int kMaxExponent = 999;  // the largest exponent that ApplyExponent accepts: three digits

// The value mantissa * 10^exponent.
struct Number {
  unsigned __int128 mantissa = 0;
  int exponent = 0;
  bool negative = false;
  bool cut = false;  // digits were dropped because they did not fit, so the real absolute value is slightly larger

  void DropDigit() {
    mantissa /= 10;
    ++exponent;
    cut = true;
  }
  bool Times(unsigned factor) {
    constexpr unsigned __int128 kMax = std::numeric_limits<unsigned __int128>::max();
    if (mantissa > kMax / factor) return false;
    mantissa *= factor;
    return true;
  }
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Reads a decimal number from the front of `text`, and removes it there. Returns false if `text` does not begin with a
// digit.
bool TakeDigits(std::string_view& text, Number& number) {
  bool any = false;
  bool fraction = false;
  while (!text.empty()) {
    const char c = text.front();
    if (c == '.' && !fraction) {
      fraction = true;
    } else if (IsDigit(c)) {
      any = true;
      if (number.cut || !number.Times(10)) {
        number.cut = true;
        if (!fraction) ++number.exponent;
      } else {
        number.mantissa += static_cast<unsigned>(c - '0');
        if (fraction) --number.exponent;
      }
    } else {
      break;
    }
    text.remove_prefix(1);
  }
  return any;
}

bool ApplyExponent(std::string_view digits, Number& number) {
  int sign = 1;
  if (!digits.empty() && (digits.front() == '+' || digits.front() == '-')) {
    sign = digits.front() == '-' ? -1 : 1;
    digits.remove_prefix(1);
  }
  const auto exponent = ParseNumber<unsigned>(digits);
  if (!exponent || digits.size() > 3) return false;
  number.exponent += sign * static_cast<int>(*exponent);
  return true;
}

bool ApplySuffix(std::string_view suffix, Number& number) {
  constexpr std::string_view kBinary = "KMGTPE";
  constexpr std::string_view kDecimal = "kMGTPE";
  if (suffix.empty()) return true;
  if (suffix.size() == 2 && suffix[1] == 'i') {
    const auto power = kBinary.find(suffix[0]);
    if (power == std::string_view::npos) return false;
    for (std::size_t i = 0; i <= power; ++i) {
      while (!number.Times(1024)) number.DropDigit();
    }
    return true;
  }
  if (suffix.size() == 1) {
    if (const auto power = kDecimal.find(suffix[0]); power != std::string_view::npos) {
      number.exponent += 3 * static_cast<int>(power + 1);
      return true;
    }
    constexpr std::string_view kSmall = "mun";
    if (const auto power = kSmall.find(suffix[0]); power != std::string_view::npos) {
      number.exponent -= 3 * static_cast<int>(power + 1);
      return true;
    }
    return false;
  }
  return (suffix[0] == 'e' || suffix[0] == 'E') && ApplyExponent(suffix.substr(1), number);
}

// Parses a quantity. The mantissa of the result has no trailing zeros.
std::optional<Number> ParseQuantity(std::string_view text) {
  Number number;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    number.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (!TakeDigits(text, number) || !ApplySuffix(text, number)) return std::nullopt;
  if (number.mantissa == 0) return Number();
  while (number.mantissa % 10 == 0) {
    number.mantissa /= 10;
    ++number.exponent;
  }
  if (std::abs(number.exponent) > kMaxExponent) return std::nullopt;
  return number;
}

}  // namespace

std::optional<std::string> CanonicalQuantity(std::string_view text) {
  const auto number = ParseQuantity(text);
  if (!number || number->cut) return std::nullopt;
  if (number->mantissa == 0) return "0";
  std::string digits;
  for (auto rest = number->mantissa; rest != 0; rest /= 10) {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
  }
  return (number->negative ? "-" : "") + digits + "e" + std::to_string(number->exponent);
}

std::optional<std::int64_t> QuantityIn(Unit unit, std::string_view text) {
  auto number = ParseQuantity(text);
  if (!number) return std::nullopt;
  constexpr auto kMax = static_cast<unsigned __int128>(std::numeric_limits<std::int64_t>::max());
  int exponent = number->exponent + (unit == Unit::kMilli ? 3 : 0);
  auto& value = number->mantissa;
  bool rest = number->cut;
  for (; exponent < 0 && value != 0; ++exponent) {
    rest = rest || value % 10 != 0;
    value /= 10;
  }
  for (; exponent > 0 && value != 0 && value <= kMax; --exponent) value *= 10;
  if (rest && !number->negative) ++value;  // rounds up; the division has already rounded up a negative amount
  const auto amount = static_cast<std::int64_t>(value < kMax ? value : kMax);
  return number->negative ? -amount : amount;
}

bool QuantityEqual(const std::string& a, const std::string& b) {
  const auto left = CanonicalQuantity(a);
  return left && left == CanonicalQuantity(b);
}

}  // namespace yad
