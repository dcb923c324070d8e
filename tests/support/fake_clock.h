// A clock that a test advances.
#ifndef TESTS_SUPPORT_FAKE_CLOCK_H_
#define TESTS_SUPPORT_FAKE_CLOCK_H_

#include <list>
#include <mutex>
#include <optional>

#include "operator/base/clock.h"

namespace yad {

// A clock that stands still until a test changes it. Thread-safe. Its wall time starts at 2026-01-02T03:04:05Z, and its
// steady time far from the epoch.
//
// WaitUntil and Sleep end when the fake time reaches their deadline. As with a real clock, WaitUntil also ends when it
// is notified and its condition is true.
class FakeClock : public Clock {
 public:
  FakeClock();

  SteadyTime Now() const override;
  WallTime WallNow() const override;
  bool WaitUntil(std::condition_variable_any& cv, std::unique_lock<std::mutex>& lock, std::stop_token stop,
                 SteadyTime deadline, const std::function<bool()>& ready) override;

  // Advances both times, and wakes the threads whose deadline has passed. The caller must not hold a waiting thread's
  // mutex.
  void Advance(Duration duration);
  // Advances to the nearest deadline of a waiting thread, but at most by `limit`. Returns the advance.
  Duration AdvanceToNextDeadline(Duration limit = std::chrono::hours(1));
  // Changes only the wall time, as a correction of the node's clock does.
  void SetWall(WallTime now);

  // Blocks until at least `count` threads wait. Call it before Advance, so that all threads have computed their
  // deadlines. Terminates the process after a minute.
  // - Counted: threads without a deadline (SteadyTime::max()), and notified threads that have not run yet.
  // - Not counted: threads whose deadline has passed.
  void AwaitWaiters(int count);
  int waiters() const;  // counted as in AwaitWaiters
  // Returns the time until the nearest deadline of a waiting thread; nullopt: no thread has a deadline.
  std::optional<Duration> NextDeadline() const;

 private:
  struct Waiter {
    std::condition_variable_any* cv;
    std::mutex* mutex;
    SteadyTime deadline;
    bool woken = false;  // notified after its deadline
  };
  void WakeDue();
  int WaitersLocked() const;
  std::optional<Duration> NextDeadlineLocked() const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;  // notified when waiters_ changes
  SteadyTime now_;
  WallTime wall_;
  std::list<Waiter> waiters_;
};

}  // namespace yad

#endif  // TESTS_SUPPORT_FAKE_CLOCK_H_
