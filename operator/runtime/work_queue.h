// client-go's work queue: a set of keys to reconcile. Each key is given to one worker at a time. Semantics follow
// k8s.io/client-go/util/workqueue (Typed, delaying and rate-limiting queues in one).
#ifndef OPERATOR_RUNTIME_WORK_QUEUE_H_
#define OPERATOR_RUNTIME_WORK_QUEUE_H_

#include <condition_variable>
#include <deque>
#include <map>
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
  // `name` is the label of the queue's metrics (workqueue_*). Without a name, the queue has no metrics.
  explicit WorkQueue(RetryPolicy retry = {}, Clock& clock = Clock::Real(), const std::string& name = "");
  ~WorkQueue();

  // Queues the key now. A key that is being processed is queued again by Done.
  void Add(const Request& request);
  // Queues the key after `delay`. If the key has two delays, the earlier one counts. A delay <= 0 means Add.
  void AddAfter(const Request& request, Duration delay);
  // Queues the key now if no paced add has queued it within the last `period`; otherwise, at the end of that period. So
  // a burst of events queues the key at most once per period. After a key's period has changed, an add may still wait
  // for the end of a period of the old length. Paced adds neither delay nor replace other adds of the key.
  void AddPaced(const Request& request, Duration period);
  // Queues the key after its own exponential backoff (initial, 2 x initial, 4 x initial ... up to the cap), or after
  // `at_least` if that is longer. There are two limits on the growth of the backoff:
  // - It does not grow above `at_most`, because later failures would have to wait for it too.
  // - It does not grow while an earlier delay of the key is pending. Otherwise, events that queue the key during an
  //   outage would turn seconds of failures into minutes of waiting.
  void AddRateLimited(const Request& request, Duration at_least = Duration{0}, Duration at_most = Duration::max());
  // Resets the key's backoff after a success.
  void Forget(const Request& request);
  int Failures(const Request& request) const;

  // Waits for a key. The caller owns the key until Done. Returns nullopt if the queue was shut down and is empty, or if
  // `stop` fired.
  std::optional<Request> Get(std::stop_token stop);
  void Done(const Request& request);

  // Ignores all later adds, and drops delayed keys. Get still returns the keys that are queued.
  void ShutDown();
  std::size_t size() const;  // keys that are queued, without those being processed

 private:
  struct Metrics;
  // The caller of these holds mutex_.
  void PromoteDue(SteadyTime now);
  void AddNow(const Request& request, SteadyTime now);
  void Enqueue(const Request& request, SteadyTime now);
  // Returns false if an earlier time is pending, or if the queue was shut down.
  bool AddLater(const Request& request, SteadyTime due);
  void PrunePaced(SteadyTime now);

  Clock& clock_;
  const RetryPolicy retry_;
  const std::unique_ptr<Metrics> metrics_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<std::pair<Request, SteadyTime>> queue_;    // each key, and since when it waits
  std::unordered_set<Request> dirty_;                   // keys in queue_, and keys that Done has to queue again
  std::unordered_map<Request, SteadyTime> processing_;  // since when the key is processed
  std::unordered_map<Request, SteadyTime> due_by_key_;
  std::set<std::pair<SteadyTime, Request>> due_;
  std::unordered_map<Request, int> failures_;
  std::unordered_map<Request, SteadyTime> paced_until_;  // the time from which a paced add queues the key immediately
  std::size_t prune_paced_at_ = 0;                       // size of paced_until_ at which it is pruned
  bool shut_down_ = false;
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_WORK_QUEUE_H_
