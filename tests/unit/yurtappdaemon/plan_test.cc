// Plans: the write of each pool, and the removals.
#include "operator/yurtappdaemon/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/yurtappdaemon/builders.h"
#include "tests/unit/yurtappdaemon/plan_builders.h"

namespace yad::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// ---- workloads that stay, are created, or are removed ----

TEST(PlanTest, UpToDateWorkloadsAreNotWritten) {
  for (const WorkloadKind kind : {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet}) {
    ClusterObjects objects{.daemon = DaemonJson("app:1", kind), .pools = {PoolJson("a"), PoolJson("b", {"x"})}};
    const Plan plan = PlanOf(objects.Deployed());
    for (const PoolPlan& pool : plan.pools) {
      EXPECT_EQ(pool.action, WorkloadAction::kNone) << pool.pool;
      EXPECT_TRUE(pool.on_update);
      EXPECT_FALSE(pool.waits_for_user);
    }
    EXPECT_THAT(plan.removals, IsEmpty());
  }
}

TEST(PlanTest, APoolWithoutAWorkloadGetsOneWithItsTolerationsAndAStableName) {
  const ClusterObjects objects{.pools = {PoolJson("a", {"x"})}};
  const PoolPlan pool = OnePool(objects);
  EXPECT_EQ(pool.action, WorkloadAction::kCreate);
  const Json workload = *NewWorkload(*ParseYurtAppDaemon(objects.daemon), pool);
  EXPECT_EQ(workload["metadata"]["name"], WorkloadName("web", kDaemonUid, "a", WorkloadKind::kDeployment));
  EXPECT_EQ(workload["metadata"]["ownerReferences"][0]["uid"], kDaemonUid);
  EXPECT_EQ(PodSpecOf(const_cast<Json&>(workload))["tolerations"],
            R"([{"key": "x", "operator": "Exists", "effect": "NoSchedule"}])"_json);
}

TEST(PlanTest, APoolWhoseOverrideDoesNotApplyGetsNoWorkloadAndTheOthersDo) {
  ClusterObjects objects{.pools = {PoolJson("a"), PoolJson("b"), PoolJson("c")}};
  objects.daemon["spec"]["overrides"] =
      R"([{"pools": ["b"], "patch": {"spec": {"template": {"spec": {"nodeSelector": "x"}}}}}])"_json;
  const Plan plan = PlanOf(objects);
  ASSERT_THAT(plan.pools, SizeIs(3));
  EXPECT_EQ(plan.pools[0].action, WorkloadAction::kCreate);
  EXPECT_EQ(plan.pools[1].action, WorkloadAction::kNone);
  EXPECT_EQ(plan.pools[1].failure_reason, "InvalidOverride");
  EXPECT_EQ(plan.pools[2].action, WorkloadAction::kCreate);
}

