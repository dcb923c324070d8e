#include "operator/runtime/controller.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

#include "operator/base/catch_exceptions.h"
#include "operator/base/log.h"
#include "operator/base/metrics.h"
#include "operator/base/synchronized.h"

namespace yad {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kSyncLogPeriod = seconds(10);
// A resync period is divided into kResyncSteps steps. A step lasts at least kMinResyncStep and at most kMaxResyncStep.
constexpr int kResyncSteps = 256;
constexpr Duration kMinResyncStep = milliseconds(100);
constexpr Duration kMaxResyncStep = std::chrono::minutes(1);
constexpr Duration kConflictBackoffCap = std::chrono::seconds(1);
constexpr std::size_t kMaxOwnerName = 253;  // the maximum length of an object's name

std::string_view GroupOf(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

}  // namespace

struct Controller::Impl {
  struct Metrics {
    explicit Metrics(const std::string& name) : labels{{"controller", name}} {}

    metrics::Counter& Total(const std::string& result) const {
      metrics::Labels with_result = labels;
      with_result["result"] = result;
      return metrics::GetCounter("controller_runtime_reconcile_total", "Reconciles by result.", with_result);
    }

    const metrics::Labels labels;
    metrics::Counter& success = Total("success");
    metrics::Counter& error = Total("error");
    metrics::Counter& requeue = Total("requeue");
    metrics::Counter& requeue_after = Total("requeue_after");
    metrics::Counter& errors =
        metrics::GetCounter("controller_runtime_reconcile_errors_total", "Reconciles that failed.", labels);
    metrics::Histogram& seconds_taken = metrics::GetHistogram(
        "controller_runtime_reconcile_time_seconds", "Seconds that a reconcile took.", labels,
        {0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5,
         1.75,  2.0,  2.5,   3.0,  3.5, 4.0,  4.5, 5,    6,   7,    8,   9,    10,  15,  20,  25,  30,  40,  50,   60});
    metrics::Gauge& active_workers =
        metrics::GetGauge("controller_runtime_active_workers", "Reconciles that run now.", labels);
    metrics::Gauge& max_concurrent =
        metrics::GetGauge("controller_runtime_max_concurrent_reconciles", "Workers.", labels);
  };

  Impl(ControllerOptions the_options, ReconcileFunction the_reconcile, Clock& the_clock)
      : options(std::move(the_options)),
        reconcile(std::move(the_reconcile)),
        clock(the_clock),
        queue(options.retry, clock, options.name),
        metrics(options.name) {}

  // Adds the key of the primary object that controls `object` to `owners`, if there is one.
  void AddOwner(const ObjectPtr& object, std::vector<Request>& owners) const {
    if (!object) return;
    const OwnerReference* owner = object->meta().controller();
    // The apiserver does not limit the length of the name in an ownerReference.
    if (owner == nullptr || owner->name.size() > kMaxOwnerName) return;
    const ResourceType& type = primary->options().type;
    // Versions are not compared, because an ownerReference may contain an older API version.
    if (owner->kind != type.kind || GroupOf(owner->api_version) != type.group) return;
    const Request request{type.namespaced ? object->meta().key.ns : "", owner->name};
    // Ignores the reference if the cached owner has another uid, because the owner was deleted and created again. But
    // queues an owner that is not in the cache, because the cache may lag. The reconciler handles a missing owner.
    if (Result<ObjectPtr> known = primary->store().Get(request); known && (*known)->meta().uid != owner->uid) return;
    owners.push_back(request);
  }

  // Queues the key of an event. Drops the key if Run was not called and the controller has a primary type:
  // - Before Run, no worker takes keys, so the queue of a replica that does not lead would grow with each new object.
  // - The key is not lost, because Run queues all primary objects. An object that was deleted before Run needs no
  //   reconcile, because the controller has no state of it.
  // - Without a primary type, Run could not find the keys again.
  void Queue(const Request& request, bool may_wait) {
    if (primary != nullptr && !running) return;
    if (may_wait) return queue.AddPaced(request, options.pace(request));
    queue.Add(request);
  }

