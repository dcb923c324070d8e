// The time limit of an admission review.
#ifndef WEBHOOK_ADMISSION_DEADLINE_H_
#define WEBHOOK_ADMISSION_DEADLINE_H_

#include <mutex>
#include <optional>
#include <stop_token>

#include "operator/base/clock.h"
#include "operator/runtime/stop_timer.h"

namespace yad {

// The deadline of one review. Thread-safe. `clock` must outlive this object.
class Deadline {
 public:
  // If less time than this remains when the review begins, the deadline counts as passed, because a request to the
  // apiserver would probably take longer.
  static constexpr Duration kLeast = std::chrono::milliseconds(200);

  Deadline(Clock& clock, SteadyTime at) : clock_(clock), at_(at - clock.Now() < kLeast ? clock.Now() : at) {}

  // Reads the clock, because the stop token may fire a little later than the deadline.
  bool Passed() const { return clock_.Now() >= at_; }
  // Returns a token that fires at the deadline. The first call starts a thread that waits for the deadline. Most
  // reviews do not send requests, so they do not need this thread.
  std::stop_token Token() {
    std::call_once(started_, [&] { token_ = timer_.emplace(clock_).Begin(at_); });
    return token_;
  }

 private:
  Clock& clock_;
  const SteadyTime at_;
  std::once_flag started_;
  std::optional<StopTimer> timer_;
  std::stop_token token_;
};

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_DEADLINE_H_
