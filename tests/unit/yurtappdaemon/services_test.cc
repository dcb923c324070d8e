// The Services of pools, with the whole reconciler and a fake cluster.
#include "operator/yurtappdaemon/plan/services.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/workload/service.h"
#include "tests/unit/yurtappdaemon/world.h"

namespace yad::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Next = ReconcileResult::Next;

Json ServiceTemplate(int port = 80) { return {{"spec", {{"ports", {{{"name", "http"}, {"port", port}}}}}}}; }

class ServicesTest : public ::testing::Test {
 protected:
  static Json WithService(Json daemon, int port = 80) {
    daemon["spec"]["serviceTemplate"] = ServiceTemplate(port);
    return daemon;
  }
  void Deployed(const std::vector<std::string>& pools, const Json& daemon) {
    world_.AddPools(pools);
    world_.CreateDaemon(daemon);
    ASSERT_LE(world_.Converge(), 5);
    world_.cluster.ClearWrites();
    world_.events.Take();
  }
  std::string ServiceOf(const std::string& pool) const { return ServiceName(world_.NameOf(pool)); }
  Json Service(const std::string& pool) const {
    return world_.cluster.Get(kServiceType, {kNs, ServiceOf(pool)}).value_or(Json());
  }
  int PortOf(const std::string& pool) const {
    const Json service = Service(pool);
    return service.is_null() ? 0 : service["spec"]["ports"][0]["port"].get<int>();
  }
  void SetPort(int port) {
    world_.EditDaemon([&](Json& daemon) { daemon["spec"]["serviceTemplate"] = ServiceTemplate(port); });
  }
  void TakeTemplateAway() {
    world_.EditDaemon([](Json& daemon) { daemon["spec"].erase("serviceTemplate"); });
  }
  // Rejects writes of the pool's Service, as an apiserver does if a field is immutable.
  void RejectService(const std::string& pool) {
    world_.cluster.SetFaults([name = ServiceOf(pool)](const WriteRecord& request,
                                                      const Json&) -> std::optional<FakeCluster::Fault> {
      if (request.resource != "services" || request.key.name != name || request.method == "GET") return std::nullopt;
      return FakeCluster::Fault{
          HttpResponse{422, {}, R"({"kind":"Status","status":"Failure","code":422,"reason":"Invalid","message":"no"})"},
          false};
    });
  }

  World world_;
};

TEST_F(ServicesTest, EachPoolGetsAServiceBeforeItsWorkload) {
  world_.AddPool("a");
  world_.CreateDaemon(WithService(DaemonJson()));
  world_.Reconcile();
  const std::vector<std::string> writes = world_.Writes();
  const auto at = [&](const std::string& text) {
    return std::find_if(writes.begin(), writes.end(), [&](const std::string& w) { return w.starts_with(text); });
  };
  ASSERT_NE(at("POST deployments"), writes.end());
  EXPECT_LT(at("POST services ns/" + ServiceOf("a") + " 201"), at("POST deployments"));
  const Json service = Service("a");
  EXPECT_EQ(service["spec"]["selector"], (Json{{"app", "web"}, {kPoolNameLabel, "a"}}));
  EXPECT_EQ(service["metadata"]["ownerReferences"][0]["uid"], world_.uid);
  EXPECT_EQ(PoolStatus(world_.Status(), "a")["service"], ServiceOf("a"));
  EXPECT_THAT(world_.events.TakeReasons(), Contains("ServiceCreated"));
}

TEST_F(ServicesTest, EqualServicesAreNotWritten) {
  Deployed({"a", "b"}, WithService(DaemonJson()));
  world_.Restart();
  world_.clock.Advance(std::chrono::hours(1));
  EXPECT_EQ(world_.Reconcile()->next, Next::kDone);
  EXPECT_THAT(world_.Writes(), IsEmpty());
}

TEST_F(ServicesTest, ChangedOrDeletedServiceIsRestored) {
  Deployed({"a", "b"}, WithService(DaemonJson()));
  world_.cluster.Edit(kServiceType, {kNs, ServiceOf("a")},
                      [](Json& service) { service["spec"]["ports"][0]["port"] = 81; });
  world_.cluster.Delete(kServiceType, {kNs, ServiceOf("b")});
  world_.Reconcile();
  EXPECT_EQ(PortOf("a"), 80);
  EXPECT_EQ(PortOf("b"), 80);
  EXPECT_THAT(world_.events.TakeReasons(), ElementsAre("ServiceCreated", "ServiceRepaired"));
}

