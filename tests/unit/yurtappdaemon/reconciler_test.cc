#include "operator/yurtappdaemon/reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/yurtappdaemon/world.h"

namespace yad::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

FakeCluster::Fault Reject(int code, const std::string& reason, const std::string& message) {
  return {StatusResponse(code, reason, message), false};
}

class ReconcilerTest : public ::testing::Test {
 protected:
  // Creates a daemon on app:1 with these pools, and reconciles until it is at rest.
  void Deployed(const std::vector<std::string>& pools, Json daemon = DaemonJson()) {
    world_.AddPools(pools);
    world_.CreateDaemon(std::move(daemon));
    ASSERT_LE(world_.Converge(), 10);
    world_.events.Take();
    world_.cluster.ClearWrites();
  }

  World world_;
};

TEST_F(ReconcilerTest, ADaemonGetsOneWorkloadPerPoolARevisionAndAStatus) {
  for (const WorkloadKind kind : {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet}) {
    World world;
    world.AddPools({"a", "b"});
    world.CreateDaemon(DaemonJson("app:1", kind));
    const auto result = world.Reconcile();
    ASSERT_TRUE(result) << result.error().ToString();
    EXPECT_EQ(result->next, kReconcileDone);
    EXPECT_EQ(ImageOf(world.Workload("a")), "app:1");
    EXPECT_EQ(ImageOf(world.Workload("b")), "app:1");
    ASSERT_THAT(world.Revisions(), SizeIs(1));
    EXPECT_EQ(world.Status()["desiredPools"], 2);
    EXPECT_EQ(world.Status()["currentRevision"], "");
    EXPECT_THAT(world.events.TakeReasons(), UnorderedElementsAre("RevisionCreated", "WorkloadCreated"));
    EXPECT_LE(world.Converge(), 3);
    EXPECT_EQ(world.Status()["currentRevision"], world.Status()["updateRevision"]);
    EXPECT_EQ(ConditionReason(world.Status(), "Ready"), "True PoolsReady");
  }
}

TEST_F(ReconcilerTest, NothingIsWrittenAfterAnOlderCrdDroppedFieldsOfTheSpec) {
  Json daemon = DaemonJson();
  daemon["spec"]["paused"] = true;
  Deployed({"a", "b"}, std::move(daemon));
  Json version = {{"name", "v1alpha1"}};
  version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"] = Json::object();
  world_.cluster.Create(kCrdType, {{"metadata", {{"name", "yurtappdaemons.apps.openyurt.io"}}},
                                   {"spec", {{"versions", Json::array({version})}}}});
  Json pruned = world_.Daemon();
  pruned["metadata"]["resourceVersion"] = "998";
  pruned["spec"].erase("paused");
  PodSpecOf(TemplateOf(pruned))["containers"][0]["image"] = "app:2";
  world_.stores().daemons.Replace({AsWatched(pruned, kProjectedOfDaemons, ProjectDaemon)}, "999");
  const auto result = world_.ReconcileWithOldCaches();
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("an older CRD lacks these fields: spec."));
  EXPECT_THAT(world_.cluster.writes(), IsEmpty());
}

TEST_F(ReconcilerTest, HealthChangesAreReconciledSlowlyIfNoWorkloadIsWritten) {
  EXPECT_EQ(world_.HealthPace(), kFastHealthPace) << "the process has not reconciled the daemon yet";
  Deployed({"a", "b"});
  EXPECT_EQ(world_.HealthPace(), kSlowHealthPace + 2 * kHealthPacePerPool);
  world_.SetImage("app:2");
  ASSERT_TRUE(world_.Reconcile());
  EXPECT_EQ(world_.HealthPace(), kFastHealthPace) << "workloads were written";
}

TEST_F(ReconcilerTest, NothingIsWrittenWithoutAChangeOrAfterARestart) {
  Deployed({"a", "b"});
  EXPECT_EQ(world_.Reconcile()->next, kReconcileDone);
  world_.clock.Advance(std::chrono::hours(1));
  world_.Restart();
  EXPECT_EQ(world_.Reconcile()->next, kReconcileDone);
  EXPECT_THAT(world_.Writes(), IsEmpty());
  EXPECT_THAT(world_.events.Take(), IsEmpty());
}

