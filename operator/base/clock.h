// Time as a dependency, so that nothing in a unit test sleeps.
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

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual SteadyTime Now() const = 0;    // for intervals
  virtual WallTime WallNow() const = 0;  // for timestamps in objects

  // Waits on `cv` until `ready()`, `deadline`, or `stop`. Returns ready(). `lock` is held on return.
  virtual bool WaitUntil(std::condition_variable_any& cv, std::unique_lock<std::mutex>& lock, std::stop_token stop,
                         SteadyTime deadline, const std::function<bool()>& ready) = 0;

  // Returns false if `stop` came first.
  bool Sleep(Duration duration, std::stop_token stop);

  static Clock& Real();
};

// RFC 3339 with seconds ("2026-11-20T10:30:43Z"), as metav1.Time; microseconds as metav1.MicroTime.
std::string FormatTime(WallTime time);
std::string FormatMicroTime(WallTime time);
// Accepts both, and an offset. Returns the epoch for anything else.
WallTime ParseTime(const std::string& text);

}  // namespace yad

#endif  // OPERATOR_BASE_CLOCK_H_
