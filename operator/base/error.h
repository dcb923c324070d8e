// Errors as values. Functions that can fail return Result<T>; exceptions stop in the file that owns the throwing
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

// Why something failed. The first group are Kubernetes' own reasons (metav1.StatusReason); the second are ours.
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
  kDecode,     // An answer that cannot be understood.
  kTooLarge,   // An answer that is larger than the caller takes.
  kCancelled,  // We were asked to stop.
  kConfig,     // Flags, kubeconfig or files are wrong; retrying does not help.
  kNotSynced,  // A cache was read before its first successful list.
  kUnknown,
};

// The reason's CamelCase name, as in logs and metrics ("NotFound").
std::string_view ToString(Reason reason);

// One field that an apiserver or our validation complains about.
struct Cause {
  std::string field;   // "spec.selector.matchLabels"
  std::string reason;  // Kubernetes' CauseType, for instance "FieldValueInvalid".
  std::string message;
};

struct Error {
  Reason reason = Reason::kUnknown;
  std::string message;
  int http_status = 0;                                   // 0 where no HTTP answer exists.
  std::optional<std::chrono::milliseconds> retry_after;  // The server's own wish.
  std::vector<Cause> causes;

  // "NotFound: deployments.apps \"x\" not found"
  std::string ToString() const;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> Fail(Reason reason, std::string message) {
  return tl::unexpected<Error>(Error{reason, std::move(message), 0, std::nullopt, {}});
}
inline tl::unexpected<Error> Fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

// Whether the same request may succeed later without anybody changing something in it.
bool IsTransient(const Error& error);

}  // namespace yad

#endif  // OPERATOR_BASE_ERROR_H_
