// The specification of the write for each pool.
#include "operator/yurtappdaemon/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <set>

#include "tests/unit/yurtappdaemon/builders.h"

namespace yad::testing {

void PrintTo(WorkloadAction write, std::ostream* out) {
  constexpr const char* kNames[] = {"None", "Create", "Move", "Repair", "Adopt"};
  *out << kNames[static_cast<int>(write)];
}

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Plan PlanOf(const Moment& moment) {
  PlanMemo memo;
  return MakePlan(moment.Take(), memo);
}

// Returns the plan of a moment with one pool.
PoolPlan OnePool(const Moment& moment) {
  const Plan plan = PlanOf(moment);
  EXPECT_THAT(plan.pools, SizeIs(1));
  return plan.pools.at(0);
}

Json Put(const Moment& moment, const PoolPlan& pool) {
  const auto merged = MergedWorkload(*ParseYurtAppDaemon(moment.daemon), pool, pool.workload->object->Parse());
  EXPECT_TRUE(merged) << merged.error().message;
  return merged.value_or(Json());
}

// Returns a moment with one pool whose workload was created from app:1; `daemon` has the current spec.
Moment OnOldRevision(const Json& daemon, const Json& pool = PoolJson("a")) {
  Moment moment;
  moment.daemon = daemon;
  moment.pools = {pool};
  moment.current = MakeRevision(DaemonJson("app:1"));
  moment.workloads = {WorkloadJson(DaemonJson("app:1"), moment.current, pool)};
  return moment;
}

Json Paused(Json daemon) {
  daemon["spec"]["paused"] = true;
  return daemon;
}
Json OnDelete(Json daemon) {
  daemon["spec"]["updateStrategy"] = {{"type", "OnDelete"}};
  return daemon;
}

// ---- what stays, comes, goes ----

TEST(PlanTest, UpToDateWorkloadsAreNotWritten) {
  for (const WorkloadKind kind : {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet}) {
    Moment moment{.daemon = DaemonJson("app:1", kind), .pools = {PoolJson("a"), PoolJson("b", {"x"})}};
    const Plan plan = PlanOf(moment.Deployed());
    for (const PoolPlan& pool : plan.pools) {
      EXPECT_EQ(pool.write, WorkloadAction::kNone) << pool.pool;
      EXPECT_TRUE(pool.on_update);
      EXPECT_FALSE(pool.held);
    }
    EXPECT_THAT(plan.removals, IsEmpty());
  }
}

TEST(PlanTest, APoolWithoutAWorkloadGetsOneWithItsTolerationsAndAStableName) {
  const Moment moment{.pools = {PoolJson("a", {"x"})}};
  const PoolPlan pool = OnePool(moment);
  EXPECT_EQ(pool.write, WorkloadAction::kCreate);
  const Json workload = *NewWorkload(*ParseYurtAppDaemon(moment.daemon), pool);
  EXPECT_EQ(workload["metadata"]["name"], WorkloadName("web", kDaemonUid, "a", WorkloadKind::kDeployment));
  EXPECT_EQ(workload["metadata"]["ownerReferences"][0]["uid"], kDaemonUid);
  EXPECT_EQ(PodSpecOf(const_cast<Json&>(workload))["tolerations"],
            R"([{"key": "x", "operator": "Exists", "effect": "NoSchedule"}])"_json);
}

TEST(PlanTest, APoolWhoseOverrideDoesNotApplyGetsNoWorkloadAndTheOthersDo) {
  Moment moment{.pools = {PoolJson("a"), PoolJson("b"), PoolJson("c")}};
  moment.daemon["spec"]["overrides"] =
      R"([{"pools": ["b"], "patch": {"spec": {"template": {"spec": {"nodeSelector": "x"}}}}}])"_json;
  const Plan plan = PlanOf(moment);
  ASSERT_THAT(plan.pools, SizeIs(3));
  EXPECT_EQ(plan.pools[0].write, WorkloadAction::kCreate);
  EXPECT_EQ(plan.pools[1].write, WorkloadAction::kNone);
  EXPECT_EQ(plan.pools[1].failure_reason, "InvalidOverride");
  EXPECT_EQ(plan.pools[2].write, WorkloadAction::kCreate);
}

TEST(PlanTest, AWorkloadWhoseRenderingGrewTooLargeIsLeftAsItIs) {
  Moment moment{.pools = {PoolJson("a")}};
  moment.Deployed();
  // An older version created the workload; its limit for a rendering was 4 MiB.
  moment.daemon["spec"]["overrides"] = {
      {{"pools", {"a"}},
       {"jsonPatches",
        {{{"op", "add"}, {"path", "/metadata/annotations/x"}, {"value", std::string(900'000, 'x')}},
         {{"op", "copy"}, {"from", "/metadata/annotations/x"}, {"path", "/metadata/annotations/y"}}}}}};
  Json& metadata = moment.workloads[0]["metadata"];
  metadata["labels"][kRevisionLabel] = moment.update()->label;
  metadata["annotations"][kRenderedFromAnnotation] = R"({"overrides":[0],"rules":1,"tolerations":[]})";
  const Plan plan = PlanOf(moment);
  EXPECT_EQ(plan.pools.at(0).write, WorkloadAction::kNone);
  EXPECT_EQ(plan.pools.at(0).failure_reason, "InvalidOverride");
  EXPECT_THAT(plan.pools.at(0).failure_message, HasSubstr("spec.overrides[0].jsonPatches[1]"));
  EXPECT_THAT(plan.removals, IsEmpty());
}

TEST(PlanTest, TheWorkloadOfAPoolThatIsNotSelectedIsRemovedUnlessItGoesAlready) {
  Moment moment{.pools = {PoolJson("a"), PoolJson("b"), PoolJson("c")}};
  moment.Deployed();
  moment.pools = {PoolJson("a")};
  moment.workloads[2]["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z";
  const Plan plan = PlanOf(moment);
  ASSERT_THAT(plan.removals, SizeIs(1));
  EXPECT_EQ(plan.removals[0].workload.pool, "b");
  EXPECT_FALSE(plan.removals[0].kept);
  ASSERT_THAT(plan.leaving, SizeIs(1));
  EXPECT_EQ(plan.leaving[0].pool, "c");
}

TEST(PlanTest, ZeroSelectedPoolsRemoveEverything) {
  Moment moment{.pools = {PoolJson("a"), PoolJson("b")}};
  moment.Deployed();
  moment.pools.clear();
  EXPECT_THAT(PlanOf(moment).removals, SizeIs(2));
}

TEST(PlanTest, AWorkloadThatIsBeingDeletedIsLeftAloneAndNotReplacedBeforeItIsGone) {
  Moment moment{.pools = {PoolJson("a")}};
  moment.Deployed().workloads[0]["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z";
  PodSpecOf(moment.workloads[0])["containers"][0]["image"] = "evil";
  EXPECT_EQ(OnePool(moment).write, WorkloadAction::kNone);
}

TEST(PlanTest, AWorkloadsPoolIsItsSelectorsEvenWhereTheLabelWasEdited) {
  Moment moment{.pools = {PoolJson("a"), PoolJson("b")}};
  moment.Deployed().workloads[0]["metadata"]["labels"][kPoolNameLabel] = "b";
  const Plan plan = PlanOf(moment);
  EXPECT_THAT(plan.removals, IsEmpty());
  EXPECT_EQ(plan.pools[0].write, WorkloadAction::kRepair);
  EXPECT_EQ(Put(moment, plan.pools[0])["metadata"]["labels"][kPoolNameLabel], "a");
  EXPECT_EQ(plan.pools[1].write, WorkloadAction::kNone);
}

TEST(PlanTest, APoolWhoseNameIsNotAValidLabelFailsAndIsNotWritten) {
  Moment moment{.pools = {PoolJson(std::string(64, 'a'))}};
  moment.pools[0]["status"] = {{"readyNodeNum", 0}, {"unreadyNodeNum", 0}};  // No node can be in it.
  const PoolPlan pool = OnePool(moment);
  EXPECT_FALSE(pool.offline);
  EXPECT_EQ(pool.write, WorkloadAction::kNone);
  EXPECT_EQ(pool.failure_reason, "InvalidPoolName");
  EXPECT_THAT(pool.failure_message, HasSubstr("63"));
}

TEST(PlanTest, AnOverrideThatDoesNotApplyFailsItsPoolAndLeavesTheRunningWorkload) {
  Moment moment = OnOldRevision(DaemonJson("app:2"));
  moment.daemon["spec"]["overrides"] = R"([{"pools": ["a"], "images": [{"name": "nobody", "image": "x"}]}])"_json;
  PoolPlan pool = OnePool(moment);
  EXPECT_EQ(pool.write, WorkloadAction::kNone);
  EXPECT_EQ(pool.failure_reason, "InvalidOverride");
  moment.workloads.clear();
  moment.current = nullptr;
  pool = OnePool(moment);
  EXPECT_EQ(pool.write, WorkloadAction::kNone);
  EXPECT_EQ(pool.failure_reason, "InvalidOverride");
}

// ---- updates, and what blocks them ----

struct MoveCase {
  const char* what;
  Json daemon;
  Json pool;  // as it is now; the workload was created for PoolJson("a")
  WorkloadAction write;
  bool held;
};

TEST(PlanTest, ChangesUpdateAPoolUnlessTheStrategyHoldsItBack) {
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
      {"image and replicas, paused", Paused(image_and_replicas), same, WorkloadAction::kNone, true},
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
    Moment moment = OnOldRevision(c.daemon);
    moment.pools = {c.pool};
    const PoolPlan pool = OnePool(moment);
    EXPECT_EQ(pool.write, c.write);
    EXPECT_EQ(pool.held, c.held);
    EXPECT_EQ(pool.on_update, !c.held);
    if (c.write == WorkloadAction::kUpdate) {
      EXPECT_EQ(pool.to.revision->name, moment.update()->name);
      EXPECT_EQ(Put(moment, pool)["metadata"]["labels"][kRevisionLabel], moment.update()->label);
    } else {
      EXPECT_EQ(pool.to.revision, moment.current) << "the label stays on the revision that last changed it";
    }
  }
}

TEST(PlanTest, UpdateRemovesFieldsOfTheOldRevisionAndKeepsForeignOnes) {
  Json old = DaemonJson("app:1");
  PodSpecOf(TemplateOf(old))["containers"][0]["env"] = R"([{"name": "OLD", "value": "1"}])"_json;
  Moment moment;
  moment.daemon = DaemonJson("app:2");
  moment.pools = {PoolJson("a")};
  moment.current = MakeRevision(old);
  moment.workloads = {WorkloadJson(old, moment.current, moment.pools[0])};
  PodSpecOf(moment.workloads[0])["containers"].push_back({{"name", "sidecar"}, {"image", "mesh:1"}});
  Json put = Put(moment, OnePool(moment));
  const Json& containers = PodSpecOf(put)["containers"];
  ASSERT_THAT(containers, SizeIs(2));
  EXPECT_EQ(containers[0]["image"], "app:2");
  EXPECT_FALSE(containers[0].contains("env"));
  EXPECT_EQ(containers[1]["name"], "sidecar");
}

TEST(PlanTest, ATaintThatGoesTakesItsTolerationWithIt) {
  Moment moment{.pools = {PoolJson("a", {"x", "y"})}};
  moment.Deployed().pools = {PoolJson("a", {"y"})};
  const PoolPlan pool = OnePool(moment);
  EXPECT_EQ(pool.write, WorkloadAction::kUpdate);
  Json put = Put(moment, pool);
  EXPECT_EQ(PodSpecOf(put)["tolerations"], R"([{"key": "y", "operator": "Exists", "effect": "NoSchedule"}])"_json);
  EXPECT_EQ(ParseRenderInputs(put["metadata"]["annotations"][kRenderedFromAnnotation])->tolerations.size(), 1U);
}

TEST(PlanTest, APoolThatComesWhilePausedIsServedWithTheCurrentRevision) {
  Moment moment;
  moment.pools = {PoolJson("a")};
  moment.daemon = Paused(DaemonJson("app:2"));
  moment.current = MakeRevision(DaemonJson("app:1"));
  PoolPlan pool = OnePool(moment);
  EXPECT_EQ(pool.write, WorkloadAction::kCreate);
  EXPECT_EQ(pool.to.revision, moment.current);
  EXPECT_TRUE(pool.held);
  EXPECT_FALSE(pool.on_update);

  moment.daemon = DaemonJson("app:2");
  EXPECT_EQ(OnePool(moment).to.revision->name, moment.update()->name) << "not paused";
  moment.daemon = OnDelete(DaemonJson("app:2"));
  EXPECT_EQ(OnePool(moment).to.revision->name, moment.update()->name) << "OnDelete reaches what has no workload";
  moment.daemon = Paused(DaemonJson("app:2"));
  moment.current = nullptr;
  EXPECT_EQ(OnePool(moment).to.revision->name, moment.update()->name) << "no current revision yet";
}

TEST(PlanTest, NewPoolWhilePausedGetsAnUpdateRevisionThatChangesOnlyReplicas) {
  Moment moment;
  moment.pools = {PoolJson("a")};
  moment.daemon = Paused(DaemonJson("app:1"));
  TemplateOf(moment.daemon)["spec"]["replicas"] = 7;
  moment.current = MakeRevision(DaemonJson("app:1"));
  const PoolPlan pool = OnePool(moment);
  EXPECT_EQ(pool.to.revision->name, moment.update()->name);
  EXPECT_FALSE(pool.held);
}

// ---- repair ----

struct DriftCase {
  const char* what;
  const char* pointer;  // in the live workload
  Json value;           // null: removed
};

TEST(PlanTest, OwnFieldsAreRepairedPausedOrNot) {
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
      Moment moment{.pools = {PoolJson("a", {"x"})}};
      if (paused) moment.daemon = Paused(moment.daemon);
      const Json whole = moment.Deployed().workloads[0];
      const Json::json_pointer at(c.pointer);
      if (c.value.is_null()) {
        moment.workloads[0][at.parent_pointer()].erase(at.back());
      } else {
        moment.workloads[0][at] = c.value;
      }
      const PoolPlan pool = OnePool(moment);
      EXPECT_EQ(pool.write, WorkloadAction::kRepair);
      EXPECT_TRUE(pool.on_update);
      EXPECT_EQ(Put(moment, pool), whole);
    }
  }
}

TEST(PlanTest, ForeignFieldsAreKept) {
  Moment moment{.pools = {PoolJson("a")}};
  Json& workload = moment.Deployed().workloads[0];
  workload["metadata"]["annotations"]["kubernetes.io/change-cause"] = "me";
  workload["spec"]["template"]["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"] = "2026-01-01T00:00:00Z";
  PodSpecOf(workload)["containers"].push_back({{"name", "sidecar"}, {"image", "mesh:1"}});
  EXPECT_EQ(OnePool(moment).write, WorkloadAction::kNone);
}

TEST(PlanTest, ReplicasThatTheSpecOmitsAreNeverOwned) {
  Moment moment{.pools = {PoolJson("a")}};
  TemplateOf(moment.daemon)["spec"].erase("replicas");
  moment.Deployed().workloads[0]["spec"]["replicas"] = 12;
  EXPECT_EQ(OnePool(moment).write, WorkloadAction::kNone);
}

TEST(PlanTest, ARevisionLabelEditedByHandIsRepairedByContent) {
  // A user has written the revision name of app:2 on a workload of app:1. A paused or OnDelete daemon must not update
  // it to app:2 because of that.
  for (const Json& daemon : {Paused(DaemonJson("app:2")), OnDelete(DaemonJson("app:2"))}) {
    Moment moment = OnOldRevision(daemon);
    moment.workloads[0]["metadata"]["labels"][kRevisionLabel] = moment.update()->label;
    const PoolPlan pool = OnePool(moment);
    EXPECT_EQ(pool.write, WorkloadAction::kRepair);
    EXPECT_TRUE(pool.held);
    const Json put = Put(moment, pool);
    EXPECT_EQ(ImageOf(put), "app:1");
    EXPECT_EQ(put["metadata"]["labels"][kRevisionLabel], moment.current->label);
  }
  // A daemon that is not paused updates it, and removes the fields that only app:1 has.
  Json old = DaemonJson("app:1");
  PodSpecOf(TemplateOf(old))["containers"][0]["env"] = R"([{"name": "OLD", "value": "1"}])"_json;
  Moment moment;
  moment.daemon = DaemonJson("app:2");
  moment.pools = {PoolJson("a")};
  moment.current = MakeRevision(old);
  moment.workloads = {WorkloadJson(old, moment.current, moment.pools[0])};
  moment.workloads[0]["metadata"]["labels"][kRevisionLabel] = moment.update()->label;
  const PoolPlan pool = OnePool(moment);
  EXPECT_EQ(pool.write, WorkloadAction::kUpdate);
  Json put = Put(moment, pool);
  EXPECT_FALSE(PodSpecOf(put)["containers"][0].contains("env"));
}

TEST(PlanTest, DriftIsNotTakenForAnOlderRevisionThatSaysLess) {
  // The old revision has no env, so a changed env looks like an env that another client added to the old revision.
  Json now = Paused(DaemonJson("app:1"));
  PodSpecOf(TemplateOf(now))["containers"][0]["env"] = R"([{"name": "MODE", "value": "good"}])"_json;
  Moment moment{.daemon = now, .pools = {PoolJson("a")}};
  moment.older = {MakeRevision(DaemonJson("app:1"))};
  PodSpecOf(moment.Deployed().workloads[0])["containers"][0]["env"][0]["value"] = "evil";
  const PoolPlan pool = OnePool(moment);
  EXPECT_EQ(pool.write, WorkloadAction::kRepair);
  Json put = Put(moment, pool);
  EXPECT_EQ(PodSpecOf(put)["containers"][0]["env"][0]["value"], "good");
}

TEST(PlanTest, ALostRenderedFromDoesNotRevertAnOverrideWhilePaused) {
  Moment moment{.daemon = Paused(DaemonJson()), .pools = {PoolJson("a", {"x"})}};
  moment.daemon["spec"]["overrides"] = R"([{"pools": ["a"], "images": [{"name": "main", "image": "special:1"}]}])"_json;
  const Json whole = moment.Deployed().workloads[0];
  moment.workloads[0]["metadata"]["annotations"].erase(kRenderedFromAnnotation);
  const PoolPlan pool = OnePool(moment);
  EXPECT_EQ(pool.write, WorkloadAction::kRepair);
  Json put = Put(moment, pool);
  EXPECT_EQ(ImageOf(put), "special:1");
  EXPECT_EQ(put["spec"], whole["spec"]);
}

TEST(PlanTest, WorkloadOfAnUnknownRevisionIsUpdatedUnlessPaused) {
  Moment moment{.daemon = DaemonJson("app:2"), .pools = {PoolJson("a")}};
  moment.workloads = {WorkloadJson(DaemonJson("lost:1"), MakeRevision(DaemonJson("lost:1")), moment.pools[0])};
  EXPECT_EQ(OnePool(moment).write, WorkloadAction::kUpdate);
  moment.daemon = Paused(moment.daemon);
  const PoolPlan pool = OnePool(moment);
  EXPECT_EQ(pool.write, WorkloadAction::kNone);
  EXPECT_TRUE(pool.held);
  EXPECT_EQ(pool.to.revision, nullptr);
}

// ---- workloads of OpenYurt ----

TEST(PlanTest, KeepsOpenYurtsRenderingUntilTheNextRevision) {
  Json daemon = DaemonJson("app:1");
  PodSpecOf(TemplateOf(daemon))["nodeSelector"] = {{"disk", "ssd"}};
  PodSpecOf(TemplateOf(daemon))["tolerations"] = R"([{"key": "mine", "operator": "Exists"}])"_json;
  PodSpecOf(TemplateOf(daemon))["affinity"] =
      R"({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "Exists"}]}]}}})"_json;
  const Json pool = PoolJson("a", {"x"});
  Moment moment{.daemon = daemon, .pools = {pool}};
  moment.workloads = {OpenYurtWorkloadJson(daemon, moment.update(), pool)};
  EXPECT_EQ(OnePool(moment).write, WorkloadAction::kNone);

  // Drift is repaired by the rules that rendered the workload.
  const Json whole = moment.workloads[0];
  PodSpecOf(moment.workloads[0])["containers"][0]["image"] = "evil:1";
  PoolPlan plan = OnePool(moment);
  EXPECT_EQ(plan.write, WorkloadAction::kRepair);
  EXPECT_EQ(Put(moment, plan), whole);

  // A new taint of the pool updates the workload, by the same rules.
  moment.workloads = {whole};
  moment.pools = {PoolJson("a", {"x", "y"})};
  plan = OnePool(moment);
  EXPECT_EQ(plan.write, WorkloadAction::kUpdate);
  Json put = Put(moment, plan);
  EXPECT_EQ(put["spec"]["template"]["metadata"], whole["spec"]["template"]["metadata"]);
  EXPECT_EQ(PodSpecOf(put)["tolerations"].size(), 3U);
  EXPECT_FALSE(PodSpecOf(put)["nodeSelector"].contains("disk"));

  // The next revision is rendered by the operator's rules; the workload keeps its name.
  moment.pools = {pool};
  moment.current = moment.update();
  PodSpecOf(TemplateOf(moment.daemon))["containers"][0]["image"] = "app:2";
  plan = OnePool(moment);
  EXPECT_EQ(plan.write, WorkloadAction::kUpdate);
  put = Put(moment, plan);
  EXPECT_EQ(put["metadata"]["name"], whole["metadata"]["name"]);
  EXPECT_FALSE(put["spec"]["template"]["metadata"]["labels"].contains(kRevisionLabel));
  EXPECT_EQ(PodSpecOf(put)["nodeSelector"]["disk"], "ssd");
  EXPECT_TRUE(PodSpecOf(put)["affinity"]["nodeAffinity"].contains("requiredDuringSchedulingIgnoredDuringExecution"));
}

// ---- duplicates and orphans ----

Json Second(Json workload, const char* suffix, const char* created, std::int64_t available) {
  workload["metadata"]["name"] = StringAt(workload, {"metadata", "name"}) + suffix;
  workload["metadata"]["uid"] = StringAt(workload, {"metadata", "uid"}) + suffix;
  workload["metadata"]["creationTimestamp"] = created;
  workload["status"]["availableReplicas"] = available;
  workload["status"]["conditions"][0]["status"] = available > 0 ? "True" : "False";
  return workload;
}

TEST(PlanTest, MostAvailableThenOldestOfSeveralWorkloadsStays) {
  Moment moment{.pools = {PoolJson("a")}};
  const Json base = moment.Deployed().workloads[0];
  const Json older = Second(base, "-older", "2026-01-01T00:00:00Z", 1);
  const Json younger = Second(base, "-younger", "2026-01-01T00:00:05Z", 1);
  const Json down = Second(base, "-down", "2025-01-01T00:00:00Z", 0);
  const auto kept = [&](std::vector<Json> workloads) {
    moment.workloads = std::move(workloads);
    return OnePool(moment).workload->object->meta().key.name;
  };
  EXPECT_THAT(kept({younger, down, older}), HasSubstr("-older"));
  EXPECT_THAT(kept({older, younger}), HasSubstr("-older"));
  EXPECT_THAT(kept({down, younger}), HasSubstr("-younger"));
  Json going = older;
  going["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z";
  EXPECT_THAT(kept({going, down}), HasSubstr("-down"));
}

TEST(PlanTest, DuplicatesGoOnceTheOneThatStaysIsAvailable) {
  Moment moment{.pools = {PoolJson("a")}};
  const Json base = moment.Deployed().workloads[0];
  moment.workloads = {Second(base, "-1", "2026-01-01T00:00:00Z", 0), Second(base, "-2", "2026-01-01T00:00:05Z", 0)};
  EXPECT_THAT(PlanOf(moment).removals, IsEmpty());
  moment.workloads[1] = Second(base, "-2", "2026-01-01T00:00:05Z", 1);
  const Plan plan = PlanOf(moment);
  ASSERT_THAT(plan.removals, SizeIs(1));
  EXPECT_THAT(plan.removals[0].workload.object->meta().key.name, HasSubstr("-1"));
  ASSERT_TRUE(plan.removals[0].kept);
  EXPECT_THAT(plan.removals[0].kept->object->meta().key.name, HasSubstr("-2"));
}

// Returns a moment with an orphan of the same revision, which an earlier daemon of this name left (--cascade=orphan).
Moment WithOrphan() {
  Moment moment{.pools = {PoolJson("a")}};
  Json earlier = moment.daemon;
  earlier["metadata"]["uid"] = "uid-of-the-earlier-web";
  moment.orphans = {WorkloadJson(earlier, moment.update(), moment.pools[0])};
  moment.orphans[0]["metadata"].erase("ownerReferences");
  return moment;
}

TEST(PlanTest, AnOrphanThatIsWhatWeWouldMakeIsAdopted) {
  Moment moment = WithOrphan();
  PoolPlan pool = OnePool(moment);
  ASSERT_EQ(pool.write, WorkloadAction::kAdopt);
  Json expected = moment.orphans[0];
  expected["metadata"]["ownerReferences"] =
      WorkloadJson(moment.daemon, moment.update(), moment.pools[0])["metadata"]["ownerReferences"];
  EXPECT_EQ(Put(moment, pool), expected);

  moment.orphans[0] = OpenYurtWorkloadJson(moment.daemon, moment.update(), moment.pools[0]);
  moment.orphans[0]["metadata"].erase("ownerReferences");
  EXPECT_EQ(OnePool(moment).write, WorkloadAction::kAdopt) << "with the name that OpenYurt generated";
}

TEST(PlanTest, AdoptsAnOrphanWhoseLongNameAnOlderVersionMade) {
  const std::string pool = "country-cn-region-hangzhou-00042-site-edge-production-cluster";
  Moment moment{.pools = {PoolJson(pool)}};
  Json earlier = moment.daemon;
  earlier["metadata"]["uid"] = "uid-of-the-earlier-web";
  moment.orphans = {WorkloadJson(earlier, moment.update(), moment.pools[0])};
  moment.orphans[0]["metadata"].erase("ownerReferences");
  EXPECT_EQ(OnePool(moment).write, WorkloadAction::kAdopt);
  moment.orphans[0]["metadata"]["name"] =
      NameOfOlderVersion("web", "uid-of-the-earlier-web", pool, WorkloadKind::kDeployment);
  EXPECT_EQ(OnePool(moment).write, WorkloadAction::kAdopt);
  moment.orphans[0]["metadata"]["name"] = "web-country";
  EXPECT_EQ(OnePool(moment).write, WorkloadAction::kCreate);
}

TEST(PlanTest, AnOrphanThatIsNotWhatWeWouldMakeIsNotAdopted) {
  const std::pair<const char*, void (*)(Json&)> cases[] = {
      {"another name", [](Json& o) { o["metadata"]["name"] = "mine"; }},
      {"a name that only begins like ours", [](Json& o) { o["metadata"]["name"] = "web-ab-12345"; }},
      {"another ref-nodepool", [](Json& o) { o["metadata"]["annotations"][kRefNodePoolAnnotation] = "b"; }},
      {"no ref-nodepool", [](Json& o) { o["metadata"]["annotations"].erase(kRefNodePoolAnnotation); }},
      {"another selector", [](Json& o) { o["spec"]["selector"]["matchLabels"]["app"] = "other"; }},
      {"a wider selector", [](Json& o) { o["spec"]["selector"]["matchLabels"].erase("app"); }},
      {"being deleted", [](Json& o) { o["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z"; }},
  };
  for (const auto& [what, spoil] : cases) {
    Moment moment = WithOrphan();
    spoil(moment.orphans[0]);
    EXPECT_EQ(OnePool(moment).write, WorkloadAction::kCreate) << what;
  }
}

TEST(PlanTest, AnOrphanIsNotAdoptedBesideAWorkloadOfOurs) {
  Moment moment = WithOrphan();
  moment.Deployed();
  EXPECT_EQ(OnePool(moment).write, WorkloadAction::kNone);
}

TEST(PlanTest, AnOrphanOfAnUnknownRevisionIsAdoptedAsItIsWhilePaused) {
  Moment moment = WithOrphan();
  moment.daemon = Paused(DaemonJson("app:2"));
  moment.current = moment.update();
  PoolPlan pool = OnePool(moment);
  EXPECT_EQ(pool.write, WorkloadAction::kAdopt);
  const Json put = Put(moment, pool);
  EXPECT_EQ(put["spec"], moment.orphans[0]["spec"]);
  EXPECT_EQ(put["metadata"]["labels"], moment.orphans[0]["metadata"]["labels"]);
  EXPECT_EQ(put["metadata"]["ownerReferences"][0]["uid"], kDaemonUid);
}

TEST(PlanTest, AnOwnerReferenceOfOursThatDoesNotControlBecomesOneThatDoes) {
  Moment moment = WithOrphan();
  moment.orphans[0]["metadata"]["ownerReferences"] =
      WorkloadJson(moment.daemon, moment.update(), moment.pools[0])["metadata"]["ownerReferences"];
  moment.orphans[0]["metadata"]["ownerReferences"][0]["controller"] = false;
  const Json put = Put(moment, OnePool(moment));
  ASSERT_THAT(put["metadata"]["ownerReferences"], SizeIs(1));
  EXPECT_EQ(put["metadata"]["ownerReferences"][0]["controller"], true);
}

// ---- the memo ----

TEST(PlanMemoTest, ARepairThatTheServerUndoesIsNotRepeatedUntilSomethingChanges) {
  Moment moment{.pools = {PoolJson("a")}};
  PodSpecOf(moment.Deployed().workloads[0])["containers"][0]["image"] = "mirror/app:1";  // as the webhook changes it
  PlanMemo memo;
  Plan plan = MakePlan(moment.Take(), memo);
  ASSERT_EQ(plan.pools[0].write, WorkloadAction::kRepair);
  const WorkloadRef live = *plan.pools[0].workload;
  const Json object = live.object->Parse();
  memo.Settle(live.object->meta().key.name, TargetFingerprint(plan.pools[0].to),
              UndoneDifference(object, Put(moment, plan.pools[0])).digest);
  EXPECT_EQ(MakePlan(moment.Take(), memo).pools[0].write, WorkloadAction::kNone);
  EXPECT_EQ(MakePlan(moment.Take(), memo).pools[0].write, WorkloadAction::kNone) << "from the memo";

  Moment annotated = moment;
  annotated.workloads[0]["metadata"]["annotations"]["somebody"] = "else";
  EXPECT_EQ(MakePlan(annotated.Take(), memo).pools[0].write, WorkloadAction::kNone) << "nothing of ours";
  Moment scaled = moment;
  scaled.workloads[0]["metadata"]["generation"] = 2;
  EXPECT_EQ(MakePlan(scaled.Take(), memo).pools[0].write, WorkloadAction::kRepair) << "another client wrote the spec";

  Moment edited = moment;
  edited.workloads[0]["metadata"]["labels"]["app"] = "evil";
  EXPECT_EQ(MakePlan(edited.Take(), memo).pools[0].write, WorkloadAction::kRepair) << "another client changed it";
  moment.daemon = DaemonJson("app:2");
  moment.older = {MakeRevision(DaemonJson("app:1"))};
  EXPECT_EQ(MakePlan(moment.Take(), memo).pools[0].write, WorkloadAction::kUpdate) << "a new target";
}

TEST(PlanMemoTest, ReleasesTheRevisionsOfEarlierRollouts) {
  PlanMemo memo;
  std::vector<std::weak_ptr<const Revision>> rollouts;
  RevisionPtr before;
  for (int i = 0; i < 5; ++i) {
    Moment moment{.daemon = DaemonJson("app:" + std::to_string(i)), .pools = {PoolJson("a"), PoolJson("b")}};
    Snapshot snapshot = moment.Take();
    const RevisionPtr update = snapshot.update;
    rollouts.push_back(update);
    // The pools are on the revision before, then on the new one.
    for (const RevisionPtr& made_by : {before, update}) {
      if (made_by == nullptr) continue;
      snapshot.workloads.clear();
      for (const Json& pool : moment.pools) {
        snapshot.workloads.push_back(MakeWorkload(WorkloadJson(moment.daemon, made_by, pool)));
      }
      snapshot.revisions = {update, made_by};
      MakePlan(snapshot, memo);
    }
    before = update;
  }
  EXPECT_TRUE(rollouts.front().expired());
  EXPECT_FALSE(rollouts.back().expired());
}

TEST(PlanMemoTest, AVerdictHoldsOnlyForWhatItWasMadeFrom) {
  Moment moment = OnOldRevision(Paused(DaemonJson("app:2")));
  PlanMemo memo;
  const auto write = [&] { return MakePlan(moment.Take(), memo).pools[0].write; };
  EXPECT_EQ(write(), WorkloadAction::kNone);
  moment.daemon = DaemonJson("app:2");
  EXPECT_EQ(write(), WorkloadAction::kUpdate) << "resumed";
  moment.daemon = DaemonJson("app:1");
  EXPECT_EQ(write(), WorkloadAction::kNone);
  moment.pools = {PoolJson("a", {"x"})};
  EXPECT_EQ(write(), WorkloadAction::kUpdate) << "tainted";
  moment.pools = {PoolJson("a")};
  EXPECT_EQ(write(), WorkloadAction::kNone);
  moment.workloads[0]["status"] = Json::object();
  EXPECT_EQ(write(), WorkloadAction::kNone) << "status is not what a verdict is about";
  moment.workloads[0]["spec"]["replicas"] = 2;
  EXPECT_EQ(write(), WorkloadAction::kRepair) << "edited";
}

// ---- workloads that are alike ----

// The memo reuses the assessment of a workload for others like it; a workload that differs must not get that
// assessment.
TEST(PlanMemoTest, SharedMemoGivesTheVerdictsOfSeparateMemos) {
  const auto set_env = [](Json& workload, const std::string& value) {
    PodSpecOf(workload)["containers"][0]["env"] = {{{"name", "pool"}, {"value", value}}};
  };
  const std::vector<std::function<void(Json&)>> changes = {
      [](Json&) {},
      [](Json& workload) { workload["status"] = Json::object(); },
      [](Json& workload) { workload["spec"]["replicas"] = 2; },
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
      [&](Json& workload) { set_env(workload, "p0"); },
      [&](Json& workload) { set_env(workload, "p16"); },
  };
  const auto pool_json = [](int number, bool tainted, bool in_zone) {
    Json pool =
        PoolJson("p" + std::to_string(number), tainted ? std::vector<std::string>{"x"} : std::vector<std::string>());
    if (in_zone) pool["metadata"]["labels"]["zone"] = "z";
    return pool;
  };
  const Json plain = DaemonJson("app:1");
  Json overriding = DaemonJson("app:2");
  overriding["spec"]["overrides"] = R"([{"nodepoolSelector": {"matchLabels": {"zone": "z"}}, "patch": {"spec": {
      "template": {"spec": {"containers": [{"name": "main", "env": [{"name": "pool", "value": "{{nodepool}}"}]}]}}}}}])"_json;
  std::set<WorkloadAction> seen;
  for (const Json& daemon : {plain, Paused(plain), overriding, Paused(overriding), OnDelete(overriding)}) {
    Moment moment;
    moment.daemon = daemon;
    moment.older = {MakeRevision(plain), MakeRevision(overriding)};
    moment.current = moment.older[0];
    int number = 0;
    for (const auto& change : changes) {
      for (int kind = 0; kind < 32; ++kind, ++number) {
        const Json& made_by = (kind & 1) != 0 ? plain : overriding;
        moment.pools.push_back(pool_json(number, (kind & 2) != 0, (kind & 4) != 0));
        const Json before = pool_json(number, (kind & 8) != 0, (kind & 16) != 0);  // the pool at that time
        moment.workloads.push_back(WorkloadJson(made_by, MakeRevision(made_by), before));
        change(moment.workloads.back());
      }
    }
    Snapshot snapshot = moment.Take();
    const Goal goal{snapshot.update};
    const auto assess = [&](const WorkloadRef& workload, PlanMemo& memo) {
      const auto pool = std::find_if(snapshot.pools.begin(), snapshot.pools.end(),
                                     [&](const PoolRef& one) { return one.pool().name == workload.pool; });
      return Assess(snapshot, goal, *pool, workload, memo);
    };
    std::map<std::string, Assessment> alone;
    for (const WorkloadRef& workload : snapshot.workloads) {
      PlanMemo memo;
      alone[workload.pool] = assess(workload, memo);
      seen.insert(alone[workload.pool].write);
    }
    for (int order = 0; order < 2; ++order) {
      PlanMemo shared;
      for (const WorkloadRef& workload : snapshot.workloads) {
        EXPECT_EQ(assess(workload, shared), alone[workload.pool]) << workload.object->Parse().dump();
      }
      std::reverse(snapshot.workloads.begin(), snapshot.workloads.end());
    }
  }
  EXPECT_THAT(seen,
              ::testing::UnorderedElementsAre(WorkloadAction::kNone, WorkloadAction::kUpdate, WorkloadAction::kRepair));
}

