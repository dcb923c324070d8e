#include "operator/capacity/capacity_reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "operator/api/conditions.h"
#include "tests/unit/capacity/world.h"

namespace yad::testing {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

HttpResponse Rejection(int status, const std::string& reason, const std::string& message) {
  HttpResponse response;
  response.status = status;
  response.body =
      Json{{"kind", "Status"}, {"status", "Failure"}, {"reason", reason}, {"message", message}, {"code", status}}
          .dump();
  return response;
}

TEST(CapacityReconcilerTest, NodeIsLeasedForAWaitingPodAndReleasedAfterItsDeletion) {
  CapacityWorld world(Json{{"scaleDown", {{"idleSeconds", 60}}}});
  world.AddNode("n1");
  const Json before = *world.cluster.Get(kNodeType, {"", "n1"});
  world.AddPod("p");
  world.Run(15);
  EXPECT_EQ(world.PhaseOf("n1"), "InUse");
  EXPECT_EQ(world.Status()["inUse"], 1);
  EXPECT_THAT(world.events, Contains("NodePoolAutoscaler hangzhou NodeLeased"));
  EXPECT_THAT(world.events, Contains("Pod p WaitingForNode"));
  world.DeletePod("p");
  world.Run(2);
  EXPECT_EQ(world.PhaseOf("n1"), "Idle");
  world.Run(60);
  EXPECT_EQ(world.PhaseOf("n1"), "Releasing");
  world.Run(29);
  EXPECT_EQ(world.PhaseOf("n1"), "Releasing") << "read once only";
  world.Run(4);
  EXPECT_EQ(world.PhaseOf("n1"), "");
  EXPECT_THAT(world.events, Contains("Node n1 NodeReleased"));
  const Json after = *world.cluster.Get(kNodeType, {"", "n1"});
  EXPECT_EQ(after["metadata"]["labels"], before["metadata"]["labels"]);
  EXPECT_THAT(StringMapAt(after, {"metadata", "annotations"}), IsEmpty());
}

TEST(CapacityReconcilerTest, UnchangedClusterCausesNoWrites) {
  CapacityWorld world(Json{{"standby", {{{"name", "s"}, {"count", 1}}}}});
  world.AddNode("n1");
  world.AddPod("huge", "99");
  world.Run(20);
  world.cluster.ClearWrites();
  world.Run(100);
  EXPECT_THAT(world.cluster.writes(), IsEmpty());
}

TEST(CapacityReconcilerTest, EachShortageOfStatusCausesOneEvent) {
  CapacityWorld world;
  for (int i = 100; i < 160; ++i) {
    const std::string name = "p" + std::to_string(i);
    world.AddPod(name);
    world.cluster.Edit(kPodType, {"shop", name}, [&](Json& pod) { pod["spec"]["nodeSelector"]["need"] = name; });
  }
  world.Run(20);
  EXPECT_EQ(world.Status()["shortages"].size(), 50U);
  EXPECT_EQ(std::count(world.events.begin(), world.events.end(), "NodePoolAutoscaler hangzhou NoCapacity"), 50);
}

TEST(CapacityReconcilerTest, ReleaseNeedsTwoNewReadsOfThePodsAfterARestart) {
  CapacityWorld world(Json{{"scaleDown", {{"idleSeconds", 1}}}, {"standby", {{{"name", "s"}, {"count", 1}}}}});
  world.AddNode("n1");
  world.Run(2);
  world.cluster.Edit(kNodePoolAutoscalerType, {"", "hangzhou"}, [](Json& object) { object["spec"].erase("standby"); });
  world.Run(25);
  ASSERT_EQ(world.PhaseOf("n1"), "Releasing");
  world.Restart();
  world.Run(25);
  EXPECT_EQ(world.PhaseOf("n1"), "Releasing");
  world.Run(8);
  EXPECT_EQ(world.PhaseOf("n1"), "");
}

TEST(CapacityReconcilerTest, APodThatThePodCacheDoesNotShowKeepsItsNode) {
  CapacityWorld world(Json{{"mode", "Drain"}});
  world.AddNode("n1");
  world.cluster.Edit(kNodePoolAutoscalerType, {"", "hangzhou"}, [](Json& object) { object["spec"]["mode"] = "Auto"; });
  world.AddPod("p");
  world.Run(15);
  ASSERT_EQ(world.PhaseOf("n1"), "InUse");
  world.DeletePod("p");
  world.Run(2);
  world.cluster.Edit(kNodePoolAutoscalerType, {"", "hangzhou"}, [](Json& object) { object["spec"]["mode"] = "Drain"; });
  world.Run(2);
  ASSERT_EQ(world.PhaseOf("n1"), "Releasing");
  world.AddPod("late", "1", "n1");
  for (int i = 0; i < 40; ++i) {  // without an update of the cache of pods
    world.clock.Advance(std::chrono::seconds(1));
    world.SyncNodes();
    world.SyncAutoscalers();
    (void)world.Pass();
  }
  EXPECT_EQ(world.NodeNow("n1").pool(), "hangzhou");
}

TEST(CapacityReconcilerTest, TwoAutoscalersNeverLeaseOneNode) {
  CapacityWorld world(Json{{"standby", {{{"name", "s"}, {"count", 2}}}}});
  world.AddPool("beijing");
  world.AddAutoscaler("beijing", "beijing", {{"standby", {{{"name", "s"}, {"count", 2}}}}});
  for (const char* name : {"n1", "n2", "n3"}) world.AddNode(name);
  world.Run(1);
  world.SyncNodes();
  std::map<std::string, int> of_pool;
  for (const char* name : {"n1", "n2", "n3"}) ++of_pool[world.NodeNow(name).pool()];
  EXPECT_EQ(of_pool["hangzhou"], 2) << "autoscaler hangzhou is older";
  EXPECT_EQ(of_pool["beijing"], 1);
  for (const WriteRecord& write : world.cluster.writes()) EXPECT_EQ(write.status, 200) << write.ToString();
}

TEST(CapacityReconcilerTest, TheSecondAutoscalerOfAPoolDoesNothing) {
  CapacityWorld world;
  world.AddAutoscaler("second", "hangzhou", {{"standby", {{{"name", "s"}, {"count", 1}}}}});
  world.AddNode("n1");
  world.Run(3);
  EXPECT_EQ(world.PhaseOf("n1"), "");
  EXPECT_EQ(world.Reason("second"), "PoolTaken");
  EXPECT_EQ(world.Reason(), "Acting");
}

TEST(CapacityReconcilerTest, InvalidSpecIsReportedAndItsLeasedNodesAreKept) {
  CapacityWorld world(Json{{"standby", {{{"name", "s"}, {"count", 1}}}}});
  world.AddNode("n1");
  world.Run(3);
  ASSERT_EQ(world.PhaseOf("n1"), "Idle");
  world.cluster.Edit(kNodePoolAutoscalerType, {"", "hangzhou"}, [](Json& object) { object["spec"]["mode"] = "Auot"; });
  world.Run(60);
  EXPECT_EQ(world.PhaseOf("n1"), "Idle");
  EXPECT_EQ(world.Reason(), "InvalidSpec");
}

TEST(CapacityReconcilerTest, ReleaseIsUndoneIfTheSpecBecomesInvalid) {
  CapacityWorld world(Json{{"standby", {{{"name", "s"}, {"count", 1}}}}});
  world.AddNode("n1");
  world.Run(3);
  world.EditSpec({{"mode", "Drain"}});
  world.Run(3);
  ASSERT_EQ(world.PhaseOf("n1"), "Releasing");
  world.EditSpec({{"mode", "Auot"}});
  world.Run(60);
  EXPECT_EQ(world.Reason(), "InvalidSpec");
  EXPECT_EQ(world.PhaseOf("n1"), "Idle");
  EXPECT_THAT(world.NodeNow("n1").taints, IsEmpty());
  world.cluster.ClearWrites();
  world.Run(60);
  EXPECT_THAT(world.cluster.writes(), IsEmpty());
}

TEST(CapacityReconcilerTest, ReleaseIsUndoneIfThePoolGetsHostNetwork) {
  CapacityWorld world(Json{{"standby", {{{"name", "s"}, {"count", 1}}}}, {"scaleDown", {{"idleSeconds", 1}}}});
  world.AddNode("n1");
  world.Run(3);
  world.EditSpec({{"standby", nullptr}});
  world.Run(3);
  ASSERT_EQ(world.PhaseOf("n1"), "Releasing");
  world.cluster.Edit(kNodePoolType, {"", "hangzhou"}, [](Json& pool) { pool["spec"]["hostNetwork"] = true; });
  world.Run(60);
  EXPECT_EQ(world.Reason(), "HostNetwork");
  EXPECT_EQ(world.PhaseOf("n1"), "Idle");
  EXPECT_THAT(world.NodeNow("n1").taints, IsEmpty());
}

TEST(CapacityReconcilerTest, RejectedWriteIsRetriedAfterTenMinutesOrWithANewSpec) {
  CapacityWorld world(Json{{"standby", {{{"name", "s"}, {"count", 1}}}}});
  world.AddNode("n1");
  int asked = 0;
  world.cluster.SetFaults([&](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
    if (request.method != "PATCH" || request.resource != "nodes") return std::nullopt;
    ++asked;
    return FakeCluster::Fault{Rejection(403, "Forbidden", "admission webhook \"v.node\" denied the request: pool")};
  });
  world.Run(300);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(world.Reason(), "LabelChangeRefused");
  world.Run(310);
  EXPECT_EQ(asked, 2);
  world.cluster.SetFaults(nullptr);
  world.cluster.Edit(kNodePoolAutoscalerType, {"", "hangzhou"}, [](Json& object) { object["spec"]["minNodes"] = 1; });
  world.Run(3);
  EXPECT_EQ(world.PhaseOf("n1"), "Idle");
  EXPECT_EQ(world.Reason(), "Acting");
}

TEST(CapacityReconcilerTest, PoolThatIsMissingOnlyInTheCacheIsNotDrained) {
  CapacityWorld world(Json{{"standby", {{{"name", "s"}, {"count", 1}}}}});
  world.AddNode("n1");
  world.Run(3);
  world.pools.Replace({}, world.cluster.resource_version());
  for (int i = 0; i < 60; ++i) {
    world.clock.Advance(std::chrono::seconds(1));
    world.SyncNodes();
    (void)world.Pass();
  }
  EXPECT_EQ(world.PhaseOf("n1"), "Idle");
}

TEST(CapacityReconcilerTest, PoolWhoseAutoscalerIsMissingInTheCacheIsNotDrained) {
  CapacityWorld world(Json{{"standby", {{{"name", "s"}, {"count", 1}}}}});
  world.AddNode("n1");
  world.Run(3);
  ASSERT_EQ(world.PhaseOf("n1"), "Idle");
  world.autoscalers.Replace({}, world.cluster.resource_version());
  for (int i = 0; i < 60; ++i) {
    world.clock.Advance(std::chrono::seconds(1));
    world.SyncNodes();
    (void)world.Pass();
  }
  EXPECT_EQ(world.PhaseOf("n1"), "Idle");
}

TEST(CapacityReconcilerTest, DeletedPoolIsDrainedUnlessItsCrdWasDeleted) {
  CapacityWorld world(Json{{"standby", {{{"name", "s"}, {"count", 1}}}}});
  world.AddNode("n1");
  world.Run(3);
  const Json crd = *world.cluster.Get(kCrdType, {"", "nodepools.apps.openyurt.io"});
  world.cluster.Delete(kCrdType, {"", "nodepools.apps.openyurt.io"});
  world.cluster.Delete(kNodePoolType, {"", "hangzhou"});
  world.Run(60);
  EXPECT_EQ(world.PhaseOf("n1"), "Idle");
  // The CRD is created again, without the pools.
  world.cluster.Create(kCrdType, {{"metadata", {{"name", "nodepools.apps.openyurt.io"}}}});
  const auto born = [&](const std::string& time) {
    world.cluster.SetCreated(kCrdType, {"", "nodepools.apps.openyurt.io"}, time);
  };
  born(FormatTime(world.clock.WallNow()));
  world.Run(60);
  EXPECT_EQ(world.PhaseOf("n1"), "Idle");
  born("2020-01-01T00:00:00Z");
  world.Run(40);
  EXPECT_EQ(world.PhaseOf("n1"), "") << "the CRD is older than the lease, so only the pool was deleted";
}

TEST(CapacityReconcilerTest, NodeYoungerThanTheCrdIsReleasedDespiteAnOlderLease) {
  CapacityWorld world(Json{{"standby", {{{"name", "s"}, {"count", 1}}}}});
  world.AddNode("n1");
  world.Run(3);
  world.cluster.SetCreated(kCrdType, {"", "nodepools.apps.openyurt.io"},
                           FormatTime(world.clock.WallNow() + std::chrono::minutes(1)));
  world.cluster.Delete(kNodePoolType, {"", "hangzhou"});
  world.Run(60);
  ASSERT_EQ(world.PhaseOf("n1"), "Idle");
  world.cluster.SetCreated(kNodeType, {"", "n1"}, FormatTime(world.clock.WallNow() + std::chrono::minutes(1)));
  world.cluster.Edit(kNodeType, {"", "n1"}, [](Json& node) { node["metadata"]["labels"]["changed"] = "1"; });
  world.Run(40);
  EXPECT_EQ(world.PhaseOf("n1"), "");
}

TEST(CapacityReconcilerTest, AnAutoscalerThatIsBeingDeletedReleasesItsNodes) {
  CapacityWorld world(Json{{"standby", {{{"name", "s"}, {"count", 1}}}}});
  world.AddNode("n1");
  world.Run(3);
  ASSERT_EQ(world.PhaseOf("n1"), "Idle");
  world.cluster.Edit(kNodePoolAutoscalerType, {"", "hangzhou"},
                     [](Json& object) { object["metadata"]["finalizers"] = {"example.org/wait"}; });
  world.cluster.Delete(kNodePoolAutoscalerType, {"", "hangzhou"});
  world.Run(60);
  EXPECT_EQ(world.PhaseOf("n1"), "");
}

TEST(CapacityReconcilerTest, ReleaseIsUndoneIfTheCrdOfTheAutoscalersIsDeleted) {
  CapacityWorld world(Json{{"standby", {{{"name", "s"}, {"count", 1}}}}});
  world.AddNode("n1");
  world.Run(3);
  world.cluster.Delete(kNodePoolAutoscalerType, {"", "hangzhou"});
  for (int i = 0; i < 60 && world.PhaseOf("n1") != "Releasing"; ++i) world.Run(1);
  ASSERT_EQ(world.PhaseOf("n1"), "Releasing");
  world.cluster.SetFaults([](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
    if (request.method != "GET" || request.resource != "nodepoolautoscalers") return std::nullopt;
    return FakeCluster::Fault{Rejection(404, "NotFound", "the server could not find the requested resource")};
  });
  world.Run(60);
  EXPECT_EQ(world.PhaseOf("n1"), "Idle");
  EXPECT_THAT(world.NodeNow("n1").taints, IsEmpty());
  world.cluster.ClearWrites();
  world.Run(60);
  EXPECT_THAT(world.cluster.writes(), IsEmpty());
}

TEST(CapacityReconcilerTest, NodeWhoseReleaseIsRejectedBecomesIdleAgainWithoutATaint) {
  CapacityWorld world(Json{{"scaleDown", {{"idleSeconds", 60}}}});
  world.AddNode("n1");
  world.AddPod("p");
  world.Run(60);
  ASSERT_EQ(world.PhaseOf("n1"), "InUse");
  world.cluster.SetFaults([&](const WriteRecord& request, const Json& body) -> std::optional<FakeCluster::Fault> {
    const Json* labels = Find(body, {"metadata", "labels"});
    if (request.method != "PATCH" || request.resource != "nodes" || labels == nullptr) return std::nullopt;
    return FakeCluster::Fault{Rejection(403, "Forbidden", "admission webhook \"v.node\" denied the request: pool")};
  });
  world.DeletePod("p");
  world.Run(300);
  EXPECT_EQ(world.Reason(), "LabelChangeRefused");
  EXPECT_EQ(world.PhaseOf("n1"), "Idle");
  const Json node = *world.cluster.Get(kNodeType, {"", "n1"});
  EXPECT_EQ(node.dump().find("NoSchedule"), std::string::npos) << node;
}

TEST(CapacityReconcilerTest, RejectedReleaseOfADeletedAutoscalersNodeIsRetriedAfterTenMinutes) {
  CapacityWorld world(Json{{"standby", {{{"name", "s"}, {"count", 1}}}}});
  world.AddNode("n1");
  world.Run(3);
  ASSERT_EQ(world.PhaseOf("n1"), "Idle");
  int asked = 0;
  world.cluster.SetFaults([&](const WriteRecord& request, const Json& body) -> std::optional<FakeCluster::Fault> {
    const Json* labels = Find(body, {"metadata", "labels"});
    if (request.method != "PATCH" || request.resource != "nodes" || labels == nullptr) return std::nullopt;
    ++asked;
    return FakeCluster::Fault{Rejection(403, "Forbidden", "admission webhook \"v.node\" denied the request: pool")};
  });
  world.cluster.Delete(kNodePoolAutoscalerType, {"", "hangzhou"});
  world.Run(60);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(world.PhaseOf("n1"), "Idle");
  world.cluster.ClearWrites();
  world.Run(500);
  EXPECT_THAT(world.cluster.writes(), IsEmpty());
  world.cluster.SetFaults(nullptr);
  world.Run(120);
  EXPECT_EQ(world.PhaseOf("n1"), "");
}

TEST(CapacityReconcilerTest, RejectedReleaseLeavesNoOtherNodeWithATaint) {
  CapacityWorld world(Json{{"standby", {{{"name", "s"}, {"count", 3}}}}});
  for (const char* name : {"n1", "n2", "n3"}) world.AddNode(name);
  world.Run(3);
  world.cluster.SetFaults([&](const WriteRecord& request, const Json& body) -> std::optional<FakeCluster::Fault> {
    const Json* labels = Find(body, {"metadata", "labels"});
    if (request.method != "PATCH" || request.resource != "nodes" || labels == nullptr) return std::nullopt;
    return FakeCluster::Fault{Rejection(403, "Forbidden", "admission webhook \"v.node\" denied the request: pool")};
  });
  world.cluster.Edit(kNodePoolAutoscalerType, {"", "hangzhou"}, [](Json& object) { object["spec"]["mode"] = "Drain"; });
  world.Run(60);
  EXPECT_EQ(world.Reason(), "LabelChangeRefused");
  for (const char* name : {"n1", "n2", "n3"}) {
    EXPECT_EQ(world.PhaseOf(name), "Idle") << name;
    EXPECT_THAT(world.NodeNow(name).taints, IsEmpty()) << name;
  }
}

TEST(CapacityReconcilerTest, ShortageWhosePodsAreGoneIsKeptAndNoPodIsReportedAsWaiting) {
  CapacityWorld world(Json{{"scaleUp", {{"joinTimeoutSeconds", 20}}}});
  world.AddNode("n1");
  world.AddPod("p");
  while (world.PhaseOf("n1") != "Joining") world.Run(1);
  world.SetReady("n1", false);
  world.Run(25);
  const auto is_short = [&] { return StringAt(*FindConditionIn(world.Status(), "Short"), {"status"}); };
  EXPECT_EQ(is_short(), "True");
  world.DeletePod("p");
  world.Run(2);
  ASSERT_EQ(world.Status()["shortages"].size(), 1U);
  EXPECT_EQ(world.Status()["shortages"][0]["reason"], "JoinTimeout");
  EXPECT_EQ(is_short(), "False");
}

// For example, an earlier leader wrote it a moment ago. It is the only memory of the failed join.
TEST(CapacityReconcilerTest, ShortageThatTheCacheDoesNotShowIsKept) {
  CapacityWorld world;
  world.Run(3);
  world.Sync();
  const Json shortage = {{"requirements", {{"cpu", "1"}}}, {"pods", {"shop/q"}}, {"reason", "JoinTimeout"}};
  world.cluster.Edit(kNodePoolAutoscalerType, {"", "hangzhou"},
                     [&](Json& object) { object["status"]["shortages"] = Json::array({shortage}); });
  world.AddPod("p");
  for (int i = 0; i < 20; ++i) {
    world.clock.Advance(std::chrono::seconds(1));
    world.Schedule();
    world.SyncPods();
    (void)world.Pass();
  }
  EXPECT_EQ(world.Status()["shortages"], Json::array({shortage}));
  world.Run(2);
  EXPECT_NE(world.Status()["shortages"], Json::array({shortage})) << "the pod that waits is added";
}

TEST(CapacityReconcilerTest, NothingIsWrittenBeforeAllCachesAreSynced) {
  CapacityWorld world(Json{{"standby", {{{"name", "s"}, {"count", 1}}}}});
  world.AddNode("n1");
  world.SyncNodes();
  world.SyncAutoscalers();
  world.SyncPools();
  const auto result = world.Pass();
  EXPECT_TRUE(result && result->error);
  EXPECT_THAT(world.cluster.writes(), IsEmpty());
}

TEST(CapacityReconcilerTest, FailedNodeIsQuarantinedUntilAUserRemovesTheAnnotation) {
  CapacityWorld world(Json{{"standby", {{{"name", "s"}, {"count", 1}}}}, {"scaleDown", {{"unhealthySeconds", 5}}}});
  world.AddNode("n1");
  world.Run(3);
  world.SetReady("n1", false);
  world.Run(50);
  EXPECT_EQ(world.PhaseOf("n1"), "");
  EXPECT_THAT(world.events, Contains("Node n1 NodeQuarantined"));
  world.SetReady("n1", true);
  world.Run(200);
  EXPECT_EQ(world.PhaseOf("n1"), "");
  EXPECT_EQ(world.Status()["quarantined"], 1);
  world.cluster.Edit(kNodeType, {"", "n1"},
                     [](Json& node) { node["metadata"]["annotations"].erase(kQuarantineAnnotation); });
  world.Run(200);
  EXPECT_EQ(world.PhaseOf("n1"), "Idle");
}

TEST(CapacityReconcilerTest, LeasedNodeWithAPodIsNotReleasedForAQuarantineAnnotation) {
  CapacityWorld world(Json{{"scaleDown", {{"idleSeconds", 1}}}});
  world.AddNode("n1");
  world.AddPod("p");
  world.Run(15);
  ASSERT_EQ(world.PhaseOf("n1"), "InUse");
  world.cluster.Edit(kNodeType, {"", "n1"},
                     [](Json& node) { node["metadata"]["annotations"][kQuarantineAnnotation] = "bad disk"; });
  world.Run(1);
  world.cluster.ClearWrites();
  world.Run(60);
  EXPECT_EQ(world.PhaseOf("n1"), "InUse");
  EXPECT_THAT(world.cluster.writes(), IsEmpty());
}

TEST(CapacityReconcilerTest, ReleaseNeedsTwoNewReadsOfThePodsAfterItRestoresARemovedTaint) {
  CapacityWorld world(Json{{"standby", {{{"name", "s"}, {"count", 1}}}}});
  world.AddNode("n1");
  world.Run(3);
  world.cluster.Edit(kNodePoolAutoscalerType, {"", "hangzhou"}, [](Json& object) { object["spec"]["mode"] = "Drain"; });
  world.Run(25);
  ASSERT_EQ(world.PhaseOf("n1"), "Releasing");
  world.cluster.Edit(kNodeType, {"", "n1"}, [](Json& node) { node["spec"].erase("taints"); });
  world.Run(25);
  EXPECT_EQ(world.PhaseOf("n1"), "Releasing");
  EXPECT_EQ(world.NodeNow("n1").taints.size(), 1U);
  world.Run(10);
  EXPECT_EQ(world.PhaseOf("n1"), "");
}

TEST(CapacityReconcilerTest, AutoscalerWhoseStatusCannotBeWrittenBlocksNoOtherAutoscaler) {
  CapacityWorld world;
  world.AddPool("beijing");
  world.AddAutoscaler("beijing", "beijing", {{"standby", {{{"name", "s"}, {"count", 1}}}}});
  world.AddNode("n1");
  world.cluster.SetFaults([](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
    if (request.method != "PATCH" || request.key.name != "hangzhou") return std::nullopt;
    return FakeCluster::Fault{Rejection(422, "Invalid", "no")};
  });
  world.Run(3);
  EXPECT_EQ(world.NodeNow("n1").pool(), "beijing");
}

TEST(CapacityReconcilerTest, DescribeReturnsTheLastPlan) {
  CapacityWorld world;
  world.AddPod("p", "99");
  world.Run(15);
  EXPECT_EQ(world.reconciler->Describe()["hangzhou"]["plan"]["shortages"][0]["pods"], Json{"shop/p"});
}

}  // namespace
}  // namespace yad::testing
