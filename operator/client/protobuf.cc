#include "operator/client/protobuf.h"

#include <cstdint>

namespace yad {
namespace {

enum WireType : unsigned { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

std::optional<std::uint64_t> TakeVarint(std::string_view& rest) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> BytesField(std::string_view message, unsigned number) {
  std::optional<std::string_view> found;
  while (!message.empty()) {
    const auto tag = TakeVarint(message);
    if (!tag) return std::nullopt;
    std::uint64_t size = 0;
    const auto type = static_cast<unsigned>(*tag & 7);
    if (type == kVarint) {
      if (!TakeVarint(message)) return std::nullopt;
    } else if (type == kFixed64 || type == kFixed32) {
      size = type == kFixed64 ? 8 : 4;
    } else if (const auto length = type == kBytes ? TakeVarint(message) : std::nullopt) {
      size = *length;
    } else {
      return std::nullopt;
    }
    if (size > message.size()) return std::nullopt;
    if (type == kBytes && *tag >> 3 == number) found = message.substr(0, size);
    message.remove_prefix(size);
  }
  return found;
}

std::optional<std::string_view> KubernetesMessage(std::string_view answer) {
  constexpr std::string_view kMagic{"k8s\0", 4};
  constexpr unsigned kRawOfUnknown = 2;  // the field `raw` of runtime.Unknown
  if (!answer.starts_with(kMagic)) return std::nullopt;
  return BytesField(answer.substr(kMagic.size()), kRawOfUnknown);
}

}  // namespace yad
