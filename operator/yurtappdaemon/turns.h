// Paces requests that nothing waits for.
#ifndef OPERATOR_YURTAPPDAEMON_TURNS_H_
#define OPERATOR_YURTAPPDAEMON_TURNS_H_

#include "operator/base/clock.h"
#include "operator/base/guarded.h"

namespace yad {

// Turns for requests, a bucket of tokens: five a second, ten at once. Take does not block. Thread-safe.
class Turns {
 public:
  explicit Turns(Clock& clock);
  // When `requests` may be sent that have been taken now.
  SteadyTime Take(int requests);

 private:
  struct Bucket {
    double tokens;  // below zero: promised
    SteadyTime filled_at;
  };
  Clock& clock_;
  Guarded<Bucket> bucket_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_TURNS_H_