TEST_F(ServicesTest, LabelThatAServiceHasLostIsRestored) {
  Deployed({"a"}, WithService(DaemonJson()));
  world_.cluster.Edit(kServiceType, {kNs, ServiceOf("a")},
                      [](Json& service) { service["metadata"]["labels"].erase(kPoolNameLabel); });
  EXPECT_LE(world_.Converge(), 3);
  EXPECT_EQ(Service("a")["metadata"]["labels"][kPoolNameLabel], "a");
}

// The repair restores the label. If the repair fails, the Service is kept, because the pool still needs it.
TEST_F(ServicesTest, ServiceWithAnotherPoolsLabelIsKeptWhenItsRepairFails) {
  Deployed({"a"}, WithService(DaemonJson()));
  world_.cluster.Edit(kServiceType, {kNs, ServiceOf("a")},
                      [](Json& service) { service["metadata"]["labels"][kPoolNameLabel] = "elsewhere"; });
  world_.cluster.SetFaults([&](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
    if (request.resource != "services" || request.method != "PUT") return std::nullopt;
    return FakeCluster::Fault{StatusResponse(429, "TooManyRequests", "slow down"), false};
  });
  world_.Reconcile();
  EXPECT_EQ(PortOf("a"), 80);
  world_.cluster.SetFaults(nullptr);
  EXPECT_LE(world_.Converge(), 3);
  EXPECT_EQ(Service("a")["metadata"]["labels"][kPoolNameLabel], "a");
}

TEST_F(ServicesTest, ReleasedServiceIsNotAdoptedAgain) {
  Deployed({"a"}, WithService(DaemonJson()));
  SetPort(81);
  world_.Sync();
  world_.cluster.Edit(kServiceType, {kNs, ServiceOf("a")}, [](Json& s) { s["metadata"].erase("ownerReferences"); });
  EXPECT_FALSE(world_.ReconcileWithOldCaches());
  EXPECT_FALSE(Service("a")["metadata"].contains("ownerReferences"));
}

TEST_F(ServicesTest, ANewTemplateCreatesARevisionAndRestartsNoPod) {
  Deployed({"a"}, WithService(DaemonJson()));
  const Json before = world_.Workload("a");
  SetPort(90);
  EXPECT_LE(world_.Converge(), 4);
  EXPECT_EQ(PortOf("a"), 90);
  EXPECT_THAT(world_.Revisions(), SizeIs(2));
  EXPECT_EQ(world_.Workload("a")["spec"], before["spec"]);
  EXPECT_NE(world_.Workload("a")["metadata"]["labels"][kRevisionLabel], before["metadata"]["labels"][kRevisionLabel]);
  EXPECT_EQ(world_.Status()["currentRevision"], world_.Status()["updateRevision"]);
}

TEST_F(ServicesTest, RemovedTemplateRemovesTheServicesAndKeepsTheWorkloads) {
  Deployed({"a", "b"}, WithService(DaemonJson()));
  TakeTemplateAway();
  EXPECT_LE(world_.Converge(), 4);
  EXPECT_THAT(world_.cluster.List(kServiceType), IsEmpty());
  EXPECT_THAT(world_.Workloads(), SizeIs(2));
  EXPECT_FALSE(PoolStatus(world_.Status(), "a").contains("service"));
  EXPECT_THAT(world_.events.TakeReasons(), Contains("ServiceRemoved"));
}

TEST_F(ServicesTest, ServicesStayIfTheTemplateIsRestoredBeforeTheirRemoval) {
  Deployed({"a"}, WithService(DaemonJson()));
  TakeTemplateAway();
  const std::string uid = Service("a")["metadata"]["uid"];
  world_.cluster.SetAfterwards([this](const WriteRecord& request) {
    if (request.method != "PUT" || request.resource != "deployments") return;
    world_.cluster.SetAfterwards(nullptr);
    SetPort(80);
    world_.SyncAllButDeployments();
  });
  world_.Reconcile();
  EXPECT_EQ(PortOf("a"), 80);
  EXPECT_LE(world_.Converge(), 4);
  EXPECT_EQ(Service("a")["metadata"]["uid"], uid);
}

