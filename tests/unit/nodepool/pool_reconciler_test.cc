#include "operator/nodepool/pool_reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/api/conditions.h"
#include "operator/base/metrics.h"
#include "tests/unit/nodepool/world.h"

namespace yad::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

class PoolReconcilerTest : public ::testing::Test {
 protected:
  Json StatusOf(const std::string& pool) { return world_.Pool(pool).value("status", Json::object()); }
  void NodeReady(const std::string& name, const std::string& status) {
    world_.EditNode(name, {{"status", {{"conditions", {{{"type", "Ready"}, {"status", status}}}}}}});
  }

  NodePoolWorld world_;
};

TEST_F(PoolReconcilerTest, OnlyNodesWithThePoolsLabelAreCounted) {
  world_.AddPool("a");
  world_.AddNode("n1", "a");
  world_.AddNode("n2", "a", "Unknown");
  world_.AddNode("n3", "b");
  ASSERT_TRUE(world_.Count("a"));
  const Json status = StatusOf("a");
  EXPECT_EQ(status["readyNodeNum"], 1);
  EXPECT_EQ(status["unreadyNodeNum"], 1);
  EXPECT_EQ(status["nodes"], Json({"n1", "n2"}));
  EXPECT_EQ(status["resources"]["capacity"]["cpu"], "8");
  EXPECT_EQ(status["resources"]["allocatable"]["cpu"], "6");
}

TEST_F(PoolReconcilerTest, NodeWithoutAllocatablePodsAddsNoneToTheSum) {
  world_.AddPool("a");
  world_.AddNode("n1", "a");
  world_.EditNode("n1", {{"status", {{"allocatable", {{"pods", nullptr}}}}}});
  ASSERT_TRUE(world_.Count("a"));
  EXPECT_EQ(StatusOf("a")["resources"]["allocatable"]["pods"], "0");
}

TEST_F(PoolReconcilerTest, EqualStatusIsNotWritten) {
  world_.AddPool("a");
  world_.AddNode("n1", "a");
  world_.Count("a");
  EXPECT_EQ(world_.Writes(), 1U);
  world_.clock.Advance(seconds(10));
  ASSERT_TRUE(world_.Count("a"));
  EXPECT_EQ(world_.Writes(), 0U);
}

TEST_F(PoolReconcilerTest, PoolStatusIsWrittenAtMostOnceASecond) {
  world_.AddPool("a");
  world_.AddNode("n1", "a");
  world_.Count("a");
  int writes = 0;
  world_.Writes();
  for (int i = 0; i < 40; ++i) {
    NodeReady("n1", i % 2 == 0 ? "False" : "True");
    const auto result = world_.Count("a");
    ASSERT_TRUE(result);
    writes += static_cast<int>(world_.Writes());
    world_.clock.Advance(std::chrono::milliseconds(250));
  }
  EXPECT_LE(writes, 10);
  EXPECT_GE(writes, 5);
}

TEST_F(PoolReconcilerTest, ChangeWithinASecondIsRequeuedForTheEndOfTheSecond) {
  world_.AddPool("a");
  world_.AddNode("n1", "a");
  world_.Count("a");
  NodeReady("n1", "False");
  world_.clock.Advance(std::chrono::milliseconds(400));
  const auto result = world_.Count("a");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->next, ReconcileResult::Next::kAfter);
  EXPECT_EQ(result->after, std::chrono::milliseconds(600));
}

