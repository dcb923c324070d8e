#include "operator/client/transport/base64.h"

#include <openssl/evp.h>

#include <algorithm>

namespace yad {
namespace {

const unsigned char* Bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* Bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

std::string Base64Encode(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4, '\0');  // EVP_EncodeBlock also writes a '\0' at the end.
  EVP_EncodeBlock(Bytes(out), Bytes(bytes), static_cast<int>(bytes.size()));
  return out;
}

std::optional<std::string> Base64Decode(std::string_view text) {
  std::string digits(text);
  std::erase_if(digits, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
  // Checks "-" and "=" here, because EVP_DecodeBlock treats "-" as the end of the input, and "=" at any position as
  // zero bits.
  const std::size_t end = std::min(digits.find_first_of("-="), digits.size());
  const std::size_t padding = digits.size() - end;
  if (padding > 2 || digits.find_first_not_of('=', end) != std::string::npos) return std::nullopt;
  std::string out(digits.size() / 4 * 3, '\0');
  const int written = EVP_DecodeBlock(Bytes(out), Bytes(digits), static_cast<int>(digits.size()));
  if (written < 0 || static_cast<std::size_t>(written) != out.size()) return std::nullopt;
  out.resize(out.size() - padding);
  return out;
}

}  // namespace yad
