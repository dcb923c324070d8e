// Delays the repetition of writes that another actor reverts or the server rejects. Uses operator/base/retry_pace.h.
#ifndef OPERATOR_YURTAPPDAEMON_APPLY_WRITE_PACE_H_
#define OPERATOR_YURTAPPDAEMON_APPLY_WRITE_PACE_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "operator/base/retry_pace.h"
#include "operator/yurtappdaemon/plan/outcome.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// Limits two kinds of writes:
// - Repairs that another actor keeps reverting: five without delay, then at growing intervals.
// - Writes that the server rejects (a quota, a policy, a name that another owner has): one without delay, then at
//   growing intervals. Otherwise, each event of one pool would retry the rejected writes of all pools.
// One object for each daemon; not thread-safe.
class WritePace {
 public:
  // Removes the repairs that must wait from the plan, and marks the pools whose rejected writes must wait
  // (PoolPlan::deferred). Returns the time until the first of these writes is due. Zero if no write has to wait.
  Duration Defer(const YurtAppDaemon& daemon, Plan& plan, SteadyTime now) const;
  // Records successful and rejected writes. Returns the pools whose repairs are delayed from now on.
  std::vector<std::string> Note(const YurtAppDaemon& daemon, const Outcome& outcome, SteadyTime now);

 private:
  struct Refusal {
    std::uint64_t write = 0;  // a digest of the rejected write; a different write has no delay
    RefusedWrite why;
  };
  RetryPace repairs_;
  RetryPace refused_{1};                               // by pool
  std::unordered_map<std::string, Refusal> refusals_;  // by pool
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_APPLY_WRITE_PACE_H_