TEST(PlanTest, AWorkloadWhoseRenderingIsTooLargeIsNotChanged) {
  ClusterObjects objects{.pools = {PoolJson("a")}};
  objects.Deployed();
  // The workload was created by an older version, which allowed workloads of up to 4 MiB.
  objects.daemon["spec"]["overrides"] = {
      {{"pools", {"a"}},
       {"jsonPatches",
        {{{"op", "add"}, {"path", "/metadata/annotations/x"}, {"value", std::string(900'000, 'x')}},
         {{"op", "copy"}, {"from", "/metadata/annotations/x"}, {"path", "/metadata/annotations/y"}}}}}};
  Json& metadata = objects.workloads[0]["metadata"];
  metadata["labels"][kRevisionLabel] = objects.update()->label;
  metadata["annotations"][kRenderedFromAnnotation] = R"({"overrides":[0],"rules":1,"tolerations":[]})";
  const Plan plan = PlanOf(objects);
  EXPECT_EQ(plan.pools.at(0).action, WorkloadAction::kNone);
  EXPECT_EQ(plan.pools.at(0).failure_reason, "InvalidOverride");
  EXPECT_THAT(plan.pools.at(0).failure_message, HasSubstr("spec.overrides[0].jsonPatches[1]"));
  EXPECT_THAT(plan.removals, IsEmpty());
}

TEST(PlanTest, AWorkloadKeepsAListThatAPatchReplacedUntilItsPodTemplateChanges) {
  ClusterObjects objects{.pools = {PoolJson("a")}};
  Json& container = PodSpecOf(TemplateOf(objects.daemon))["containers"][0];
  container["env"] = R"([{"name": "X", "value": "1"}, {"name": "X", "value": "2"}])"_json;
  Json patch = {{"name", container["name"]}, {"env", {{{"name", "Z"}, {"value", "9"}}}}};
  objects.daemon["spec"]["overrides"] = {
      {{"pools", {"a"}}, {"patch", {{"spec", {{"template", {{"spec", {{"containers", Json::array({patch})}}}}}}}}}}};
  objects.Deployed();
  // The workload was created by an earlier version, whose patches replaced lists that have a key twice.
  PodSpecOf(objects.workloads[0])["containers"][0]["env"] = patch["env"];
  objects.workloads[0]["metadata"]["annotations"][kRenderedFromAnnotation] =
      R"({"overrides":[0],"rules":1,"tolerations":[]})";
  EXPECT_EQ(PlanOf(objects).pools.at(0).action, WorkloadAction::kNone);
  objects.older = {MakeRevision(objects.daemon)};
  PodSpecOf(TemplateOf(objects.daemon))["containers"][0]["image"] = "app:2";
  const Plan plan = PlanOf(objects);
  EXPECT_EQ(plan.pools.at(0).action, WorkloadAction::kUpdate);
  EXPECT_EQ(plan.pools.at(0).to.inputs.rules, 2);
}

TEST(PlanTest, WorkloadOfAnUnselectedPoolIsRemovedUnlessItIsBeingDeleted) {
  ClusterObjects objects{.pools = {PoolJson("a"), PoolJson("b"), PoolJson("c")}};
  objects.Deployed();
  objects.pools = {PoolJson("a")};
  objects.workloads[2]["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z";
  const Plan plan = PlanOf(objects);
  ASSERT_THAT(plan.removals, SizeIs(1));
  EXPECT_EQ(plan.removals[0].workload.pool, "b");
  EXPECT_FALSE(plan.removals[0].kept);
  ASSERT_THAT(plan.leaving, SizeIs(1));
  EXPECT_EQ(plan.leaving[0].pool, "c");
}

TEST(PlanTest, AllWorkloadsAreRemovedIfNoPoolIsSelected) {
  ClusterObjects objects{.pools = {PoolJson("a"), PoolJson("b")}};
  objects.Deployed();
  objects.pools.clear();
  EXPECT_THAT(PlanOf(objects).removals, SizeIs(2));
}

TEST(PlanTest, AWorkloadThatIsBeingDeletedIsNotWritten) {
  ClusterObjects objects{.pools = {PoolJson("a")}};
  objects.Deployed().workloads[0]["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z";
  PodSpecOf(objects.workloads[0])["containers"][0]["image"] = "evil";
  EXPECT_EQ(OnePool(objects).action, WorkloadAction::kNone);
}

TEST(PlanTest, PoolOfAWorkloadIsReadFromItsSelectorAndNotFromItsLabel) {
  ClusterObjects objects{.pools = {PoolJson("a"), PoolJson("b")}};
  objects.Deployed().workloads[0]["metadata"]["labels"][kPoolNameLabel] = "b";
  const Plan plan = PlanOf(objects);
  EXPECT_THAT(plan.removals, IsEmpty());
  EXPECT_EQ(plan.pools[0].action, WorkloadAction::kRepair);
  EXPECT_EQ(Put(objects, plan.pools[0])["metadata"]["labels"][kPoolNameLabel], "a");
  EXPECT_EQ(plan.pools[1].action, WorkloadAction::kNone);
}

TEST(PlanTest, APoolWhoseNameIsNotAValidLabelFailsAndIsNotWritten) {
  ClusterObjects objects{.pools = {PoolJson(std::string(64, 'a'))}};
  objects.pools[0]["status"] = {{"readyNodeNum", 0}, {"unreadyNodeNum", 0}};  // no Node can have this label
  const PoolPlan pool = OnePool(objects);
  EXPECT_FALSE(pool.offline);
  EXPECT_EQ(pool.action, WorkloadAction::kNone);
  EXPECT_EQ(pool.failure_reason, "InvalidPoolName");
  EXPECT_THAT(pool.failure_message, HasSubstr("63"));
}

TEST(PlanTest, AnOverrideThatDoesNotApplyFailsItsPoolAndKeepsTheWorkload) {
  ClusterObjects objects = OnOldRevision(DaemonJson("app:2"));
  objects.daemon["spec"]["overrides"] = R"([{"pools": ["a"], "images": [{"name": "absent", "image": "x"}]}])"_json;
  PoolPlan pool = OnePool(objects);
  EXPECT_EQ(pool.action, WorkloadAction::kNone);
  EXPECT_EQ(pool.failure_reason, "InvalidOverride");
  objects.workloads.clear();
  objects.current = nullptr;
  pool = OnePool(objects);
  EXPECT_EQ(pool.action, WorkloadAction::kNone);
  EXPECT_EQ(pool.failure_reason, "InvalidOverride");
}

// ---- updates, and the reasons that block them ----

struct MoveCase {
  const char* what;
  Json daemon;
  Json pool;  // as it is now; the workload was created for PoolJson("a")
  WorkloadAction action;
  bool waits_for_user;
};

TEST(PlanTest, ChangesUpdateAPoolUnlessAPauseOrOnDeleteBlocksThem) {
  Json replicas = DaemonJson();
  TemplateOf(replicas)["spec"]["replicas"] = 5;
  Json image_and_replicas = DaemonJson("app:2");
  TemplateOf(image_and_replicas)["spec"]["replicas"] = 5;
  Json label = DaemonJson();
  TemplateOf(label)["metadata"]["labels"]["team"] = "edge";
  Json other_pools_override = DaemonJson();
  other_pools_override["spec"]["overrides"] = R"([{"pools": ["z"], "replicas": 4}])"_json;
  const Json same = PoolJson("a"), tainted = PoolJson("a", {"x"});

  const MoveCase cases[] = {
      {"new image", DaemonJson("app:2"), same, WorkloadAction::kUpdate, false},
      {"new image, paused", Paused(DaemonJson("app:2")), same, WorkloadAction::kNone, true},
      {"new image, OnDelete", OnDelete(DaemonJson("app:2")), same, WorkloadAction::kNone, true},
      {"replicas", replicas, same, WorkloadAction::kUpdate, false},
      {"replicas, paused", Paused(replicas), same, WorkloadAction::kUpdate, false},
      {"replicas, OnDelete", OnDelete(replicas), same, WorkloadAction::kUpdate, false},
      {"image and replicas, paused", Paused(image_and_replicas), same, WorkloadAction::kScale, true},
      {"label of the workload", label, same, WorkloadAction::kUpdate, false},
      {"label of the workload, paused", Paused(label), same, WorkloadAction::kNone, true},
      {"taint of the pool", DaemonJson(), tainted, WorkloadAction::kUpdate, false},
      {"taint of the pool, paused", Paused(DaemonJson()), tainted, WorkloadAction::kNone, true},
      {"taint of the pool, OnDelete", OnDelete(DaemonJson()), tainted, WorkloadAction::kNone, true},
      {"override of another pool", other_pools_override, same, WorkloadAction::kNone, false},
      {"override of another pool, paused", Paused(other_pools_override), same, WorkloadAction::kNone, false},
  };
  for (const MoveCase& c : cases) {
    SCOPED_TRACE(c.what);
    ClusterObjects objects = OnOldRevision(c.daemon);
    objects.pools = {c.pool};
    const PoolPlan pool = OnePool(objects);
    EXPECT_EQ(pool.action, c.action);
    EXPECT_EQ(pool.waits_for_user, c.waits_for_user);
    EXPECT_EQ(pool.on_update, !c.waits_for_user);
    if (c.action == WorkloadAction::kUpdate) {
      EXPECT_EQ(pool.to.revision->name, objects.update()->name);
      EXPECT_EQ(Put(objects, pool)["metadata"]["labels"][kRevisionLabel], objects.update()->label);
    } else {
      EXPECT_EQ(pool.to.revision, objects.current) << "the label stays on the revision that last changed it";
      EXPECT_EQ(pool.to.inputs.replicas, c.action == WorkloadAction::kScale ? std::optional(5) : std::nullopt);
    }
  }
}

TEST(PlanTest, UpdateRemovesFieldsOfTheOldRevisionAndKeepsForeignOnes) {
  Json old = DaemonJson("app:1");
  PodSpecOf(TemplateOf(old))["containers"][0]["env"] = R"([{"name": "OLD", "value": "1"}])"_json;
  ClusterObjects objects;
  objects.daemon = DaemonJson("app:2");
  objects.pools = {PoolJson("a")};
  objects.current = MakeRevision(old);
  objects.workloads = {WorkloadJson(old, objects.current, objects.pools[0])};
  PodSpecOf(objects.workloads[0])["containers"].push_back({{"name", "sidecar"}, {"image", "mesh:1"}});
  Json put = Put(objects, OnePool(objects));
  const Json& containers = PodSpecOf(put)["containers"];
  ASSERT_THAT(containers, SizeIs(2));
  EXPECT_EQ(containers[0]["image"], "app:2");
  EXPECT_FALSE(containers[0].contains("env"));
  EXPECT_EQ(containers[1]["name"], "sidecar");
}

TEST(PlanTest, RemovedTaintRemovesItsToleration) {
  ClusterObjects objects{.pools = {PoolJson("a", {"x", "y"})}};
  objects.Deployed().pools = {PoolJson("a", {"y"})};
  const PoolPlan pool = OnePool(objects);
  EXPECT_EQ(pool.action, WorkloadAction::kUpdate);
  Json put = Put(objects, pool);
  EXPECT_EQ(PodSpecOf(put)["tolerations"], R"([{"key": "y", "operator": "Exists", "effect": "NoSchedule"}])"_json);
  EXPECT_EQ(ParseRenderInputs(put["metadata"]["annotations"][kRenderedFromAnnotation])->tolerations.size(), 1U);
}

TEST(PlanTest, NewPoolOfAPausedDaemonGetsTheCurrentRevision) {
  ClusterObjects objects;
  objects.pools = {PoolJson("a")};
  objects.daemon = Paused(DaemonJson("app:2"));
  objects.current = MakeRevision(DaemonJson("app:1"));
  PoolPlan pool = OnePool(objects);
  EXPECT_EQ(pool.action, WorkloadAction::kCreate);
  EXPECT_EQ(pool.to.revision, objects.current);
  EXPECT_TRUE(pool.waits_for_user);
  EXPECT_FALSE(pool.on_update);

  objects.daemon = DaemonJson("app:2");
  EXPECT_EQ(OnePool(objects).to.revision->name, objects.update()->name) << "the daemon is not paused";
  objects.daemon = OnDelete(DaemonJson("app:2"));
  EXPECT_EQ(OnePool(objects).to.revision->name, objects.update()->name)
      << "OnDelete does not delay the creation of a workload";
  objects.daemon = Paused(DaemonJson("app:2"));
  objects.current = nullptr;
  EXPECT_EQ(OnePool(objects).to.revision->name, objects.update()->name) << "there is no current revision yet";
}

TEST(PlanTest, NewPoolOfAPausedDaemonGetsTheUpdateRevisionIfOnlyReplicasDiffer) {
  ClusterObjects objects;
  objects.pools = {PoolJson("a")};
  objects.daemon = Paused(DaemonJson("app:1"));
  TemplateOf(objects.daemon)["spec"]["replicas"] = 7;
  objects.current = MakeRevision(DaemonJson("app:1"));
  const PoolPlan pool = OnePool(objects);
  EXPECT_EQ(pool.to.revision->name, objects.update()->name);
  EXPECT_FALSE(pool.waits_for_user);
}

// ---- repair ----

struct DriftCase {
  const char* what;
  const char* pointer;  // in the live workload
  Json value;           // null: removed
};

TEST(PlanTest, OwnFieldsAreRepairedAlsoWhilePaused) {
  const DriftCase cases[] = {
      {"image", "/spec/template/spec/containers/0/image", "evil:1"},
      {"replicas", "/spec/replicas", 9},
      {"label", "/metadata/labels/app", nullptr},
      {"revision label", "/metadata/labels/apps.openyurt.io~1controller-revision-hash", nullptr},
      {"revision label edited", "/metadata/labels/apps.openyurt.io~1controller-revision-hash", "web-nonsense"},
      {"ref-nodepool", "/metadata/annotations/apps.openyurt.io~1ref-nodepool", "b"},
      {"rendered-from", "/metadata/annotations/apps.openyurt.io~1rendered-from", nullptr},
      {"rendered-from edited", "/metadata/annotations/apps.openyurt.io~1rendered-from", "{nonsense"},
      {"node selector", "/spec/template/spec/nodeSelector/apps.openyurt.io~1nodepool", "b"},
      {"tolerations", "/spec/template/spec/tolerations", nullptr},
  };
  for (const DriftCase& c : cases) {
    for (const bool paused : {false, true}) {
      SCOPED_TRACE(std::string(c.what) + (paused ? ", paused" : ""));
      ClusterObjects objects{.pools = {PoolJson("a", {"x"})}};
      if (paused) objects.daemon = Paused(objects.daemon);
      const Json whole = objects.Deployed().workloads[0];
      const Json::json_pointer at(c.pointer);
      if (c.value.is_null()) {
        objects.workloads[0][at.parent_pointer()].erase(at.back());
      } else {
        objects.workloads[0][at] = c.value;
      }
      const PoolPlan pool = OnePool(objects);
      EXPECT_EQ(pool.action, WorkloadAction::kRepair);
      EXPECT_TRUE(pool.on_update);
      EXPECT_EQ(Put(objects, pool), whole);
    }
  }
}

TEST(PlanTest, ForeignFieldsAreKept) {
  ClusterObjects objects{.pools = {PoolJson("a")}};
  Json& workload = objects.Deployed().workloads[0];
  workload["metadata"]["annotations"]["kubernetes.io/change-cause"] = "me";
  workload["spec"]["template"]["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"] = "2026-01-01T00:00:00Z";
  PodSpecOf(workload)["containers"].push_back({{"name", "sidecar"}, {"image", "mesh:1"}});
  EXPECT_EQ(OnePool(objects).action, WorkloadAction::kNone);
}

TEST(PlanTest, ReplicasThatTheSpecOmitsAreNotReverted) {
  ClusterObjects objects{.pools = {PoolJson("a")}};
  TemplateOf(objects.daemon)["spec"].erase("replicas");
  objects.Deployed().workloads[0]["spec"]["replicas"] = 12;
  EXPECT_EQ(OnePool(objects).action, WorkloadAction::kNone);
}

TEST(PlanTest, RevisionLabelThatAUserEditedIsRepairedFromTheContent) {
  // A user has written the revision name of app:2 on a workload of app:1. A paused or OnDelete daemon must
  // not update it.
  for (const Json& daemon : {Paused(DaemonJson("app:2")), OnDelete(DaemonJson("app:2"))}) {
    ClusterObjects objects = OnOldRevision(daemon);
    objects.workloads[0]["metadata"]["labels"][kRevisionLabel] = objects.update()->label;
    const PoolPlan pool = OnePool(objects);
    EXPECT_EQ(pool.action, WorkloadAction::kRepair);
    EXPECT_TRUE(pool.waits_for_user);
    const Json put = Put(objects, pool);
    EXPECT_EQ(ImageOf(put), "app:1");
    EXPECT_EQ(put["metadata"]["labels"][kRevisionLabel], objects.current->label);
  }
  // A daemon that is not paused updates it, and removes the fields that only app:1 has.
  Json old = DaemonJson("app:1");
  PodSpecOf(TemplateOf(old))["containers"][0]["env"] = R"([{"name": "OLD", "value": "1"}])"_json;
  ClusterObjects objects;
  objects.daemon = DaemonJson("app:2");
  objects.pools = {PoolJson("a")};
  objects.current = MakeRevision(old);
  objects.workloads = {WorkloadJson(old, objects.current, objects.pools[0])};
  objects.workloads[0]["metadata"]["labels"][kRevisionLabel] = objects.update()->label;
  const PoolPlan pool = OnePool(objects);
  EXPECT_EQ(pool.action, WorkloadAction::kUpdate);
  Json put = Put(objects, pool);
  EXPECT_FALSE(PodSpecOf(put)["containers"][0].contains("env"));
}

TEST(PlanTest, DriftDoesNotCountAsAnOlderRevisionWithFewerFields) {
  // The old revision has no env. So the changed env looks like an env that another client added.
  Json now = Paused(DaemonJson("app:1"));
  PodSpecOf(TemplateOf(now))["containers"][0]["env"] = R"([{"name": "MODE", "value": "good"}])"_json;
  ClusterObjects objects{.daemon = now, .pools = {PoolJson("a")}};
  objects.older = {MakeRevision(DaemonJson("app:1"))};
  PodSpecOf(objects.Deployed().workloads[0])["containers"][0]["env"][0]["value"] = "evil";
  const PoolPlan pool = OnePool(objects);
  EXPECT_EQ(pool.action, WorkloadAction::kRepair);
  Json put = Put(objects, pool);
  EXPECT_EQ(PodSpecOf(put)["containers"][0]["env"][0]["value"], "good");
}

TEST(PlanTest, MissingRenderedFromAnnotationRevertsNoOverrideWhilePaused) {
  ClusterObjects objects{.daemon = Paused(DaemonJson()), .pools = {PoolJson("a", {"x"})}};
  objects.daemon["spec"]["overrides"] =
      R"([{"pools": ["a"], "images": [{"name": "main", "image": "special:1"}]}])"_json;
  const Json whole = objects.Deployed().workloads[0];
  objects.workloads[0]["metadata"]["annotations"].erase(kRenderedFromAnnotation);
  const PoolPlan pool = OnePool(objects);
  EXPECT_EQ(pool.action, WorkloadAction::kRepair);
  Json put = Put(objects, pool);
  EXPECT_EQ(ImageOf(put), "special:1");
  EXPECT_EQ(put["spec"], whole["spec"]);
}

TEST(PlanTest, WorkloadOfAnUnknownRevisionIsUpdatedUnlessPaused) {
  ClusterObjects objects{.daemon = DaemonJson("app:2"), .pools = {PoolJson("a")}};
  objects.workloads = {WorkloadJson(DaemonJson("lost:1"), MakeRevision(DaemonJson("lost:1")), objects.pools[0])};
  EXPECT_EQ(OnePool(objects).action, WorkloadAction::kUpdate);
  objects.daemon = Paused(objects.daemon);
  const PoolPlan pool = OnePool(objects);
  EXPECT_EQ(pool.action, WorkloadAction::kNone);
  EXPECT_TRUE(pool.waits_for_user);
  EXPECT_EQ(pool.to.revision, nullptr);
}

}  // namespace
}  // namespace yad::testing