TEST_F(ReconcilerTest, UnsyncedStoreIsNotTreatedAsEmpty) {
  Deployed({"a"});
  for (const char* missing : {"daemons", "pools", "deployments", "stateful_sets", "revisions"}) {
    SCOPED_TRACE(missing);
    World other;
    other.AddPool("a");
    other.CreateDaemon();
    // All stores except one have their first list.
    const std::map<std::string, Store*> stores = {{"daemons", &other.stores().daemons},
                                                  {"pools", &other.stores().pools},
                                                  {"deployments", &other.stores().deployments},
                                                  {"stateful_sets", &other.stores().stateful_sets},
                                                  {"revisions", &other.stores().revisions}};
    for (const auto& [name, store] : stores) {
      if (name == missing) continue;
      std::vector<ObjectPtr> objects;
      if (name == "daemons") objects.push_back(std::make_shared<StoredObject>(other.Daemon(), ProjectDaemon));
      if (name == "deployments")
        objects.push_back(std::make_shared<StoredObject>(world_.Workload("a"), ProjectDeployment));
      store->Replace(objects, "1000");
    }
    const auto result = other.ReconcileWithOldCaches();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().reason, Reason::kNotSynced);
    for (const std::string& write : other.Writes()) EXPECT_THAT(write, HasSubstr("controllerrevisions"));
  }
}

TEST_F(ReconcilerTest, StaleSpecIsNeitherAppliedNorReported) {
  Deployed({"a", "b"});
  world_.RemovePool("b");
  world_.Sync();
  world_.SetImage("app:2");
  for (int round = 1; round <= 2; ++round) {  // round 1: workloads to write; round 2: only status
    const auto result = world_.ReconcileWithOldCaches();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().reason, Reason::kConflict);
    for (const std::string& write : world_.Writes()) EXPECT_THAT(write, HasSubstr("yurtappdaemons/status ns/web 409"));
    world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("b")});
    std::vector<ObjectPtr> left = {std::make_shared<StoredObject>(world_.Workload("a"), ProjectDeployment)};
    world_.stores().deployments.Replace(left, world_.cluster.resource_version());
  }
  EXPECT_LE(world_.Converge(), 5);
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:2");
}

TEST_F(ReconcilerTest, NothingIsWrittenForADaemonThatIsBeingDeleted) {
  world_.AddPool("a");
  Json daemon = DaemonJson();
  daemon["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z";
  world_.CreateDaemon(daemon);
  EXPECT_EQ(world_.Reconcile()->next, kReconcileDone);
  EXPECT_THAT(world_.Writes(), IsEmpty());
}

TEST_F(ReconcilerTest, InvalidSpecIsReportedOnceAndItsWorkloadsAreKept) {
  Deployed({"a"});
  world_.EditDaemon([](Json& daemon) {
    daemon["spec"]["nodepoolSelector"] = R"({"matchExpressions": [{"key": "k", "operator": "In"}]})"_json;
  });
  world_.RemovePool("a");
  EXPECT_EQ(world_.Reconcile()->next, kReconcileDone);
  EXPECT_THAT(world_.Writes(), ElementsAre("PATCH yurtappdaemons/status ns/web 200"));
  EXPECT_EQ(ConditionReason(world_.Status(), "Ready"), "False InvalidSpec");
  EXPECT_EQ(world_.Status()["desiredPools"], 1) << "the other fields of status stay";
  const auto events = world_.events.Take();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].reason, "InvalidSpec");
  EXPECT_THAT(events[0].note, HasSubstr("spec.nodepoolSelector.matchExpressions[0].values"));
  world_.cluster.ClearWrites();
  world_.Reconcile();
  world_.Restart();
  world_.Reconcile();
  EXPECT_THAT(world_.Writes(), IsEmpty());
  EXPECT_THAT(world_.events.Take(), IsEmpty());
}

TEST_F(ReconcilerTest, WorkloadsOfOtherNamespacesWithTheDaemonAsOwnerAreIgnored) {
  Deployed({"a"});
  Json foreign = world_.Workload("a");
  foreign["metadata"]["namespace"] = "elsewhere";
  for (const ResourceType& type : {kDeploymentType, kStatefulSetType}) {
    foreign["kind"] = type.kind;
    world_.cluster.Create(type, foreign);
  }
  world_.cluster.ClearWrites();
  EXPECT_EQ(world_.Reconcile()->next, kReconcileDone);
  EXPECT_THAT(world_.Writes(), IsEmpty());
  EXPECT_EQ(ConditionReason(world_.Status(), "Ready"), "True PoolsReady");
}

