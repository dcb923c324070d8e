// The conditions of a daemon's status (docs/api.md). Pure.
#ifndef OPERATOR_YURTAPPDAEMON_REPORT_DAEMON_CONDITIONS_H_
#define OPERATOR_YURTAPPDAEMON_REPORT_DAEMON_CONDITIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "operator/api/conditions.h"
#include "operator/yurtappdaemon/report/pool_view.h"
#include "operator/yurtappdaemon/report/rollout_progress.h"

namespace yad {

// The number of a daemon's pools in each situation.
struct PoolCounts {
  std::int64_t desired = 0, updated = 0, ready = 0, failed = 0, offline = 0, provisioned = 0;
  std::int64_t invalid_names = 0;     // pools that can't have nodes (InvalidPoolName)
  std::int64_t waiting_for_user = 0;  // pools whose update a user delays
  // True if a hold annotation blocks one of these updates. The command `kubectl yad release` removes this annotation.
  bool release_helps = false;
  std::int64_t waiting = 0;  // pools whose update the rollout will start later, without a user
  // Unfinished updates to updateRevision that no user delays. Failed updates do not count, except those that the
  // rollout waits for (IsAwaitedAfterFailedWrite).
  std::int64_t on_their_way = 0;
  std::int64_t in_motion = 0;          // pools in phase Updating, Soaking or Verifying
  std::int64_t settled = 0;            // pools whose update has finished, even if they are unhealthy now
  std::int64_t unsettled = 0;          // pools whose update has neither finished nor failed
  std::int64_t unassigned = 0;         // pools that need an update, or that this reconcile has updated
  std::int64_t deadline_exceeded = 0;  // failures on updateRevision: not healthy within the deadline
  std::int64_t rejected = 0;           // failures on updateRevision: rejected writes, and checks
  std::int64_t unwritten = 0;          // the failures of `rejected` in pools that do not have updateRevision
  std::int64_t other_cause = 0;        // failures that the revision does not cause
  std::vector<std::string> not_ready;  // names and phases of pools that are not ready
  const PoolView* first_failure = nullptr;
  const PoolView* first_of_rollout = nullptr;  // the first pool that failures() or other_cause counts
  RolloutNumbers rollout;                      // only for RollingUpdate

  std::int64_t failures() const { return deadline_exceeded + rejected; }
  // Returns whether all pools that can have nodes are Offline.
  bool all_offline() const { return offline > 0 && offline + invalid_names == desired; }
};
// `views` are the views of input.pools.
PoolCounts CountPools(const std::vector<PoolView>& views, const StatusInput& input);

// Returns whether all pools have finished their update to updateRevision. Failures do not matter if maxFailures allows
// them.
bool IsRolledOut(const PoolCounts& counts, const StatusInput& input);

// Sets Ready, Complete, Progressing, Degraded and Paused; sets or removes Reconciling and Stalled.
void SetConditions(const StatusInput& input, const PoolCounts& counts, Conditions& conditions);

// Sets the conditions for a spec that the operator does not act on.
void SetBlockedConditions(const std::string& reason, const std::string& message, Conditions& conditions);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REPORT_DAEMON_CONDITIONS_H_
