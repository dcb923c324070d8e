// Workers that take keys from a queue and reconcile them, and the wiring from events to keys.
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

// What a reconcile asks for. An Error instead means: again, with the key's backoff (or the server's retry_after if
// later).
struct ReconcileResult {
  enum class Next { kDone, kNow, kAfter, kBackoff };
  Next next = Next::kDone;
  Duration after{0};
  Duration at_least{0};

  static ReconcileResult Done() { return {}; }
  static ReconcileResult RequeueNow() { return {Next::kNow, {}, {}}; }
  static ReconcileResult RequeueAfter(Duration after) { return {Next::kAfter, after, {}}; }
  // Again with the key's backoff, if that is no less than `at_least`, a server's wish; but after `at_most` in any case.
  static ReconcileResult RequeueWithBackoff(Duration at_most = Duration::max(), Duration at_least = Duration{0}) {
    return {Next::kBackoff, at_most, at_least};
  }
};

// Called by N workers, never twice at once for one key. May block; should end soon when `stop` fires.
using ReconcileFunction = std::function<Result<ReconcileResult>(const Request& request, std::stop_token stop)>;

// Whether an event is worth a key at all.
using Predicate = std::function<bool(const Event&)>;
// The keys that an event is about.
using MapFunction = std::function<std::vector<Request>(const Event&)>;

struct ControllerOptions {
  std::string name;  // a metrics label
  int workers = 4;
  RetryPolicy retry;
  // Every primary object is reconciled again in this period even if nothing happened, spread evenly over it. 0: never.
  Duration resync{std::chrono::hours(10)};
  // Events that may wait (Owns) cause one reconcile of a key in this period, and the first of them at once.
  Duration pace{std::chrono::milliseconds(200)};
};

// Set up by one thread; after Start it is thread-safe.
class Controller {
 public:
  // The name of an index that Owns adds to the owned informer's Store: objects by the uid of their controller.
  static constexpr char kControllerUidIndex[] = "controller-uid";
  // Adds that index to a store that no controller owns (yet); once it is there, nothing happens.
  static void AddControllerUidIndex(Store& store);

  Controller(ControllerOptions options, ReconcileFunction reconcile, Clock& clock = Clock::Real());
  ~Controller();

  // The objects that the keys name.
  Controller& For(Informer& primary, Predicate predicate = nullptr);
  // Objects that lead back to their primary by controller ownerReference (kind, and the uid of the object now in the
  // cache under that name: an owner that was replaced by a namesake is not it). Needs For first. Of the events that
  // pass `predicate`, those wait (ControllerOptions::pace) for which `may_wait` is true; without it none waits.
  Controller& Owns(Informer& owned, Predicate predicate = nullptr, Predicate may_wait = nullptr);
  // Objects that are merely read.
  Controller& Watches(Informer& informer, MapFunction map, Predicate predicate = nullptr);
  // Something outside the cluster: `poll` is called every `period`, each call with its own `deadline` (its stop token
  // fires then), and returns the keys for which something changed. A failed poll is logged and backed off, from
  // `period` on; it never stops the others.
  Controller& Polls(std::string name, Duration period, Duration deadline,
                    std::function<Result<std::vector<Request>>(std::stop_token)> poll);

  WorkQueue& queue();
  const std::string& name() const;

  // Starts workers and pollers once all informers have synced; blocks until `stop` and until the reconciles that run
  // then, whose token has fired too, have ended. What is still queued is dropped: the next start finds it again.
  // An exception on one of its threads, but in a reconcile or a poll, ends the others and is thrown.
  void Run(std::stop_token stop);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // Handlers hold it too: an informer may outlive its controllers.
};

}  // namespace yad

#endif  // OPERATOR_RUNTIME_CONTROLLER_H_
