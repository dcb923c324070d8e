// Logs the failures of an action that is repeated.
#ifndef OPERATOR_BASE_FAILURE_LOG_H_
#define OPERATOR_BASE_FAILURE_LOG_H_

#include <atomic>

#include "operator/base/error.h"
#include "operator/base/log.h"

namespace yad {

// Logs the first of several failures in a row, and the first success after them. Thread-safe.
class FailureLog {
 public:
  // `failed` is the message for the first failure, and `recovered` the message for the first success after failures.
  FailureLog(const char* failed, const char* recovered) : failed_(failed), recovered_(recovered) {}

  template <typename T>
  void Report(const Result<T>& result) {
    if (!result && result.error().reason == Reason::kCancelled) return;
    if (failing_.exchange(!result) == !result) return;
    result ? log::Info(recovered_) : log::Warn(failed_, {{"error", result.error()}});
  }

 private:
  const char* const failed_;
  const char* const recovered_;
  std::atomic<bool> failing_{false};
};

}  // namespace yad

#endif  // OPERATOR_BASE_FAILURE_LOG_H_
