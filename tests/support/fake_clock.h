// A clock that a test advances.
#ifndef TESTS_SUPPORT_FAKE_CLOCK_H_
#define TESTS_SUPPORT_FAKE_CLOCK_H_

#include <list>
#include <mutex>
#include <optional>

#include "operator/base/clock.h"

namespace yad {

// A clock whose time changes only when a test changes it. Thread-safe.
// The wall time starts at 2026-01-02T03:04:05Z, and the steady time far from its epoch.
//
// A thread that waits through the clock (WaitUntil, Sleep) wakes up when the fake time reaches its deadline. As with a
// real clock, it also wakes up when it is notified and its condition is true.
class FakeClock : public Clock {
 public:
  FakeClock();

  SteadyTime Now() const override;
  WallTime WallNow() const override;
  bool WaitUntil(std::condition_variable_any& cv, std::unique_lock<std::mutex>& lock, std::stop_token stop,
                 SteadyTime deadline, const std::function<bool()>& ready) override;

  // Advances both times, and wakes threads whose deadline has passed. The caller must not hold a mutex of a waiting
  // thread.
  void Advance(Duration duration);
  // Advances to the nearest deadline of a waiting thread, by at most `limit`. Without a deadline, advances by `limit`.
  // Returns by how much the time has advanced.
  Duration AdvanceToNextDeadline(Duration limit = std::chrono::hours(1));
  // Changes only the wall clock, as a correction of the node's time does.
  void SetWall(WallTime now);

  // Blocks until at least `count` threads wait. Ends the process after a minute.
  // - A test calls it before Advance, so that each thread has computed its deadline from the old time.
  // - Threads without a deadline (SteadyTime::max()) count. Threads whose deadline has passed do not.
  // - A thread that was notified but has not run yet still counts.
  void AwaitWaiters(int count);
  int waiters() const;  // threads that wait now, with a deadline in the future
  // Returns the time until the nearest deadline of a waiting thread; nullopt: no thread has a deadline.
  std::optional<Duration> NextDeadline() const;

 private:
  struct Waiter {
    std::condition_variable_any* cv;
    std::mutex* mutex;
    SteadyTime deadline;
    bool woken = false;  // its deadline has passed, and it was notified
  };
  void WakeDue();
  int WaitersLocked() const;
  std::optional<Duration> NextDeadlineLocked() const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;  // the set of waiters
  SteadyTime now_;
  WallTime wall_;
  std::list<Waiter> waiters_;
};

}  // namespace yad

#endif  // TESTS_SUPPORT_FAKE_CLOCK_H_
