// A rate limit for requests that do not block anything.
#ifndef OPERATOR_YURTAPPDAEMON_TURNS_H_
#define OPERATOR_YURTAPPDAEMON_TURNS_H_

#include "operator/base/clock.h"
#include "operator/base/guarded.h"

namespace yad {

// Turns for requests, as a token bucket: five per second, and ten at once. Take does not block. Thread-safe.
class Turns {
 public:
  explicit Turns(Clock& clock);
  // Takes tokens for `requests`, and returns the time at which they may be sent.
  SteadyTime Take(int requests);

 private:
  struct Bucket {
    double tokens;  // negative: tokens that are promised already
    SteadyTime filled_at;
  };
  Clock& clock_;
  Guarded<Bucket> bucket_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_TURNS_H_
