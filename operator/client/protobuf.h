// Reads single fields of messages in the protobuf wire format.
#ifndef OPERATOR_CLIENT_PROTOBUF_H_
#define OPERATOR_CLIENT_PROTOBUF_H_

#include <optional>
#include <string_view>

namespace yad {

// Returns the content of field `number`, which must be a message, a string or bytes. If the field occurs several times,
// returns the last occurrence. Returns nullopt if the field does not occur or `message` is malformed.
std::optional<std::string_view> BytesField(std::string_view message, unsigned number);

// Returns the message in a response of type application/vnd.kubernetes.protobuf, or nullopt for other content.
std::optional<std::string_view> KubernetesMessage(std::string_view answer);

}  // namespace yad

#endif  // OPERATOR_CLIENT_PROTOBUF_H_
