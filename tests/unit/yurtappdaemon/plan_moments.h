// Plans of a moment, and moments of which several tests need a plan.
#ifndef TESTS_UNIT_YURTAPPDAEMON_PLAN_MOMENTS_H_
#define TESTS_UNIT_YURTAPPDAEMON_PLAN_MOMENTS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/yurtappdaemon/plan/plan.h"
#include "tests/unit/yurtappdaemon/builders.h"

namespace yad::testing {

inline Plan PlanOf(const Moment& moment) {
  PlanMemo memo;
  return MakePlan(moment.Take(), memo);
}

// Returns the plan of a moment with one pool.
inline PoolPlan OnePool(const Moment& moment) {
  const Plan plan = PlanOf(moment);
  EXPECT_THAT(plan.pools, ::testing::SizeIs(1));
  return plan.pools.at(0);
}

// Returns the workload that the plan writes over the live one.
inline Json Put(const Moment& moment, const PoolPlan& pool) {
  const auto merged = MergedWorkload(*ParseYurtAppDaemon(moment.daemon), pool, pool.workload->object->Parse());
  EXPECT_TRUE(merged) << merged.error().message;
  return merged.value_or(Json());
}

// Returns a moment with one pool whose workload was created from app:1; `daemon` has the current spec.
inline Moment OnOldRevision(const Json& daemon, const Json& pool = PoolJson("a")) {
  Moment moment;
  moment.daemon = daemon;
  moment.pools = {pool};
  moment.current = MakeRevision(DaemonJson("app:1"));
  moment.workloads = {WorkloadJson(DaemonJson("app:1"), moment.current, pool)};
  return moment;
}

inline Json Paused(Json daemon) {
  daemon["spec"]["paused"] = true;
  return daemon;
}
inline Json OnDelete(Json daemon) {
  daemon["spec"]["updateStrategy"] = {{"type", "OnDelete"}};
  return daemon;
}

}  // namespace yad::testing

#endif  // TESTS_UNIT_YURTAPPDAEMON_PLAN_MOMENTS_H_
