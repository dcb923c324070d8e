// A rate limit for requests that do not block anything.
#ifndef OPERATOR_YURTAPPDAEMON_DIAGNOSE_REQUEST_BUDGET_H_
#define OPERATOR_YURTAPPDAEMON_DIAGNOSE_REQUEST_BUDGET_H_

#include "operator/base/clock.h"
#include "operator/base/synchronized.h"

namespace yad {

// Limits requests with a token bucket: five per second, and ten in a burst. Take does not block. Thread-safe.
class RequestBudget {
 public:
  explicit RequestBudget(Clock& clock);
  // Takes tokens for `requests`, and returns the time at which they may be sent.
  SteadyTime Take(int requests);

 private:
  struct Bucket {
    double tokens;  // negative: tokens that are promised already
    SteadyTime filled_at;
  };
  Clock& clock_;
  Synchronized<Bucket> bucket_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_DIAGNOSE_REQUEST_BUDGET_H_
