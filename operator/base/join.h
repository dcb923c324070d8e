// Joins strings, and numbers with their nouns.
#ifndef OPERATOR_BASE_JOIN_H_
#define OPERATOR_BASE_JOIN_H_

#include <concepts>
#include <string>
#include <string_view>

namespace yad {

// Returns the strings of a container, with a separator between them.
template <typename Texts>
std::string Join(const Texts& texts, std::string_view separator = ", ") {
  std::string joined;
  for (const std::string& text : texts) joined.append(joined.empty() ? "" : separator).append(text);
  return joined;
}

// Returns the number with its noun in the singular or the plural: Pluralize(2, "pool") is "2 pools". `many` is the
// plural, or "" if the plural is `one` with an "s".
std::string Pluralize(std::integral auto count, std::string_view one, std::string_view many = "") {
  std::string noun(count == 1 || many.empty() ? one : many);
  if (count != 1 && many.empty()) noun += "s";
  return std::to_string(count) + " " + noun;
}

}  // namespace yad

#endif  // OPERATOR_BASE_JOIN_H_
