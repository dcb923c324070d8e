// Kubernetes' alphabet for generated names (apimachinery's util/rand), without vowels and characters that look alike.
#ifndef OPERATOR_WORKLOAD_SAFE_ENCODE_H_
#define OPERATOR_WORKLOAD_SAFE_ENCODE_H_

#include <string_view>

namespace yad {

inline constexpr std::string_view kSafeAlphabet = "bcdfghjklmnpqrstvwxz2456789";

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_SAFE_ENCODE_H_
