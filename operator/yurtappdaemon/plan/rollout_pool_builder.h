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
  RolloutPoolBuilder(const Snapshot& snapshot, const Target& target)
      : snapshot_(snapshot), target_(target), gates_(snapshot), checks_(snapshot), prefetches_(snapshot) {}

  // Returns the input of DecideRollout for one pool, except its group. Also sets the members of `entry` that depend on
  // this input, such as the gate and the health. `assessment` is null if the pool has no workload.
  RolloutPool Build(const PoolRef& pool, const Assessment* assessment, PoolPlan& entry);

 private:
  PoolHealth HealthOf(const PoolPlan& entry, const UpdateRecord* record) const;
  bool IsOverdue(const PoolPlan& entry, const UpdateRecord* record) const;
  // Returns whether the pool was updated from currentRevision to the target, by this rollout or by an earlier
  // unfinished rollout. A revision that renders the same workload as the target counts as the target.
  bool IsUpdated(const PoolRef& pool, const Assessment& assessment, const PoolHealth& health);
  // Returns whether currentRevision renders the same workload for the pool as `from`, the spec from which the workload
  // was rendered. Replicas and the Service may differ.
  bool IsLikeCurrent(const PoolRef& pool, const RenderSpec& from);
  // Runs the checks of the pool if it was updated, and stores their results in `result` and `entry`. `from` is the spec
  // from which its workload was rendered.
  void Verify(const RenderSpec& from, const UpdateRecord* record, RolloutPool& result, PoolPlan& entry) const;
  void KeepRejection(RolloutPool& result, PoolPlan& entry) const;

  const Snapshot& snapshot_;
  const Target& target_;
  Gates gates_;
  Checks checks_;
  Prefetches prefetches_;
  // The known results of IsLikeCurrent, by the revision and the tolerations. Only for pools without overrides, because
  // the result for a pool with overrides also depends on the overrides.
  std::map<std::pair<const Revision*, std::string>, bool> like_current_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_ROLLOUT_POOL_BUILDER_H_