TEST_F(PoolReconcilerTest, FieldsThatTheCrdPrunesCauseNoSecondWrite) {
  world_.AddPool("a");
  world_.AddNode("n1", "a");
  // As with OpenYurt's CRD, the server drops unknown fields.
  Json stored = world_.Pool("a");
  world_.cluster.SetFaults([&](const WriteRecord& request, const Json& body) -> std::optional<FakeCluster::Fault> {
    if (request.subresource != "status") return std::nullopt;
    for (const char* field : {"readyNodeNum", "unreadyNodeNum", "nodes"}) {
      if (body["status"].contains(field)) stored["status"][field] = body["status"][field];
    }
    return FakeCluster::Fault{HttpResponse{200, {{"content-type", "application/json"}}, stored.dump()}};
  });
  const auto count = [&] {
    EXPECT_TRUE(world_.Count("a"));
    world_.EditPool("a", {{"status", stored.value("status", Json::object())}});
    return world_.Writes();
  };
  EXPECT_EQ(count(), 1U);
  EXPECT_FALSE(StatusOf("a").contains("conditions"));
  for (int i = 0; i < 3; ++i) {
    world_.clock.Advance(seconds(5));
    EXPECT_EQ(count(), 0U);
  }
  NodeReady("n1", "False");
  EXPECT_EQ(count(), 1U);
  EXPECT_EQ(StatusOf("a")["readyNodeNum"], 0);
  // The operator reverts a change by another client, even if it computes the same status as before.
  stored["status"]["readyNodeNum"] = 7;
  world_.EditPool("a", {{"status", {{"readyNodeNum", 7}}}});
  world_.clock.Advance(seconds(5));
  EXPECT_EQ(count(), 1U);
  EXPECT_EQ(StatusOf("a")["readyNodeNum"], 0);
  // A change of a dropped field is sent only if ten minutes have passed. So an upgrade of the CRD takes effect.
  const auto change = [&](const char* cpu) {
    world_.clock.Advance(seconds(5));
    world_.EditNode("n1", {{"status", {{"capacity", {{"cpu", cpu}}}}}});
  };
  for (const char* cpu : {"5", "6", "7"}) {
    change(cpu);
    EXPECT_EQ(count(), 0U);
  }
  world_.clock.Advance(minutes(10));
  change("8");
  EXPECT_EQ(count(), 1U);
  change("9");
  EXPECT_EQ(count(), 0U);
  world_.cluster.SetFaults(nullptr);
  world_.clock.Advance(minutes(10));
  change("10");
  EXPECT_TRUE(world_.Count("a"));
  EXPECT_EQ(StatusOf("a")["resources"]["capacity"]["cpu"], "10");
}

// OpenYurt's CRD has conditions in v1beta2, but without observedGeneration.
TEST_F(PoolReconcilerTest, ObservedGenerationThatTheCrdPrunesCausesNoSecondWrite) {
  world_.AddPool("a");
  world_.AddNode("n1", "a");
  Json stored = world_.Pool("a");
  world_.cluster.SetFaults([&](const WriteRecord& request, const Json& body) -> std::optional<FakeCluster::Fault> {
    if (request.subresource != "status") return std::nullopt;
    Json& status = stored["status"];
    status.merge_patch(body["status"]);
    for (const char* field : {"nodeStates", "resources"}) status.erase(field);
    for (Json& condition : status["conditions"]) condition.erase("observedGeneration");
    return FakeCluster::Fault{HttpResponse{200, {{"content-type", "application/json"}}, stored.dump()}};
  });
  const auto count = [&] {
    world_.clock.Advance(seconds(5));
    EXPECT_TRUE(world_.Count("a"));
    world_.EditPool("a", {{"status", stored["status"]}});
    return world_.Writes();
  };
  const auto change = [&](const char* cpu) { world_.EditNode("n1", {{"status", {{"capacity", {{"cpu", cpu}}}}}}); };
  EXPECT_EQ(count(), 1U);
  for (const char* cpu : {"5", "6", "7"}) {
    change(cpu);
    EXPECT_EQ(count(), 0U);
  }
  NodeReady("n1", "False");
  EXPECT_EQ(count(), 1U);
  EXPECT_EQ(StringAt(*FindConditionIn(stored["status"], "Ready"), {"status"}), "False");
  change("8");
  EXPECT_EQ(count(), 0U);
  // After ten minutes, a change is sent with all fields. So an upgrade of the CRD takes effect.
  world_.clock.Advance(minutes(10));
  change("9");
  EXPECT_EQ(count(), 1U);
  change("10");
  EXPECT_EQ(count(), 0U);
  world_.cluster.SetFaults(nullptr);
  world_.clock.Advance(minutes(10));
  change("11");
  ASSERT_TRUE(world_.Count("a"));
  EXPECT_TRUE(FindConditionIn(StatusOf("a"), "Ready")->contains("observedGeneration"));
}

