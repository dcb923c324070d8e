// Until when a review has to be answered.
#ifndef WEBHOOK_DEADLINE_H_
#define WEBHOOK_DEADLINE_H_

#include <mutex>
#include <optional>
#include <stop_token>

#include "operator/base/clock.h"
#include "operator/runtime/stop_timer.h"

namespace yad {

// Thread-safe. `clock` must outlive it.
class Deadline {
 public:
  // A time limit that leaves less than this counts as passed: a request to the apiserver would hardly be answered in
  // time.
  static constexpr Duration kLeast = std::chrono::milliseconds(200);

  Deadline(Clock& clock, SteadyTime at) : clock_(clock), at_(at - clock.Now() < kLeast ? clock.Now() : at) {}

  // The clock decides, not how soon a thread wakes.
  bool Passed() const { return clock_.Now() >= at_; }
  // Fires at the deadline, for calls that only a stop token can end. From the first on, a thread waits for it: most
  // reviews ask nobody, and need none.
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

#endif  // WEBHOOK_DEADLINE_H_
