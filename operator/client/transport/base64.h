// Base64 (RFC 4648), as in kubeconfig files.
#ifndef OPERATOR_CLIENT_TRANSPORT_BASE64_H_
#define OPERATOR_CLIENT_TRANSPORT_BASE64_H_

#include <optional>
#include <string>
#include <string_view>

namespace yad {

std::string Base64Encode(std::string_view bytes);
// Decodes `text`, and ignores white space in it. Returns nullopt if `text` has any other invalid character, or an
// invalid length.
std::optional<std::string> Base64Decode(std::string_view text);

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_BASE64_H_
