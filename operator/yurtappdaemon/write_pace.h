// The pace of a daemon's writes (operator/base/retry_pace.h) where somebody undoes or refuses them.
#ifndef OPERATOR_YURTAPPDAEMON_WRITE_PACE_H_
#define OPERATOR_YURTAPPDAEMON_WRITE_PACE_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "operator/base/retry_pace.h"
#include "operator/yurtappdaemon/apply.h"
#include "operator/yurtappdaemon/plan.h"

namespace yad {

// - Repairs that somebody keeps undoing: five at once, then more and more seldom.
// - Writes that the server refuses (quota, a policy, a name that somebody else has): one at once. Else every event of
//   one pool would send those of all pools again.
// One for each daemon; not thread-safe.
class WritePace {
 public:
  // Takes the repairs out of the plan that have to wait, and marks the pools whose refused writes have to
  // (PoolPlan::withheld). Returns how long the first of them has to; zero: none has.
  Duration HoldBack(const YurtAppDaemon& daemon, Plan& plan, SteadyTime now) const;
  // Notes what was written and what was refused. Returns the pools whose workloads (or Services) are repaired more
  // seldom from now on.
  std::vector<std::string> Note(const YurtAppDaemon& daemon, const Applied& applied, SteadyTime now);

 private:
  struct Refusal {
    std::uint64_t write = 0;  // a digest of what was asked for: another one is not refused yet
    RefusedWrite why;
  };
  RetryPace repairs_;
  RetryPace refused_{1};                               // by pool
  std::unordered_map<std::string, Refusal> refusals_;  // by pool
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_WRITE_PACE_H_
