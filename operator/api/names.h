// Kubernetes' rules for names and labels. Each function returns "" if the value is valid, and Kubernetes' own message
// otherwise.
#ifndef OPERATOR_API_NAMES_H_
#define OPERATOR_API_NAMES_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace yad {

// The maximum length of a label value, and of each name that is used as a label value.
inline constexpr std::size_t kMaxLabelValue = 63;

std::string CheckLabelKey(std::string_view key);  // qualified name: optional DNS prefix, "/", at most 63 characters
// Like CheckLabelKey, but the prefix may contain capital letters.
std::string CheckAnnotationKey(std::string_view key);
std::string CheckLabelValue(std::string_view value);       // at most 63 characters
std::string CheckDns1123Subdomain(std::string_view name);  // at most 253
std::string CheckDns1123Label(std::string_view name);      // at most 63

}  // namespace yad

#endif  // OPERATOR_API_NAMES_H_