TEST_F(ReconcilerTest, KindCannotBeChangedWhileWorkloadsOfTheOldKindExist) {
  Deployed({"a"});
  const Json before = world_.Workload("a");
  world_.EditDaemon([](Json& daemon) {
    daemon["spec"]["workloadTemplate"] = DaemonJson("app:1", WorkloadKind::kStatefulSet)["spec"]["workloadTemplate"];
  });
  world_.Reconcile();
  EXPECT_EQ(ConditionReason(world_.Status(), "Ready"), "False InvalidSpec");
  EXPECT_EQ(world_.Workload("a"), before);
  EXPECT_THAT(world_.cluster.List(kStatefulSetType), IsEmpty());
  // After a user has deleted the workload, the kind can change.
  world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("a")});
  world_.clock.Advance(std::chrono::seconds(1));
  world_.Reconcile();
  EXPECT_THAT(world_.cluster.List(kStatefulSetType), SizeIs(1));
}

TEST_F(ReconcilerTest, AddedRemovedAndChangedPoolsAreReconciled) {
  Deployed({"a", "b"});
  world_.AddPool("c");
  world_.RemovePool("a");
  world_.cluster.Edit(kNodePoolType, {"", "b"},
                      [](Json& pool) { pool["spec"]["taints"] = PoolJson("b", {"x"})["spec"]["taints"]; });
  world_.Reconcile();
  EXPECT_TRUE(world_.Workload("a").is_null());
  EXPECT_FALSE(world_.Workload("c").is_null());
  EXPECT_EQ(world_.Workload("b").at("/spec/template/spec/tolerations/0/key"_json_pointer), "x");
  EXPECT_THAT(world_.events.TakeReasons(),
              UnorderedElementsAre("WorkloadRemoved", "WorkloadCreated", "WorkloadUpdated"));
}

TEST_F(ReconcilerTest, NewTemplateUpdatesEveryPoolAndAnUndoReusesTheOldRevision) {
  Deployed({"a", "b"});
  const std::string first = world_.Status()["updateRevision"];
  world_.SetImage("app:2");
  world_.Converge();
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:2");
  EXPECT_EQ(ImageOf(world_.Workload("b")), "app:2");
  EXPECT_THAT(world_.Revisions(), SizeIs(2));
  world_.SetImage("app:1");
  world_.Converge();
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:1");
  EXPECT_THAT(world_.Revisions(), SizeIs(2));
  EXPECT_EQ(world_.Status()["updateRevision"], first);
  EXPECT_EQ(world_.Status()["currentRevision"], first);
  EXPECT_EQ(world_.cluster.Get(kControllerRevisionType, {kNs, first})->at("revision"), 3);
}

TEST_F(ReconcilerTest, OnDeleteUpdatesAPoolWhenItsWorkloadIsDeleted) {
  Json daemon = DaemonJson();
  daemon["spec"]["updateStrategy"] = {{"type", "OnDelete"}};
  Deployed({"a", "b"}, daemon);
  world_.SetImage("app:2");
  world_.Converge();
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:1");
  world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("a")});
  world_.Converge();
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:2");
  EXPECT_EQ(ImageOf(world_.Workload("b")), "app:1");
  EXPECT_EQ(world_.Status()["updatedPools"], 1);
  EXPECT_NE(world_.Status()["currentRevision"], world_.Status()["updateRevision"]);
}

TEST_F(ReconcilerTest, ChangedWorkloadIsRepairedOnceWithAnEvent) {
  Deployed({"a", "b"});
  world_.EditWorkload("b", [](Json& workload) { PodSpecOf(workload)["containers"][0]["image"] = "evil:1"; });
  world_.Reconcile();
  EXPECT_EQ(ImageOf(world_.Workload("b")), "app:1");
  EXPECT_THAT(world_.events.TakeReasons(), ElementsAre("WorkloadRepaired"));
  EXPECT_LE(world_.Converge(), 3);
  EXPECT_THAT(world_.events.TakeReasons(), IsEmpty());
}

