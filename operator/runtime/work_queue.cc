#include "operator/runtime/work_queue.h"

#include <algorithm>

#include "operator/base/metrics.h"

namespace yad {
namespace {

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// Returns initial x 2^exponent, but at most the cap.
Duration Exponential(const RetryPolicy& policy, int exponent) {
  Duration delay = policy.initial;
  for (int i = 0; i < exponent && delay < policy.cap; ++i) delay = delay > policy.cap / 2 ? policy.cap : delay * 2;
  return std::min(delay, policy.cap);
}

}  // namespace

struct WorkQueue::Metrics {
  explicit Metrics(const std::string& name) : labels{{"name", name}, {"controller", name}} {}

  inline static const metrics::Buckets kBuckets{1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000};

  const metrics::Labels labels;
  metrics::Gauge& depth = metrics::GetGauge("workqueue_depth", "Keys that wait to be processed.", labels);
  metrics::Counter& adds = metrics::GetCounter("workqueue_adds_total", "Keys that were added.", labels);
  metrics::Counter& retries =
      metrics::GetCounter("workqueue_retries_total", "Keys that were added with backoff.", labels);
  metrics::Histogram& queue_seconds =
      metrics::GetHistogram("workqueue_queue_duration_seconds",
                            "Seconds for which keys waited before they were processed.", labels, kBuckets);
  metrics::Histogram& work_seconds = metrics::GetHistogram(
      "workqueue_work_duration_seconds", "Seconds that the processing of a key took.", labels, kBuckets);
};

WorkQueue::WorkQueue(RetryPolicy retry, Clock& clock, const std::string& name)
    : clock_(clock), retry_(retry), metrics_(std::make_unique<Metrics>(name)) {}

// The gauge outlives the queue, for example after the nodepool controller is switched off.
WorkQueue::~WorkQueue() { metrics_->depth.Set(0); }

void WorkQueue::Add(const Request& request) {
  std::lock_guard lock(mutex_);
  AddNow(request, clock_.Now());
}

void WorkQueue::AddAfter(const Request& request, Duration delay) {
  std::lock_guard lock(mutex_);
  const SteadyTime now = clock_.Now();
  if (delay <= Duration{0}) return AddNow(request, now);
  AddLater(request, delay < SteadyTime::max() - now ? now + delay : SteadyTime::max());
}

void WorkQueue::AddPaced(const Request& request, Duration period) {
  std::lock_guard lock(mutex_);
  const SteadyTime now = clock_.Now();
  PrunePaced(now);
  SteadyTime& until = paced_until_[request];
  if (now >= until) {
    until = now + period;
    return AddNow(request, now);
  }
  until = std::min(until, now + 2 * period);   // shortens a period that began with a longer `period`
  if (now + period >= until) until += period;  // the first add within a period also reserves the next period
  AddLater(request, until - period);
}

void WorkQueue::AddRateLimited(const Request& request, Duration at_least, Duration at_most) {
  std::lock_guard lock(mutex_);
  if (shut_down_) return;
  int& failures = failures_[request];
  const Duration backoff = Exponential(retry_, failures);
  metrics_->retries.Increment();
  const bool waits = AddLater(request, clock_.Now() + std::max(std::min(backoff, at_most), at_least));
  if (waits && backoff < at_most) ++failures;
}

void WorkQueue::Forget(const Request& request) {
  std::lock_guard lock(mutex_);
  failures_.erase(request);
}

int WorkQueue::Failures(const Request& request) const {
  std::lock_guard lock(mutex_);
  auto found = failures_.find(request);
  return found == failures_.end() ? 0 : found->second;
}

std::optional<Request> WorkQueue::Get(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (stop.stop_requested()) return std::nullopt;
    const SteadyTime now = clock_.Now();
    PromoteDue(now);
    if (!queue_.empty()) {
      auto [request, since] = std::move(queue_.front());
      queue_.pop_front();
      dirty_.erase(request);
      processing_.emplace(request, now);
      metrics_->depth.Set(static_cast<double>(queue_.size()));
      metrics_->queue_seconds.Observe(Seconds(now - since));
      return request;
    }
    if (shut_down_) return std::nullopt;
    const SteadyTime deadline = due_.empty() ? SteadyTime::max() : due_.begin()->first;
    clock_.WaitUntil(wake_, lock, stop, deadline, [&] {
      return !queue_.empty() || shut_down_ || (!due_.empty() && due_.begin()->first < deadline);
    });
  }
}

void WorkQueue::Done(const Request& request) {
  std::lock_guard lock(mutex_);
  auto found = processing_.find(request);
  if (found == processing_.end()) return;
  const SteadyTime now = clock_.Now();
  metrics_->work_seconds.Observe(Seconds(now - found->second));
  processing_.erase(found);
  if (dirty_.contains(request)) Enqueue(request, now);
}

void WorkQueue::ShutDown() {
  std::lock_guard lock(mutex_);
  shut_down_ = true;
  due_.clear();
  due_by_key_.clear();
  wake_.notify_all();
}

std::size_t WorkQueue::size() const {
  std::lock_guard lock(mutex_);
  return queue_.size();
}

void WorkQueue::PromoteDue(SteadyTime now) {
  while (!due_.empty() && due_.begin()->first <= now) {
    const Request request = due_.begin()->second;
    due_by_key_.erase(request);
    due_.erase(due_.begin());
    AddNow(request, now);
  }
}

void WorkQueue::AddNow(const Request& request, SteadyTime now) {
  if (shut_down_ || !dirty_.insert(request).second) return;
  metrics_->adds.Increment();
  if (!processing_.contains(request)) Enqueue(request, now);
}

void WorkQueue::Enqueue(const Request& request, SteadyTime now) {
  queue_.emplace_back(request, now);
  metrics_->depth.Set(static_cast<double>(queue_.size()));
  wake_.notify_one();
}

void WorkQueue::PrunePaced(SteadyTime now) {
  constexpr std::size_t kFew = 64;
  if (paced_until_.size() < std::max(kFew, prune_paced_at_)) return;
  std::erase_if(paced_until_, [&](const auto& entry) { return entry.second <= now; });
  prune_paced_at_ = 2 * paced_until_.size();
}

bool WorkQueue::AddLater(const Request& request, SteadyTime due) {
  if (shut_down_) return false;
  auto [known, inserted] = due_by_key_.emplace(request, due);
  if (!inserted) {
    if (known->second <= due) return false;
    due_.erase({known->second, request});
    known->second = due;
  }
  const bool next = due_.empty() || due < due_.begin()->first;
  due_.emplace(due, request);
  // This key is now the first that becomes due, so all workers are woken to wait for the new deadline. If only one
  // worker were woken, that worker might take another key, and no worker would wait for this deadline.
  if (next) wake_.notify_all();
  return true;
}

}  // namespace yad
