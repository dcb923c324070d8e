#include "operator/base/clock.h"

#include <cstdio>

namespace yad {
namespace {

class RealClock : public Clock {
 public:
  SteadyTime Now() const override { return std::chrono::steady_clock::now(); }
  WallTime WallNow() const override { return std::chrono::system_clock::now(); }

  bool WaitUntil(std::condition_variable_any& cv, std::unique_lock<std::mutex>& lock, std::stop_token stop,
                 SteadyTime deadline, const std::function<bool()>& ready) override {
    // A deadline of "forever" must not be converted to another clock, because the conversion would overflow.
    if (deadline == SteadyTime::max()) return cv.wait(lock, stop, ready);
    return cv.wait_until(lock, stop, deadline, ready);
  }
};

// Reads exactly `digits` digits at `position` and advances `position` past them. Returns -1 if a digit is missing.
int ReadNumber(const std::string& text, std::size_t& position, int digits) {
  int number = 0;
  for (int i = 0; i < digits; ++i, ++position) {
    if (position >= text.size() || text[position] < '0' || text[position] > '9') return -1;
    number = number * 10 + (text[position] - '0');
  }
  return number;
}

bool Skip(const std::string& text, std::size_t& position, char expected) {
  if (position >= text.size() || text[position] != expected) return false;
  ++position;
  return true;
}

std::string Format(WallTime time, int fraction_digits) {
  using namespace std::chrono;
  const auto seconds_part = floor<seconds>(time);
  const auto day = floor<days>(seconds_part);
  const year_month_day date(day);
  const hh_mm_ss clock(seconds_part - day);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  std::string result = text;
  if (fraction_digits > 0) {
    std::snprintf(text, sizeof text, ".%06lld",
                  static_cast<long long>(floor<microseconds>(time - seconds_part).count()));
    result += text;
  }
  return result + "Z";
}

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

std::string FormatTime(WallTime time) { return Format(time, 0); }

std::string FormatMicroTime(WallTime time) { return Format(time, 6); }

WallTime ParseTime(const std::string& text) {
  using namespace std::chrono;
  const WallTime bad{};
  std::size_t at = 0;
  const int year_number = ReadNumber(text, at, 4);
  if (year_number < 0 || !Skip(text, at, '-')) return bad;
  const int month_number = ReadNumber(text, at, 2);
  if (month_number < 0 || !Skip(text, at, '-')) return bad;
  const int day_number = ReadNumber(text, at, 2);
  if (day_number < 0 || !Skip(text, at, 'T')) return bad;
  const int hour = ReadNumber(text, at, 2);
  if (hour < 0 || hour > 23 || !Skip(text, at, ':')) return bad;
  const int minute = ReadNumber(text, at, 2);
  if (minute < 0 || minute > 59 || !Skip(text, at, ':')) return bad;
  const int second = ReadNumber(text, at, 2);
  if (second < 0 || second > 59) return bad;
  const year_month_day date{year(year_number), month(static_cast<unsigned>(month_number)),
                            day(static_cast<unsigned>(day_number))};
  if (!date.ok()) return bad;

  nanoseconds fraction{0};
  if (Skip(text, at, '.')) {
    const std::size_t start = at;
    nanoseconds unit{100'000'000};
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10)
      fraction += unit * (text[at] - '0');
    if (at == start) return bad;
  }

  seconds offset{0};
  if (!Skip(text, at, 'Z')) {
    const bool west = at < text.size() && text[at] == '-';
    if (!west && (at >= text.size() || text[at] != '+')) return bad;
    ++at;
    const int offset_hours = ReadNumber(text, at, 2);
    if (offset_hours < 0 || offset_hours > 23 || !Skip(text, at, ':')) return bad;
    const int offset_minutes = ReadNumber(text, at, 2);
    if (offset_minutes < 0 || offset_minutes > 59) return bad;
    offset = hours(offset_hours) + minutes(offset_minutes);
    if (west) offset = -offset;
  }
  if (at != text.size()) return bad;

  const sys_seconds whole = sys_days(date) + hours(hour) + minutes(minute) + seconds(second) - offset;
  // WallTime counts nanoseconds in 64 bits and ends in 2262. With these limits, the difference of two times, and a sum
  // with one or two years, cannot overflow.
  if (whole < sys_days(year(1950) / 1 / 1) || whole >= sys_days(year(2200) / 1 / 1)) return bad;
  return WallTime(whole) + fraction;
}

}  // namespace yad
