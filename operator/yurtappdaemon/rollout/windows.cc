#include "operator/yurtappdaemon/rollout/windows.h"

#include "operator/base/time_zone.h"

namespace yad {
namespace {

// The window that is open now, or that opens next, begins at most this number of days before or after today:
// - Back: a window lasts up to one day. The second day is for time zones that skip a day at the date line.
// - Ahead: a weekly window opens within one week. The second week is for time zones that skip the day of the window.
constexpr int kDaysBack = 2;
constexpr int kDaysAhead = 15;

unsigned DayOfWeek(std::chrono::days date) {
  const auto since_thursday = date.count() % 7;  // 1970-01-01 was a Thursday.
  return static_cast<unsigned>((since_thursday + 7 + 4) % 7);
}

}  // namespace

WindowState WindowsAt(const std::vector<UpdateWindow>& windows, const std::string& time_zone, WallTime now) {
  if (windows.empty()) return {};
  WindowState state;
  state.open = false;
  for (const UpdateWindow& window : windows) {
    const std::string& own = window.time_zone.empty() ? time_zone : window.time_zone;
    const std::string name = own.empty() ? "UTC" : own;
    const auto zone = TimeZone::Find(name);
    if (!zone) {
      state.fault = "time zone " + name + ": " + zone.error().message;
      continue;
    }
    const std::chrono::days today = zone->DateOf(now);
    for (int offset = -kDaysBack; offset <= kDaysAhead; ++offset) {
      const std::chrono::days date = today + std::chrono::days(offset);
      if ((window.days >> DayOfWeek(date) & 1U) == 0) continue;
      const WallTime begin = zone->InstantOf(date, window.start);
      if (begin <= now && now < begin + window.duration) {
        WindowState open;
        open.closes = begin + window.duration;
        return open;
      }
      if (begin <= now) continue;
      if (!state.opens || begin < *state.opens) {
        state.opens = begin;
        state.opens_locally = zone->Show(begin) + " " + name;
      }
      break;
    }
  }
  return state;
}

}  // namespace yad
