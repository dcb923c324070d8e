#include "operator/client/status_error.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/json/json_codec.h"

namespace yad {
namespace {

// The maximum delay before a retry that a server can request. A load balancer may request an hour, but the apiserver is
// usually available again within a minute.
constexpr std::int64_t kMaxRetryAfterSeconds = 120;
constexpr std::size_t kMaxCauses = 100;

struct KnownReason {
  std::string_view name;
  Reason reason;
};

// The values of metav1.StatusReason (k8s.io/apimachinery/pkg/apis/meta/v1/types.go).
constexpr std::array kReasons = {
    KnownReason{"NotFound", Reason::kNotFound},
    KnownReason{"AlreadyExists", Reason::kAlreadyExists},
    KnownReason{"Conflict", Reason::kConflict},
    KnownReason{"Expired", Reason::kExpired},
    KnownReason{"Gone", Reason::kExpired},
    KnownReason{"Invalid", Reason::kInvalid},
    KnownReason{"BadRequest", Reason::kBadRequest},
    KnownReason{"RequestEntityTooLarge", Reason::kBadRequest},
    KnownReason{"Forbidden", Reason::kForbidden},
    KnownReason{"Unauthorized", Reason::kUnauthorized},
    KnownReason{"TooManyRequests", Reason::kTooManyRequests},
    KnownReason{"ServerTimeout", Reason::kServerTimeout},
    KnownReason{"Timeout", Reason::kServerTimeout},
    KnownReason{"ServiceUnavailable", Reason::kServiceUnavailable},
    KnownReason{"MethodNotAllowed", Reason::kMethodNotAllowed},
    KnownReason{"UnsupportedMediaType", Reason::kUnsupportedMediaType},
    KnownReason{"InternalError", Reason::kInternalError},
};

Reason ReasonByCode(int code) {
  switch (code) {
    case 400:
      return Reason::kBadRequest;
    case 401:
      return Reason::kUnauthorized;
    case 403:
      return Reason::kForbidden;
    case 404:
      return Reason::kNotFound;
    case 405:
      return Reason::kMethodNotAllowed;
    case 409:
      return Reason::kConflict;
    case 410:
      return Reason::kExpired;
    case 413:
      return Reason::kBadRequest;
    case 415:
      return Reason::kUnsupportedMediaType;
    case 422:
      return Reason::kInvalid;
    case 429:
      return Reason::kTooManyRequests;
    case 500:
      return Reason::kInternalError;
    case 503:
      return Reason::kServiceUnavailable;
    case 504:
      return Reason::kServerTimeout;
    default:
      return Reason::kUnknown;
  }
}

std::optional<std::chrono::milliseconds> RetryAfter(std::int64_t seconds) {
  if (seconds <= 0) return std::nullopt;
  return std::chrono::seconds(std::min(seconds, kMaxRetryAfterSeconds));
}

}  // namespace

Error ErrorFromStatus(const Json& status, int code) {
  Error error;
  const std::int64_t said = IntAt(status, {"code"});
  error.http_status = code != 0 ? code : (said >= 100 && said <= 599 ? static_cast<int>(said) : 0);
  error.reason = ReasonByCode(error.http_status);
  const std::string reason = StringAt(status, {"reason"});
  for (const KnownReason& known : kReasons) {
    if (known.name == reason) error.reason = known.reason;
  }
  error.message = StringAt(status, {"message"});
  if (error.message.empty()) {
    error.message = reason.empty() ? "HTTP status " + std::to_string(error.http_status) : reason;
  }
  error.retry_after = RetryAfter(IntAt(status, {"details", "retryAfterSeconds"}));
  if (const Json* causes = Find(status, {"details", "causes"}); causes != nullptr && causes->is_array()) {
    for (const Json& cause : *causes) {
      if (error.causes.size() >= kMaxCauses) break;
      error.causes.push_back({StringAt(cause, {"field"}), StringAt(cause, {"reason"}), StringAt(cause, {"message"})});
    }
  }
  return error;
}

Error ErrorFromResponse(const HttpResponse& response, const std::string& request) {
  Error error;
  const Result<Json> body = ParseJson(response.body);
  if (body && StringAt(*body, {"kind"}) == "Status") {
    error = ErrorFromStatus(*body, response.status);
  } else {
    error.http_status = response.status;
    error.reason = ReasonByCode(response.status);
    error.message = "the server answered HTTP " + std::to_string(response.status) + " to " + request;
    if (!response.body.empty()) error.message += ": " + Excerpt(response.body);
  }
  // The apiserver's flow control sends the header Retry-After. In Kubernetes, its value is always a number of seconds,
  // and never a date.
  const auto header = response.headers.find("retry-after");
  if (!error.retry_after && header != response.headers.end()) {
    std::int64_t seconds = 0;
    const std::string& text = header->second;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (ec == std::errc() && end == text.data() + text.size()) error.retry_after = RetryAfter(seconds);
  }
  return error;
}

bool IsDenialOfWebhook(const Error& error) { return error.message.find("denied the request") != std::string::npos; }

}  // namespace yad
