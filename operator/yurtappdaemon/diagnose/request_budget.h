// A rate limit for requests that may wait.
#ifndef OPERATOR_YURTAPPDAEMON_DIAGNOSE_REQUEST_BUDGET_H_
#define OPERATOR_YURTAPPDAEMON_DIAGNOSE_REQUEST_BUDGET_H_

#include "operator/base/clock.h"
#include "operator/base/synchronized.h"

namespace yad {

// Limits requests with a token bucket: five per second, in bursts of at most ten. Take does not block. Thread-safe.
class RequestBudget {
 public:
  explicit RequestBudget(Clock& clock);
  // Takes tokens for `requests`, and returns the earliest time at which the caller may send them.
  SteadyTime Take(int requests);

 private:
  struct Bucket {
    double tokens;  // negative: callers have taken tokens in advance
    SteadyTime filled_at;
  };
  Clock& clock_;
  Synchronized<Bucket> bucket_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_DIAGNOSE_REQUEST_BUDGET_H_
