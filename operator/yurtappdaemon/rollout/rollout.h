// updateStrategy RollingUpdate: decides which pools may be updated now, and why the others wait. Pure: the decision
// depends only on its input, and all of the input is in the cluster.
//
// A rollout treats pools as a DaemonSet treats nodes. A rollout has one of two directions:
//
// - out: to a new revision. The rollout goes group by group, omits the pools of the partition, and stops when more
//   pools than maxFailures have failed on the revision.
// - back: to status.currentRevision, on which all pools were healthy. A user requests it (an undo), or onFailure
//   Rollback starts it. Groups, approvals, the partition and failures do not stop it.
//
// Gates delay the start of an update. A pool waits while none of its update windows is open, and all pools wait during
// a freeze. A group waits for such pools. Windows and freezes do not delay a rollback. A site may also hold its pool.
// Then the pool gets no update in either direction, and its group finishes without it.
//
// With `prefetch`, the nodes of the next pools pull the new images, and a pool waits until its own nodes have them. The
// pools of the first group do not wait, because they show whether the revision works at all. Offline pools and
// rollbacks do not wait either.
//
// An update starts only while fewer pools than maxUnavailable are unavailable. This limit applies to both directions,
// and to updates for changes of the pools themselves.
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
#include "operator/yurtappdaemon/rollout/waiting_for.h"

