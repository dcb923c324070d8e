#include "operator/client/rate_limiter.h"

#include <algorithm>
#include <cmath>

namespace yad {

RateLimiter::RateLimiter(double qps, int burst, Clock& clock)
    : qps_(qps), burst_(std::max(burst, 1)), clock_(clock), tokens_(burst_), filled_at_(clock.Now()) {}

SteadyTime RateLimiter::Take(int tokens) {
  if (qps_ <= 0) return clock_.Now();
  std::lock_guard lock(mutex_);
  const SteadyTime now = clock_.Now();
  tokens_ = std::min(burst_, tokens_ + std::chrono::duration<double>(now - filled_at_).count() * qps_) - tokens;
  filled_at_ = now;
  if (tokens_ >= 0) return now;
  return now + Duration(static_cast<Duration::rep>(std::ceil(-tokens_ / qps_ * 1e9)));
}

bool RateLimiter::TryTake() {
  if (Take(1) <= clock_.Now()) return true;
  std::lock_guard lock(mutex_);
  tokens_ += 1;
  return false;
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