TEST(PlanMemoTest, TaintsThatReadAlikeAreDistinct) {
  Json a = PoolJson("a", {"x"}), b = PoolJson("b", {"xPrefer"});
  a["spec"]["taints"][0]["effect"] = "PreferNoSchedule";
  Moment moment{.pools = {PoolJson("a"), PoolJson("b")}};
  moment.Deployed();
  moment.pools = {a, b};
  PlanMemo memo;
  const Plan plan = MakePlan(moment.Take(), memo);
  EXPECT_EQ(plan.pools[0].to.inputs.tolerations.at(0).key, "x");
  EXPECT_EQ(plan.pools[1].to.inputs.tolerations.at(0).key, "xPrefer");
}

TEST(UndoneDifferenceTest, DependsOnThePlacesThatDifferAndTheirValues) {
  const Json live = {{"metadata", {{"generation", 3}, {"labels", {{"a/b", "1"}}}}}, {"spec", {{"list", {1, 2}}}}};
  const auto change = [&](const char* pointer, const Json& value) {
    Json merged = live;
    merged[Json::json_pointer(pointer)] = value;
    return UndoneDifference(live, merged);
  };
  EXPECT_EQ(UndoneDifference(live, live).at, "");
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
  EXPECT_NE(UndoneDifference(other, merged).digest, UndoneDifference(live, merged).digest);
  other = live;
  other["metadata"]["generation"] = 4;
  merged["metadata"]["generation"] = 4;
  EXPECT_NE(UndoneDifference(other, merged).digest, change("/spec/list/1", 3).digest);
}