TEST_F(ReconcilerTest, HistoryKeepsTheLimitAndTheLiveRevisions) {
  Json daemon = DaemonJson();
  daemon["spec"]["revisionHistoryLimit"] = 2;
  Deployed({"a"}, daemon);
  for (int i = 2; i <= 6; ++i) {
    world_.SetImage("app:" + std::to_string(i));
    world_.Converge();
  }
  std::vector<std::int64_t> numbers;
  for (const Json& revision : world_.Revisions()) numbers.push_back(revision["revision"]);
  EXPECT_THAT(numbers, UnorderedElementsAre(4, 5, 6));
}

TEST_F(ReconcilerTest, ALiveRevisionIsNotPrunedWhenTheStatusWriteFailsOrIsDelayed) {
  Json daemon = DaemonJson();
  daemon["spec"]["revisionHistoryLimit"] = 0;
  Deployed({"a"}, daemon);
  const std::string first = world_.Status()["currentRevision"];
  // The daemon is paused and its only workload is gone, so only status contains the first revision.
  world_.EditDaemon([](Json& d) { d["spec"]["paused"] = true; });
  for (const bool fails : {true, false}) {
    world_.SetImage(fails ? "app:2" : "app:3");
    if (fails) {
      world_.cluster.SetFaults([](const WriteRecord& r, const Json&) -> std::optional<FakeCluster::Fault> {
        if (r.subresource == "status") return Reject(500, "InternalError", "etcd is away");
        return std::nullopt;
      });
    }
    const auto result = world_.Reconcile();
    EXPECT_EQ(bool(result), !fails);
    world_.cluster.SetFaults(nullptr);
    world_.Reconcile();  // This reconcile is too early for another write of status.
    EXPECT_TRUE(world_.cluster.Get(kControllerRevisionType, {kNs, first}));
    world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("a")});
  }
  world_.Converge();
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:1");
  EXPECT_TRUE(world_.cluster.Get(kControllerRevisionType, {kNs, first}));
}

// The caches of a new process that reads from a lagging apiserver. Only the first revision shows that the operator set
// the variable.
TEST_F(ReconcilerTest, RemovesFieldsOfARevisionThatTheCacheDoesNotHaveYet) {
  Json daemon = DaemonJson();
  PodSpecOf(TemplateOf(daemon))["containers"][0]["env"] = {{{"name", "OLD"}, {"value", "x"}}};
  Deployed({"a"}, daemon);
  world_.EditDaemon([](Json& d) { PodSpecOf(TemplateOf(d))["containers"][0].erase("env"); });
  world_.Restart();
  world_.Sync();
  world_.stores().revisions.Replace({}, world_.cluster.resource_version());
  ASSERT_TRUE(world_.ReconcileWithOldCaches());
  EXPECT_LE(world_.Converge(), 10);
  const Json workload = world_.Workload("a");
  EXPECT_FALSE(workload.contains("/spec/template/spec/containers/0/env"_json_pointer)) << workload;
}

TEST_F(ReconcilerTest, StatusIsWrittenAtMostOnceASecond) {
  Deployed({"a"});
  world_.EditWorkload("a", [](Json& w) { w["status"]["availableReplicas"] = 0; });
  ASSERT_TRUE(world_.Reconcile());
  EXPECT_THAT(world_.Writes(), SizeIs(1));
  world_.clock.Advance(std::chrono::milliseconds(300));
  world_.EditWorkload("a", [](Json& w) { w["status"]["availableReplicas"] = 1; });
  const auto early = world_.Reconcile();
  EXPECT_EQ(early->next, ReconcileResult::Next::kAfter);
  EXPECT_EQ(early->after, std::chrono::milliseconds(700));
  EXPECT_THAT(world_.Writes(), SizeIs(1));
  world_.clock.Advance(std::chrono::milliseconds(700));
  EXPECT_EQ(world_.Reconcile()->next, kReconcileDone);
  EXPECT_THAT(world_.Writes(), SizeIs(2));
  EXPECT_EQ(world_.Status()["readyPools"], 1);
}

