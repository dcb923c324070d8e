// Joins strings.
#ifndef OPERATOR_BASE_JOIN_H_
#define OPERATOR_BASE_JOIN_H_

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

}  // namespace yad

#endif  // OPERATOR_BASE_JOIN_H_
