// Parses numbers.
#ifndef OPERATOR_BASE_NUMBER_H_
#define OPERATOR_BASE_NUMBER_H_

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace yad {

// Returns nullopt if `text` is not a number of this type, or has other characters before or after the number.
template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, fault] = std::from_chars(text.data(), end, number);
  return fault == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

}  // namespace yad

#endif  // OPERATOR_BASE_NUMBER_H_