namespace yad {

// The new images that the goal brings to a pool.
enum class NewImages {
  kNone,     // the pool has them, or they are not pulled before the update
  kMissing,  // they have to be pulled
  kLate,     // they have to be pulled, and the time-out is over; the update still waits
  kPulled,   // its nodes have them, or the update no longer waits for them
};

// One selected pool. The goal is the revision to which the rollout goes.
struct RolloutPool {
  std::string_view name;
  std::size_t group = 0;  // index in RollingUpdate::groups
  bool offline = false;   // no node is ready
  // A dark pool is offline. It was online when it got its revision, but it has not finished its soak or its checks on
  // that revision. The update may be the cause.
  bool dark = false;
  bool uncreatable = false;  // its workload can't be created, but the revision is not the cause
  // The server rejected the update of its workload to the goal, but the revision is not the cause.
  bool blocked = false;
  bool held = false;            // its site allows no update to start
  bool outside_window = false;  // none of its update windows is open
  bool exists = false;          // it has a workload that is not being deleted
  bool on_goal = false;         // its workload is the goal's rendering for the pool
  // True if this rollout updated the pool to the goal. The pool's failures and its soak then show whether the goal
  // works, and the pool takes a slot until it has soaked.
  bool updated = false;
  bool label_is_goal = false;  // its workload's label names the goal
  bool joining = false;        // its workload was created from the goal when the pool was first selected
  bool pool_changed = false;   // the pool has changed since its workload was rendered
  bool healthy = false;        // the workload is healthy in its present generation
  bool been_healthy = false;   // it was healthy on its present revision at least once
  bool soaked = false;         // healthy for minReadySeconds on this revision, at least once
  bool verified = true;        // its update has passed all checks, or needs none
  bool check_failed = false;
  bool overdue = false;   // not healthy within progressDeadlineSeconds, or the Deployment has exceeded its own deadline
  bool rejected = false;  // the server rejected the goal for this pool
  bool unrenderable = false;  // the goal can't be rendered for this pool
  NewImages images = NewImages::kNone;
  WallTime window_opens = {};             // only with outside_window: the next opening; max: unknown
  WallTime updated_at = {};               // only for dark pools
  WallTime created_at = WallTime::min();  // if a RollingUpdate created its workload; min: long ago, or not known
  WallTime offline_since = {};            // only for offline pools
};

struct RolloutInput {
  const RollingUpdate& strategy;
  bool paused = false;
  bool frozen = false;           // a freeze of the whole fleet is in force
  bool goal_is_current = false;  // the goal is status.currentRevision
  // The revision in the spec has failed. If it is the goal, the pools can't go back, and no update starts.
  bool revision_failed = false;
  // True if the goal was already rolled out to all pools. An update to it is then the retry of a rejected update and
  // not a rollback, so gates delay it.
  bool goal_complete = false;
  // Every pool has finished its update to the goal, but the goal is not currentRevision, for example while a removal is
  // blocked. The later health of pools then neither stops the rollout nor starts a rollback.
  bool all_updated = false;
  bool has_current = false;
  std::set<std::string> approved = {};  // approved groups, and groups whose update to the goal has begun
  std::vector<RolloutPool> pools = {};  // sorted by name
};

// The update of one pool.
enum class Step {
  kNone,
  kUpdate,  // to the goal
  kAdapt,   // to the pool's own revision, rendered again because the pool has changed
};

// The state of a rollout as a whole.
enum class RolloutState {
  kComplete,            // no update is left to start, except for pools that the partition or their site blocks
  kMoving,              // pools are being updated, or must still become healthy, soak or pass their checks
  kWaitingForApproval,  // for the approval of `group`
  kWaitingForWindow,    // all updates that are left wait for update windows
  kFrozen,              // all updates that are left wait for the end of the freeze
  kOutage,              // sites that were not updated went offline too, so no update starts
  kBudgetExceeded,      // more pools have failed than maxFailures allows, so no update starts
  kPaused,
};

struct RolloutDecision {
  struct Pool {
    Step step = Step::kNone;
    bool make_from_goal = true;  // true: a missing workload is created from the goal; false: from currentRevision
    WaitingFor waiting_for = WaitingFor::kNone;
    bool waits = false;     // the rollout will start the pool's update later, without a user
    bool held = false;      // a user blocks the pool's update: partition, hold, freeze, window, pause, approval
    bool failed = false;    // the pool has failed on the goal, and counts for maxFailures
    bool prefetch = false;  // the pool's nodes pull the new images now, and keep them until the update
  };
  std::vector<Pool> pools;  // in the order of the input
  RolloutState state = RolloutState::kComplete;
  std::set<std::string> begun;  // approved groups whose updates have begun
  // True if the goal has failed and onFailure is Rollback. The caller then marks the goal as failed, and decides again.
  bool roll_back = false;
  // The fields below are for messages.
  std::size_t group = 0;         // the current group
  std::size_t group_number = 0;  // its place among the groups that have pools, from 1
  std::size_t groups = 0;        // the number of groups that have pools
  std::size_t group_pools = 0;   // the number of pools in the group, without those of the partition
  std::size_t group_done = 0;    // the number of these pools that are done
  // Pools that must become healthy, soak or pass their checks before the rollout continues.
  std::vector<std::string_view> waiting;
  std::vector<std::string_view> held;      // pools whose update is blocked only by their site
  std::vector<std::string_view> rejected;  // pools whose rollback the server rejects
  std::size_t shut = 0;                    // the number of pools that wait for a window or for the end of the freeze
  std::size_t without_images = 0;          // the number of pools that wait for their images
  // The number of pools that went dark after their update. Joining pools that have never been healthy do not count.
  std::size_t dark = 0;
  // The number of pools that were not updated, and went offline after the first dark pool was updated. Pools that have
  // joined since then do not count.
  std::size_t control_offline = 0;
  std::size_t failed = 0;  // the number of pools that have failed on the goal
  std::size_t failures_allowed = 0;
  // The group in which more pools have failed than its own maxFailures allows, or nullopt if there is none.
  std::optional<std::size_t> failed_group;

  // Returns whether the revision is probably not the reason why the dark pools went offline: at least the same number
  // of other pools, which were not updated, went offline too.
  bool outage() const { return dark > 0 && control_offline >= dark; }
};

RolloutDecision DecideRollout(const RolloutInput& input);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_ROLLOUT_ROLLOUT_H_
