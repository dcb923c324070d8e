// Joins strings.
#ifndef OPERATOR_BASE_JOIN_H_
#define OPERATOR_BASE_JOIN_H_

#include <string>

namespace yad {

// Returns the strings of a container, separated by ", ".
template <typename Texts>
std::string Join(const Texts& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  return joined;
}

}  // namespace yad

#endif  // OPERATOR_BASE_JOIN_H_
