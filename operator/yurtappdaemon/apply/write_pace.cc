#include "operator/yurtappdaemon/apply/write_pace.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "operator/yurtappdaemon/observe/pool_phase.h"

namespace yad {
namespace {

const std::string kService = "service/";  // prefix of a Service's name, because a workload may have the same name

bool RepairsService(const PoolPlan& pool) { return pool.service && pool.service->action == ServiceAction::kRepair; }

bool IsQuotaReason(const std::string& reason) { return reason == kQuotaExceeded || reason == kServiceQuotaExceeded; }

// Returns a digest of the pool's write, and of the user input on which a rejection may depend. So an edit by a user
// causes an immediate attempt.
std::uint64_t DigestOf(const YurtAppDaemon& daemon, const PoolPlan& pool) {
  std::string text = std::to_string(daemon.meta.generation) + "/" + std::to_string(static_cast<int>(pool.action)) + "/";
  if (pool.workload) text += pool.workload->object->meta().uid;
  if (pool.service) text += "/" + pool.service->name + "/" + std::to_string(static_cast<int>(pool.service->action));
  return Fnv1a64(text, RenderSpecFingerprint(pool.to));
}

}  // namespace

Duration WritePace::Defer(const YurtAppDaemon& daemon, Plan& plan, SteadyTime now) const {
  Duration due = Duration::zero();
  const auto has_to_wait = [&](const RetryPace& pace, const std::string& name) {
    const Duration wait = pace.Wait(name, now);
    if (wait == Duration::zero()) return false;
    due = due == Duration::zero() ? wait : std::min(due, wait);
    return true;
  };
  for (PoolPlan& pool : plan.pools) {
    pool.checks.job_waits = pool.checks.starts_job && has_to_wait(jobs_, pool.checks.job);
    if (pool.checks.job_waits) pool.checks.starts_job = false;
    if (pool.action == WorkloadAction::kRepair && has_to_wait(repairs_, pool.workload->object->meta().key.name))
      pool.action = WorkloadAction::kNone;
    if (RepairsService(pool) && has_to_wait(repairs_, kService + pool.service->name))
      pool.service->action = ServiceAction::kNone;
    const auto rejection = rejections_.find(pool.pool);
    if (rejection == rejections_.end() || !WritesAnything(pool)) continue;
    if (rejection->second.write == DigestOf(daemon, pool) && has_to_wait(rejected_, pool.pool))
      pool.deferred = rejection->second.why;
  }
  return due;
}

std::vector<std::string> WritePace::Record(const YurtAppDaemon& daemon, const Outcome& outcome, SteadyTime now) {
  std::vector<std::string> contested;
  const std::set<std::string_view> services(outcome.services_repaired.begin(), outcome.services_repaired.end());
  std::unordered_map<std::string, Rejection> rejections;
  // The removal of objects frees quota, so the backoff of writes that exceeded a quota starts again from the shortest
  // delay. It is not zero, because the server updates the usage of the quota late.
  const bool frees_quota =
      !outcome.removed.empty() || !outcome.duplicates_removed.empty() || !outcome.services_removed.empty();
  for (const PoolOutcome& result : outcome.pools) {
    const PoolPlan& plan = *result.plan;
    const bool repaired = plan.action == WorkloadAction::kRepair && result.workload && !result.outstanding &&
                          repairs_.Tried(result.workload->object->meta().key.name, now);
    const bool service_repaired = services.contains(plan.pool) && repairs_.Tried(kService + result.service, now);
    if (repaired || service_repaired) contested.push_back(plan.pool);

    const auto before = rejections_.find(plan.pool);
    const bool was_rejected = before != rejections_.end();
    if (was_rejected && (plan.deferred || (plan.waits && !WritesAnything(plan)))) {
      if (frees_quota && IsQuotaReason(before->second.why.reason)) {
        rejected_.Forget(plan.pool);
        rejected_.Tried(plan.pool, now);
      }
      rejections.emplace(plan.pool, std::move(before->second));
    } else if (WritesAnything(plan) && result.outstanding && !result.failure_reason.empty()) {
      const std::uint64_t write = DigestOf(daemon, plan);
      const bool is_another = !was_rejected || before->second.write != write;
      if (is_another || (frees_quota && IsQuotaReason(result.failure_reason))) rejected_.Forget(plan.pool);
      rejected_.Tried(plan.pool, now);
      rejections.emplace(plan.pool, Rejection{write, {"", result.failure_reason, result.failure_message}});
    }
  }
  rejections_ = std::move(rejections);
  return contested;
}

}  // namespace yad
