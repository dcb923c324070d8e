// Delays the retries of writes that another actor reverts or that the server rejects. Uses operator/base/retry_pace.h.
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
// - Repairs that another actor keeps reverting. From the sixth repair on, the intervals grow.
// - Retries of writes that the server rejected (a quota, a policy, a name that another owner has). The intervals grow,
//   because each event of one pool would otherwise retry the rejected writes of all pools.
// - Retries of rejected Jobs of checks, in the same way.
//
// One object for each daemon. Not thread-safe.
class WritePace {
 public:
  // Applies the limits to the plan:
  // - removes the repairs that must wait
  // - marks the pools whose rejected writes must wait (PoolPlan::deferred)
  // - marks the Jobs of checks that must wait (PoolChecks::job_waits), and does not start them
  //
  // Returns the time until the first of these writes is due, or zero if no write must wait.
  Duration Defer(const YurtAppDaemon& daemon, Plan& plan, SteadyTime now) const;
  // Records successful and rejected writes. Returns the pools whose repairs are delayed from now on.
  std::vector<std::string> Record(const YurtAppDaemon& daemon, const Outcome& outcome, SteadyTime now);
  // Records a rejected Job.
  void RecordRejectedJob(const std::string& name, SteadyTime now) { jobs_.Tried(name, now); }

 private:
  struct Rejection {
    std::uint64_t write = 0;  // a digest of the rejected write; a different write has no delay
    RejectedWrite why;
  };
  RetryPace repairs_;
  // By name. One retry is immediate, because a response may have been lost.
  RetryPace jobs_{/*at_once=*/2, /*quiet=*/std::chrono::hours(1)};
  // By pool. A batch of writes to a webhook that does not respond may take minutes, and so may the queue before the
  // next batch. These times must not count as quiet. Record forgets a pool whose write succeeds or changes.
  RetryPace rejected_{/*at_once=*/1, /*quiet=*/std::chrono::hours(1)};
  std::unordered_map<std::string, Rejection> rejections_;  // by pool
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_WRITE_PACE_H_
