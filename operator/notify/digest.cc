#include "operator/notify/digest.h"

#include <cstdint>
#include <cstdio>

#include "operator/api/object.h"

namespace yad {
namespace {

// The last step of MurmurHash3. The FNV-1a hashes of similar strings have similar upper bits. This step mixes them.
std::uint64_t Mix(std::uint64_t value) {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccdULL;
  value ^= value >> 33;
  value *= 0xc4ceb9fe1a85ec53ULL;
  return value ^ (value >> 33);
}

}  // namespace

std::string Digest(std::initializer_list<std::string_view> parts, std::size_t digits) {
  std::uint64_t first = Fnv1a64("");
  std::uint64_t second = Fnv1a64("second half");
  for (const std::string_view part : parts) {
    // Each part is hashed with its length, so that ("a", "bc") and ("ab", "c") have different digests.
    const std::string length = std::to_string(part.size()) + ":";
    first = Fnv1a64(part, Fnv1a64(length, first));
    second = Fnv1a64(part, Fnv1a64(length, second));
  }
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(Mix(first) | 1),
                static_cast<unsigned long long>(Mix(second)));
  return std::string(text, digits);
}

}  // namespace yad
