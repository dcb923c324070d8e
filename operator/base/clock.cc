#include "operator/base/clock.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "operator/base/number.h"

namespace yad {
namespace {

class RealClock : public Clock {
 public:
  SteadyTime Now() const override { return std::chrono::steady_clock::now(); }
  WallTime WallNow() const override { return std::chrono::system_clock::now(); }

  bool WaitUntil(std::condition_variable_any& cv, std::unique_lock<std::mutex>& lock, std::stop_token stop,
                 SteadyTime deadline, const std::function<bool()>& ready) override {
    // SteadyTime::max() means no deadline. It must not reach wait_until, which would convert it to another clock and
    // overflow.
    if (deadline == SteadyTime::max()) return cv.wait(lock, stop, ready);
    return cv.wait_until(lock, stop, deadline, ready);
  }
};

// Returns true if `text` equals `shape`, in which each '0' stands for any digit.
bool HasShape(std::string_view text, std::string_view shape) {
  return std::equal(text.begin(), text.end(), shape.begin(), shape.end(),
                    [](char c, char s) { return s == '0' ? c >= '0' && c <= '9' : c == s; });
}

int NumberOf(std::string_view digits) { return ParseNumber<int>(digits).value_or(0); }

}  // namespace

bool Clock::Sleep(Duration duration, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any cv;
  std::unique_lock lock(mutex);
  const SteadyTime now = Now();
  const SteadyTime deadline = duration < SteadyTime::max() - now ? now + duration : SteadyTime::max();
  WaitUntil(cv, lock, stop, deadline, [] { return false; });
  return !stop.stop_requested();
}

Clock& Clock::Real() {
  static RealClock* clock = new RealClock;  // never destroyed, because threads may outlive main
  return *clock;
}

std::string FormatTime(WallTime time) {
  std::string text = FormatMicroTime(time);
  return text.erase(text.size() - 8, 7);
}

std::string FormatMicroTime(WallTime time) {
  using namespace std::chrono;
  const auto rounded = floor<microseconds>(time);
  const auto day = floor<days>(rounded);
  const year_month_day date(day);
  const hh_mm_ss clock(rounded - day);
  char text[128];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return text;
}

WallTime ParseTime(const std::string& text) {
  using namespace std::chrono;
  constexpr std::string_view kShape = "0000-00-00T00:00:00";
  const WallTime bad{};
  const std::string_view fields = std::string_view(text).substr(0, kShape.size());
  if (!HasShape(fields, kShape)) return bad;
  const year_month_day date{year(NumberOf(fields.substr(0, 4))),
                            month(static_cast<unsigned>(NumberOf(fields.substr(5, 2)))),
                            day(static_cast<unsigned>(NumberOf(fields.substr(8, 2))))};
  const int hour = NumberOf(fields.substr(11, 2));
  const int minute = NumberOf(fields.substr(14, 2));
  const int second = NumberOf(fields.substr(17, 2));
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return bad;
  std::string_view rest = std::string_view(text).substr(kShape.size());

  nanoseconds fraction{0};
  if (rest.starts_with('.')) {
    const std::size_t end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    if (end == 1) return bad;
    nanoseconds unit{100'000'000};
    for (std::size_t i = 1; i < end; ++i, unit /= 10) fraction += unit * (rest[i] - '0');
    rest.remove_prefix(end);
  }

  seconds offset{0};
  if (rest != "Z") {
    if (!HasShape(rest, "+00:00") && !HasShape(rest, "-00:00")) return bad;
    const int offset_hours = NumberOf(rest.substr(1, 2));
    const int offset_minutes = NumberOf(rest.substr(4, 2));
    if (offset_hours > 23 || offset_minutes > 59) return bad;
    offset = hours(offset_hours) + minutes(offset_minutes);
    if (rest[0] == '-') offset = -offset;
  }

  const sys_seconds whole = sys_days(date) + hours(hour) + minutes(minute) + seconds(second) - offset;
  // WallTime (64-bit nanoseconds) ends in 2262. These limits leave room for sums and differences of times.
  if (whole < sys_days(year(1950) / 1 / 1) || whole >= sys_days(year(2200) / 1 / 1)) return bad;
  return WallTime(whole) + fraction;
}

}  // namespace yad
