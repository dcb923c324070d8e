#include "operator/client/status_error.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/base/number.h"
#include "operator/json/json_document.h"

namespace yad {
namespace {

// The maximum delay before a retry that a server can request. A load balancer may request a delay of an hour, but the
// apiserver is usually available again within a minute.
constexpr std::int64_t kMaxRetryAfterSeconds = 120;
// Limits in bytes. The apiserver quotes an invalid value in full, and a value may have 1.5 MB.
constexpr std::size_t kMaxText = 32 * 1024;         // for the message of an error
constexpr std::size_t kMaxField = 512;              // for Cause::field and Cause::reason
constexpr std::size_t kMaxCauseMessage = 3 * 1024;  // for Cause::message
constexpr std::size_t kMaxCauseBytes = 64 * 1024;   // for all causes of an error together
constexpr std::size_t kMaxCauses = 100;

struct KnownReason {
  std::string_view name;
  Reason reason;
  int code;  // the HTTP status that means this reason in a response without a name; 0: none
};

// The values of metav1.StatusReason (k8s.io/apimachinery/pkg/apis/meta/v1/types.go).
constexpr std::array kReasons = {
    KnownReason{"NotFound", Reason::kNotFound, 404},
    KnownReason{"AlreadyExists", Reason::kAlreadyExists, 0},
    KnownReason{"Conflict", Reason::kConflict, 409},
    KnownReason{"Expired", Reason::kExpired, 410},
    KnownReason{"Gone", Reason::kExpired, 0},
    KnownReason{"Invalid", Reason::kInvalid, 422},
    KnownReason{"BadRequest", Reason::kBadRequest, 400},
    KnownReason{"RequestEntityTooLarge", Reason::kBadRequest, 413},
    KnownReason{"Forbidden", Reason::kForbidden, 403},
    KnownReason{"Unauthorized", Reason::kUnauthorized, 401},
    KnownReason{"TooManyRequests", Reason::kTooManyRequests, 429},
    KnownReason{"ServerTimeout", Reason::kServerTimeout, 0},
    KnownReason{"Timeout", Reason::kServerTimeout, 504},
    KnownReason{"ServiceUnavailable", Reason::kServiceUnavailable, 503},
    KnownReason{"MethodNotAllowed", Reason::kMethodNotAllowed, 405},
    KnownReason{"UnsupportedMediaType", Reason::kUnsupportedMediaType, 415},
    KnownReason{"InternalError", Reason::kInternalError, 500},
};

Reason ReasonByCode(int code) {
  const auto* found = std::find_if(kReasons.begin(), kReasons.end(), [&](const auto& it) { return it.code == code; });
  return code == 0 || found == kReasons.end() ? Reason::kUnknown : found->reason;
}

std::optional<std::chrono::milliseconds> RetryAfter(std::int64_t seconds) {
  if (seconds <= 0) return std::nullopt;
  return std::chrono::seconds(std::min(seconds, kMaxRetryAfterSeconds));
}

std::vector<Cause> CausesOf(const Json& status) {
  std::vector<Cause> causes;
  std::size_t left = kMaxCauseBytes;
  for (const Json& entry : ListAt(status, {"details", "causes"})) {
    Cause cause{Cut(StringAt(entry, {"field"}), kMaxField), Cut(StringAt(entry, {"reason"}), kMaxField),
                Cut(StringAt(entry, {"message"}), kMaxCauseMessage)};
    const std::size_t size = cause.field.size() + cause.reason.size() + cause.message.size();
    if (size > left || causes.size() >= kMaxCauses) break;
    left -= size;
    causes.push_back(std::move(cause));
  }
  return causes;
}

}  // namespace

Error ErrorFromStatus(const Json& status, int code) {
  Error error;
  const std::int64_t own_code = IntAt(status, {"code"});
  error.http_status = code != 0 ? code : (own_code >= 100 && own_code <= 599 ? static_cast<int>(own_code) : 0);
  error.reason = ReasonByCode(error.http_status);
  const std::string reason = StringAt(status, {"reason"});
  for (const KnownReason& known : kReasons) {
    if (known.name == reason) error.reason = known.reason;
  }
  std::string message = StringAt(status, {"message"});
  // While an apiserver starts, its admission plugins respond with 403 until they have read their objects.
  if (error.reason == Reason::kForbidden && message.ends_with("not yet ready to handle request"))
    error.reason = Reason::kServiceUnavailable;
  if (message.empty()) message = reason.empty() ? "HTTP status " + std::to_string(error.http_status) : reason;
  error.message = Cut(std::move(message), kMaxText);
  error.retry_after = RetryAfter(IntAt(status, {"details", "retryAfterSeconds"}));
  error.causes = CausesOf(status);
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
    error.message = "the server returned HTTP " + std::to_string(response.status) + " to " + request;
    if (!response.body.empty()) error.message += ": " + Excerpt(response.body);
  }
  // The apiserver's flow control sends the header Retry-After. In Kubernetes, its value is always a number of seconds,
  // and never a date.
  const auto header = response.headers.find("retry-after");
  if (!error.retry_after && header != response.headers.end()) {
    error.retry_after = RetryAfter(ParseNumber<std::int64_t>(header->second).value_or(0));
  }
  return error;
}

bool IsDenialOfWebhook(const Error& error) { return error.message.find("denied the request") != std::string::npos; }

bool IsPolicyUnavailable(const Error& error) {
  return error.message.find("failed to configure policy: ") != std::string::npos ||
         error.message.find("failed to configure binding: ") != std::string::npos;
}

}  // namespace yad
