// The alphabet of Kubernetes for generated names (apimachinery's util/rand). It has no vowels, so that names contain no
// words, and no characters that look alike.
#ifndef OPERATOR_WORKLOAD_SAFE_ENCODE_H_
#define OPERATOR_WORKLOAD_SAFE_ENCODE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace yad {

inline constexpr std::string_view kSafeAlphabet = "bcdfghjklmnpqrstvwxz2456789";

// Returns the first `size` digits of the number in the alphabet, the lowest digit first.
inline std::string SafeEncode(std::uint64_t number, std::size_t size, std::string_view alphabet = kSafeAlphabet) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i, number /= alphabet.size()) text += alphabet[number % alphabet.size()];
  return text;
}

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_SAFE_ENCODE_H_
