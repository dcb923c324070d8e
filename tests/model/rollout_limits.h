// The limits that every decision of a rollout keeps, stated independently of rollout.cc.
#ifndef TESTS_MODEL_ROLLOUT_LIMITS_H_
#define TESTS_MODEL_ROLLOUT_LIMITS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "operator/yurtappdaemon/rollout/rollout.h"

namespace yad::testing {

// The limits of one reconcile. Keeps a reference to the input.
class RolloutLimits {
 public:
  explicit RolloutLimits(const RolloutInput& input) : input_(input) {}

  // Adds a failure to the test for each limit that the decision breaks.
  void Check(const RolloutDecision& decision) const {
    std::size_t online = 0, counted = 0, disturbs = 0, failed = 0, moves = 0;
    std::map<std::size_t, std::size_t> group_pools, group_counted, group_disturbs, group_failed;
    for (std::size_t i = 0; i < input_.pools.size(); ++i) {
      const RolloutPool& pool = input_.pools[i];
      online += !pool.offline;
      ++group_pools[pool.group];
      counted += Counts(pool);
      group_counted[pool.group] += Counts(pool);
      failed += !input_.target_is_current && HasFailed(pool);
      group_failed[pool.group] += !input_.target_is_current && HasFailed(pool);
      if (pool.held && !pool.exists && !input_.target_is_current && input_.has_current) {
        EXPECT_FALSE(decision.pools[i].make_from_target) << pool.name << " is created from the target while it is held";
      }
      if (ClosedGate(pool) && !pool.exists && !input_.target_is_current && input_.has_current) {
        EXPECT_FALSE(decision.pools[i].make_from_target)
            << pool.name << " is created from the target behind a closed gate";
      }
      if (decision.pools[i].step == Step::kNone) continue;
      EXPECT_FALSE(ClosedGate(pool) && !IsRollback(pool)) << pool.name << " starts behind a closed gate";
      EXPECT_TRUE(pool.exists && !pool.on_target) << pool.name << " is updated although it is on the target";
      EXPECT_FALSE(pool.held) << pool.name << " is updated although its site holds it";
      if (!pool.offline && !CountsAsUnavailable(pool)) {
        ++disturbs;
        ++group_disturbs[pool.group];
      }
      moves += decision.pools[i].step == Step::kUpdate && !pool.pool_changed;
    }
    const std::size_t limit = std::max<std::size_t>(input_.strategy.max_unavailable.Of(online), 1);
    if (disturbs > 0) {
      EXPECT_LE(counted + disturbs, limit) << "more than maxUnavailable pools are disturbed";
    }
    for (const auto& [group, number] : group_disturbs) {
      const auto& own = input_.strategy.groups[group].max_unavailable;
      if (own) {
        EXPECT_LE(group_counted[group] + number, std::max<std::size_t>(own->Of(group_pools[group]), 1));
      }
    }
    if (failed > input_.strategy.max_failures.Of(input_.pools.size())) {
      EXPECT_EQ(moves, 0U) << "pools are updated although maxFailures is exceeded";
    }
    for (const auto& [group, number] : group_failed) {
      const auto& own = input_.strategy.groups[group].max_failures;
      if (own && number > own->Of(group_pools[group])) {
        EXPECT_EQ(moves, 0U) << "pools are updated although maxFailures of a group is exceeded";
      }
    }
    if (input_.paused) {
      EXPECT_EQ(disturbs + moves, 0U) << "pools are updated although the daemon is paused";
    }
    if (input_.target_is_current || input_.paused) return;
    CheckOrderOfGroups(decision);
  }

  // Returns true if an outage explains the offline pools: at least as many pools went offline without the update as
  // with it.
  bool IsOutage() const {
    WallTime since = WallTime::max();
    int offline = 0, control = 0;
    for (const RolloutPool& pool : input_.pools) {
      if (!pool.offline_after_update || IsExempt(pool)) continue;
      ++offline;
      since = std::min(since, pool.updated_at);
    }
    for (const RolloutPool& pool : input_.pools) {
      const bool joined_later = !pool.exists || pool.created_at >= since;
      control +=
          pool.offline && !pool.offline_after_update && !pool.updated && !joined_later && pool.offline_since >= since;
    }
    return offline > 0 && control >= offline;
  }

 private:
  // Returns true if the pool is unhealthy, or was updated by this rollout and is not yet soaked and verified
  // (docs/api.md).
  static bool CountsAsUnavailable(const RolloutPool& pool) {
    if (pool.offline) return pool.offline_after_update;
    return !pool.healthy || (pool.updated && !(pool.soaked && pool.verified));
  }
  bool OnlyJoining(std::size_t group) const {
    return std::all_of(input_.pools.begin(), input_.pools.end(),
                       [&](const RolloutPool& pool) { return pool.group != group || !pool.exists || pool.joining; });
  }
  bool IsExempt(const RolloutPool& pool) const {
    return pool.joining && !pool.been_healthy && !OnlyJoining(pool.group);
  }
  bool HasFailed(const RolloutPool& pool) const {
    if (pool.check_failed) return true;
    if (IsExempt(pool) || (pool.offline && !pool.offline_after_update) || (pool.offline_after_update && IsOutage()))
      return false;
    return pool.overdue && pool.updated && (pool.on_target || !pool.soaked);
  }
  // Returns true if no update of the pool may start, except in a rollback.
  bool ClosedGate(const RolloutPool& pool) const { return input_.frozen || pool.outside_window; }
  // Returns true if the rollout is a rollback and the pool is not on the target.
  bool IsRollback(const RolloutPool& pool) const { return input_.target_is_current && !pool.label_names_target; }
  bool IsRollback() const {
    return input_.target_is_current &&
           std::any_of(input_.pools.begin(), input_.pools.end(), [](const RolloutPool& pool) {
             return pool.exists && !pool.held && !pool.on_target && !pool.pool_changed;
           });
  }
  // Returns true if the pool must count for maxUnavailable. A pool whose deadline was over before its update may count
  // or not. In a rollback, a failed pool counts unless its site holds it.
  bool Counts(const RolloutPool& pool) const {
    if (!CountsAsUnavailable(pool) || IsExempt(pool)) return false;
    if ((!IsRollback() || pool.held) && HasFailed(pool)) return false;
    return !(pool.overdue && !(pool.updated && pool.on_target));
  }
  // Checks that a group starts only when the groups before it are done.
  void CheckOrderOfGroups(const RolloutDecision& decision) const {
    std::size_t open = 0;
    for (std::size_t i = 0; i < input_.pools.size(); ++i) {
      if (decision.pools[i].step == Step::kUpdate && !input_.pools[i].pool_changed)
        open = std::max(open, input_.pools[i].group);
    }
    for (const RolloutPool& pool : input_.pools) {
      if (pool.group >= open || (pool.offline && !pool.offline_after_update) || (pool.held && !pool.on_target))
        continue;
      if (HasFailed(pool) || (pool.on_target && (pool.overdue || pool.check_failed || !CountsAsUnavailable(pool))))
        continue;
      ADD_FAILURE() << "a later group is updated before " << pool.name;
    }
  }

  const RolloutInput& input_;
};

}  // namespace yad::testing

#endif  // TESTS_MODEL_ROLLOUT_LIMITS_H_
