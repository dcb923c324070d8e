// Errors as return values. A function that can fail returns a Result<T>. Exceptions of a library are caught in the file
// that calls the library.
#ifndef OPERATOR_BASE_ERROR_H_
#define OPERATOR_BASE_ERROR_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace yad {

// The reason of an error. The reasons up to kInternalError are Kubernetes' (metav1.StatusReason). The other reasons are
// this project's.
enum class Reason {
  kNotFound,
  kAlreadyExists,
  kConflict,
  kExpired,  // HTTP 410: a resourceVersion or a continue token is too old
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

  kTransport,  // no response: connection refused, TLS failure, timeout
  kDecode,     // the response could not be parsed
  kTooLarge,   // the response exceeds the caller's size limit
  kCancelled,  // the caller's stop token fired
  kConfig,     // flags, kubeconfig or files are wrong; a retry does not help
  kNotSynced,  // a cache was read before its first successful list
  kUnknown,
};

// Returns the reason's CamelCase name for logs and metrics ("NotFound").
std::string_view ToString(Reason reason);

// An invalid field, as reported by the apiserver or by the operator's validation.
struct Cause {
  std::string field;   // "spec.selector.matchLabels"
  std::string reason;  // Kubernetes' CauseType, such as "FieldValueInvalid"
  std::string message;
};

struct Error {
  Reason reason = Reason::kUnknown;
  std::string message = {};
  int http_status = 0;                                        // 0: there was no HTTP response
  std::optional<std::chrono::milliseconds> retry_after = {};  // the delay that the server requests
  std::vector<Cause> causes = {};

  // Returns the reason and the message, such as "NotFound: deployments.apps \"x\" not found".
  std::string ToString() const;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> Fail(Reason reason, std::string message) {
  return tl::unexpected<Error>(Error{reason, std::move(message)});
}
inline tl::unexpected<Error> Fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

// Returns nullopt if the result is an Error with reason kNotFound.
template <typename T>
Result<std::optional<T>> IfFound(Result<T> result) {
  if (result) return std::optional<T>(std::in_place, *std::move(result));
  if (result.error().reason == Reason::kNotFound) return std::nullopt;
  return Fail(std::move(result).error());
}

// Returns true if the same request may succeed when it is sent again later.
bool IsTransient(const Error& error);

}  // namespace yad

// YAD_TRY moves the value of a Result<T> into the declared variable. If the Result has an error, YAD_TRY returns the
// error from the enclosing function or lambda, which must also return a Result:
//
//   YAD_TRY(const auto pools, store.List());
//   YAD_TRY(entry, Read(key));  // assigns to an existing variable
//
// YAD_TRY_VOID does the same for a Status, and for a Result whose value is not needed. (Boost.Outcome has the same
// macros: TRY and TRYV.)
//
// Limits:
// - YAD_TRY expands to several statements, so it can't be the body of an `if` without braces.
// - The declaration must not contain a comma.
// - YAD_TRY does not compile for a std::optional, because there is no error to return.
#define YAD_TRY(declaration, ...) YAD_TRY_IMPL_(YAD_CONCAT_(yad_result_, __COUNTER__), declaration, __VA_ARGS__)
#define YAD_TRY_VOID(...) YAD_TRY_VOID_IMPL_(YAD_CONCAT_(yad_result_, __COUNTER__), __VA_ARGS__)

// __COUNTER__ makes the variable's name unique. (__LINE__ is the same for all uses inside a macro.)
// If the expression is a reference to a Result, `auto` copies the Result. The move below then leaves the original
// unchanged.
#define YAD_TRY_IMPL_(result, declaration, ...)               \
  auto result = (__VA_ARGS__);                                \
  if (!result) return ::yad::Fail(std::move(result).error()); \
  declaration = *std::move(result)
#define YAD_TRY_VOID_IMPL_(result, ...)                                                      \
  do {                                                                                       \
    if (auto result = (__VA_ARGS__); !result) return ::yad::Fail(std::move(result).error()); \
  } while (false)
#define YAD_CONCAT_(a, b) YAD_CONCAT_IMPL_(a, b)
#define YAD_CONCAT_IMPL_(a, b) a##b

#endif  // OPERATOR_BASE_ERROR_H_
