// A clock that a test moves by hand.
#ifndef TESTS_SUPPORT_FAKE_CLOCK_H_
#define TESTS_SUPPORT_FAKE_CLOCK_H_

#include <list>
#include <mutex>
#include <optional>

#include "operator/base/clock.h"

namespace yad {

// Thread-safe. Time stands still but for Advance. Starts at 2026-01-02T03:04:05Z, and far from the steady epoch.
//
// Threads that wait through the clock (WaitUntil, Sleep) are woken as soon as the fake time reaches their deadline, or
// their condition holds and their condition variable was notified, as with a real clock.
class FakeClock : public Clock {
 public:
  FakeClock();

  SteadyTime Now() const override;
  WallTime WallNow() const override;
  bool WaitUntil(std::condition_variable_any& cv, std::unique_lock<std::mutex>& lock, std::stop_token stop,
                 SteadyTime deadline, const std::function<bool()>& ready) override;

  // Moves both times, and wakes whom it concerns. Don't hold a mutex that a waiting thread waits with.
  void Advance(Duration duration);
  // Moves to the nearest deadline of a waiting thread, but not past `limit` from now. Returns how far it went;
  // with no such deadline, it goes the whole `limit`.
  Duration AdvanceToNextDeadline(Duration limit = std::chrono::hours(1));
  // Moves the wall clock alone (a node whose time is corrected).
  void SetWall(WallTime now);

  // Blocks until at least `count` threads wait with a deadline in the future (or without any: SteadyTime::max()). The
  // usual order of a test: AwaitWaiters, then Advance, so that the thread's deadline was computed before the time
  // moves. A thread that was notified and has not run yet still counts.
  // Ends the process when nobody comes within a minute.
  void AwaitWaiters(int count);
  int waiters() const;  // threads that wait now, with a deadline in the future
  // How long until the nearest deadline of a waiting thread; nullopt: nobody waits for a time.
  std::optional<Duration> NextDeadline() const;

 private:
  struct Waiter {
    std::condition_variable_any* cv;
    std::mutex* mutex;
    SteadyTime deadline;
    bool woken = false;  // its deadline has passed, and it was told so
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
