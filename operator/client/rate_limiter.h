// A token bucket: at most `qps` requests a second in the long run, `burst` of them at once.
#ifndef OPERATOR_CLIENT_RATE_LIMITER_H_
#define OPERATOR_CLIENT_RATE_LIMITER_H_

#include <mutex>
#include <stop_token>

#include "operator/base/clock.h"

namespace yad {

// Thread-safe. Waiting threads are served in the order in which they asked.
class RateLimiter {
 public:
  // qps <= 0: no limit. A burst below 1 counts as 1.
  RateLimiter(double qps, int burst, Clock& clock);

  // Waits for a token. False: `stop` came first; the token is given back.
  bool Acquire(std::stop_token stop);

 private:
  const double qps_;
  const double burst_;
  Clock& clock_;
  std::mutex mutex_;
  double tokens_;  // Below zero: that many are promised to waiting threads.
  SteadyTime filled_at_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_RATE_LIMITER_H_
