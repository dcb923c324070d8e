// A token bucket. It allows `qps` requests per second on average, and bursts of up to `burst` requests.
#ifndef OPERATOR_CLIENT_RATE_LIMITER_H_
#define OPERATOR_CLIENT_RATE_LIMITER_H_

#include <mutex>
#include <stop_token>

#include "operator/base/clock.h"

namespace yad {

// Limits the rate of requests. Threads that wait are served in the order of their calls. Thread-safe.
class RateLimiter {
 public:
  // qps <= 0 means no limit. A burst below 1 counts as 1.
  RateLimiter(double qps, int burst, Clock& clock);

  // Reserves `tokens`. Returns the time from which they may be used. Does not block.
  SteadyTime Take(int tokens);
  // Takes a token if one is available. Otherwise returns false. Does not block.
  bool TryTake();
  // Blocks until a token is available, and takes it. If `stop` fires first, returns false and does not take a token.
  bool Acquire(std::stop_token stop);

 private:
  void Refill(SteadyTime now);  // the caller holds mutex_

  const double qps_;
  const double burst_;
  Clock& clock_;
  std::mutex mutex_;
  double tokens_;  // negative if callers have reserved more tokens than there are
  SteadyTime filled_at_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_RATE_LIMITER_H_
