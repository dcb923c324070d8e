// Starts the checks of updated pools one after the other, and evaluates them. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_PLAN_CHECKS_H_
#define OPERATOR_YURTAPPDAEMON_PLAN_CHECKS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/observe/target.h"
#include "operator/yurtappdaemon/rollout/update_record.h"

namespace yad {

// Prometheus counts as unavailable after this number of queries in a row without a response.
inline constexpr int kUnansweredQueries = 3;

// The checks of one pool in a plan.
struct PoolChecks {
  bool verifying = false;       // the rollout updated the pool, and not all checks have passed
  std::size_t index = 0;        // of the running or failed check in RollingUpdate::checks
  std::string job;              // the name of the check's Job; "": the check is not of type Job, or has not begun
  bool starts_job = false;      // the Job does not exist yet, and is created now
  bool job_waits = false;       // the server rejected the Job, and the retry is not due yet
  bool replaces_job = false;    // the Job is deleted and replaced, because its failure does not count
  bool unavailable = false;     // the check can't be observed, so its timeout does not run (unless dryRun is true)
  std::string message;          // what the check waits for, or why it has failed
  std::optional<WallTime> due;  // the next time at which its result may change without an event
  std::vector<std::string> tolerated;  // messages about failed checks that have dryRun
};

// A pool whose update is checked.
struct CheckedPool {
  const std::string& name;
  bool offline = false;
  const WorkloadRef& workload;
  const UpdateRecord* record = nullptr;  // the record of the last update; null: unknown
};

// One object for each plan; not thread-safe. The snapshot must outlive it.
class Checks {
 public:
  explicit Checks(const Snapshot& snapshot);

  // Continues the checks of a pool, and stores their progress in `health`. Does nothing while the pool is offline, or
  // if it has not soaked (been healthy for minReadySeconds).
  PoolChecks Run(const CheckedPool& pool, PoolHealth& health) const;

 private:
  // The state of one check.
  struct CheckResult {
    enum class State { kRuns, kPassed, kFailed };
    State state = State::kRuns;
    std::string message;
    std::optional<WallTime> due = std::nullopt;
    // The timeout begins at this time or at the start of the check, whichever is later. WallTime::max() if the timeout
    // does not run now.
    WallTime counts_from = {};
    bool unavailable = false;
  };
  // Returns the state of a check that can't be observed.
  static CheckResult Unavailable(std::string message);
  // Stores in `progress` which Job exists while the pool is offline. If this Job fails, it is replaced, even if the
  // operator observes the failure after the outage.
  void RecordOutage(const CheckedPool& pool, CheckProgress& progress) const;
  CheckResult Evaluate(const Check& check, const CheckedPool& pool, CheckProgress& progress, PoolChecks& checks) const;
  CheckResult EvaluateJob(const Check& check, const CheckedPool& pool, CheckProgress& progress,
                          PoolChecks& checks) const;
  CheckResult EvaluateCondition(const Check& check, const CheckedPool& pool, const CheckProgress& progress) const;
  CheckResult EvaluateSamples(const Check& check, const CheckedPool& pool, CheckProgress& progress) const;
  // Returns the state of a running check, which fails if its timeout is over. While a check without dryRun can't be
  // observed, its timeout does not run.
  CheckResult Timed(const Check& check, CheckResult result, CheckProgress& progress, PoolChecks& checks) const;

  const Snapshot& snapshot_;
  const std::vector<Check>& checks_;
  std::vector<std::uint64_t> digests_;  // CheckJobDigest, in the order of the checks; 0 for other kinds
};

// Returns the reason why a check can't run, and so blocks the start of updates, or "" if there is no such check. Checks
// with dryRun and checks of conditions never block updates.
std::string ChecksError(const Snapshot& snapshot);

// Returns whether updates wait because the freeze or the checks can't be read, and not because of a user.
bool IsGateUnknown(const Snapshot& snapshot);

// Returns the Jobs that are no longer needed:
// - The Jobs of the same check and pool, except one: the Job for the current spec and update, or the newest Job if that
//   Job does not exist.
// - The Jobs of a check that is no longer in the spec, or is no longer of type Job.
// - The Jobs of a pool that is not selected and has no workload.
std::vector<CheckJobRef> OutdatedCheckJobs(const Snapshot& snapshot);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_CHECKS_H_