// A tenant's own workload may be as large as etcd accepts.
TEST(UndoneDifferenceTest, FollowsTheLengthOfAList) {
  const Json live = {{"spec", {{"list", Json(350'000, "x")}}}}, merged = {{"spec", {{"list", {"x"}}}}};
  EXPECT_EQ(UndoneDifference(live, merged).at, "/spec/list/1");
}

TEST(PlanMemoTest, UndoneRepairDoesNotAffectASimilarWorkload) {
  Moment moment{.pools = {PoolJson("a"), PoolJson("b")}};
  moment.Deployed();
  for (Json& workload : moment.workloads) workload["metadata"]["ownerReferences"][0]["controller"] = false;
  PlanMemo memo;
  const Plan plan = MakePlan(moment.Take(), memo);
  ASSERT_EQ(plan.pools[0].write, WorkloadAction::kRepair);
  const WorkloadRef live = *plan.pools[0].workload;
  memo.Settle(live.object->meta().key.name, TargetFingerprint(plan.pools[0].to),
              UndoneDifference(live.object->Parse(), Put(moment, plan.pools[0])).digest);
  const Plan again = MakePlan(moment.Take(), memo);
  EXPECT_EQ(again.pools[0].write, WorkloadAction::kNone);
  EXPECT_EQ(again.pools[1].write, WorkloadAction::kRepair);
}

}  // namespace
}  // namespace yad::testing
