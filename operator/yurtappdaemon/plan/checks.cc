#include "operator/yurtappdaemon/plan/checks.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/workload/check_job.h"

namespace yad {
namespace {

// A check that can't be observed is evaluated again after this time, because no event reports when it can be observed
// again.
constexpr std::chrono::seconds kUnavailableRetry = std::chrono::minutes(1);
// While the cache of Jobs may be stale, it might not show that a Job has finished. The check of this Job then does not
// time out, and is evaluated again after this time.
constexpr std::chrono::seconds kOutdatedRetry{5};
// The assumed maximum error when the operator compares how long a Job ran with how long its check has run. The first
// time comes from the clock of the Job controller. Times in the cluster are whole seconds.
constexpr std::chrono::seconds kClockError{10};
constexpr char kFailed[] = " failed: ";
constexpr char kRuns[] = " runs";

// Returns whether the check failed before a Job of this name was created, which only the failure message shows.
bool WasNeverCreated(std::string_view failure, const std::string& job) {
  const auto contains = [&](const std::string& text) { return failure.find(text) != std::string_view::npos; };
  return contains(job) && !contains(job + kFailed) && !contains(job + kRuns);
}

// Returns whether the failed Job began before the current timeout of its check began. The timeout begins again when the
// pool returns from an outage, which may have killed the Job's pods. So the failure of such a Job does not count. The
// operator replaces the Job, and only the failure of the new Job counts.
bool BeganBeforeCheck(const CheckJobState& job, const CheckProgress& progress, WallTime now) {
  return job.ran_for > now - progress.since + kClockError;
}

// Returns the name of the Job that checks the last update of the workload. `record` describes this update, or is null.
std::string JobNameOf(const YurtAppDaemon& daemon, const Check& check, std::uint64_t digest,
                      const WorkloadRef& workload, const UpdateRecord* record) {
  CheckedUpdate update{workload.pool, workload.object->meta().Label(kRevisionLabel), WallTime()};
  if (record != nullptr) update.at = record->at;
  if (record != nullptr && !record->pods_revision.empty()) update.revision_label = record->pods_revision;
  return CheckJobName(daemon, check, digest, update);
}

bool HasJobOf(const Snapshot& snapshot, const Check& check, const CheckedPool& pool) {
  return std::any_of(snapshot.check_jobs.begin(), snapshot.check_jobs.end(), [&](const auto& named) {
    const CheckJobState& state = named.second.state();
    return state.pool == pool.name && state.check == check.name;
  });
}

}  // namespace

Checks::Checks(const Snapshot& snapshot) : snapshot_(snapshot), checks_(snapshot.daemon.strategy.rolling.checks) {
  for (const Check& check : checks_) digests_.push_back(check.job_spec.is_null() ? 0 : CheckJobDigest(check));
}

Checks::CheckResult Checks::Unavailable(std::string message) {
  return {CheckResult::State::kRuns, std::move(message), std::nullopt, WallTime::max(), /*unavailable=*/true};
}

void Checks::RecordOutage(const CheckedPool& pool, CheckProgress& progress) const {
  for (std::size_t i = 0; i < checks_.size(); ++i) {
    if (checks_[i].name != progress.name || checks_[i].job_spec.is_null()) continue;
    const auto job =
        snapshot_.check_jobs.find(JobNameOf(snapshot_.daemon, checks_[i], digests_[i], pool.workload, pool.record));
    if (job != snapshot_.check_jobs.end()) progress.interrupted_job = job->second.object->meta().uid;
  }
}

Checks::CheckResult Checks::EvaluateJob(const Check& check, const CheckedPool& pool, CheckProgress& progress,
                                        PoolChecks& checks) const {
  checks.job = JobNameOf(snapshot_.daemon, check, digests_[checks.index], pool.workload, pool.record);
  const std::string name = "Job " + checks.job;
  if (const auto job = snapshot_.check_jobs.find(checks.job); job != snapshot_.check_jobs.end()) {
    const CheckJobState& state = job->second.state();
    const ObjectMeta& meta = job->second.object->meta();
    if (state.state == CheckJobState::State::kComplete) return {CheckResult::State::kPassed, ""};
    const bool failed = state.state == CheckJobState::State::kFailed;
    // A failed Job that is being deleted is also replaced, because a new leader does not know why it is deleted.
    const bool interrupted =
        meta.uid == progress.interrupted_job || meta.deleting() || BeganBeforeCheck(state, progress, snapshot_.now);
    if (failed && progress.failure.empty() && interrupted) {
      progress.since = snapshot_.now;  // The next Job has the full timeout.
      progress.interrupted_job = meta.uid;
      checks.replaces_job = !meta.deleting();
      return {CheckResult::State::kRuns, name + " failed after an interruption of its check; it is being replaced"};
    }
    if (failed) return {CheckResult::State::kFailed, name + kFailed + state.message};
    if (!snapshot_.jobs_error.empty()) return Unavailable(snapshot_.jobs_error);
    return {CheckResult::State::kRuns, name + kRuns};
  }
  const auto rejected = snapshot_.rejected_jobs.find(checks.job);
  if (rejected != snapshot_.rejected_jobs.end() && rejected->second.final)
    return {CheckResult::State::kFailed, name + " was rejected: " + rejected->second.message};
  if (!snapshot_.jobs_error.empty()) return Unavailable(snapshot_.jobs_error);
  if (WasNeverCreated(progress.failure, name)) return {CheckResult::State::kFailed, progress.failure};
  // A deleted Job is created again. The check also starts again if it had failed, or if another Job exists, which
  // tested another spec or update. If the server rejects the new Job, the retries do not start the check again.
  const bool replaces = progress.since != snapshot_.now && rejected == snapshot_.rejected_jobs.end() &&
                        HasJobOf(snapshot_, check, pool);  // slow, so it is not called for a check that begins now
  if (!progress.failure.empty() || replaces) progress = {check.name, snapshot_.now, 0, ""};
  checks.starts_job = true;
  if (rejected != snapshot_.rejected_jobs.end())
    return Unavailable(name + " can't be created: " + rejected->second.message);
  return {CheckResult::State::kRuns, name + " is being created"};
}

Checks::CheckResult Checks::EvaluateCondition(const Check& check, const CheckedPool& pool,
                                              const CheckProgress& progress) const {
  const WallTime timeout = progress.since + check.timeout;
  for (const CustomCondition& condition : pool.workload.state().conditions) {
    if (condition.type != check.condition) continue;
    // A condition that is older than the update is about the previous revision.
    const bool outdated = condition.at != WallTime() && pool.record != nullptr && condition.at < pool.record->at;
    // A failed check passes only if its condition was set in time, but the cache did not show the condition then.
    const bool late = !progress.failure.empty() && (condition.at == WallTime() || condition.at > timeout);
    if (condition.status == check.condition_status && !outdated && !late) return {CheckResult::State::kPassed, ""};
  }
  return {CheckResult::State::kRuns,
          "waits for condition " + check.condition + "=" + check.condition_status + " of the workload"};
}

Checks::CheckResult Checks::EvaluateSamples(const Check& check, const CheckedPool& pool,
                                            CheckProgress& progress) const {
  if (!snapshot_.queries_error.empty()) return Unavailable(snapshot_.queries_error);
  const WallTime end = progress.since + check.prometheus->duration;
  const auto found = snapshot_.samples.find(pool.name);
  // This process does not have the samples of an earlier leader. So the timeout counts only from this process's first
  // sample.
  if (found == snapshot_.samples.end() || found->second.check != check.name || found->second.since != progress.since)
    return {CheckResult::State::kRuns, "waits for the first sample of Prometheus", std::nullopt, snapshot_.now};
  const CheckSamples& samples = found->second;
  progress.failures = samples.failures;
  if (samples.failures > check.prometheus->failure_limit) return {CheckResult::State::kFailed, samples.message};
  if (samples.outage > Duration::zero()) {
    // The time of an outage does not count for `duration`, so the start of the check moves by this time. The sampler
    // then takes the next sample immediately.
    progress.since =
        std::min(progress.since + std::chrono::duration_cast<WallTime::duration>(samples.outage), snapshot_.now);
    return {CheckResult::State::kRuns, samples.message, std::nullopt, snapshot_.now};
  }
  CheckResult result{CheckResult::State::kRuns, samples.message, std::nullopt, samples.began};
  // While Prometheus does not respond, or was not queried yet, the timeout does not run, because nothing is known about
  // the pool.
  if (samples.unanswered > 0 || samples.began == WallTime()) result.counts_from = snapshot_.now;
  result.unavailable = samples.unanswered >= kUnansweredQueries;
  if (snapshot_.now < end) {
    result.due = end;
  } else if (samples.conclusive > 0 && samples.unanswered == 0) {
    return {CheckResult::State::kPassed, ""};
  }
  return result;
}

Checks::CheckResult Checks::Timed(const Check& check, CheckResult result, CheckProgress& progress,
                                  PoolChecks& checks) const {
  checks.unavailable = result.unavailable;
  // A check with dryRun must not block a rollout. So its timeout runs even while the check can't be observed.
  const bool may_fail = check.dry_run && result.unavailable;
  if (may_fail) result.counts_from = {};
  if (result.counts_from == WallTime::max()) {
    progress.since = {};
    result.due = snapshot_.now + kUnavailableRetry;
    return result;
  }
  WallTime timeout = std::max(progress.since, result.counts_from) + check.timeout;
  if (snapshot_.now >= timeout && checks.starts_job && !may_fail) {
    // The Job does not exist, so the check has not run yet. The timeout starts again.
    progress.since = snapshot_.now;
    timeout = snapshot_.now + check.timeout;
  }
  if (snapshot_.now >= timeout && !check.job_spec.is_null() && snapshot_.jobs_outdated && !check.dry_run) {
    result.due = snapshot_.now + kOutdatedRetry;
    return result;
  }
  if (snapshot_.now >= timeout)
    return {CheckResult::State::kFailed,
            "not passed within " + std::to_string(check.timeout.count()) + " s: " + result.message};
  result.due = result.due ? std::min(*result.due, timeout) : timeout;
  return result;
}

Checks::CheckResult Checks::Evaluate(const Check& check, const CheckedPool& pool, CheckProgress& progress,
                                     PoolChecks& checks) const {
  CheckResult result;
  checks.job.clear();
  checks.starts_job = checks.replaces_job = checks.unavailable = false;
  if (progress.since == WallTime() && progress.failure.empty()) progress.since = snapshot_.now;
  if (!check.job_spec.is_null()) {
    result = EvaluateJob(check, pool, progress, checks);
  } else if (!check.condition.empty()) {
    result = EvaluateCondition(check, pool, progress);
  } else if (progress.failure.empty()) {
    result = EvaluateSamples(check, pool, progress);
  }
  if (result.state != CheckResult::State::kRuns) return result;
  if (!progress.failure.empty()) return {CheckResult::State::kFailed, progress.failure};
  return Timed(check, std::move(result), progress, checks);
}

PoolChecks Checks::Run(const CheckedPool& pool, PoolHealth& health) const {
  PoolChecks checks;
  checks.verifying = !health.verified;
  // The message contains the failure even while the pool is offline, because a new leader restores the failure from
  // this message in status.
  if (!health.verified && health.check && !health.check->failure.empty())
    checks.message = CheckMessage(health.check->name, health.check->failure);
  if (!health.verified && health.check && pool.offline) RecordOutage(pool, *health.check);
  if (health.verified || !health.soaked || pool.offline) return checks;
  const auto first = std::find_if(checks_.begin(), checks_.end(),
                                  [&](const Check& check) { return health.check && check.name == health.check->name; });
  if (first == checks_.end()) health.check.reset();  // The spec has changed, so the checks restart.
  checks.index = first == checks_.end() ? 0 : static_cast<std::size_t>(first - checks_.begin());
  for (; checks.index < checks_.size(); ++checks.index) {
    const Check& check = checks_[checks.index];
    if (!health.check) health.check = CheckProgress{check.name, {}, 0, ""};
    const bool begins = health.check->since == WallTime() && health.check->failure.empty();
    const bool healthy = health.state == PoolHealth::State::kHealthy;
    CheckResult result;
    checks.starts_job = false;
    if (healthy || !begins) result = Evaluate(check, pool, *health.check, checks);
    // A Job that is created now would test an unhealthy pool, so its check begins again later.
    if (!healthy && (begins || checks.starts_job)) {
      health.check->since = {};
      health.check->failure.clear();
      checks.starts_job = checks.unavailable = false;
      checks.job.clear();
      checks.message = CheckMessage(check.name, "begins when the pool is healthy again");
      return checks;
    }
    const bool failed = result.state == CheckResult::State::kFailed;
    if (result.state == CheckResult::State::kPassed || (failed && check.dry_run)) {
      if (failed) checks.tolerated.push_back("check " + check.name + " (dryRun): " + result.message);
      health.check.reset();
      continue;
    }
    if (failed) health.check->failure = result.message;
    checks.message = CheckMessage(check.name, result.message);
    checks.due = result.due;
    return checks;
  }
  health.verified = true;
  checks.verifying = checks.starts_job = checks.unavailable = false;
  checks.job.clear();
  return checks;
}

std::string ChecksError(const Snapshot& snapshot) {
  for (const Check& check : snapshot.daemon.strategy.rolling.checks) {
    if (check.dry_run || !check.condition.empty()) continue;  // The operator can always read conditions.
    const std::string& fault = check.prometheus ? snapshot.queries_error : snapshot.jobs_error;
    if (!fault.empty()) return fault;
  }
  return "";
}

bool IsGateUnknown(const Snapshot& snapshot) {
  if (snapshot.daemon.paused || (snapshot.freeze && snapshot.freeze->known)) return false;  // a user stops the updates
  return snapshot.freeze || !ChecksError(snapshot).empty();
}

std::vector<CheckJobRef> OutdatedCheckJobs(const Snapshot& snapshot) {
  if (snapshot.check_jobs.empty()) return {};
  std::map<std::string_view, const Check*> checks;
  if (snapshot.daemon.strategy.type == UpdateStrategyType::kRollingUpdate) {
    for (const Check& check : snapshot.daemon.strategy.rolling.checks) {
      if (!check.job_spec.is_null()) checks.emplace(check.name, &check);
    }
  }
  std::map<std::string_view, const WorkloadRef*> pools;  // null: the pool has no workload
  for (const WorkloadRef& workload : snapshot.workloads) pools.emplace(workload.pool, &workload);
  for (const PoolRef& pool : snapshot.pools) pools.emplace(pool.pool().name, nullptr);
  // Returns whether the current spec and update need this Job. This is not always the newest Job, because a user may
  // revert an edit of the check.
  const auto is_of_spec = [&](const CheckJobRef& job) {
    const WorkloadRef* const workload = pools.at(job.state().pool);
    if (workload == nullptr) return false;
    const Check& check = *checks.at(job.state().check);
    const auto record = UpdateRecordOf(workload->object->meta());
    return job.object->meta().key.name ==
           JobNameOf(snapshot.daemon, check, CheckJobDigest(check), *workload, record ? &*record : nullptr);
  };
  const auto rank = [&](const CheckJobRef& job) {
    const ObjectMeta& meta = job.object->meta();
    return std::tuple(is_of_spec(job), std::string_view(meta.creation_timestamp), std::string_view(meta.key.name));
  };
  std::vector<CheckJobRef> outdated;
  std::map<std::pair<std::string_view, std::string_view>, const CheckJobRef*> last;
  for (const auto& [name, job] : snapshot.check_jobs) {
    if (job.object->meta().deleting()) continue;
    const CheckJobState& state = job.state();
    if (!checks.contains(state.check) || !pools.contains(state.pool)) {
      outdated.push_back(job);
      continue;
    }
    const CheckJobRef*& kept = last[{state.pool, state.check}];
    const bool replaces = kept == nullptr || rank(*kept) < rank(job);
    if (kept != nullptr) outdated.push_back(replaces ? *kept : job);
    if (replaces) kept = &job;
  }
  return outdated;
}

}  // namespace yad
