// Finds one field in the protobuf wire format.
#ifndef OPERATOR_CLIENT_PROTOBUF_H_
#define OPERATOR_CLIENT_PROTOBUF_H_

#include <optional>
#include <string_view>

namespace yad {

// Returns the bytes of a field (a message, a string or bytes) of `message`, the last one if there are several. Returns
// nullopt if the message has no such field or is malformed.
std::optional<std::string_view> BytesField(std::string_view message, unsigned number);

// Returns the message in an apiserver's response of type application/vnd.kubernetes.protobuf; nullopt for other
// content.
std::optional<std::string_view> KubernetesMessage(std::string_view answer);

}  // namespace yad

#endif  // OPERATOR_CLIENT_PROTOBUF_H_
