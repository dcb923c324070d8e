#include "plugin/dashboard/request_check.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace yad {
namespace {

constexpr std::size_t kTokenBytes = 32;

tl::unexpected<Error> Reject(int status, std::string message) {
  Error error{Reason::kForbidden, std::move(message), status};
  return Fail(std::move(error));
}

bool IsJson(const std::string& content_type) {
  const std::string type = content_type.substr(0, content_type.find(';'));
  return type.substr(0, type.find_last_not_of(' ') + 1) == "application/json";
}

// Compares two strings. The time depends only on their length, so that an attacker can't guess the token character by
// character.
bool SameSecret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference = static_cast<unsigned char>(difference | (static_cast<unsigned>(a[i]) ^ static_cast<unsigned>(b[i])));
  return difference == 0;
}

}  // namespace

Result<std::string> NewToken() {
  std::array<unsigned char, kTokenBytes> bytes{};
  if (getentropy(bytes.data(), bytes.size()) != 0)
    return Fail(Reason::kInternalError, std::string("the kernel returned no random bytes: ") + std::strerror(errno));
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string token;
  for (const unsigned char byte : bytes) {
    token += kDigits[byte >> 4];
    token += kDigits[byte & 15];
  }
  return token;
}

Result<CheckedRequest> CheckRequest(const HttpCall& call, const OwnAddress& address) {
  const std::string port = ":" + std::to_string(address.port);
  const bool ours =
      call.hosts.size() == 1 && (call.hosts.front() == "127.0.0.1" + port || call.hosts.front() == "localhost" + port);
  if (!ours) return Reject(421, "the request is for another host");
  const bool same_origin =
      call.origins.empty() || (call.origins.size() == 1 && call.origins.front() == "http://" + call.hosts.front());
  if (!same_origin) return Reject(403, "the request is from another origin");

  const std::string_view target = call.target;
  const std::size_t question = std::min(target.find('?'), target.size());
  const std::string_view path = target.substr(0, question);
  const std::size_t end = path.find('/', 1);
  // Rejects a path without the token. Also rejects "/TOKEN" without a slash at the end, because the relative links of
  // the page need this slash.
  if (path.empty() || path.front() != '/' || end == std::string_view::npos ||
      !SameSecret(path.substr(1, end - 1), address.token)) {
    return Reject(404, "not found");
  }
  if (call.method != "GET" && call.method != "POST") return Reject(405, "method not allowed");
  if (call.method == "POST") {
    if (call.origins.empty()) return Reject(403, "a POST needs the header Origin");
    if (!IsJson(call.content_type)) return Reject(415, "a POST needs the content type application/json");
  }
  return CheckedRequest{std::string(path.substr(end + 1)),
                        std::string(question < target.size() ? target.substr(question + 1) : "")};
}

}  // namespace yad
