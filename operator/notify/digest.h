// Names for things that each process must name alike.
#ifndef OPERATOR_NOTIFY_DIGEST_H_
#define OPERATOR_NOTIFY_DIGEST_H_

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace yad {

// Returns a digest of the parts: `digits` lower-case hexadecimal digits, at most 32 and not all 0. Equal parts have
// equal digests in all releases. A user who looks for parts with an equal digest can find them.
std::string Digest(std::initializer_list<std::string_view> parts, std::size_t digits = 32);

}  // namespace yad

#endif  // OPERATOR_NOTIFY_DIGEST_H_
