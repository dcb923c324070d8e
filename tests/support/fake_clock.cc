#include "tests/support/fake_clock.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace yad {
namespace {

// A correct test never waits this long.
constexpr std::chrono::seconds kSafetyLimit{60};

}  // namespace

FakeClock::FakeClock()
    : now_(SteadyTime(std::chrono::hours(1000))), wall_(std::chrono::sys_days(std::chrono::year(2026) / 1 / 2)) {
  wall_ += std::chrono::hours(3) + std::chrono::minutes(4) + std::chrono::seconds(5);
}

SteadyTime FakeClock::Now() const {
  std::lock_guard lock(mutex_);
  return now_;
}

WallTime FakeClock::WallNow() const {
  std::lock_guard lock(mutex_);
  return wall_;
}

bool FakeClock::WaitUntil(std::condition_variable_any& cv, std::unique_lock<std::mutex>& lock, std::stop_token stop,
                          SteadyTime deadline, const std::function<bool()>& ready) {
  std::list<Waiter>::iterator self;
  {
    std::lock_guard own(mutex_);
    self = waiters_.insert(waiters_.end(), Waiter{&cv, lock.mutex(), deadline});
    changed_.notify_all();
  }
  cv.wait(lock, stop, [&] { return ready() || Now() >= deadline; });
  {
    std::lock_guard own(mutex_);
    waiters_.erase(self);
    changed_.notify_all();
  }
  return ready();
}

void FakeClock::Advance(Duration duration) {
  {
    std::lock_guard lock(mutex_);
    now_ += duration;
    wall_ += std::chrono::duration_cast<WallTime::duration>(duration);
  }
  WakeDue();
}

Duration FakeClock::AdvanceToNextDeadline(Duration limit) {
  Duration step = std::min(limit, NextDeadline().value_or(limit));
  Advance(step);
  return step;
}

void FakeClock::SetWall(WallTime now) {
  std::lock_guard lock(mutex_);
  wall_ = now;
}

// Notifies each waiter whose deadline has passed. The order of locks matters:
// - It notifies under the waiter's mutex. Otherwise, a waiter between reading the time and sleeping would miss the
//   notification.
// - It only tries to lock that mutex, because a waiter locks in the other order: its own mutex first, then mutex_.
// - It holds mutex_ during the notifications, so no waiter leaves WaitUntil and destroys its condition variable.
void FakeClock::WakeDue() {
  for (;;) {
    bool all_woken = true;
    {
      std::lock_guard lock(mutex_);
      for (Waiter& waiter : waiters_) {
        if (waiter.woken || waiter.deadline > now_) continue;
        if (!waiter.mutex->try_lock()) {
          all_woken = false;
          continue;
        }
        waiter.cv->notify_all();
        waiter.mutex->unlock();
        waiter.woken = true;
      }
    }
    if (all_woken) return;
    std::this_thread::yield();
  }
}

void FakeClock::AwaitWaiters(int count) {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, kSafetyLimit, [&] { return WaitersLocked() >= count; })) return;
  std::fprintf(stderr, "FakeClock: %d threads wait where the test expects %d\n", WaitersLocked(), count);
  std::abort();
}

int FakeClock::waiters() const {
  std::lock_guard lock(mutex_);
  return WaitersLocked();
}

std::optional<Duration> FakeClock::NextDeadline() const {
  std::lock_guard lock(mutex_);
  return NextDeadlineLocked();
}

int FakeClock::WaitersLocked() const {
  return static_cast<int>(
      std::count_if(waiters_.begin(), waiters_.end(), [&](const Waiter& waiter) { return waiter.deadline > now_; }));
}

std::optional<Duration> FakeClock::NextDeadlineLocked() const {
  std::optional<Duration> nearest;
  for (const Waiter& waiter : waiters_) {
    if (waiter.deadline <= now_ || waiter.deadline == SteadyTime::max()) continue;
    Duration left = waiter.deadline - now_;
    if (!nearest || left < *nearest) nearest = left;
  }
  return nearest;
}

}  // namespace yad
