// PlanMemo with many workloads that are alike.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "operator/yurtappdaemon/plan/assess.h"
#include "tests/unit/yurtappdaemon/builders.h"
#include "tests/unit/yurtappdaemon/plan_builders.h"

namespace yad::testing {
namespace {

void SetEnv(Json& workload, const std::string& value) {
  PodSpecOf(workload)["containers"][0]["env"] = {{{"name", "pool"}, {"value", value}}};
}

// Returns functions that change a live workload. A plan reverts some of these changes and keeps the others.
std::vector<std::function<void(Json&)>> ChangesOfWorkloads() {
  return {
      [](Json&) {},
      [](Json& workload) { workload["status"] = Json::object(); },
      [](Json& workload) { workload["spec"]["replicas"] = 2; },
      [](Json& workload) {  // It has the replicas of a later revision.
        workload["spec"]["replicas"] = 7;
        Json& record = workload["metadata"]["annotations"][kRenderedFromAnnotation];
        Json inputs = Json::parse(record.get<std::string>());
        inputs["replicas"] = 7;
        record = inputs.dump();
      },
      [](Json& workload) { workload["spec"]["paused"] = true; },
      [](Json& workload) { workload["metadata"]["labels"]["app"] = "other"; },
      [](Json& workload) { workload["metadata"]["labels"][kPoolNameLabel] = "p0"; },
      [](Json& workload) { workload["metadata"]["annotations"][kRefNodePoolAnnotation] = "p0"; },
      [](Json& workload) { workload["metadata"]["annotations"].erase(kRenderedFromAnnotation); },
      [](Json& workload) { workload["metadata"]["labels"].erase(kRevisionLabel); },
      [](Json& workload) { workload["metadata"]["ownerReferences"][0]["controller"] = false; },
      [](Json& workload) { workload["spec"]["template"]["metadata"]["labels"][kPoolNameLabel] = "p0"; },
      [](Json& workload) { PodSpecOf(workload)["nodeSelector"][kNodePoolLabel] = "p0"; },
      [](Json& workload) { PodSpecOf(workload)["nodeSelector"].erase(kNodePoolLabel); },
      [](Json& workload) { PodSpecOf(workload)["containers"][0]["image"] = "evil"; },
      [](Json& workload) { SetEnv(workload, "p0"); },
      [](Json& workload) { SetEnv(workload, "p16"); },
  };
}

Json PoolOfKind(int number, bool tainted, bool in_zone) {
  Json pool =
      PoolJson("p" + std::to_string(number), tainted ? std::vector<std::string>{"x"} : std::vector<std::string>());
  if (in_zone) pool["metadata"]["labels"]["zone"] = "z";
  return pool;
}

// Returns objects with 32 workloads for each change. They differ in their revision, in their pool when they were
// created, and in the pool now.
ClusterObjects ObjectsOfManyWorkloads(const Json& plain, const Json& overriding) {
  ClusterObjects objects;
  objects.older = {MakeRevision(plain), MakeRevision(overriding)};
  objects.current = objects.older[0];
  int number = 0;
  for (const auto& change : ChangesOfWorkloads()) {
    for (int kind = 0; kind < 32; ++kind, ++number) {
      const Json& made_by = (kind & 1) != 0 ? plain : overriding;
      const RevisionPtr& revision = objects.older[(kind & 1) != 0 ? 0 : 1];
      objects.pools.push_back(PoolOfKind(number, (kind & 2) != 0, (kind & 4) != 0));
      const Json before = PoolOfKind(number, (kind & 8) != 0, (kind & 16) != 0);  // the pool at that time
      objects.workloads.push_back(WorkloadJson(made_by, revision, before));
      change(objects.workloads.back());
    }
  }
  return objects;
}

Assessment AssessIn(const Snapshot& snapshot, const WorkloadRef& workload, PlanMemo& memo) {
  const auto pool = std::find_if(snapshot.pools.begin(), snapshot.pools.end(),
                                 [&](const PoolRef& one) { return one.pool().name == workload.pool; });
  return Assess(snapshot, Target{snapshot.update}, *pool, workload, memo);
}

// An assessment may be reused only for a workload that is equal in all relevant fields. So one memo for all workloads
// must have the same results as a memo for each workload. Under sanitizers, only one daemon is tried. model_test also
// runs this file, optimized and with all daemons.
TEST(PlanMemoTest, SharedMemoGivesTheAssessmentsOfSeparateMemos) {
  const Json plain = DaemonJson("app:1");
  Json overriding = DaemonJson("app:2");
  overriding["spec"]["overrides"] = R"([{"nodepoolSelector": {"matchLabels": {"zone": "z"}}, "patch": {"spec": {
      "template": {"spec": {"containers": [{"name": "main", "env": [{"name": "pool", "value": "{{nodepool}}"}]}]}}}}}])"_json;
#ifdef NDEBUG
  const std::vector<Json> daemons = {plain, Paused(plain), overriding, Paused(overriding), OnDelete(overriding)};
#else
  const std::vector<Json> daemons = {overriding};
#endif
  ClusterObjects objects = ObjectsOfManyWorkloads(plain, overriding);
  std::set<WorkloadAction> seen;
  for (const Json& daemon : daemons) {
    objects.daemon = daemon;
    Snapshot snapshot = objects.Take();
    std::map<std::string, Assessment> alone;
    for (const WorkloadRef& workload : snapshot.workloads) {
      PlanMemo memo;
      alone[workload.pool] = AssessIn(snapshot, workload, memo);
      seen.insert(alone[workload.pool].action);
    }
    for (int order = 0; order < 2; ++order) {
      PlanMemo shared;
      for (const WorkloadRef& workload : snapshot.workloads) {
        EXPECT_EQ(AssessIn(snapshot, workload, shared), alone[workload.pool]) << workload.object->Parse().dump();
      }
      std::reverse(snapshot.workloads.begin(), snapshot.workloads.end());
    }
  }
  EXPECT_THAT(seen,
              ::testing::UnorderedElementsAre(WorkloadAction::kNone, WorkloadAction::kUpdate, WorkloadAction::kRepair));
}

}  // namespace
}  // namespace yad::testing
