// Creates and deletes the Jobs of checks. Thread-safe.
#ifndef OPERATOR_YURTAPPDAEMON_APPLY_CHECK_JOB_WRITER_H_
#define OPERATOR_YURTAPPDAEMON_APPLY_CHECK_JOB_WRITER_H_

#include <cstddef>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

#include "operator/base/error.h"
#include "operator/client/client.h"
#include "operator/runtime/informer.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

struct CheckJobOutcome {
  std::map<std::string, RejectedJob> rejected;  // by name of the Job; the next plan needs them
  std::optional<Error> retry;                   // the error of a write that must be retried
  bool invalid = false;                         // a Job is invalid, so its check has failed
};

// The functions put the server's responses into the cache `jobs`, unless it is null.

// Creates the Jobs of checks that start now, and deletes plan.outdated_jobs. If an earlier attempt has already created
// a Job, uses this Job.
CheckJobOutcome WriteCheckJobs(Client& client, Informer* jobs, const Snapshot& snapshot, const Plan& plan,
                               std::size_t parallel_writes, std::stop_token stop);

// Reads the Jobs of failed checks from the server. Fails with kConflict if one of them has been deleted.
Status ReadFailedJobs(Client& client, Informer* jobs, const Snapshot& snapshot, const Plan& plan, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_CHECK_JOB_WRITER_H_