TEST_F(ServicesTest, ServicesAreRemovedEvenIfNoOldRevisionIsKept) {
  Json daemon = WithService(DaemonJson());
  daemon["spec"]["revisionHistoryLimit"] = 0;
  Deployed({"a"}, daemon);
  TakeTemplateAway();
  // The first attempt fails, and the process exits.
  world_.cluster.SetFaults([](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
    if (request.resource != "services" || request.method != "DELETE") return std::nullopt;
    return FakeCluster::Fault{HttpResponse{503, {}, "{}"}, false};
  });
  world_.Reconcile();
  world_.cluster.SetFaults(nullptr);
  world_.Restart();
  EXPECT_LE(world_.Converge(), 4);
  EXPECT_THAT(world_.cluster.List(kServiceType), IsEmpty());
  EXPECT_THAT(world_.Revisions(), SizeIs(1));
}

TEST_F(ServicesTest, ServiceWhoseWorkloadWasNeverCreatedIsRemovedToo) {
  Json daemon = WithService(DaemonJson());
  daemon["spec"]["revisionHistoryLimit"] = 0;
  world_.AddPool("a");
  world_.CreateDaemon(daemon);
  world_.cluster.SetFaults([](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
    if (request.resource == "services" || request.resource == "controllerrevisions" || request.method == "GET")
      return std::nullopt;
    return FakeCluster::Fault{HttpResponse{503, {}, "{}"}, false};
  });
  world_.Reconcile();
  ASSERT_EQ(PortOf("a"), 80);
  world_.cluster.SetFaults(nullptr);
  world_.Restart();
  TakeTemplateAway();
  EXPECT_LE(world_.Converge(), 4);
  EXPECT_THAT(world_.cluster.List(kServiceType), IsEmpty());
}

TEST_F(ServicesTest, APoolThatLeavesLosesItsServiceAfterItsWorkload) {
  Deployed({"a", "b"}, WithService(DaemonJson()));
  const std::string workload = world_.NameOf("b");
  world_.RemovePool("b");
  world_.Reconcile();
  const std::vector<std::string> writes = world_.Writes();
  ASSERT_GE(writes.size(), 2U);
  EXPECT_EQ(writes[0], "DELETE deployments ns/" + workload + " 200");
  EXPECT_EQ(writes[1], "DELETE services ns/" + ServiceOf("b") + " 200");
  EXPECT_EQ(PortOf("a"), 80);
}

TEST_F(ServicesTest, AWorkloadWhoseRemovalIsBlockedKeepsItsService) {
  world_.limit = IntOrPercent{0, false};
  world_.Restart();
  Deployed({"a", "b"}, WithService(DaemonJson()));
  world_.RemovePool("b");
  world_.Reconcile();
  world_.clock.Advance(std::chrono::seconds(10));
  world_.Reconcile();
  EXPECT_EQ(ConditionReason(world_.Status(), "RemovalBlocked"), "True TooManyRemovals");
  EXPECT_EQ(PortOf("b"), 80);
}

TEST_F(ServicesTest, APoolThatHasReturnedOnTheServerKeepsItsService) {
  Deployed({"a", "b"}, WithService(DaemonJson()));
  world_.RemovePool("b");
  world_.Sync();
  world_.AddPool("b");
  world_.ReconcileWithOldCaches();
  EXPECT_EQ(PortOf("b"), 80);
  EXPECT_FALSE(world_.Workload("b").is_null());
}

TEST_F(ServicesTest, ServiceWithoutAWorkloadIsKeptWhileTheCacheOfPoolsIsStale) {
  Deployed({"a", "b"}, WithService(DaemonJson()));
  world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("b")});
  world_.RemovePool("b");
  world_.Sync();
  world_.AddPool("b");
  world_.ReconcileWithOldCaches();
  EXPECT_EQ(PortOf("b"), 80);
  world_.RemovePool("b");
  EXPECT_LE(world_.Converge(), 4);
  EXPECT_EQ(PortOf("b"), 0);
}

