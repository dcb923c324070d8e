// Workers that take keys from a queue and reconcile them, and the mapping from events to keys.
#ifndef OPERATOR_RUNTIME_CONTROLLER_H_
#define OPERATOR_RUNTIME_CONTROLLER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "operator/base/error.h"
#include "operator/runtime/informer.h"
#include "operator/runtime/work_queue.h"

namespace yad {

// The result of a reconcile: when to requeue the key. After an Error, the key is requeued after its backoff, or the
// server's retry_after if that is longer.
struct ReconcileResult {
  enum class Next { kDone, kNow, kAfter, kBackoff };
  Next next = Next::kDone;
  Duration after{0};     // kAfter: the delay; kBackoff: the longest delay
  Duration at_least{0};  // kBackoff: the shortest delay

  static ReconcileResult Done() { return {}; }
  static ReconcileResult RequeueNow() { return {Next::kNow, {}, {}}; }
  static ReconcileResult RequeueAfter(Duration after) { return {Next::kAfter, after, {}}; }
  // Requeues after the key's backoff, but not before `at_least` (a server's retry_after) and not after `at_most`.
  static ReconcileResult RequeueWithBackoff(Duration at_most = Duration::max(), Duration at_least = Duration{0}) {
    return {Next::kBackoff, at_most, at_least};
  }
};

// Reconciles one key. Several workers may call it at the same time, but never for the same key. A call may block, and
// should return soon after `stop` fires. An exception counts as an Error.
using ReconcileFunction = std::function<Result<ReconcileResult>(const Request& request, std::stop_token stop)>;

// Returns whether an event may queue keys. Called on the informer's thread; must not block.
using Predicate = std::function<bool(const Event&)>;
// Returns the keys that an event queues. Called on the informer's thread; must not block.
using MapFunction = std::function<std::vector<Request>(const Event&)>;

struct ControllerOptions {
  std::string name;  // also the label of its metrics
  int workers = 4;
  RetryPolicy retry;
  // Each primary object is reconciled once in this period even without events. The reconciles are spread over the
  // period. 0: never.
  Duration resync{std::chrono::hours(10)};
  // Events that may wait (see For) queue a key at most once in the period that this function returns for the key. The
  // first such event of a period queues the key immediately. Called on the informer's thread; must not block.
  std::function<Duration(const Request&)> pace = [](const Request&) { return std::chrono::milliseconds(200); };
};

// Must be set up (For, Owns, Watches) on one thread, before Run and before the informers run. All other functions are
// thread-safe.
class Controller {
 public:
  // The name of the index that Owns adds to the informer's Store: objects by the uid of their controller.
  static constexpr char kControllerUidIndex[] = "controller-uid";
  // Adds this index to a Store without Owns, before the first list. Does nothing if the Store has it already.
  static void AddControllerUidIndex(Store& store);

  Controller(ControllerOptions options, ReconcileFunction reconcile, Clock& clock = Clock::Real());
  ~Controller();

  // Sets the primary type. Keys name objects of this type. An event queues the key of its object. An event for which
  // `may_wait` returns true may wait (ControllerOptions::pace).
  Controller& For(Informer& primary, Predicate predicate = nullptr, Predicate may_wait = nullptr);
  // An event of an owned object queues its owner: the primary object that is the object's controller by its
  // ownerReference (group and kind). If the event changes the controller, both owners are queued. An owner is not
  // queued if the cache has an object with its name and another uid, because the owner was deleted and recreated. Must
  // be called after For; otherwise, the process ends. `may_wait` is as in For.
  Controller& Owns(Informer& owned, Predicate predicate = nullptr, Predicate may_wait = nullptr);
  // An event of another object queues the keys that `map` returns. `may_wait` is as in For.
  Controller& Watches(Informer& informer, MapFunction map, Predicate predicate = nullptr, Predicate may_wait = nullptr);

  WorkQueue& queue();
  const std::string& name() const;

  // Waits until all informers except those on demand have synced, and then starts workers. Blocks until `stop`
  // fires and the running reconciles, whose tokens fire too, have ended. Drops the keys that are still queued, because
  // the next run lists all objects again. An exception on one of the threads, except in a reconcile, ends the other
  // threads and is rethrown.
  void Run(std::stop_token stop);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // handlers share it, because an informer may outlive its controllers
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_CONTROLLER_H_