TEST_F(PoolReconcilerTest, ConditionsOfOtherClientsAreKeptIfTheCrdPrunesOtherFields) {
  world_.AddPool("a");
  world_.AddNode("n1", "a");
  Json stored = world_.Pool("a");
  stored["status"]["conditions"] = {{{"type", "Foreign"}, {"status", "False"}}};
  world_.cluster.SetFaults([&](const WriteRecord& request, const Json& body) -> std::optional<FakeCluster::Fault> {
    if (request.subresource != "status") return std::nullopt;
    stored["status"].merge_patch(body["status"]);
    stored["status"].erase("resources");
    return FakeCluster::Fault{HttpResponse{200, {{"content-type", "application/json"}}, stored.dump()}};
  });
  const auto count = [&] {
    world_.clock.Advance(seconds(5));
    world_.cluster.Edit(kNodePoolType, {"", "a"}, [&](Json& pool) { pool["status"] = stored["status"]; });
    EXPECT_TRUE(world_.Count("a"));
    return world_.Writes();
  };
  const auto status_of = [&](const char* type) {
    const Json* condition = FindConditionIn(stored["status"], type);
    return condition == nullptr ? "" : StringAt(*condition, {"status"});
  };
  EXPECT_EQ(count(), 1U);
  EXPECT_EQ(count(), 0U);
  stored["status"]["conditions"][0]["status"] = "True";
  EXPECT_EQ(count(), 0U);
  EXPECT_EQ(status_of("Foreign"), "True");
  NodeReady("n1", "False");
  EXPECT_EQ(count(), 1U);
  EXPECT_EQ(status_of("Foreign"), "True");
  EXPECT_EQ(status_of("Ready"), "False");
  stored["status"].erase("conditions");
  EXPECT_EQ(count(), 1U);
  EXPECT_EQ(status_of("Foreign"), "") << "the owner of the condition has removed it";
  EXPECT_EQ(status_of("Ready"), "False");
}

TEST_F(PoolReconcilerTest, ForeignStatusWritesAreRevertedWithBackoff) {
  world_.AddPool("a");
  world_.AddNode("n1", "a");
  world_.Count("a");
  world_.Writes();
  int writes = 0;
  for (int second = 0; second < 60; ++second) {
    world_.clock.Advance(seconds(1));
    world_.EditPool("a", {{"status", {{"readyNodeNum", 7}}}});
    ASSERT_TRUE(world_.Count("a"));
    writes += static_cast<int>(world_.Writes());
  }
  EXPECT_GE(writes, 5);
  EXPECT_LE(writes, 12);
}

// If only the version changes, the cache keeps pools in the version in which they were read before.
TEST_F(PoolReconcilerTest, StatusIsWrittenInTheVersionThatTheInformerReads) {
  world_.AddPool("a");
  world_.pool_type.version = "v1beta2";
  std::string path;
  const auto inner = world_.cluster.transport();
  ASSERT_TRUE(world_.Count("a"));
  for (const HttpRequest& request : inner->requests()) path = request.path;
  EXPECT_THAT(path, HasSubstr("/v1beta2/nodepools/a/status"));
}

TEST_F(PoolReconcilerTest, StatusIsWrittenAgainIfTheVersionIsNotServedAnyLonger) {
  world_.AddPool("a");
  world_.AddNode("n1", "a");
  world_.cluster.SetFaults([](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
    if (request.subresource != "status") return std::nullopt;
    return FakeCluster::Fault{HttpResponse{404, {}, "404 page not found"}};
  });
  const auto result = world_.Count("a");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->next, ReconcileResult::Next::kBackoff);
  EXPECT_EQ(result->at_least, seconds(10));
  world_.cluster.SetFaults(nullptr);
  ASSERT_TRUE(world_.Count("a"));
  EXPECT_EQ(StatusOf("a")["readyNodeNum"], 1);
}

TEST_F(PoolReconcilerTest, MetricsAreRemovedWithThePool) {
  world_.AddPool("metric-pool");
  world_.Count("metric-pool");
  EXPECT_THAT(metrics::Render(), HasSubstr("pool=\"metric-pool\""));
  world_.cluster.Delete(kNodePoolType, {"", "metric-pool"});
  ASSERT_TRUE(world_.Count("metric-pool"));
  EXPECT_THAT(metrics::Render(), Not(HasSubstr("pool=\"metric-pool\"")));
}