TEST_F(ServicesTest, ForeignServiceIsKeptAndTheOtherPoolsGetTheirs) {
  world_.AddPools({"a", "b"});
  world_.CreateDaemon(WithService(DaemonJson()));
  const Json foreign = {{"metadata", {{"name", ServiceOf("a")}, {"namespace", kNs}}},
                        {"spec", {{"ports", {{{"port", 1}}}}, {"selector", {{"app", "web"}, {kPoolNameLabel, "a"}}}}}};
  world_.cluster.Create(kServiceType, foreign);
  world_.Reconcile();
  world_.RunWorkloadControllers();
  world_.clock.Advance(std::chrono::seconds(2));
  world_.Reconcile();
  EXPECT_EQ(PortOf("a"), 1);
  EXPECT_EQ(PortOf("b"), 80);
  EXPECT_TRUE(world_.Workload("a").is_null());
  EXPECT_FALSE(world_.Workload("b").is_null());
  const Json pool = PoolStatus(world_.Status(), "a");
  EXPECT_EQ(pool["reason"], "ServiceConflict") << pool;
  EXPECT_FALSE(pool.contains("service"));
  world_.cluster.Delete(kServiceType, {kNs, ServiceOf("a")});
  world_.clock.Advance(std::chrono::seconds(1));
  EXPECT_LE(world_.Converge(), 4);
  EXPECT_EQ(PortOf("a"), 80);
}

TEST_F(ServicesTest, RejectedServiceFailsItsPool) {
  Deployed({"a", "b"}, WithService(DaemonJson()));
  RejectService("a");
  SetPort(90);
  world_.Reconcile();
  world_.clock.Advance(std::chrono::seconds(2));
  world_.Reconcile();
  EXPECT_EQ(PoolStatus(world_.Status(), "a")["reason"], "Invalid") << world_.Status()["pools"];
  EXPECT_EQ(PoolStatus(world_.Status(), "b")["phase"], "Ready");
  EXPECT_EQ(PortOf("a"), 80);
  EXPECT_EQ(PortOf("b"), 90);
  EXPECT_NE(PoolStatus(world_.Status(), "a")["revision"], world_.Status()["updateRevision"])
      << "the workload is not updated without its Service";
}

TEST_F(ServicesTest, ServiceIsUpdatedWithItsPoolAndNeedsNoSoak) {
  Json daemon = WithService(DaemonJson());
  daemon["spec"]["updateStrategy"] =
      R"({"type": "RollingUpdate", "rollingUpdate": {"partition": 1, "minReadySeconds": 500}})"_json;
  world_.AddPools({"a", "b", "c"});
  world_.CreateDaemon(daemon);
  for (int i = 0; i < 4; ++i) {
    world_.Reconcile();
    world_.RunWorkloadControllers();
    world_.clock.Advance(std::chrono::seconds(400));
  }
  SetPort(90);
  world_.Reconcile();  // reads the workloads live
  world_.Reconcile();
  EXPECT_THAT((std::vector<int>{PortOf("a"), PortOf("b"), PortOf("c")}), ElementsAre(90, 80, 80));
  for (int i = 0; i < 4; ++i) {
    world_.Reconcile();
    world_.RunWorkloadControllers();
    world_.clock.Advance(std::chrono::seconds(2));
  }
  EXPECT_THAT((std::vector<int>{PortOf("a"), PortOf("b"), PortOf("c")}), ElementsAre(90, 90, 80));
}

TEST_F(ServicesTest, ARollbackRestoresTheOldService) {
  Json daemon = WithService(DaemonJson());
  daemon["spec"]["updateStrategy"] = R"({"type": "RollingUpdate", "rollingUpdate": {"onFailure": "Rollback"}})"_json;
  Deployed({"a", "b"}, daemon);
  RejectService("b");
  SetPort(90);
  for (int i = 0; i < 8; ++i) {
    world_.Reconcile();
    world_.RunWorkloadControllers();
    world_.clock.Advance(std::chrono::seconds(2));
  }
  EXPECT_EQ(ConditionReason(world_.Status(), "Progressing"), "False RolledBack");
  EXPECT_THAT((std::vector<int>{PortOf("a"), PortOf("b")}), ElementsAre(80, 80));
}

