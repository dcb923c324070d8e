// A stop token that fires at a deadline, for calls that only a stop token can end.
#ifndef OPERATOR_RUNTIME_STOP_TIMER_H_
#define OPERATOR_RUNTIME_STOP_TIMER_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "operator/base/clock.h"

namespace yad {

// One thread calls Begin and End; Move is thread-safe. Has a thread that waits for the deadline.
class StopTimer {
 public:
  explicit StopTimer(Clock& clock);
  ~StopTimer();
  StopTimer(const StopTimer&) = delete;
  StopTimer& operator=(const StopTimer&) = delete;

  // A new token that fires at `deadline`, or with `parent`. The token before is left alone from now on.
  std::stop_token Begin(SteadyTime deadline, std::stop_token parent = {});
  // Another deadline for the token of the last Begin.
  void Move(SteadyTime deadline);
  // The token of the last Begin is left alone: it won't fire any more, and nothing waits for its deadline.
  void End();

 private:
  void Loop(std::stop_token stop);

  Clock& clock_;
  std::optional<std::stop_callback<std::function<void()>>> parent_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::stop_source source_;
  SteadyTime deadline_ = SteadyTime::max();
  std::uint64_t generation_ = 0;  // of deadline_
  std::uint64_t seen_ = 0;        // the one that the thread waits for
  std::jthread thread_;           // last: it uses all of the above
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_STOP_TIMER_H_