// The kubelet of an edge node may write any names into its Node.
TEST_F(PoolReconcilerTest, StatusAndMetricsHaveALimitedNumberOfResources) {
  Json flood = Json::object();
  for (int i = 1000; i < 3000; ++i) flood["a.b/" + std::to_string(i)] = "1";
  world_.AddPool("flooded");
  for (const char* node : {"n1", "n2"}) {
    world_.AddNode(node, "flooded");
    world_.EditNode(node, {{"status", {{"capacity", flood}, {"allocatable", flood}}}});
  }
  world_.AddNode("n3", "flooded");
  const Json vendor = {{"vendor.com/gpu", "2"}};
  world_.EditNode("n3", {{"status", {{"capacity", vendor}, {"allocatable", vendor}}}});
  world_.cluster.Create(
      kPodType,
      {{"metadata", {{"name", "p"}, {"namespace", "ns"}}},
       {"spec", {{"nodeName", "n3"}, {"containers", {{{"resources", {{"requests", {{"vendor.com/gone", "1"}}}}}}}}}}});
  ASSERT_TRUE(world_.Count("flooded"));
  const Json resources = StatusOf("flooded")["resources"];
  EXPECT_EQ(resources["capacity"].size(), 3U + 127U) << "cpu, memory, pods and 127 others";
  EXPECT_EQ(resources["allocatable"].size(), 3U + 127U);
  EXPECT_EQ(resources["capacity"]["a.b/1000"], "2");
  EXPECT_FALSE(resources["capacity"].contains("a.b/2000"));
  EXPECT_EQ(resources["capacity"]["vendor.com/gpu"], "2");
  EXPECT_EQ(resources["requested"]["vendor.com/gone"], "1");

  const std::string metrics = metrics::Render();
  std::size_t series = 0;
  for (std::size_t at = 0; (at = metrics.find("pool=\"flooded\",resource=", at)) != std::string::npos; ++at) ++series;
  EXPECT_EQ(series, 3 * (4U + 127U));
}

TEST_F(PoolReconcilerTest, AttributesThatNodesDoNotGetAreReportedOnce) {
  world_.AddPool("a", {{"labels", {{"kubernetes.io/hostname", "x"}, {"good", "1"}}}});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(world_.Count("a"));
    world_.clock.Advance(seconds(2));
  }
  ASSERT_EQ(world_.events.recorded.size(), 1U);
  EXPECT_THAT(world_.events.recorded[0], HasSubstr("NodePool a AttributesLeftOut"));
  EXPECT_THAT(world_.events.recorded[0], HasSubstr("label kubernetes.io/hostname"));
}

TEST_F(PoolReconcilerTest, NothingIsWrittenBeforeTheFirstListOfNodes) {
  world_.AddPool("a");
  world_.SyncOne(world_.pools, kNodePoolType, ProjectPool, nullptr);
  const auto result = world_.counting.Reconcile({"", "a"}, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kNotSynced);
  EXPECT_EQ(world_.Writes(), 0U);
}

TEST_F(PoolReconcilerTest, DriverThatIsMissingInTheCsiNodeOfANodeIsReported) {
  const ReflectorOptions watch = WatchCsiNodes();
  Store csi_nodes;
  PoolReconciler counting(
      world_.client, {world_.pools, world_.nodes, &csi_nodes}, world_.loads, world_.events,
      [] { return kNodePoolType; }, {"disk.csi.example.com", "net.csi.example.com"}, world_.clock);
  world_.AddPool("a");
  for (const char* node : {"n1", "n2", "n3"}) world_.AddNode(node, "a");
  world_.Sync();
  const auto csi_node = [&](const char* name, const Json& drivers) {
    Json list = Json::array();
    for (const Json& driver : drivers) list.push_back({{"name", driver}});
    return std::make_shared<StoredObject>(
        Json{{"metadata", {{"name", name}, {"resourceVersion", "2"}}}, {"spec", {{"drivers", list}}}}, watch.project);
  };
  EXPECT_FALSE(counting.Reconcile({"", "a"}, {})) << "the cache of CSINodes is not synced";
  csi_nodes.Replace(
      {csi_node("n1", {"net.csi.example.com", "disk.csi.example.com"}), csi_node("n2", {"disk.csi.example.com"})}, "3");
  ASSERT_TRUE(counting.Reconcile({"", "a"}, {}));
  EXPECT_EQ(StatusOf("a")["nodeStates"], Json({{"ready", 1}, {"warning", 2}, {"notReady", 0}}));
  EXPECT_THAT(StatusOf("a").dump(), HasSubstr("n2: net.csi.example.com, n3: disk.csi.example.com, net.csi"));
}

}  // namespace
}  // namespace yad::testing
