// updateStrategy RollingUpdate: which pools may be moved now, which may not, and what for they wait. Pure: all that it
// knows is in its input, and all of that is in the cluster.
//
// Pools play the part that nodes play for a DaemonSet. There are two ways to go:
//
// - out: to a revision that is new here. Group by group, short of the partition, as long as no more pools have failed
// on
//   it than maxFailures.
// - back: to status.currentRevision, which all pools were good on. People ask for it (an undo), or onFailure Rollback
//   does. Neither groups nor approvals nor the partition nor failures hold it up.
//
// Either way, and where a pool itself has changed, fewer pools than maxUnavailable are disturbed at once.
#ifndef OPERATOR_YURTAPPDAEMON_ROLLOUT_H_
#define OPERATOR_YURTAPPDAEMON_ROLLOUT_H_

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/update_strategy.h"

namespace yad {

// One selected pool. The goal is the revision that the rollout goes to.
struct RolloutPool {
  std::string_view name;
  std::size_t group = 0;      // index in RollingUpdate::groups
  bool offline = false;       // no ready node: disturbed by nothing, waited for by nobody
  bool excused = false;       // nothing can be done there, and it is not the revision's fault
  bool blocked = false;       // the goal was refused for its workload, and it is not the revision's fault
  bool exists = false;        // it has a workload that is not about to go
  bool on_goal = false;       // its workload is the goal's rendering for the pool
  bool moved_here = false;    // its workload's label names the goal: it was moved to it, or made from it
  bool pool_changed = false;  // its workload is its revision's rendering for what the pool was before
  bool healthy = false;       // at the generation that is there
  bool soaked = false;        // healthy for minReadySeconds
  bool overdue = false;       // not healthy for progressDeadlineSeconds, or its own controller has given up
  bool refused = false;       // the server refused the goal for it
  bool unrenderable = false;  // the goal does not render for it
};

struct RolloutInput {
  const RollingUpdate& strategy;
  bool paused = false;
  bool back = false;         // the goal is status.currentRevision
  bool rolled_back = false;  // `back`, because what the spec asks for has failed
  bool can_roll_back = false;
  std::set<std::string> approved = {};  // groups, those that have begun on this goal too
  std::vector<RolloutPool> pools = {};  // by name
};

// What a rollout does with one pool.
enum class Step {
  kNone,
  kMove,   // to the goal
  kAdapt,  // its own revision, for the pool as it is now
};

// The state of a rollout as a whole.
enum class RolloutState {
  kComplete,            // nothing is left to do, or only what the partition holds
  kMoving,              // or waiting for pools that were moved
  kWaitingForApproval,  // of `group`
  kBudgetExceeded,      // more pools have failed than maxFailures: nothing new is started
  kPaused,
};

struct RolloutDecision {
  struct Pool {
    Step step = Step::kNone;
    bool make_from_goal = true;  // what a workload is made from where there is none; else currentRevision
    bool waits = false;          // it is to be moved, and its turn has not come
    bool held = false;           // it is to be moved, but a person wants it to stay: partition, pause, open approval
  };
  std::vector<Pool> pools;  // as in the input
  RolloutState state = RolloutState::kComplete;
  std::set<std::string> begun;  // groups with an approval that have made use of it now
  bool roll_back = false;       // the goal has failed, and onFailure is Rollback: mark it, and decide again
  // For people.
  std::size_t group = 0;                  // the one that is at work
  std::size_t group_number = 0;           // its place among the groups that have pools, from 1
  std::size_t groups = 0;                 // that have pools
  std::size_t group_pools = 0;            // its pools that the partition does not hold
  std::size_t group_done = 0;             // of these
  std::vector<std::string_view> waiting;  // pools that have to become healthy, or soak, before it goes on
  std::size_t failed = 0;                 // on the goal
  std::size_t failures_allowed = 0;
};

RolloutDecision DecideRollout(const RolloutInput& input);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_ROLLOUT_H_
