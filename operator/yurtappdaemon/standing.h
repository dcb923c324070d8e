// The standing of each pool in a rollout: from a snapshot to the input of DecideRollout. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_STANDING_H_
#define OPERATOR_YURTAPPDAEMON_STANDING_H_

#include <map>
#include <string>
#include <utility>

#include "operator/yurtappdaemon/plan.h"

namespace yad {

// One for each plan; not thread-safe.
class Standings {
 public:
  Standings(const Snapshot& snapshot, const Goal& goal) : snapshot_(snapshot), goal_(goal) {}

  // `verdict` is null for a pool without a workload. Notes the pool's health in `entry`.
  RolloutPool Of(const PoolRef& pool, const Verdict* verdict, PoolPlan& entry);

 private:
  PoolHealth HealthOf(const PoolPlan& entry, const UpdateRecord* record) const;
  bool IsOverdue(const PoolPlan& entry, const UpdateRecord* record) const;
  // Whether this rollout, or an unfinished one before it, took the pool away from currentRevision, and the goal renders
  // what the pool has.
  bool IsUpdated(const PoolRef& pool, const Verdict& verdict, const PoolHealth& health);
  // Whether currentRevision renders what the workload was made from, but for replicas and the Service.
  bool IsLikeCurrent(const PoolRef& pool, const Target& from);
  void NoteRefusal(RolloutPool& standing, PoolPlan& entry) const;

  const Snapshot& snapshot_;
  const Goal& goal_;
  // Answers of IsLikeCurrent where no override applies: they depend on the revision and the tolerations only.
  std::map<std::pair<const Revision*, std::string>, bool> like_current_;
};

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_STANDING_H_
