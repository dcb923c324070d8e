// One response of the server for several concurrent writes.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_SHARED_RESPONSE_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_SHARED_RESPONSE_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "operator/base/clock.h"
#include "operator/base/error.h"

namespace yad {

// The maximum age of a response on which a write relies.
inline constexpr Duration kSharedResponseAge = std::chrono::milliseconds(500);

// Shares one response of the server, or one error, between several callers. Reads again after `uses` callers have
// received the response, or if it is older than kSharedResponseAge. Thread-safe. Get blocks during a read.
template <typename T>
class SharedResponse {
 public:
  SharedResponse(Clock& clock, std::size_t uses, std::function<Result<T>()> read)
      : clock_(clock), uses_(uses), read_(std::move(read)) {}

  Result<T> Get() {
    std::lock_guard lock(mutex_);
    if (!response_ || left_ == 0 || clock_.Now() > arrived_ + kSharedResponseAge) {
      response_ = read_();
      arrived_ = clock_.Now();
      left_ = uses_;
    }
    --left_;
    return *response_;
  }

 private:
  Clock& clock_;
  const std::size_t uses_;
  const std::function<Result<T>()> read_;
  std::mutex mutex_;
  std::optional<Result<T>> response_;
  SteadyTime arrived_{};
  std::size_t left_ = 0;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_SHARED_RESPONSE_H_
