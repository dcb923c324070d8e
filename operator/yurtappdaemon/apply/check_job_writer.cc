#include "operator/yurtappdaemon/apply/check_job_writer.h"

#include <vector>

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"
#include "operator/base/parallel.h"
#include "operator/workload/check_job.h"
#include "operator/yurtappdaemon/observe/live_daemon.h"

namespace yad {

Status CheckJobWriter::Create(const Snapshot& snapshot, std::size_t pool, const PoolPlan& plan,
                              std::stop_token stop) const {
  const Check& check = snapshot.daemon.strategy.rolling.checks[plan.checks.index];
  const std::string& label = plan.workload->object->meta().Label(kRevisionLabel);
  YAD_TRY(const auto job, MakeCheckJob(snapshot.daemon, check, snapshot.pools[pool].pool(), label, plan.checks.job));
  const auto created = client_.Create(kJobType, job, {}, stop);
  if (!created) {
    if (created.error().reason == Reason::kAlreadyExists) return {};
    return Fail(created.error());
  }
  if (store_ != nullptr) store_->Observe(StoredObject::WithoutContent(StoredObject(*created, ProjectCheckJob)));
  return {};
}

CheckJobOutcome CheckJobWriter::Apply(const Snapshot& snapshot, const Plan& plan, std::stop_token stop) const {
  CheckJobOutcome outcome;
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    if (plan.pools[i].checks.starts_job) starts.push_back(i);
  }
  if (starts.empty() && plan.outdated_jobs.empty()) return outcome;
  if (const auto live = ConfirmDaemon(client_, snapshot.daemon.meta, stop); !live) {
    outcome.retry = live.error();
    return outcome;
  }
  std::vector<Status> results(starts.size() + plan.outdated_jobs.size());
  ParallelFor(results.size(), parallel_writes_, [&](std::size_t task) {
    if (task < starts.size()) {
      results[task] = Create(snapshot, starts[task], plan.pools[starts[task]], stop);
      return;
    }
    const ObjectMeta& meta = plan.outdated_jobs[task - starts.size()].object->meta();
    DeleteOptions options;
    options.uid = meta.uid;
    results[task] = client_.Delete(kJobType, meta.key, options, stop);
  });
  for (std::size_t task = 0; task < results.size(); ++task) {
    if (results[task]) continue;
    const Error& error = results[task].error();
    if (task >= starts.size()) {
      if (error.reason != Reason::kNotFound) outcome.retry = error;
      continue;
    }
    const bool invalid = error.reason == Reason::kInvalid;
    outcome.refused.emplace(plan.pools[starts[task]].checks.job, RefusedJob{Cut(error.message, kMaxMessage), invalid});
    outcome.rejected = outcome.rejected || invalid;
    if (!invalid) outcome.retry = error;
  }
  return outcome;
}

}  // namespace yad
