// Digests that are used as ids. Every process computes the same id from the same parts.
#ifndef OPERATOR_NOTIFY_DIGEST_H_
#define OPERATOR_NOTIFY_DIGEST_H_

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace yad {

// Returns a digest of the parts as `digits` (16 to 32) lower-case hexadecimal digits, which are not all 0.
// - Equal parts have equal digests in all releases.
// - The digest is not cryptographic: a user can construct other parts with an equal digest.
std::string Digest(std::initializer_list<std::string_view> parts, std::size_t digits = 32);

}  // namespace yad

#endif  // OPERATOR_NOTIFY_DIGEST_H_
