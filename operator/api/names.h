// Checks names and labels by the rules of Kubernetes. Each function returns "" if the value is valid. Otherwise, it
// returns Kubernetes' error message.
#ifndef OPERATOR_API_NAMES_H_
#define OPERATOR_API_NAMES_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace yad {

// The maximum length of a label value. It also limits names that are used as label values.
inline constexpr std::size_t kMaxLabelValue = 63;

std::string CheckLabelKey(std::string_view key);  // "example.com/name" or "name"; the name has at most 63 characters
// Like CheckLabelKey, but the prefix may contain capital letters.
std::string CheckAnnotationKey(std::string_view key);
std::string CheckLabelValue(std::string_view value);       // at most 63 characters
std::string CheckDns1123Subdomain(std::string_view name);  // at most 253
std::string CheckDns1123Label(std::string_view name);      // at most 63

}  // namespace yad

#endif  // OPERATOR_API_NAMES_H_
