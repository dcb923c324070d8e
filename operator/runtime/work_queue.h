// A queue of keys to reconcile, like k8s.io/client-go/util/workqueue. It combines client-go's typed, delaying and
// rate-limiting queues. Two workers never process the same key at the same time.
#ifndef OPERATOR_RUNTIME_WORK_QUEUE_H_
#define OPERATOR_RUNTIME_WORK_QUEUE_H_

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "operator/api/object.h"
#include "operator/base/clock.h"

namespace yad {

using Request = ObjectKey;

struct RetryPolicy {
  Duration initial = std::chrono::milliseconds(5);
  Duration cap = std::chrono::minutes(5);
};

// Thread-safe. Get returns keys in the order in which they were queued.
class WorkQueue {
 public:
  // `name` is the label of the metrics workqueue_*.
  explicit WorkQueue(RetryPolicy retry = {}, Clock& clock = Clock::Real(), const std::string& name = "");
  ~WorkQueue();

  // Queues the key now. If a worker is processing the key, it is queued when Done is called.
  void Add(const Request& request);
  // Queues the key after `delay`, or now if `delay` <= 0. If the key already waits, the earlier time applies.
  void AddAfter(const Request& request, Duration delay);
  // Queues the key at most once per `period`, for bursts of events. Other functions may queue it more often.
  // - The first call queues the key now.
  // - Calls within `period` after the first call queue the key once, at the end of the period.
  // - A longer `period` takes effect after the current period. A shorter `period` takes effect immediately: the key is
  //   queued after the new `period` at the latest.
  void AddPaced(const Request& request, Duration period);
  // Queues the key after its exponential backoff (initial, 2 x initial, 4 x initial ... up to the cap), or after
  // `at_least` if that is longer.
  // - `at_most` limits the backoff, which then also stops growing. A later call without this limit continues from that
  //   backoff.
  // - The backoff does not grow if the key already waits for an earlier time. So many events in a short outage do not
  //   increase the backoff to minutes.
  void AddRateLimited(const Request& request, Duration at_least = Duration{0}, Duration at_most = Duration::max());
  // Resets the key's backoff after a success.
  void Forget(const Request& request);
  int Failures(const Request& request) const;

  // Waits for a key and returns it. The caller must call Done after it has processed the key. Returns nullopt if `stop`
  // fires, or if the queue was shut down and is empty.
  std::optional<Request> Get(std::stop_token stop);
  void Done(const Request& request);

  // Drops all delayed keys, and ignores keys that are added later. Get still returns the keys that are queued.
  void ShutDown();
  std::size_t size() const;  // number of queued keys, without those being processed

 private:
  struct Metrics;
  // The caller of these functions must hold mutex_.
  void PromoteDue(SteadyTime now);
  void AddNow(const Request& request, SteadyTime now);
  void Enqueue(const Request& request, SteadyTime now);
  // Queues the key at the time `due`. Returns false if the key is already waiting for an earlier time, or if the queue
  // was shut down.
  bool AddLater(const Request& request, SteadyTime due);
  void PrunePaced(SteadyTime now);

  Clock& clock_;
  const RetryPolicy retry_;
  const std::unique_ptr<Metrics> metrics_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<std::pair<Request, SteadyTime>> queue_;    // each key, with the time at which it was queued
  std::unordered_set<Request> dirty_;                   // keys in queue_, and keys that Done will queue
  std::unordered_map<Request, SteadyTime> processing_;  // with the time at which Get returned the key
  std::unordered_map<Request, SteadyTime> due_by_key_;
  std::set<std::pair<SteadyTime, Request>> due_;
  std::unordered_map<Request, int> failures_;
  std::unordered_map<Request, SteadyTime> paced_until_;  // end of the current period of AddPaced
  std::size_t prune_paced_at_ = 0;                       // paced_until_ is pruned when it has this size
  bool shut_down_ = false;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_WORK_QUEUE_H_
