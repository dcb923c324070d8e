// A controller: handlers that map events to keys, a queue of the keys, and workers that reconcile them.
#ifndef OPERATOR_RUNTIME_CONTROLLER_H_
#define OPERATOR_RUNTIME_CONTROLLER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/error.h"
#include "operator/runtime/informer.h"
#include "operator/runtime/work_queue.h"

namespace yad {

// The result of a reconcile. It decides whether and when the key is queued again. After an Error, the controller
// requeues the key with backoff, but not before the server's retry_after.
struct ReconcileResult {
  enum class Next { kDone, kNow, kAfter, kBackoff };
  Next next = Next::kDone;
  Duration after{0};                // kAfter: the delay; kBackoff: the longest delay
  Duration at_least{0};             // kBackoff: the shortest delay
  std::optional<Error> error = {};  // kBackoff: the reconcile has failed

  static ReconcileResult Done() { return {}; }
  static ReconcileResult RequeueNow() { return {Next::kNow, {}, {}}; }
  static ReconcileResult RequeueAfter(Duration after) { return {Next::kAfter, after, {}}; }
  // Requeues the key after its backoff, but not before `at_least` (for example a server's retry_after), and not after
  // `at_most`. If `at_least` is longer than `at_most`, `at_most` applies, because other work is due at that time.
  static ReconcileResult RequeueWithBackoff(Duration at_most = Duration::max(), Duration at_least = Duration{0}) {
    return {Next::kBackoff, at_most, at_least};
  }
  // Counts, logs and requeues as after an Error, but the backoff is at most `at_most`, or the server's retry_after if
  // that is longer. A reconcile returns this result if other work of the key is due after `at_most`.
  static ReconcileResult RequeueAfterError(Error error, Duration at_most) {
    return {Next::kBackoff, at_most, {}, std::move(error)};
  }
};

// Reconciles one key. Several workers call it at the same time, but never for the same key. A call may block, and
// should return soon after `stop` fires. An exception counts as an Error.
using ReconcileFunction = std::function<Result<ReconcileResult>(const Request& request, std::stop_token stop)>;

// Returns whether the controller handles the event. Called on the informer's thread; must not block.
using Predicate = std::function<bool(const Event&)>;
// Returns the keys to queue for an event. Called on the informer's thread; must not block.
using MapFunction = std::function<std::vector<Request>(const Event&)>;

struct ControllerOptions {
  std::string name;  // also the value of the label `controller` in its metrics
  int workers = 4;
  RetryPolicy retry = {};
  // Each primary object is reconciled at least once in this period, even without events. The reconciles are spread over
  // the period. 0: no resync.
  Duration resync{std::chrono::hours(10)};
  // Returns the minimum interval between two additions of a key to the queue. Applies only to events for which the
  // `may_wait` of For, Owns or Watches returns true. The first event adds the key immediately. Called on the informer's
  // thread; must not block.
  std::function<Duration(const Request&)> pace = [](const Request&) { return std::chrono::milliseconds(200); };
};

// Reconciles the objects of one type. For, Owns and Watches must be called on one thread, before Run and before the
// informers run. The other functions are thread-safe.
class Controller {
 public:
  // The name of the index that Owns adds to the Store of the owned type. It maps an owner's uid (from the
  // ownerReference with `controller: true`) to the objects of the owner.
  static constexpr char kControllerUidIndex[] = "controller-uid";
  // Adds the index kControllerUidIndex to a Store for which Owns is not called. Must be called before the first list.
  // Does nothing if the Store already has this index.
  static void AddControllerUidIndex(Store& store);

  Controller(ControllerOptions options, ReconcileFunction reconcile, Clock& clock = Clock::Real());

  // Sets the type of the objects to reconcile. Each event of an object queues its key. `may_wait` returns true for
  // events that are not urgent: ControllerOptions::pace limits how often they queue a key.
  Controller& For(Informer& primary, Predicate predicate = nullptr, Predicate may_wait = nullptr);
  // For each event of `owned`, queues the primary object that controls the object (the ownerReference with `controller:
  // true`). Must be called after For; otherwise, the process terminates. `may_wait` is as in For.
  // - If the event changes the reference, the old and the new owner are queued.
  // - A reference to a deleted and recreated owner (same name, other uid) is ignored.
  Controller& Owns(Informer& owned, Predicate predicate = nullptr, Predicate may_wait = nullptr);
  // Queues the keys that `map` returns for an event of `informer`. `may_wait` is as in For.
  Controller& Watches(Informer& informer, MapFunction map, Predicate predicate = nullptr, Predicate may_wait = nullptr);

  WorkQueue& queue();
  const std::string& name() const;

  // Waits until all informers have synced (except on_demand informers), and then runs the workers until `stop` fires.
  // - Before Run, a controller with a primary type does not queue keys for events. Run queues all its primary objects.
  // - `stop` also stops the running reconciles. Run returns after they have returned.
  // - Keys that are still queued are dropped, because a later run lists all objects again.
  // - An exception outside a reconcile stops all threads and is rethrown.
  void Run(std::stop_token stop);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // handlers share it, because an informer may outlive its controllers
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_CONTROLLER_H_
