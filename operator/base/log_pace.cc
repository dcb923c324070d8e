#include "operator/base/log_pace.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace yad {
namespace {

constexpr Duration kRepeatAfter = std::chrono::hours(1);
constexpr Duration kMinute = std::chrono::minutes(1);
constexpr int kMostInMinute = 10;
constexpr std::size_t kMaxRemembered = 256;

}  // namespace

std::optional<std::size_t> LogPace::Admit(std::string_view text, SteadyTime now) {
  const std::size_t hash = std::hash<std::string_view>{}(text);
  const auto before = logged_.find(hash);
  if (before != logged_.end() && now < before->second + kRepeatAfter) return std::nullopt;
  if (now >= minute_ + kMinute) {
    minute_ = now;
    in_minute_ = 0;
  }
  if (in_minute_ == kMostInMinute) {
    ++omitted_;
    return std::nullopt;
  }
  ++in_minute_;
  if (before == logged_.end() && logged_.size() == kMaxRemembered) {
    logged_.erase(std::min_element(logged_.begin(), logged_.end(),
                                   [](const auto& a, const auto& b) { return a.second < b.second; }));
  }
  logged_.insert_or_assign(hash, now);
  return std::exchange(omitted_, 0);
}

}  // namespace yad
