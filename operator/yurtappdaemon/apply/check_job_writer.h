// Creates and deletes the Jobs of checks.
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

// Thread-safe.
class CheckJobWriter {
 public:
  // Puts the responses into the cache `jobs`, unless it is null.
  CheckJobWriter(Client& client, Informer* jobs, std::size_t parallel_writes)
      : client_(client), jobs_(jobs), parallel_writes_(parallel_writes) {}

  // Creates the Jobs of checks that start now, and deletes plan.outdated_jobs. If an earlier attempt has already
  // created a Job, uses this Job.
  CheckJobOutcome Apply(const Snapshot& snapshot, const Plan& plan, std::stop_token stop) const;

  // Reads the Jobs of failed checks from the server into the cache. Fails with kConflict if one of them has been
  // deleted.
  Status ReadFailed(const Snapshot& snapshot, const Plan& plan, std::stop_token stop) const;

 private:
  // Reads the Job with this name into the cache. Fails if the Job does not belong to a check of the daemon, or no
  // longer exists.
  Status FindOwn(const YurtAppDaemon& daemon, const std::string& name, std::stop_token stop) const;
  Status Create(const Snapshot& snapshot, std::size_t pool, const PoolPlan& plan, std::stop_token stop) const;

  Client& client_;
  Informer* const jobs_;
  const std::size_t parallel_writes_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_CHECK_JOB_WRITER_H_
