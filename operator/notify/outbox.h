// A bounded queue of messages for one receiver, and the thread that sends them.
#ifndef OPERATOR_NOTIFY_OUTBOX_H_
#define OPERATOR_NOTIFY_OUTBOX_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>

#include "operator/base/backoff.h"
#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/base/metrics.h"

namespace yad {

struct OutboxOptions {
  std::string receiver;                       // for the log and the metrics: "cloud-events"
  std::size_t max_bytes = 4u << 20;           // limit for all waiting messages; above it, the oldest are dropped
  Duration max_age = std::chrono::hours(24);  // an older message is dropped
};

// Sends messages one by one in the order of Add. Retries a message until the receiver accepts or rejects it, so the
// receiver may receive it more than once. Thread-safe, except that only one thread may call Run.
class Outbox {
 public:
  // Sends one message. Fails as Receiver::Post does.
  using Post = std::function<Status(const std::string& message, std::stop_token)>;

  Outbox(OutboxOptions options, Post post, Clock& clock = Clock::Real());

  // Never blocks on the network. If the waiting messages together exceed max_bytes, drops the oldest messages. If
  // `message` alone exceeds max_bytes, drops only `message`.
  void Add(std::string message);
  // Sends messages until `stop` fires. Then tries for at most 2 s to send the waiting messages.
  void Run(std::stop_token stop);

 private:
  struct Message {
    std::string text;
    SteadyTime added;
    std::uint64_t number = 0;
  };
  // The caller of these three functions holds the lock.
  void RemoveOldest();
  void DropOldest();
  void DropExpired();
  // Releases the lock while it sends the first message. Returns the delay before the next attempt.
  Duration SendFirst(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  void Report(const Status& sent);
  void LogDropped(std::unique_lock<std::mutex>& lock);

  const OutboxOptions options_;
  const Post post_;
  Clock& clock_;
  const metrics::Labels labels_;
  metrics::Counter& sent_;
  metrics::Counter& failed_;
  metrics::Counter& dropped_;
  metrics::Gauge& waiting_;

  std::mutex mutex_;
  std::condition_variable_any added_;
  std::deque<Message> messages_;
  std::size_t bytes_ = 0;
  std::uint64_t last_number_ = 0;
  std::uint64_t dropped_unlogged_ = 0;
  // Only the thread of Run uses these members.
  Backoff backoff_;
  bool failing_ = false;
};

}  // namespace yad

#endif  // OPERATOR_NOTIFY_OUTBOX_H_