TEST_F(ReconcilerTest, FailedCreationIsReportedOnceAndRetriedUntilItSucceeds) {
  world_.AddPools({"a", "b"});
  world_.CreateDaemon();
  world_.Sync();
  const std::string rejected = world_.NameOf("b");
  world_.cluster.SetFaults([&](const WriteRecord& r, const Json&) -> std::optional<FakeCluster::Fault> {
    if (r.method == "POST" && r.key.name == rejected) return Reject(403, "Forbidden", "exceeded quota: few");
    return std::nullopt;
  });
  for (int i = 0; i < 3; ++i) {
    const auto result = world_.Reconcile();
    EXPECT_TRUE(!result || result->next == ReconcileResult::Next::kAfter) << "the create must be retried";
    const std::vector<std::string> told = world_.events.TakeReasons();
    EXPECT_EQ(std::count(told.begin(), told.end(), "QuotaExceeded"), i == 0 ? 1 : 0);
    world_.clock.Advance(std::chrono::seconds(1));
  }
  EXPECT_FALSE(world_.Workload("a").is_null()) << "pool a must get its workload";
  EXPECT_EQ(PoolStatus(world_.Status(), "b")["phase"], "Failed");
  EXPECT_EQ(ConditionReason(world_.Status(), "WorkLoadFailure"), "True QuotaExceeded");
  world_.Restart();
  EXPECT_FALSE(world_.Reconcile());
  EXPECT_THAT(world_.events.TakeReasons(), IsEmpty()) << "status shows that the failure was reported";
  world_.cluster.SetFaults(nullptr);
  world_.Converge();
  EXPECT_EQ(world_.Status()["readyPools"], 2);
  EXPECT_EQ(ConditionReason(world_.Status(), "WorkLoadFailure"), "False ");
}

TEST_F(ReconcilerTest, RejectedRevisionIsReportedInStatus) {
  world_.AddPool("a");
  world_.CreateDaemon();
  world_.cluster.SetFaults([&](const WriteRecord& r, const Json&) -> std::optional<FakeCluster::Fault> {
    if (r.method == "POST" && r.resource == "controllerrevisions") return Reject(403, "Forbidden", "you may not");
    return std::nullopt;
  });
  EXPECT_FALSE(world_.Reconcile());
  EXPECT_EQ(ConditionReason(world_.Status(), "WorkLoadFailure"), "True RevisionFailed");
  EXPECT_THAT(world_.events.TakeReasons(), ElementsAre("RevisionFailed"));
  EXPECT_FALSE(world_.Reconcile());
  EXPECT_THAT(world_.events.TakeReasons(), IsEmpty());
  world_.cluster.SetFaults(nullptr);
  world_.clock.Advance(std::chrono::seconds(1));
  world_.Converge();
  EXPECT_EQ(ConditionReason(world_.Status(), "WorkLoadFailure"), "False ");
  EXPECT_EQ(ConditionReason(world_.Status(), "Ready"), "True PoolsReady");
}

TEST_F(ReconcilerTest, RevisionWhoseWorkloadsAreRejectedDoesNotBecomeCurrent) {
  Deployed({"a"});
  const std::string first = world_.Status()["currentRevision"];
  world_.cluster.SetFaults([&](const WriteRecord& r, const Json&) -> std::optional<FakeCluster::Fault> {
    if (r.method == "PUT") return Reject(422, "Invalid", "spec.template: Invalid value");
    return std::nullopt;
  });
  world_.SetImage("?");
  EXPECT_FALSE(world_.Reconcile());
  EXPECT_EQ(world_.Status()["currentRevision"], first);
  EXPECT_EQ(ConditionReason(world_.Status(), "WorkLoadFailure"), "True Invalid");
  EXPECT_EQ(ConditionReason(world_.Status(), "Progressing"), "False FailureBudgetExceeded");
}

