#include "operator/base/repair_pace.h"

#include <algorithm>

namespace yad {
namespace {

constexpr int kAtOnce = 5;
constexpr Duration kFirstDelay = std::chrono::seconds(1);
constexpr Duration kLongestDelay = std::chrono::minutes(5);
constexpr Duration kQuiet = std::chrono::minutes(1);  // Beyond its delay; then the next repair is a first one.

}  // namespace

Duration RepairPace::Delay(const Entry& entry) {
  if (entry.in_a_row < kAtOnce) return Duration::zero();
  const int doublings = std::min(entry.in_a_row - kAtOnce, 16);
  return std::min(kFirstDelay * (1 << doublings), kLongestDelay);
}

bool RepairPace::IsOver(const Entry& entry, SteadyTime now) { return now >= entry.last + Delay(entry) + kQuiet; }

Duration RepairPace::Wait(const std::string& name, SteadyTime now) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return Duration::zero();
  return std::max<Duration>(found->second.last + Delay(found->second) - now, Duration::zero());
}

bool RepairPace::Repaired(const std::string& name, SteadyTime now) {
  std::erase_if(entries_, [&](const auto& entry) { return IsOver(entry.second, now); });
  Entry& entry = entries_[name];
  entry.last = now;
  return ++entry.in_a_row == kAtOnce;
}

}  // namespace yad
