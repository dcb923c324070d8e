#include "operator/yurtappdaemon/apply/check_job_writer.h"

#include <set>
#include <vector>

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"
#include "operator/base/parallel.h"
#include "operator/client/status_error.h"
#include "operator/runtime/paged_list.h"
#include "operator/workload/check_job.h"
#include "operator/yurtappdaemon/apply/collect.h"
#include "operator/yurtappdaemon/observe/check_jobs.h"
#include "operator/yurtappdaemon/observe/live_daemon.h"
#include "operator/yurtappdaemon/observe/ownership.h"

namespace yad {
namespace {

// Returns whether the server would reject the same Job again. The check has then failed. After any other response, the
// operator retries, because the check has not run yet.
//
// Final responses:
//   400, 413, 422  The Job does not parse, is too large or is invalid. A webhook may also send these.
//
// Responses that are not final:
//   401            The server rejects the operator's credentials.
//   403            A permission is missing, a quota is exceeded, a policy rejects the Job, or the namespace is being
//                  deleted.
//   404            The namespace no longer exists.
//   409            Another Job has the name.
//   422            The server could not evaluate an admission policy (IsPolicyUnavailable).
//   429, 5xx       The server is overloaded or fails.
//   no response    The Job may have been created.
bool IsFinal(const Error& error) {
  if (error.reason == Reason::kInvalid) return !IsPolicyUnavailable(error);
  return error.reason == Reason::kBadRequest;  // 413 is kBadRequest
}

// Reads the Job with this name into the cache. Fails if the Job does not belong to a check of the daemon, or no longer
// exists.
Status FindOwnJob(Client& client, Informer* jobs, const YurtAppDaemon& daemon, const std::string& name,
                  std::stop_token stop) {
  // A list, because the chart does not grant `get` for Jobs.
  const ListOptions options{.ns = daemon.meta.key.ns, .field_selector = "metadata.name=" + name};
  Status found = Fail(Reason::kConflict, "a Job of this name was deleted just now");
  const auto read = ForEachListed(client, kJobType, options, stop, [&](const JsonDocument& item) {
    const ObjectMeta meta = ParseMeta(item);
    if (!ControlledBy(meta, daemon.meta.uid)) {
      found = Fail(Reason::kAlreadyExists, "it exists and belongs to " + ControllerOf(meta) + "; delete it");
    } else if (meta.Label(kCheckLabel).empty()) {
      found = Fail(Reason::kAlreadyExists, std::string("it exists without label ") + kCheckLabel + "; delete it");
    } else {
      if (jobs != nullptr) jobs->store().Observe(StoredCheckJob(item.TreeOfObject()));
      found = {};
    }
    return true;
  });
  return read ? found : Fail(read.error());
}

Status CreateCheckJob(Client& client, Informer* jobs, const Snapshot& snapshot, std::size_t pool, const PoolPlan& plan,
                      std::stop_token stop) {
  const Check& check = snapshot.daemon.strategy.rolling.checks[plan.checks.index];
  const std::string& label = plan.workload->object->meta().Label(kRevisionLabel);
  YAD_TRY(const auto job, MakeCheckJob(snapshot.daemon, check, snapshot.pools[pool].pool(), label, plan.checks.job));
  const auto created = client.Create(kJobType, job, {}, stop);
  if (!created) {
    if (created.error().reason == Reason::kAlreadyExists)
      return FindOwnJob(client, jobs, snapshot.daemon, plan.checks.job, stop);
    return Fail(ShortError(created.error()));
  }
  if (jobs != nullptr) jobs->store().Observe(StoredCheckJob(*created));
  return {};
}

}  // namespace

Status ReadFailedJobs(Client& client, Informer* jobs, const Snapshot& snapshot, const Plan& plan,
                      std::stop_token stop) {
  std::set<std::string> wanted;
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    const bool failed = plan.rollout->decision.pools[i].failed;
    if (failed && !plan.pools[i].checks.job.empty()) wanted.insert(plan.pools[i].checks.job);
  }
  // If the operator can't read Jobs (jobs_error), the Jobs that the cache shows as failed count as failed.
  if (wanted.empty() || !snapshot.jobs_error.empty()) return {};
  const Status read = ListCheckJobs(client, snapshot.daemon.meta, stop, [&](const ObjectPtr& job) {
    if (jobs != nullptr) jobs->store().Observe(job);
    wanted.erase(job->meta().key.name);
  });
  if (!read) return read;
  for (const std::string& name : wanted) {
    if (snapshot.check_jobs.contains(name)) return Fail(Reason::kConflict, "Job " + name + " has been deleted");
  }
  return {};
}

CheckJobOutcome WriteCheckJobs(Client& client, Informer* jobs, const Snapshot& snapshot, const Plan& plan,
                               std::size_t parallel_writes, std::stop_token stop) {
  CheckJobOutcome outcome;
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    if (plan.pools[i].checks.starts_job) starts.push_back(i);
  }
  if (starts.empty() && plan.outdated_jobs.empty()) return outcome;
  if (const auto live = ConfirmDaemon(client, snapshot.daemon.meta, stop); !live) {
    outcome.retry = live.error();
    return outcome;
  }
  std::vector<Status> results(starts.size() + plan.outdated_jobs.size());
  ParallelFor(results.size(), parallel_writes, [&](std::size_t task) {
    if (task < starts.size()) {
      results[task] = CreateCheckJob(client, jobs, snapshot, starts[task], plan.pools[starts[task]], stop);
      return;
    }
    const ObjectMeta& meta = plan.outdated_jobs[task - starts.size()].object->meta();
    const DeleteOptions options{.uid = meta.uid};
    results[task] = client.Delete(kJobType, meta.key, options, stop);
  });
  for (std::size_t task = 0; task < results.size(); ++task) {
    if (results[task]) continue;
    const Error& error = results[task].error();
    if (task >= starts.size()) {
      if (error.reason != Reason::kNotFound) outcome.retry = error;
      continue;
    }
    const bool invalid = IsFinal(error);
    outcome.rejected.emplace(plan.pools[starts[task]].checks.job,
                             RejectedJob{Cut(error.message, kMaxMessage), invalid});
    outcome.invalid = outcome.invalid || invalid;
    if (!invalid) outcome.retry = error;
  }
  return outcome;
}

}  // namespace yad
