// Decides for updateStrategy RollingUpdate which pools may be updated now, and why the others wait. Pure: the decision
// depends only on its input, and all of the input is in the cluster.
//
// Terms:
//
// - target: the revision that the pools must have at the end
// - soak: the time minReadySeconds, for which an updated pool must stay healthy
// - slot: the permission for one pool to be unavailable; there are maxUnavailable slots
// - gate: an update window or the freeze
// - held pool: a pool whose updates are blocked by its site, by invalid windows, or by maintenance of a Node
// - joining pool: a pool that was first selected during the rollout
//
// A rollout has one of two directions:
//
// - out: to a new revision. The rollout goes group by group, omits the pools of the partition, and stops when more
//   pools than maxFailures have failed.
// - back: to status.currentRevision, on which all pools were healthy. A user's undo or onFailure Rollback starts it.
//   Groups, approvals, the partition and failures do not stop it.
//
// These limits delay the start of an update:
//
// - Slots: in both directions, and for updates after a change of the pool itself.
// - Gates: in direction `out`. A group waits for its delayed pools.
// - Holds: in both directions. The group of a held pool finishes without it.
// - Prefetch: a pool waits until its nodes have pulled the new images. These pools do not wait: the pools of the first
//   group, which show whether the revision works at all; offline pools; pools in a rollback.
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

// The state of the target's new images for a pool.
enum class NewImages {
  kNone,     // nothing has to be pulled before the update
  kMissing,  // the nodes do not have all images yet
  kLate,     // missing after the timeout; the update still waits (onTimeout Wait)
  kPulled,   // the nodes have the images, or the update no longer waits for them
};

// One selected pool.
struct RolloutPool {
  std::string_view name;
  std::size_t group = 0;  // index in RollingUpdate::groups
  bool offline = false;   // no node is ready
  // The pool is offline, and its update may be the cause: it was online when it was updated, and went offline before it
  // finished its soak and its checks.
  bool offline_after_update = false;
  bool creation_blocked = false;  // its workload can't be created for a reason outside the revision, such as a quota
  // The server rejected the pool's update to the target for a reason outside the revision, such as a quota.
  bool update_blocked = false;
  // The last write of the target failed because of a webhook, or because the operator lacks a permission. This may
  // affect all pools, so the group is not done without this pool. But other pools are updated before the write is
  // retried.
  bool write_failed = false;
  bool held = false;            // see the terms above
  bool outside_window = false;  // none of its update windows is open
  bool exists = false;          // it has a workload that is not being deleted
  bool deletion_late = false;   // its workload has been terminating for longer than progressDeadlineSeconds
  bool on_target = false;       // its workload equals the rendered workload of the target
  // True if this rollout updated the pool to the target. The health of the pool then shows whether the target works.
  bool updated = false;
  bool label_names_target = false;  // its workload's label refers to the target
  bool joining = false;             // its workload was created from the target when the pool was first selected
  bool pool_changed = false;        // the pool has changed since its workload was rendered
  bool healthy = false;             // the workload is healthy in its current generation
  bool been_healthy = false;        // it was healthy on its current revision at least once
  bool soaked = false;              // healthy for minReadySeconds on this revision, at least once
  bool verified = true;             // its update has passed all checks, or needs no checks
  bool check_failed = false;
  bool overdue = false;       // exceeded progressDeadlineSeconds of the rollout or of its Deployment
  bool rejected = false;      // the server rejected the target for this pool, which counts as a failure
  bool unrenderable = false;  // the target can't be rendered for this pool
  NewImages images = NewImages::kNone;
  WallTime window_opens = {};             // only with outside_window: the next opening; max: unknown
  WallTime updated_at = {};               // only if offline_after_update
  WallTime created_at = WallTime::min();  // when a RollingUpdate created its workload; min: unknown
  WallTime offline_since = {};            // only for offline pools
  WallTime deletion_due = {};             // only while its workload terminates: when deletion_late becomes true
};

// The length of a turn (RolloutInput::turn). WritePace delays the retries of a pool by up to 5 min. The delay may
// start again from 1 s in each turn, so it could not grow to 5 min in a shorter turn.
inline constexpr std::chrono::minutes kRetryTurn{15};