TEST_F(ServicesTest, AWorkloadThatLostItsLabelKeepsTheServiceOfItsRevision) {
  Json daemon = WithService(DaemonJson());
  daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}};
  Deployed({"a", "b"}, daemon);
  SetPort(90);
  world_.SetImage("app:2");
  world_.Reconcile();  // reads the workloads live
  world_.Reconcile();
  ASSERT_THAT((std::vector<int>{PortOf("a"), PortOf("b")}), ElementsAre(90, 80));
  world_.EditWorkload("b", [](Json& workload) { workload["metadata"]["labels"].erase(kPoolNameLabel); });
  world_.Reconcile();
  EXPECT_EQ(world_.Workload("b")["metadata"]["labels"][kPoolNameLabel], "b");
  EXPECT_EQ(PortOf("b"), 80) << "pool b waits for its update";
  world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("b")});
  world_.Reconcile();
  EXPECT_EQ(PortOf("b"), 90) << "the new workload has the new revision";
}

TEST_F(ServicesTest, PausedDaemonRepairsServicesAndDoesNotUpdateThem) {
  Deployed({"a"}, WithService(DaemonJson()));
  world_.EditDaemon([](Json& daemon) { daemon["spec"]["paused"] = true; });
  SetPort(90);
  EXPECT_LE(world_.Converge(), 4);
  EXPECT_EQ(PortOf("a"), 80);
  world_.cluster.Delete(kServiceType, {kNs, ServiceOf("a")});
  EXPECT_LE(world_.Converge(), 4);
  EXPECT_EQ(PortOf("a"), 80);
}

TEST_F(ServicesTest, AStaleCacheOfWorkloadsRemovesNoService) {
  Json daemon = DaemonJson();
  daemon["spec"]["updateStrategy"] = {{"type", "OnDelete"}};
  Deployed({"a"}, daemon);
  world_.Sync();  // the workload without a Service, on the first revision
  const Json old = world_.Workload("a");
  SetPort(80);
  world_.Reconcile();
  world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("a")});
  ASSERT_LE(world_.Converge(), 5);
  ASSERT_EQ(PortOf("a"), 80);
  world_.Restart();
  world_.SyncAllButDeployments();
  world_.stores().deployments.Replace({std::make_shared<StoredObject>(old, ProjectDeployment)}, "1");
  world_.ReconcileWithOldCaches();
  EXPECT_EQ(PortOf("a"), 80);
}

TEST_F(ServicesTest, OrphansOfAnEarlierDaemonAreAdopted) {
  Deployed({"a"}, WithService(DaemonJson()));
  const Json workload = world_.Workload("a");
  const std::string service = ServiceOf("a");
  for (const ResourceType& type : {kDeploymentType, kServiceType, kControllerRevisionType}) {
    for (const Json& object : world_.cluster.List(type)) {
      world_.cluster.Edit(type, ParseMeta(object).key, [](Json& o) { o["metadata"].erase("ownerReferences"); });
    }
  }
  world_.cluster.Delete(kYurtAppDaemonType, {kNs, "web"});
  world_.Reconcile();
  Json again = WithService(DaemonJson());
  again["metadata"]["uid"] = "uid-again";
  world_.CreateDaemon(again);
  EXPECT_LE(world_.Converge(), 5);
  const std::vector<Json> services = world_.cluster.List(kServiceType);
  ASSERT_THAT(services, SizeIs(1));
  EXPECT_EQ(services[0]["metadata"]["name"], service);
  EXPECT_EQ(services[0]["metadata"]["ownerReferences"][0]["uid"], world_.uid);
  EXPECT_EQ(PoolStatus(world_.Status(), "a")["phase"], "Ready") << world_.Status();
}

TEST_F(ServicesTest, OnlyDaemonsWithATemplateWaitForTheCacheOfServices) {
  world_.services_readable = false;
  Deployed({"a"}, DaemonJson());
  EXPECT_THAT(world_.Workloads(), SizeIs(1));
  SetPort(80);
  const auto result = world_.Reconcile();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->next, Next::kAfter);
  EXPECT_THAT(world_.Writes(), Not(Contains(HasSubstr("services"))));
  world_.services_readable = true;
  EXPECT_LE(world_.Converge(), 4);
  EXPECT_EQ(PortOf("a"), 80);
}

