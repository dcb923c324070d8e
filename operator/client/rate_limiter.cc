#include "operator/client/rate_limiter.h"

#include <algorithm>
#include <cmath>

namespace yad {

RateLimiter::RateLimiter(double qps, int burst, Clock& clock)
    : qps_(qps), burst_(std::max(burst, 1)), clock_(clock), tokens_(burst_), filled_at_(clock.Now()) {}

SteadyTime RateLimiter::Take(int tokens) {
  const SteadyTime now = clock_.Now();
  if (qps_ <= 0) return now;
  std::lock_guard lock(mutex_);
  Refill(now);
  tokens_ -= tokens;
  if (tokens_ >= 0) return now;
  return now + Duration(static_cast<Duration::rep>(std::ceil(-tokens_ / qps_ * 1e9)));
}

bool RateLimiter::TryTake() {
  if (qps_ <= 0) return true;
  std::lock_guard lock(mutex_);
  Refill(clock_.Now());
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

void RateLimiter::Refill(SteadyTime now) {
  tokens_ = std::min(burst_, tokens_ + std::chrono::duration<double>(now - filled_at_).count() * qps_);
  filled_at_ = now;
}

bool RateLimiter::Acquire(std::stop_token stop) {
  if (qps_ <= 0) return !stop.stop_requested();
  const Duration wait = Take(1) - clock_.Now();
  const bool ours = wait > Duration{0} ? clock_.Sleep(wait, stop) : !stop.stop_requested();
  if (!ours) {
    std::lock_guard lock(mutex_);
    tokens_ += 1;
  }
  return ours;
}

}  // namespace yad
