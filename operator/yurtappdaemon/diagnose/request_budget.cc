#include "operator/yurtappdaemon/diagnose/request_budget.h"

#include <algorithm>
#include <cmath>

namespace yad {
namespace {

constexpr double kRequestsPerSecond = 5;
constexpr double kRequestsAtOnce = 10;

}  // namespace

RequestBudget::RequestBudget(Clock& clock) : clock_(clock), bucket_(Bucket{kRequestsAtOnce, clock.Now()}) {}

SteadyTime RequestBudget::Take(int requests) {
  const SteadyTime now = clock_.Now();
  return bucket_.With([&](Bucket& bucket) {
    const double seconds = std::chrono::duration<double>(now - bucket.filled_at).count();
    bucket.tokens = std::min(kRequestsAtOnce, bucket.tokens + seconds * kRequestsPerSecond) - requests;
    bucket.filled_at = now;
    if (bucket.tokens >= 0) return now;
    return now + Duration(static_cast<Duration::rep>(std::ceil(-bucket.tokens / kRequestsPerSecond * 1e9)));
  });
}

}  // namespace yad
