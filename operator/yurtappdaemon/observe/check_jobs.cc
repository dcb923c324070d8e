#include "operator/yurtappdaemon/observe/check_jobs.h"

#include <algorithm>

#include "operator/api/well_known.h"
#include "operator/runtime/paged_list.h"
#include "operator/yurtappdaemon/observe/ownership.h"

namespace yad {

ReflectorOptions WatchingCheckJobs(const std::string& ns) {
  return {.type = kJobType,
          .ns = ns,
          .label_selector = kCheckLabel,
          .project = ProjectCheckJob,
          .projected = {{"metadata", {{"labels"}}},
                        {"status",
                         {{"startTime"}, {"conditions", {{"type"}, {"status"}, {"message"}, {"lastTransitionTime"}}}}}},
          .keeps_content = [](const ObjectMeta&) { return false; },
          .on_demand = true};
}

ObjectPtr StoredCheckJob(const Json& job) { return StoredObject::WithoutContent(StoredObject(job, ProjectCheckJob)); }

Result<bool> ReadCheckJobs(Informer* jobs, ForbiddenReads& forbidden_reads, SteadyTime now, Snapshot& snapshot) {
  const std::vector<Check>& checks = snapshot.daemon.strategy.rolling.checks;
  const bool needed =
      std::any_of(checks.begin(), checks.end(), [](const Check& check) { return !check.job_spec.is_null(); });
  // If no check is of type Job, the cache is read only if it is already filled, so that remaining Jobs can be deleted.
  if (jobs == nullptr || (!needed && !jobs->synced())) return true;
  if (needed) {
    jobs->Demand();
    const std::string error = jobs->last_error();
    if (!jobs->synced() && error.empty()) return false;
    // While the watch fails, the cache may be stale, and not show that a Job has finished.
    snapshot.jobs_outdated = !error.empty();
    if (!jobs->synced() || forbidden_reads.IsPermanentlyForbidden(error, now))
      snapshot.jobs_error = DescribeUnreadable("the Jobs", error, "checks.jobs");
    if (!jobs->synced()) return true;
  }
  YAD_TRY(const auto owned, ControlledObjects(jobs->store(), snapshot.daemon.meta));
  for (const ObjectPtr& object : owned) snapshot.check_jobs.emplace(object->meta().key.name, CheckJobRef{object});
  return true;
}

Status ListCheckJobs(Client& client, const ObjectMeta& daemon, std::stop_token stop,
                     const std::function<void(const ObjectPtr& job)>& take) {
  const ListOptions options{.ns = daemon.key.ns, .label_selector = kCheckLabel, .limit = kPageLimit};
  const auto read = ForEachListed(client, kJobType, options, stop, [&](const JsonDocument& item) {
    const ObjectPtr job = StoredCheckJob(item.TreeOfObject());
    if (ControlledBy(job->meta(), daemon.uid)) take(job);
    return true;
  });
  return read ? Status() : Fail(read.error());
}

}  // namespace yad
