#include "operator/base/retry_pace.h"

#include <algorithm>

namespace yad {
namespace {

constexpr Duration kFirstDelay = std::chrono::seconds(1);
constexpr Duration kLongestDelay = std::chrono::minutes(5);

}  // namespace

Duration RetryPace::Delay(const Entry& entry) const {
  if (entry.in_a_row < at_once_) return Duration::zero();
  const int doublings = std::min(entry.in_a_row - at_once_, 16);
  return std::min(kFirstDelay * (1 << doublings), kLongestDelay);
}

bool RetryPace::IsOver(const Entry& entry, SteadyTime now) const { return now >= entry.last + Delay(entry) + quiet_; }

Duration RetryPace::Wait(const std::string& name, SteadyTime now) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return Duration::zero();
  return std::max<Duration>(found->second.last + Delay(found->second) - now, Duration::zero());
}

bool RetryPace::Tried(const std::string& name, SteadyTime now) {
  if (now >= swept_ + quiet_) {
    std::erase_if(entries_, [&](const auto& entry) { return IsOver(entry.second, now); });
    swept_ = now;
  }
  Entry& entry = entries_[name];
  if (IsOver(entry, now)) entry.in_a_row = 0;
  entry.last = now;
  return ++entry.in_a_row == at_once_;
}

}  // namespace yad