  void QueueAll() {
    if (primary == nullptr) return;
    const Result<std::vector<ObjectPtr>> objects = primary->store().List();
    if (!objects) return;  // not listed yet; each object gets an event later
    for (const ObjectPtr& object : *objects) queue.Add(object->meta().key);
  }

  bool AwaitSync(const std::stop_token& stop) {
    SteadyTime next_log = clock.Now() + kSyncLogPeriod;
    while (!stop.stop_requested()) {
      std::string missing;
      for (const Informer* informer : informers) {
        if (!informer->synced() && informer->awaited()) missing += (missing.empty() ? "" : "; ") + informer->Describe();
      }
      if (missing.empty()) return true;
      if (clock.Now() >= next_log) {
        log::Info("waiting for caches", {{"controller", options.name}, {"missing", missing}});
        next_log = clock.Now() + kSyncLogPeriod;
      }
      clock.Sleep(kSyncPoll, stop);
    }
    return false;
  }

  void Work(const std::stop_token& stop) {
    while (std::optional<Request> request = queue.Get(stop)) {
      metrics.active_workers.Increment();
      const SteadyTime start = clock.Now();
      Result<ReconcileResult> result = CatchExceptions([&] { return reconcile(*request, stop); });
      metrics.seconds_taken.Observe(std::chrono::duration<double>(clock.Now() - start).count());
      metrics.active_workers.Decrement();
      HandleResult(*request, result, stop);
      queue.Done(*request);
    }
  }

  // Requeues the key after a failed reconcile. The backoff is at most `at_most`.
  void Retry(const Request& request, const Error& error, Duration at_most, const std::stop_token& stop) {
    if (error.reason == Reason::kCancelled && stop.stop_requested()) return;
    metrics.error.Increment();
    metrics.errors.Increment();
    // A short backoff is enough after a conflict, because the next reconcile reads the newer object.
    if (error.reason == Reason::kConflict) at_most = std::min(at_most, kConflictBackoffCap);
    queue.AddRateLimited(request, error.retry_after.value_or(milliseconds(0)), at_most);
    log::Warn("reconcile failed", {{"controller", options.name},
                                   {"object", request.ToString()},
                                   {"failures", queue.Failures(request)},
                                   {"error", error}});
  }

  // Requeues the key according to the result of its reconcile.
  void HandleResult(const Request& request, const Result<ReconcileResult>& result, const std::stop_token& stop) {
    if (!result) return Retry(request, result.error(), Duration::max(), stop);
    switch (result->next) {
      case ReconcileResult::Next::kDone:
        metrics.success.Increment();
        queue.Forget(request);
        return;
      case ReconcileResult::Next::kNow:
        metrics.requeue.Increment();
        queue.Forget(request);
        queue.Add(request);
        return;
      case ReconcileResult::Next::kAfter:
        metrics.requeue_after.Increment();
        queue.Forget(request);
        queue.AddAfter(request, result->after);
        return;
      case ReconcileResult::Next::kBackoff:
        if (result->error) return Retry(request, *result->error, result->after, stop);
        metrics.requeue.Increment();
        queue.AddRateLimited(request, std::min(result->at_least, result->after), result->after);
        return;
    }
  }

  // Queues each primary object once per period. Each key has its own offset in the period, so that the keys are not all
  // queued at the same time.
  void Resync(const std::stop_token& stop) {
    const Duration period = options.resync;
    const Duration step = std::clamp<Duration>(period / kResyncSteps, kMinResyncStep, kMaxResyncStep);
    const SteadyTime start = clock.Now();
    Duration passed{0};
    while (clock.Sleep(step, stop)) {
      const Duration now = clock.Now() - start;
      Result<std::vector<ObjectPtr>> objects = primary->store().List();
      if (!objects) continue;
      for (const ObjectPtr& object : *objects) {
        const ObjectKey& key = object->meta().key;
        const Duration offset(Fnv1a64(key.ToString()) % static_cast<std::uint64_t>(period.count()));
        // True if one of the key's due times (offset, offset + period, ...) is in (passed, now].
        if ((now + period - offset) / period > (passed + period - offset) / period) queue.Add(key);
      }
      passed = now;
    }
  }

