#include "operator/notify/outbox.h"

#include <algorithm>
#include <utility>

#include "operator/base/log.h"
#include "operator/runtime/stop_timer.h"

namespace yad {
namespace {

constexpr Duration kFlushTime = std::chrono::seconds(2);
constexpr BackoffPolicy kRetries{std::chrono::seconds(1), std::chrono::minutes(1)};

}  // namespace

Outbox::Outbox(OutboxOptions options, Post post, Clock& clock)
    : options_(std::move(options)),
      post_(std::move(post)),
      clock_(clock),
      labels_{{"receiver", options_.receiver}},
      sent_(metrics::GetCounter("notifications_sent_total", "Messages that a receiver has accepted.", labels_)),
      failed_(metrics::GetCounter("notifications_failed_total", "Failed attempts to send a message.", labels_)),
      dropped_(metrics::GetCounter("notifications_dropped_total",
                                   "Messages that were dropped, because too many waited, they were too large or waited "
                                   "too long, or the receiver rejected them.",
                                   labels_)),
      waiting_(metrics::GetGauge("notifications_waiting", "Messages that wait to be sent.", labels_)),
      backoff_(kRetries) {}

void Outbox::Add(std::string message) {
  if (message.size() > options_.max_bytes) {
    dropped_.Increment();
    log::Warn("a notification is too large and was dropped",
              {{"receiver", options_.receiver}, {"bytes", message.size()}, {"max_bytes", options_.max_bytes}});
    return;
  }
  std::lock_guard lock(mutex_);
  bytes_ += message.size();
  messages_.push_back({std::move(message), clock_.Now(), ++last_number_});
  waiting_.Increment();
  for (; bytes_ > options_.max_bytes; ++dropped_unlogged_) DropOldest();
  added_.notify_all();
}

void Outbox::RemoveOldest() {
  bytes_ -= messages_.front().text.size();
  messages_.pop_front();
  waiting_.Decrement();
}

void Outbox::DropOldest() {
  RemoveOldest();
  dropped_.Increment();
}

void Outbox::DropExpired() {
  for (; !messages_.empty() && clock_.Now() - messages_.front().added > options_.max_age; ++dropped_unlogged_)
    DropOldest();
}

void Outbox::LogDropped(std::unique_lock<std::mutex>& lock) {
  const std::uint64_t count = std::exchange(dropped_unlogged_, 0);
  if (count == 0) return;
  lock.unlock();
  log::Warn("notifications were dropped", {{"receiver", options_.receiver}, {"count", count}});
  lock.lock();
}

// Logs the start and the end of an outage, and each rejected message.
void Outbox::Report(const Status& sent) {
  if (sent) {
    sent_.Increment();
    if (std::exchange(failing_, false)) log::Info("notifications can be sent again", {{"receiver", options_.receiver}});
    return;
  }
  failed_.Increment();
  if (sent.error().reason == Reason::kInvalid) {
    log::Warn("a notification was rejected", {{"receiver", options_.receiver}, {"error", sent.error()}});
  } else if (!std::exchange(failing_, true)) {
    log::Warn("notifications cannot be sent", {{"receiver", options_.receiver}, {"error", sent.error()}});
  }
}

Duration Outbox::SendFirst(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
  const std::string text = messages_.front().text;
  const std::uint64_t number = messages_.front().number;
  lock.unlock();
  const Status sent = post_(text, stop);
  if (sent || !stop.stop_requested()) Report(sent);
  lock.lock();
  const bool rejected = !sent && sent.error().reason == Reason::kInvalid;
  // Add may have dropped the message while the lock was released.
  const bool waits = !messages_.empty() && messages_.front().number == number;
  if (waits && rejected) {
    DropOldest();
  } else if (waits && sent) {
    RemoveOldest();
  }
  if (sent || rejected) {
    backoff_.Reset();
    return Duration::zero();
  }
  Duration delay = backoff_.Next();
  if (sent.error().retry_after) delay = std::max<Duration>(delay, *sent.error().retry_after);
  return delay;
}

void Outbox::Run(std::stop_token stop) {
  StopTimer timer(clock_);
  const std::stop_token hard_stop = timer.Begin(SteadyTime::max());
  const std::stop_callback flush(stop, [&] { timer.Move(clock_.Now() + kFlushTime); });
  std::unique_lock lock(mutex_);
  SteadyTime next = clock_.Now();
  for (;;) {
    clock_.WaitUntil(added_, lock, stop, SteadyTime::max(), [&] { return !messages_.empty(); });
    if (!stop.stop_requested()) clock_.WaitUntil(added_, lock, stop, next, [] { return false; });
    DropExpired();
    LogDropped(lock);
    const bool stopping = stop.stop_requested();
    if (stopping && (messages_.empty() || hard_stop.stop_requested())) break;
    if (messages_.empty()) continue;
    const Duration delay = SendFirst(lock, hard_stop);
    if (stopping && delay > Duration::zero()) break;
    next = clock_.Now() + delay;
  }
  const std::size_t left = messages_.size();
  lock.unlock();
  if (left > 0)
    log::Warn("notifications were not sent before the stop", {{"receiver", options_.receiver}, {"count", left}});
}

}  // namespace yad
