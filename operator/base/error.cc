#include "operator/base/error.h"

namespace yad {

std::string_view ToString(Reason reason) {
  switch (reason) {
    case Reason::kNotFound:
      return "NotFound";
    case Reason::kAlreadyExists:
      return "AlreadyExists";
    case Reason::kConflict:
      return "Conflict";
    case Reason::kExpired:
      return "Expired";
    case Reason::kInvalid:
      return "Invalid";
    case Reason::kBadRequest:
      return "BadRequest";
    case Reason::kForbidden:
      return "Forbidden";
    case Reason::kUnauthorized:
      return "Unauthorized";
    case Reason::kTooManyRequests:
      return "TooManyRequests";
    case Reason::kServerTimeout:
      return "ServerTimeout";
    case Reason::kServiceUnavailable:
      return "ServiceUnavailable";
    case Reason::kMethodNotAllowed:
      return "MethodNotAllowed";
    case Reason::kUnsupportedMediaType:
      return "UnsupportedMediaType";
    case Reason::kInternalError:
      return "InternalError";
    case Reason::kTransport:
      return "Transport";
    case Reason::kDecode:
      return "Decode";
    case Reason::kTooLarge:
      return "TooLarge";
    case Reason::kCancelled:
      return "Cancelled";
    case Reason::kConfig:
      return "Config";
    case Reason::kNotSynced:
      return "NotSynced";
    case Reason::kUnknown:
      break;
  }
  return "Unknown";
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