TEST_F(ReconcilerTest, RepairThatAWebhookRevertsIsNotRepeated) {
  Deployed({"a"});
  world_.cluster.SetMutation([](const ResourceType& type, const Json&, Json& object) {
    if (type.resource != "deployments") return;
    PodSpecOf(object)["containers"][0]["image"] = "mirror/app:1";
    object["metadata"]["managedFields"] =
        R"([{"manager": "yurtappdaemon-operator", "fieldsV1": {"f:spec": {"f:template": {}}}}])"_json;
  });
  world_.EditWorkload("a", [](Json& w) { PodSpecOf(w)["containers"][0]["image"] = "mirror/app:1"; });
  for (int i = 0; i < 5; ++i) {
    world_.Reconcile();
    world_.RunWorkloadControllers();
    world_.clock.Advance(std::chrono::seconds(1));
  }
  int puts = 0;
  for (const WriteRecord& write : world_.cluster.writes()) puts += write.method == "PUT";
  EXPECT_EQ(puts, 1);
  // A change of the spec is written once.
  world_.EditDaemon([](Json& daemon) { TemplateOf(daemon)["spec"]["replicas"] = 3; });
  world_.cluster.ClearWrites();
  for (int i = 0; i < 5; ++i) {
    world_.Reconcile();
    world_.RunWorkloadControllers();
    world_.clock.Advance(std::chrono::seconds(1));
  }
  puts = 0;
  for (const WriteRecord& write : world_.cluster.writes()) puts += write.method == "PUT";
  EXPECT_EQ(puts, 1);
  EXPECT_EQ(world_.Workload("a")["spec"]["replicas"], 3);
}

TEST_F(ReconcilerTest, UpdateThatAWebhookRevertsFailsAndIsRetriedWithBackoff) {
  Deployed({"a"});
  world_.cluster.SetMutation([](const ResourceType& type, const Json& old, Json& object) {
    if (type.resource == "deployments" && old.is_object()) object = old;
  });
  world_.SetImage("app:2");
  const auto undone = world_.Reconcile();
  ASSERT_FALSE(undone);
  EXPECT_NE(undone.error().reason, Reason::kConflict) << "a conflict would be retried every second";
  EXPECT_EQ(PoolStatus(world_.Status(), "a")["reason"], "UpdateUndone");
  EXPECT_THAT(world_.events.TakeReasons(), Contains("UpdateUndone"));
  EXPECT_EQ(world_.Reconcile()->next, ReconcileResult::Next::kAfter);
  world_.cluster.SetMutation(nullptr);
  world_.clock.Advance(std::chrono::seconds(1));
  world_.Converge();
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:2");
}

TEST_F(ReconcilerTest, AnOldCrdThatDropsStatusFieldsCausesOneWriteAndNoWarning) {
  world_.AddPool("a");
  world_.CreateDaemon();
  // The apiserver drops fields that OpenYurt's CRD does not have.
  const auto drop = [&] {
    world_.EditDaemon([](Json& d) {
      if (d.contains("status")) d["status"].erase("pools");
    });
  };
  world_.cluster.SetFaults([&](const WriteRecord& r, const Json& body) -> std::optional<FakeCluster::Fault> {
    if (r.subresource != "status") return std::nullopt;
    Json answer = body;
    answer["status"].erase("pools");
    answer["metadata"] = {{"name", "web"}, {"namespace", kNs}, {"resourceVersion", "1"}};
    HttpResponse response = JsonResponse(answer);
    response.headers["warning"] = R"(299 - "unknown field \"status.pools\"")";
    return FakeCluster::Fault{response, true};
  });
  for (int i = 0; i < 3; ++i) {
    world_.Reconcile();
    drop();
    world_.RunWorkloadControllers();
    world_.clock.Advance(std::chrono::seconds(2));
  }
  world_.cluster.ClearWrites();
  for (int i = 0; i < 3; ++i) {
    world_.Reconcile();
    drop();
    world_.clock.Advance(std::chrono::seconds(2));
  }
  EXPECT_THAT(world_.Writes(), IsEmpty());
  EXPECT_THAT(world_.warnings, IsEmpty());
}

TEST_F(ReconcilerTest, DaemonWithTheNameOfADeletedOneIsReconciledAsANewOne) {
  Deployed({"a"});
  world_.cluster.Delete(kYurtAppDaemonType, {kNs, "web"});
  EXPECT_EQ(world_.Reconcile()->next, kReconcileDone);
  EXPECT_THAT(world_.Writes(), IsEmpty());
  for (const Json& workload : world_.Workloads()) {
    world_.cluster.Delete(kDeploymentType, {kNs, StringAt(workload, {"metadata", "name"})});
  }
  world_.CreateDaemon();
  EXPECT_LE(world_.Converge(), 5) << "a daemon with the same name and another uid is another daemon";
  EXPECT_EQ(world_.Status()["readyPools"], 1);
}

}  // namespace
}  // namespace yad::testing
