// A token bucket: on average at most `qps` requests per second, in bursts of at most `burst`.
#ifndef OPERATOR_CLIENT_RATE_LIMITER_H_
#define OPERATOR_CLIENT_RATE_LIMITER_H_

#include <mutex>
#include <stop_token>

#include "operator/base/clock.h"

namespace yad {

// Limits the rate of requests. Waiting threads are served in the order of their calls. Thread-safe.
class RateLimiter {
 public:
  // qps <= 0 means no limit. A burst below 1 counts as 1.
  RateLimiter(double qps, int burst, Clock& clock);

  // Takes `tokens`, and returns the time at which they are available. Does not block.
  SteadyTime Take(int tokens);
  // Takes a token and blocks until it is available. Returns false, and gives the token back, if `stop` fires first.
  bool Acquire(std::stop_token stop);

 private:
  const double qps_;
  const double burst_;
  Clock& clock_;
  std::mutex mutex_;
  double tokens_;  // Below 0: the number of tokens that callers have taken in advance.
  SteadyTime filled_at_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_RATE_LIMITER_H_