struct RolloutInput {
  const RollingUpdate& strategy;
  bool paused = false;
  bool frozen = false;             // a freeze is in force, or the operator can't run checks or prefetches
  bool target_is_current = false;  // the target is status.currentRevision
  // True if the revision in the spec has failed. If this revision is also the target, there is no other revision to
  // roll back to, so no update starts.
  bool revision_failed = false;
  // True if the rollout of the target was complete once: all pools had the target, except failed pools that maxFailures
  // allowed. An update to the target is then not a rollback, so windows and the freeze delay it.
  bool target_complete = false;
  // True if all pools have finished their update, but status.currentRevision is not the target yet, for example because
  // a removal is blocked. Later failures then neither stop the rollout nor start a rollback.
  bool all_updated = false;
  // True if the rollout to the target was complete once. Later failures of pools that had finished their update do not
  // count in this case. Unlike all_updated, this stays true when a pool joins or has to be updated again.
  bool was_complete = false;
  bool has_current = false;
  // Failed updates take turns: while this number is the same, the same failed update is retried before the others. The
  // number increases every kRetryTurn.
  std::uint64_t turn = 0;
  std::set<std::string> approved = {};  // approved groups, and groups whose update to the target has begun
  std::vector<RolloutPool> pools = {};  // sorted by name
};

// The update of one pool.
enum class Step {
  kNone,
  kUpdate,    // to the target
  kRerender,  // to the pool's own revision, rendered again because the pool has changed
};

// The state of a rollout as a whole.
enum class RolloutState {
  kComplete,            // all pools are updated, except those that the partition or a hold blocks
  kProgressing,         // updates run, or updated pools are not yet healthy, soaked and checked
  kWaitingForApproval,  // the rollout waits for the approval of `group`
  kWaitingForWindow,    // all remaining updates wait for update windows
  kFrozen,              // all remaining updates wait for the end of the freeze
  kOutage,              // pools that were not updated went offline together with updated pools, so no update starts
  kBudgetExceeded,      // more pools have failed than maxFailures allows, so no update starts
  kPaused,
};

struct RolloutDecision {
  struct Pool {
    std::size_t group = 0;  // RolloutPool::group
    Step step = Step::kNone;
    bool make_from_target = true;  // a missing workload is created from the target; false: from currentRevision
    WaitingFor waiting_for = WaitingFor::kNone;
    bool waits = false;           // the rollout will start the pool's update later, without a user
    bool waits_for_user = false;  // a user delays the pool's update: partition, hold, freeze, window, pause, approval
    bool failed = false;          // the pool has failed on the target, and counts for maxFailures
    bool excused = false;         // the pool has joined, and its failures do not count for maxFailures
    bool prefetch = false;        // the DaemonSet that pulls the new images for the pool is needed
  };
  std::vector<Pool> pools;  // in the order of the input
  RolloutState state = RolloutState::kComplete;
  std::set<std::string> begun;  // approved groups whose updates have begun
  // True if the rollout has failed and onFailure is Rollback. The caller then marks the target as failed, and calls
  // DecideRollout again.
  bool roll_back = false;
  // The fields below are for messages.
  std::size_t group = 0;         // the current group
  std::size_t group_number = 0;  // 1 for the first group that has pools
  std::size_t groups = 0;        // the number of groups that have pools
  std::size_t back = 0;          // only in a rollback: the number of pools that are done on the target
  // Pools that must become healthy, soak or pass their checks before the rollout continues.
  std::vector<std::string_view> waiting;
  std::vector<std::string_view> held;      // pools whose update only a hold blocks
  std::vector<std::string_view> rejected;  // pools whose rollback the server rejects
  std::size_t delayed = 0;                 // the number of pools that wait for a window or for the end of the freeze
  std::size_t without_images = 0;          // the number of pools that wait for their images
  // The number of pools that went offline after their update (RolloutPool::offline_after_update). Joining pools that
  // have never been healthy do not count.
  std::size_t offline_after_update = 0;
  // The number of pools that went offline without an update in the same period. The period begins with the first update
  // after which a pool went offline. Pools that were created later do not count.
  std::size_t control_offline = 0;
  std::size_t failed = 0;  // the number of pools that have failed on the target
  std::size_t failures_allowed = 0;
  // The first group that exceeds its own maxFailures, or nullopt.
  std::optional<std::size_t> failed_group;

  // Returns whether updated pools probably went offline because of an outage, and not because of the revision. This is
  // the case if at least as many pools went offline without an update.
  bool outage() const { return offline_after_update > 0 && control_offline >= offline_after_update; }
  // Returns whether the pool has failed, and its failure stops the rollout. If only the maxFailures of a group is
  // exceeded, the failures in other groups do not stop the rollout.
  bool StopsRollout(const Pool& pool) const {
    return pool.failed && (!failed_group || failed > failures_allowed || pool.group == *failed_group);
  }
};

RolloutDecision DecideRollout(const RolloutInput& input);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_ROLLOUT_ROLLOUT_H_
