#include "operator/base/error.h"

#include <cstddef>
#include <iterator>

namespace yad {

std::string_view ToString(Reason reason) {
  // In the order of the enum.
  constexpr std::string_view kNames[] = {"NotFound",
                                         "AlreadyExists",
                                         "Conflict",
                                         "Expired",
                                         "Invalid",
                                         "BadRequest",
                                         "Forbidden",
                                         "Unauthorized",
                                         "TooManyRequests",
                                         "ServerTimeout",
                                         "ServiceUnavailable",
                                         "MethodNotAllowed",
                                         "UnsupportedMediaType",
                                         "InternalError",
                                         "Transport",
                                         "Decode",
                                         "TooLarge",
                                         "Cancelled",
                                         "Config",
                                         "NotSynced",
                                         "Unknown"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Reason::kUnknown) + 1);
  return kNames[static_cast<std::size_t>(reason)];
}

std::string Error::ToString() const {
  std::string text(yad::ToString(reason));
  if (!message.empty()) text.append(": ").append(message);
  return text;
}

bool IsTransient(const Error& error) {
  switch (error.reason) {
    case Reason::kTooManyRequests:
    case Reason::kServerTimeout:
    case Reason::kServiceUnavailable:
    case Reason::kInternalError:
    case Reason::kTransport:
    case Reason::kNotSynced:
      return true;
    case Reason::kUnknown:
      return error.http_status >= 500;  // probably from a proxy
    default:
      return false;
  }
}

}  // namespace yad
