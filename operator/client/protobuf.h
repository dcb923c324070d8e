// As much of the protobuf wire format as it takes to find one field.
#ifndef OPERATOR_CLIENT_PROTOBUF_H_
#define OPERATOR_CLIENT_PROTOBUF_H_

#include <optional>
#include <string_view>

namespace yad {

// The bytes of a field (a message, a string, bytes) of `message`; the last one where there are several. nullopt where
// the message has none, or is malformed.
std::optional<std::string_view> BytesField(std::string_view message, unsigned number);

// The message in an apiserver's answer of type application/vnd.kubernetes.protobuf. nullopt where it is none.
std::optional<std::string_view> KubernetesMessage(std::string_view answer);

}  // namespace yad

#endif  // OPERATOR_CLIENT_PROTOBUF_H_
