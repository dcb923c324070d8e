// The interface of a clock. Unit tests use a fake clock, so they do not sleep.
#ifndef OPERATOR_BASE_CLOCK_H_
#define OPERATOR_BASE_CLOCK_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>

namespace yad {

using SteadyTime = std::chrono::steady_clock::time_point;
using WallTime = std::chrono::system_clock::time_point;
using Duration = std::chrono::nanoseconds;

// Returns the current time, and waits until a time. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual SteadyTime Now() const = 0;    // monotonic time, for measuring intervals
  virtual WallTime WallNow() const = 0;  // wall-clock time, for timestamps in objects

  // Waits on `cv` until `ready()` is true, `deadline` passes or `stop` fires. Returns the result of `ready()`. The
  // caller holds `lock` before and after the call.
  virtual bool WaitUntil(std::condition_variable_any& cv, std::unique_lock<std::mutex>& lock, std::stop_token stop,
                         SteadyTime deadline, const std::function<bool()>& ready) = 0;

  // Blocks for `duration` or until `stop` fires. Returns false if `stop` fired.
  bool Sleep(Duration duration, std::stop_token stop);

  static Clock& Real();
};

// Format a time as in RFC 3339. FormatTime writes whole seconds, like metav1.Time ("2026-11-20T10:30:43Z").
// FormatMicroTime writes microseconds, like metav1.MicroTime.
std::string FormatTime(WallTime time);
std::string FormatMicroTime(WallTime time);
// Parses the format of FormatTime or FormatMicroTime, with "Z" or a numeric offset. Returns the epoch (1970) for any
// other string.
WallTime ParseTime(const std::string& text);

}  // namespace yad

#endif  // OPERATOR_BASE_CLOCK_H_
