#include "operator/base/backoff.h"

#include <algorithm>

namespace yad {

Backoff::Backoff(BackoffPolicy policy, std::uint64_t seed)
    : policy_(policy), next_(std::min(policy.initial, policy.cap)), random_(seed) {}

Duration Backoff::Next() {
  std::uniform_real_distribution<double> spread(1.0, 1.0 + policy_.jitter);
  const double delay = static_cast<double>(next_.count()) * spread(random_);
  next_ = std::min(2 * next_, policy_.cap);
  return Duration(static_cast<Duration::rep>(delay));
}

void Backoff::Reset() { next_ = std::min(policy_.initial, policy_.cap); }

}  // namespace yad
