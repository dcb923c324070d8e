// A stop token that fires at a deadline, for calls that do not accept a deadline.
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

// Begin and End must be called on one thread. Move is thread-safe. An internal thread waits for the deadline.
class StopTimer {
 public:
  explicit StopTimer(Clock& clock);

  // Returns a new token that fires at `deadline`, or when `parent` fires. The token of the previous Begin never fires
  // after this call.
  std::stop_token Begin(SteadyTime deadline, std::stop_token parent = {});
  // Changes the deadline of the current token.
  void Move(SteadyTime deadline);
  // Ends the wait for the deadline. The current token never fires after this call.
  void End();

 private:
  void Loop(std::stop_token stop);

  Clock& clock_;
  std::optional<std::stop_callback<std::function<void()>>> parent_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::stop_source source_;
  SteadyTime deadline_ = SteadyTime::max();
  std::uint64_t generation_ = 0;  // increases with each change of deadline_
  std::uint64_t seen_ = 0;        // the generation that the thread waits for
  std::jthread thread_;           // must be last, because it uses all members above
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_STOP_TIMER_H_