TEST_F(ServicesTest, NewStatefulSetWithoutAServiceNameGetsTheNameOfItsPoolsService) {
  Json daemon = DaemonJson("app:1", WorkloadKind::kStatefulSet);
  TemplateOf(daemon)["spec"].erase("serviceName");
  Deployed({"a"}, daemon);
  EXPECT_EQ(StringAt(world_.Workload("a"), {"spec", "serviceName"}), "");
  SetPort(80);
  world_.AddPool("b");
  EXPECT_LE(world_.Converge(), 5);
  EXPECT_EQ(StringAt(world_.Workload("a"), {"spec", "serviceName"}), "") << "serviceName is immutable";
  EXPECT_EQ(StringAt(world_.Workload("b"), {"spec", "serviceName"}), ServiceOf("b"));
  TakeTemplateAway();
  EXPECT_LE(world_.Converge(), 5);
  EXPECT_EQ(StringAt(world_.Workload("b"), {"spec", "serviceName"}), ServiceOf("b"));
  EXPECT_EQ(PoolStatus(world_.Status(), "b")["phase"], "Ready");
}

// Go's encoder writes serviceName in each StatefulSet, and the apiserver rejects a change of it.
TEST_F(ServicesTest, KeepsTheServiceOfAStatefulSetWhoseTemplateLeavesTheServiceNameEmpty) {
  Json daemon = WithService(DaemonJson("app:1", WorkloadKind::kStatefulSet));
  TemplateOf(daemon)["spec"]["serviceName"] = "";
  Deployed({"a"}, daemon);
  EXPECT_EQ(StringAt(world_.Workload("a"), {"spec", "serviceName"}), ServiceOf("a"));
  world_.SetImage("app:2");
  world_.Restart();
  EXPECT_LE(world_.Converge(), 5);
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:2");
  EXPECT_EQ(StringAt(world_.Workload("a"), {"spec", "serviceName"}), ServiceOf("a"));
}

TEST_F(ServicesTest, RepairsBackOffWhileAnotherClientKeepsChangingAService) {
  Deployed({"a"}, WithService(DaemonJson()));
  for (int i = 0; i < 10; ++i) {
    world_.cluster.Edit(kServiceType, {kNs, ServiceOf("a")},
                        [](Json& service) { service["spec"]["ports"][0]["port"] = 81; });
    world_.Reconcile();
  }
  EXPECT_EQ(PortOf("a"), 81);
  EXPECT_THAT(world_.events.TakeReasons(), Contains("RepairsSlowedDown"));
}

// In each run, the process exits after another write of a lifecycle. The next process must reach the same state.
TEST_F(ServicesTest, NextProcessReachesTheSameStateAfterACrashAtAnyWrite) {
  int writes = 1000;
  for (int crash_at = 1; crash_at <= writes; ++crash_at) {
    SCOPED_TRACE("crash after write " + std::to_string(crash_at));
    World world;
    int count = 0;
    world.cluster.SetFaults([&](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
      if (request.method == "GET" || ++count < crash_at) return std::nullopt;
      if (count == crash_at) return FakeCluster::Fault{Fail(Reason::kTransport, "the process ends"), true};
      return FakeCluster::Fault{Fail(Reason::kTransport, "the process has ended"), false};
    });
    const auto live_through = [&](const std::function<void()>& act) {
      act();
      for (int round = 0; round < 6; ++round) {
        world.Reconcile();
        if (count >= crash_at) {
          world.cluster.SetFaults(nullptr);
          world.Restart();
        }
        world.RunWorkloadControllers();
        world.clock.Advance(std::chrono::seconds(400));  // beyond any backoff
      }
    };
    live_through([&] {
      world.AddPools({"a", "b"});
      world.CreateDaemon(WithService(DaemonJson()));
    });
    live_through(
        [&] { world.EditDaemon([](Json& daemon) { daemon["spec"]["serviceTemplate"] = ServiceTemplate(90); }); });
    live_through([&] { world.RemovePool("b"); });
    ASSERT_THAT(world.cluster.List(kServiceType), SizeIs(1));
    EXPECT_EQ(world.cluster.List(kServiceType)[0]["spec"]["ports"][0]["port"], 90);
    live_through([&] { world.EditDaemon([](Json& daemon) { daemon["spec"].erase("serviceTemplate"); }); });
    EXPECT_THAT(world.cluster.List(kServiceType), IsEmpty());
    EXPECT_THAT(world.Workloads(), SizeIs(1));
    EXPECT_EQ(PoolStatus(world.Status(), "a")["phase"], "Ready");
    if (count < crash_at) {  // There are no more writes.
      EXPECT_GT(crash_at, 15);
      writes = 0;
    }
  }
}

}  // namespace
}  // namespace yad::testing
