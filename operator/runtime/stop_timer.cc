#include "operator/runtime/stop_timer.h"

#include <utility>

namespace yad {

StopTimer::StopTimer(Clock& clock) : clock_(clock), thread_([this](std::stop_token stop) { Loop(stop); }) {}

std::stop_token StopTimer::Begin(SteadyTime deadline, std::stop_token parent) {
  parent_.reset();
  std::stop_source source;
  {
    std::lock_guard lock(mutex_);
    source_ = source;
    deadline_ = deadline;
    ++generation_;
    changed_.notify_all();
  }
  parent_.emplace(std::move(parent), [source]() mutable { source.request_stop(); });
  return source.get_token();
}

void StopTimer::Move(SteadyTime deadline) {
  std::lock_guard lock(mutex_);
  deadline_ = deadline;
  ++generation_;
  changed_.notify_all();
}

void StopTimer::End() {
  parent_.reset();
  std::unique_lock lock(mutex_);
  deadline_ = SteadyTime::max();
  ++generation_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return seen_ == generation_; });
}

void StopTimer::Loop(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const std::uint64_t generation = generation_;
    seen_ = generation;
    changed_.notify_all();
    const bool changed = clock_.WaitUntil(changed_, lock, stop, deadline_, [&] { return generation_ != generation; });
    if (changed || stop.stop_requested()) continue;
    std::stop_source due = source_;
    deadline_ = SteadyTime::max();
    lock.unlock();
    due.request_stop();  // runs callbacks, which must not run while the mutex is locked
    lock.lock();
  }
}

}  // namespace yad
