// Errors as values. A function that can fail returns a Result<T>. Exceptions stop in the file that owns the throwing
// library.
#ifndef OPERATOR_BASE_ERROR_H_
#define OPERATOR_BASE_ERROR_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace yad {

// The cause of a failure. The first group holds Kubernetes' own reasons (metav1.StatusReason), the second this
// project's.
enum class Reason {
  kNotFound,
  kAlreadyExists,
  kConflict,
  kExpired,  // HTTP 410: a resourceVersion or a continue token is too old.
  kInvalid,
  kBadRequest,
  kForbidden,
  kUnauthorized,
  kTooManyRequests,
  kServerTimeout,
  kServiceUnavailable,
  kMethodNotAllowed,
  kUnsupportedMediaType,
  kInternalError,

  kTransport,  // No answer: connection refused, TLS failure, time-out.
  kDecode,     // The answer could not be parsed.
  kTooLarge,   // The answer exceeds the caller's size limit.
  kCancelled,  // The caller's stop token fired.
  kConfig,     // Flags, kubeconfig or files are wrong; retrying does not help.
  kNotSynced,  // A cache was read before its first successful list.
  kUnknown,
};

// Returns the reason's CamelCase name for logs and metrics ("NotFound").
std::string_view ToString(Reason reason);

// One field that the apiserver or the operator's validation rejects.
struct Cause {
  std::string field;   // "spec.selector.matchLabels"
  std::string reason;  // Kubernetes' CauseType, for instance "FieldValueInvalid".
  std::string message;
};

struct Error {
  Reason reason = Reason::kUnknown;
  std::string message;
  int http_status = 0;                                   // 0 if there was no HTTP answer.
  std::optional<std::chrono::milliseconds> retry_after;  // The delay that the server requests.
  std::vector<Cause> causes;

  // Returns the reason and the message: "NotFound: deployments.apps \"x\" not found".
  std::string ToString() const;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> Fail(Reason reason, std::string message) {
  return tl::unexpected<Error>(Error{reason, std::move(message), 0, std::nullopt, {}});
}
inline tl::unexpected<Error> Fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

// Returns true if the same request, unchanged, may succeed later.
bool IsTransient(const Error& error);

}  // namespace yad

#endif  // OPERATOR_BASE_ERROR_H_
