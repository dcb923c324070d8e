// Plans, and objects for which several tests need a plan.
#ifndef TESTS_UNIT_YURTAPPDAEMON_PLAN_BUILDERS_H_
#define TESTS_UNIT_YURTAPPDAEMON_PLAN_BUILDERS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/yurtappdaemon/plan/plan.h"
#include "tests/unit/yurtappdaemon/builders.h"

namespace yad::testing {

inline Plan PlanOf(const ClusterObjects& objects) {
  PlanMemo memo;
  return MakePlan(objects.Take(), memo);
}

// Returns the plan for objects with one pool.
inline PoolPlan OnePool(const ClusterObjects& objects) {
  const Plan plan = PlanOf(objects);
  EXPECT_THAT(plan.pools, ::testing::SizeIs(1));
  return plan.pools.at(0);
}

// Returns the workload with which the plan replaces the live workload.
inline Json Put(const ClusterObjects& objects, const PoolPlan& pool) {
  const auto merged = MergedWorkload(*ParseYurtAppDaemon(objects.daemon), pool, pool.workload->object->Parse());
  EXPECT_TRUE(merged) << merged.error().message;
  return merged.value_or(Json());
}

// Returns objects with one pool whose workload was created from app:1; `daemon` has the current spec.
inline ClusterObjects OnOldRevision(const Json& daemon, const Json& pool = PoolJson("a")) {
  ClusterObjects objects;
  objects.daemon = daemon;
  objects.pools = {pool};
  objects.current = MakeRevision(DaemonJson("app:1"));
  objects.workloads = {WorkloadJson(DaemonJson("app:1"), objects.current, pool)};
  return objects;
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

#endif  // TESTS_UNIT_YURTAPPDAEMON_PLAN_BUILDERS_H_
