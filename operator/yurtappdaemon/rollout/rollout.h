// updateStrategy RollingUpdate: decides which pools may be updated now, which may not, and why they wait. Pure: the
// decision depends on its input only, and all of that is in the cluster.
//
// Pools have the part that nodes have for a DaemonSet. A rollout has one of two directions:
//
// - out: to a new revision. It goes group by group and leaves out the pools of the partition, while no more pools than
//   maxFailures have failed on it.
// - back: to status.currentRevision, on which all pools were good. A user requests it (an undo), or onFailure Rollback
//   starts it. Groups, approvals, the partition and failures do not stop it.
//
// A site may hold its pool: then no update of it starts, in either direction, and a group is done without it.
//
// In both directions, and for pools that have changed themselves, fewer pools than maxUnavailable are unavailable
// before another one is updated.
#ifndef OPERATOR_YURTAPPDAEMON_ROLLOUT_ROLLOUT_H_
#define OPERATOR_YURTAPPDAEMON_ROLLOUT_ROLLOUT_H_

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/update_strategy.h"
#include "operator/base/clock.h"

namespace yad {

// One selected pool. The goal is the revision to which the rollout goes.
struct RolloutPool {
  std::string_view name;
  std::size_t group = 0;        // index in RollingUpdate::groups
  bool offline = false;         // no node is ready
  bool dark = false;            // offline, and it was online when it got its revision and has not soaked on it since
  bool excused = false;         // its workload can't be created, and the revision is not the cause
  bool blocked = false;         // the server rejected the goal for its workload, and the revision is not the cause
  bool held = false;            // its site wants no update to start
  bool exists = false;          // it has a workload that is not being deleted
  bool on_goal = false;         // its workload is the goal's rendering for the pool
  bool updated = false;         // this rollout gave it its state: its failures, slot and soak count for the goal
  bool labelled_goal = false;   // its workload's label names the goal
  bool joining = false;         // its workload was created from the goal, and the pool was not selected before
  bool pool_changed = false;    // its workload is its revision's rendering for what the pool was before
  bool healthy = false;         // at the workload's present generation
  bool been_healthy = false;    // on the revision that it has, at least once
  bool soaked = false;          // healthy for minReadySeconds on that revision, at least once
  bool overdue = false;         // not healthy within progressDeadlineSeconds, or the Deployment has given up
  bool refused = false;         // the server rejected the goal for it
  bool unrenderable = false;    // the goal does not render for it
  WallTime updated_at = {};     // of dark pools
  WallTime offline_since = {};  // of offline pools
};

struct RolloutInput {
  const RollingUpdate& strategy;
  bool paused = false;
  bool back = false;         // the goal is status.currentRevision
  bool rolled_back = false;  // `back`, because the revision in the spec has failed
  bool can_roll_back = false;
  std::set<std::string> approved = {};  // groups, including those that have begun on this goal
  std::vector<RolloutPool> pools = {};  // by name
};

// The update of one pool.
enum class Step {
  kNone,
  kUpdate,  // to the goal
  kAdapt,   // its own revision is adapted to the pool as it is now
};

// The state of a rollout as a whole.
enum class RolloutState {
  kComplete,            // nothing is left to do, except for pools that the partition or their site blocks
  kMoving,              // pools are updated, or have to become healthy or to soak
  kWaitingForApproval,  // the approval of `group`
  kOutage,              // sites that were not updated went offline too; no update is started
  kBudgetExceeded,      // more pools have failed than maxFailures; no update is started
  kPaused,
};

// The reason why a pool that needs an update does not get it now.
enum class WaitingFor { kNone, kSlot, kGroup, kApproval, kPartition, kHold, kPause, kDeletion };
// Returns the value of `status.pools[].waitingFor`; "" for kNone.
std::string_view ToString(WaitingFor reason);

struct RolloutDecision {
  struct Pool {
    Step step = Step::kNone;
    bool make_from_goal = true;  // a missing workload is created from the goal; otherwise from currentRevision
    WaitingFor waiting_for = WaitingFor::kNone;
    bool waits = false;   // it needs an update that the rollout starts later by itself
    bool held = false;    // it needs an update that a user blocks: partition, hold, pause, open approval
    bool failed = false;  // on the goal; it counts for maxFailures
  };
  std::vector<Pool> pools;  // as in the input
  RolloutState state = RolloutState::kComplete;
  std::set<std::string> begun;  // groups with an approval that the rollout uses now
  bool roll_back = false;       // the goal has failed, and onFailure is Rollback: mark it, and decide again
  // The fields below are for messages.
  std::size_t group = 0;                  // the current group
  std::size_t group_number = 0;           // its place among the groups that have pools, from 1
  std::size_t groups = 0;                 // the number of groups that have pools
  std::size_t group_pools = 0;            // the number of its pools without those of the partition
  std::size_t group_done = 0;             // the number of those that are done
  std::vector<std::string_view> waiting;  // pools that have to become healthy, or to soak, before it goes on
  std::vector<std::string_view> held;     // pools that only their site keeps from the update
  std::size_t dark = 0;                   // pools that went dark after their update
  std::size_t control_offline = 0;        // pools that were not updated and went offline since
  std::size_t failed = 0;                 // on the goal
  std::size_t failures_allowed = 0;

  // The pools that were not updated are the control group of the dark ones: the revision is not to blame.
  bool outage() const { return dark > 0 && control_offline >= dark; }
};

RolloutDecision DecideRollout(const RolloutInput& input);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_ROLLOUT_ROLLOUT_H_
