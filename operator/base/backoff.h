// Exponential backoff with jitter.
#ifndef OPERATOR_BASE_BACKOFF_H_
#define OPERATOR_BASE_BACKOFF_H_

#include <cstdint>
#include <random>

#include "operator/base/clock.h"

namespace yad {

struct BackoffPolicy {
  Duration initial = std::chrono::milliseconds(800);
  Duration cap = std::chrono::seconds(30);
  double jitter = 0.5;  // each delay is multiplied by a random factor in [1, 1 + jitter]
};

// Computes the delays of one retry loop. Not thread-safe.
class Backoff {
 public:
  explicit Backoff(BackoffPolicy policy = {}, std::uint64_t seed = std::random_device{}());
  Duration Next();  // returns the delay before the next attempt
  void Reset();     // restarts at `initial`; call it after a success

 private:
  BackoffPolicy policy_;
  Duration next_;
  std::mt19937_64 random_;
};

}  // namespace yad

#endif  // OPERATOR_BASE_BACKOFF_H_
