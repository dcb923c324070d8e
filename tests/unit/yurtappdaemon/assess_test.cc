// PlanMemo: reused assessments, and repairs that the server reverts.
#include "operator/yurtappdaemon/plan/assess.h"

#include <gtest/gtest.h>

#include "operator/yurtappdaemon/plan/plan.h"
#include "tests/unit/yurtappdaemon/builders.h"
#include "tests/unit/yurtappdaemon/plan_builders.h"

namespace yad::testing {
namespace {

TEST(PlanMemoTest, ARepairThatTheServerRevertsIsNotRepeatedUntilSomethingChanges) {
  ClusterObjects objects{.pools = {PoolJson("a")}};
  PodSpecOf(objects.Deployed().workloads[0])["containers"][0]["image"] = "mirror/app:1";  // as the webhook changes it
  PlanMemo memo;
  Plan plan = MakePlan(objects.Take(), memo);
  ASSERT_EQ(plan.pools[0].action, WorkloadAction::kRepair);
  const WorkloadRef live = *plan.pools[0].workload;
  const Json object = live.object->Parse();
  memo.RecordNotKept(live.object->meta().key.name, RenderSpecFingerprint(plan.pools[0].to),
                     ChangesOfMerge(object, Put(objects, plan.pools[0])).digest);
  EXPECT_EQ(MakePlan(objects.Take(), memo).pools[0].action, WorkloadAction::kNone);
  EXPECT_EQ(MakePlan(objects.Take(), memo).pools[0].action, WorkloadAction::kNone) << "the memo has the result";

  ClusterObjects annotated = objects;
  annotated.workloads[0]["metadata"]["annotations"]["another-tool"] = "x";
  EXPECT_EQ(MakePlan(annotated.Take(), memo).pools[0].action, WorkloadAction::kNone)
      << "the annotation is not a field of the operator";
  ClusterObjects scaled = objects;
  scaled.workloads[0]["metadata"]["generation"] = 2;
  EXPECT_EQ(MakePlan(scaled.Take(), memo).pools[0].action, WorkloadAction::kRepair) << "another client wrote the spec";

  ClusterObjects edited = objects;
  edited.workloads[0]["metadata"]["labels"]["app"] = "evil";
  EXPECT_EQ(MakePlan(edited.Take(), memo).pools[0].action, WorkloadAction::kRepair)
      << "another client changed the label";
  objects.daemon = DaemonJson("app:2");
  objects.older = {MakeRevision(DaemonJson("app:1"))};
  EXPECT_EQ(MakePlan(objects.Take(), memo).pools[0].action, WorkloadAction::kUpdate) << "a new render spec";
}

TEST(PlanMemoTest, ReleasesTheRevisionsOfEarlierRollouts) {
  PlanMemo memo;
  std::vector<std::weak_ptr<const Revision>> rollouts;
  RevisionPtr before;
  for (int i = 0; i < 5; ++i) {
    ClusterObjects objects{.daemon = DaemonJson("app:" + std::to_string(i)), .pools = {PoolJson("a"), PoolJson("b")}};
    Snapshot snapshot = objects.Take();
    const RevisionPtr update = snapshot.update;
    rollouts.push_back(update);
    // First, all pools have the old revision, then the new revision.
    for (const RevisionPtr& made_by : {before, update}) {
      if (made_by == nullptr) continue;
      snapshot.workloads.clear();
      for (const Json& pool : objects.pools) {
        snapshot.workloads.push_back(MakeWorkload(WorkloadJson(objects.daemon, made_by, pool)));
      }
      snapshot.revisions = {update, made_by};
      MakePlan(snapshot, memo);
    }
    before = update;
  }
  EXPECT_TRUE(rollouts.front().expired());
  EXPECT_FALSE(rollouts.back().expired());
}

TEST(PlanMemoTest, AssessmentIsReusedOnlyForTheSameInputs) {
  ClusterObjects objects = OnOldRevision(Paused(DaemonJson("app:2")));
  PlanMemo memo;
  const auto action = [&] { return MakePlan(objects.Take(), memo).pools[0].action; };
  EXPECT_EQ(action(), WorkloadAction::kNone);
  objects.daemon = DaemonJson("app:2");
  EXPECT_EQ(action(), WorkloadAction::kUpdate) << "the daemon is resumed";
  objects.daemon = DaemonJson("app:1");
  EXPECT_EQ(action(), WorkloadAction::kNone);
  objects.pools = {PoolJson("a", {"x"})};
  EXPECT_EQ(action(), WorkloadAction::kUpdate) << "the pool has a new taint";
  objects.pools = {PoolJson("a")};
  EXPECT_EQ(action(), WorkloadAction::kNone);
  objects.workloads[0]["status"] = Json::object();
  EXPECT_EQ(action(), WorkloadAction::kNone) << "an assessment does not depend on status";
  objects.workloads[0]["spec"]["replicas"] = 2;
  EXPECT_EQ(action(), WorkloadAction::kRepair) << "another client edited the workload";
}

TEST(PlanMemoTest, TaintsWhoseConcatenatedTextsAreEqualAreDistinct) {
  Json a = PoolJson("a", {"x"}), b = PoolJson("b", {"xPrefer"});
  a["spec"]["taints"][0]["effect"] = "PreferNoSchedule";
  ClusterObjects objects{.pools = {PoolJson("a"), PoolJson("b")}};
  objects.Deployed();
  objects.pools = {a, b};
  PlanMemo memo;
  const Plan plan = MakePlan(objects.Take(), memo);
  EXPECT_EQ(plan.pools[0].to.inputs.tolerations.at(0).key, "x");
  EXPECT_EQ(plan.pools[1].to.inputs.tolerations.at(0).key, "xPrefer");
}

TEST(ChangesOfMergeTest, DependsOnThePathsThatDifferAndTheirValues) {
  const Json live = {{"metadata", {{"generation", 3}, {"labels", {{"a/b", "1"}}}}}, {"spec", {{"list", {1, 2}}}}};
  const auto change = [&](const char* pointer, const Json& value) {
    Json merged = live;
    merged[Json::json_pointer(pointer)] = value;
    return ChangesOfMerge(live, merged);
  };
  EXPECT_EQ(ChangesOfMerge(live, live).at, "");
  EXPECT_EQ(change("/metadata/labels/a~1b", "2").at, "/metadata/labels/a~1b");
  EXPECT_EQ(change("/metadata/labels/c", "2").at, "/metadata/labels/c");
  EXPECT_EQ(change("/spec/list/1", 3).at, "/spec/list/1");
  EXPECT_EQ(change("/spec/list/2", 3).at, "/spec/list/2");
  EXPECT_EQ(change("/spec/list", {1}).at, "/spec/list/1");
  EXPECT_EQ(change("/spec/list", "x").at, "/spec/list");
  EXPECT_EQ(change("/spec/list/1", 3).digest, change("/spec/list/1", 3).digest);
  EXPECT_NE(change("/spec/list/1", 3).digest, change("/spec/list/1", 4).digest);
  EXPECT_NE(change("/spec/list/1", 3).digest, change("/spec/list/0", 3).digest);
  Json other = live, merged = live;
  other["spec"]["list"][1] = 7;
  merged["spec"]["list"][1] = 3;
  EXPECT_NE(ChangesOfMerge(other, merged).digest, ChangesOfMerge(live, merged).digest);
  other = live;
  other["metadata"]["generation"] = 4;
  merged["metadata"]["generation"] = 4;
  EXPECT_NE(ChangesOfMerge(other, merged).digest, change("/spec/list/1", 3).digest);
}

// A user may create a workload that is as large as etcd allows.
TEST(ChangesOfMergeTest, ShorterListDiffersAtItsFirstMissingItem) {
  const Json live = {{"spec", {{"list", Json(350'000, 1)}}}}, merged = {{"spec", {{"list", {1}}}}};
  EXPECT_EQ(ChangesOfMerge(live, merged).at, "/spec/list/1");
}

TEST(PlanMemoTest, RevertedRepairDoesNotAffectASimilarWorkload) {
  ClusterObjects objects{.pools = {PoolJson("a"), PoolJson("b")}};
  objects.Deployed();
  for (Json& workload : objects.workloads) workload["metadata"]["ownerReferences"][0]["controller"] = false;
  PlanMemo memo;
  const Plan plan = MakePlan(objects.Take(), memo);
  ASSERT_EQ(plan.pools[0].action, WorkloadAction::kRepair);
  const WorkloadRef live = *plan.pools[0].workload;
  memo.RecordNotKept(live.object->meta().key.name, RenderSpecFingerprint(plan.pools[0].to),
                     ChangesOfMerge(live.object->Parse(), Put(objects, plan.pools[0])).digest);
  const Plan again = MakePlan(objects.Take(), memo);
  EXPECT_EQ(again.pools[0].action, WorkloadAction::kNone);
  EXPECT_EQ(again.pools[1].action, WorkloadAction::kRepair);
}

}  // namespace
}  // namespace yad::testing