  const ControllerOptions options;
  const ReconcileFunction reconcile;
  Clock& clock;
  WorkQueue queue;
  Metrics metrics;
  std::atomic<bool> running = false;  // Run was called
  Informer* primary = nullptr;
  std::vector<const Informer*> informers;
};

Controller::Controller(ControllerOptions options, ReconcileFunction reconcile, Clock& clock)
    : impl_(std::make_shared<Impl>(std::move(options), std::move(reconcile), clock)) {}

Controller& Controller::For(Informer& primary, Predicate predicate, Predicate may_wait) {
  impl_->primary = &primary;
  return Watches(
      primary, [](const Event& event) { return std::vector<Request>{event.key()}; }, std::move(predicate),
      std::move(may_wait));
}

void Controller::AddControllerUidIndex(Store& store) {
  store.AddIndex(kControllerUidIndex, [](const StoredObject& object) {
    const OwnerReference* owner = object.meta().controller();
    return owner == nullptr ? std::vector<std::string>{} : std::vector<std::string>{owner->uid};
  });
}

Controller& Controller::Owns(Informer& owned, Predicate predicate, Predicate may_wait) {
  if (impl_->primary == nullptr) {
    log::Err("Owns was called before For", {{"controller", name()}, {"resource", owned.options().type.resource}});
    std::abort();
  }
  AddControllerUidIndex(owned.store());
  const auto owners_of = [impl = impl_](const Event& event) {
    std::vector<Request> owners;
    impl->AddOwner(event.before, owners);  // The event may have changed the owner, so both are queued.
    impl->AddOwner(event.after, owners);
    return owners;
  };
  return Watches(owned, owners_of, std::move(predicate), std::move(may_wait));
}

Controller& Controller::Watches(Informer& informer, MapFunction map, Predicate predicate, Predicate may_wait) {
  impl_->informers.push_back(&informer);
  informer.AddHandler([impl = impl_, map = std::move(map), predicate = std::move(predicate),
                       may_wait = std::move(may_wait)](const Event& event) {
    if (predicate && !predicate(event)) return;
    const bool waits = may_wait && may_wait(event);
    for (const Request& request : map(event)) impl->Queue(request, waits);
  });
  return *this;
}

WorkQueue& Controller::queue() { return impl_->queue; }

const std::string& Controller::name() const { return impl_->options.name; }

void Controller::Run(std::stop_token stop) {
  impl_->running = true;  // set before QueueAll, so that events during QueueAll queue their keys
  if (!impl_->AwaitSync(stop)) return;
  impl_->QueueAll();
  log::Info("controller started", {{"controller", name()}, {"workers", impl_->options.workers}});
  impl_->metrics.max_concurrent.Set(impl_->options.workers);
  Synchronized<std::exception_ptr> failure;
  {
    std::stop_source end;
    const std::stop_callback on_stop(stop, [&] { end.request_stop(); });
    std::vector<std::jthread> threads;  // joined at the end of this scope
    const auto start = [&](const std::function<void(std::stop_token)>& body) {
      threads.emplace_back([&failure, &end, body] {
        try {
          body(end.get_token());
        } catch (...) {
          failure.With([](std::exception_ptr& first) { first = std::current_exception(); });
          end.request_stop();
        }
      });
    };
    for (int i = 0; i < impl_->options.workers; ++i) {
      start([this](const std::stop_token& token) { impl_->Work(token); });
    }
    if (impl_->primary != nullptr && impl_->options.resync > Duration{0}) {
      start([this](const std::stop_token& token) { impl_->Resync(token); });
    }
  }
  impl_->queue.ShutDown();
  if (const auto thrown = failure.With([](auto& value) { return value; })) std::rethrow_exception(thrown);
  log::Info("controller stopped", {{"controller", name()}});
}

}  // namespace yad
