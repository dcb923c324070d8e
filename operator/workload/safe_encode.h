// Hashes in generated names, and names that are shortened to make room for a hash.
#ifndef OPERATOR_WORKLOAD_SAFE_ENCODE_H_
#define OPERATOR_WORKLOAD_SAFE_ENCODE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace yad {

// The alphabet of Kubernetes for generated names (apimachinery's util/rand). It has no vowels, so that names contain no
// words, and no characters that look alike.
inline constexpr std::string_view kSafeAlphabet = "bcdfghjklmnpqrstvwxz2456789";

// Encodes the number with the characters of `alphabet` as digits. Returns `size` digits, the lowest digit first.
inline std::string SafeEncode(std::uint64_t number, std::size_t size, std::string_view alphabet = kSafeAlphabet) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i, number /= alphabet.size()) text += alphabet[number % alphabet.size()];
  return text;
}

// Truncates the name to `limit` characters, and removes dots and dashes from the end of the result.
inline std::string Truncated(const std::string& name, std::size_t limit) {
  const std::string result = name.substr(0, limit);
  return result.substr(0, result.find_last_not_of(".-") + 1);
}

// Removes the middle of a name that has more than `limit` characters.
inline std::string WithoutMiddle(const std::string& name, std::size_t limit) {
  if (name.size() <= limit) return name;
  const std::size_t head = limit / 2;
  return name.substr(0, head) + name.substr(name.size() - (limit - head));
}

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_SAFE_ENCODE_H_
