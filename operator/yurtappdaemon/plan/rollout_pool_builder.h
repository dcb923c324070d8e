// Converts the snapshot of a pool to its input for DecideRollout. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_PLAN_ROLLOUT_POOL_BUILDER_H_
#define OPERATOR_YURTAPPDAEMON_PLAN_ROLLOUT_POOL_BUILDER_H_

#include <map>
#include <string>
#include <utility>

#include "operator/yurtappdaemon/plan/checks.h"
#include "operator/yurtappdaemon/plan/pool_plan.h"

namespace yad {

// One object for each plan; not thread-safe.
class RolloutPoolBuilder {
 public:
  RolloutPoolBuilder(const Snapshot& snapshot, const Goal& goal)
      : snapshot_(snapshot), goal_(goal), gates_(snapshot), checks_(snapshot), prefetches_(snapshot) {}

  // Returns the pool without its group. Records the pool's gate and health in `entry`. `assessment` is null if the pool
  // has no workload.
  RolloutPool Build(const PoolRef& pool, const Assessment* assessment, PoolPlan& entry);

 private:
  PoolHealth HealthOf(const PoolPlan& entry, const UpdateRecord* record) const;
  bool IsOverdue(const PoolPlan& entry, const UpdateRecord* record) const;
  // Returns whether this rollout, or an unfinished one before it, updated the pool from currentRevision to the goal. A
  // revision with the same rendering as the goal counts as the goal.
  bool IsUpdated(const PoolRef& pool, const Assessment& assessment, const PoolHealth& health);
  // Returns whether currentRevision gives the same rendering as `from`, the origin of the workload. Replicas and the
  // Service may differ.
  bool IsLikeCurrent(const PoolRef& pool, const RenderSpec& from);
  // Runs the checks of an updated pool. `from` is the origin of its workload.
  void Verify(const RenderSpec& from, const UpdateRecord* record, RolloutPool& result, PoolPlan& entry) const;
  void KeepRejection(RolloutPool& result, PoolPlan& entry) const;

  const Snapshot& snapshot_;
  const Goal& goal_;
  Gates gates_;
  Checks checks_;
  Prefetches prefetches_;
  // Results of IsLikeCurrent for pools without overrides, where they depend only on the revision and the tolerations.
  std::map<std::pair<const Revision*, std::string>, bool> like_current_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_ROLLOUT_POOL_BUILDER_H_
