// Base64 (RFC 4648), as kubeconfig files hold it.
#ifndef OPERATOR_CLIENT_BASE64_H_
#define OPERATOR_CLIENT_BASE64_H_

#include <optional>
#include <string>
#include <string_view>

namespace yad {

std::string Base64Encode(std::string_view bytes);
// White space is passed over. nullopt: any other character, or a length that cannot be.
std::optional<std::string> Base64Decode(std::string_view text);

}  // namespace yad

#endif  // OPERATOR_CLIENT_BASE64_H_
