// Delays the retries of writes that another client reverts or that the server rejects.
#ifndef OPERATOR_YURTAPPDAEMON_APPLY_WRITE_PACE_H_
#define OPERATOR_YURTAPPDAEMON_APPLY_WRITE_PACE_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "operator/base/retry_pace.h"
#include "operator/yurtappdaemon/plan/outcome.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// Limits three kinds of writes:
// - Repairs that another client keeps reverting. From the sixth repair on, the intervals grow.
// - Retries of writes that the server rejected (a quota, a policy, a name that another owner has). The intervals grow,
//   because each event of one pool would otherwise retry the rejected writes of all pools.
// - Retries of rejected Jobs of checks, in the same way.
//
// Each daemon has its own object. Not thread-safe.
class WritePace {
 public:
  // Applies the limits to the plan:
  // - removes the repairs that must wait
  // - marks the pools whose rejected writes must wait (PoolPlan::deferred)
  // - marks the Jobs of checks that must wait (PoolChecks::job_waits), and does not start them
  //
  // Returns the time until the first of these writes is due, or zero if no write must wait.
  Duration Defer(const YurtAppDaemon& daemon, Plan& plan, SteadyTime now) const;
  // Records the repairs and the rejected writes of the outcome. Returns the pools whose repairs are delayed from now
  // on.
  std::vector<std::string> Record(const YurtAppDaemon& daemon, const Outcome& outcome, SteadyTime now);
  // Records a rejected Job.
  void RecordRejectedJob(const std::string& name, SteadyTime now) { jobs_.Tried(name, now); }

 private:
  struct Rejection {
    std::uint64_t write = 0;  // a digest of the rejected write; a different write has no delay
    RejectedWrite why;
  };
  RetryPace repairs_;
  // By the name of the Job. One retry is immediate, because the response to the creation may have been lost.
  RetryPace jobs_{/*at_once=*/2, /*quiet=*/std::chrono::hours(1)};
  // By pool. `quiet` is long, because a batch of writes may take minutes if a webhook does not respond, and so may the
  // wait for the next batch. Record forgets a pool whose write succeeds or changes.
  RetryPace rejected_{/*at_once=*/1, /*quiet=*/std::chrono::hours(1)};
  std::unordered_map<std::string, Rejection> rejections_;  // by pool
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_WRITE_PACE_H_
