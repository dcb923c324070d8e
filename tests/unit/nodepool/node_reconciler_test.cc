#include "operator/nodepool/node_reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/nodepool/world.h"

namespace yad::testing {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Json kSpec = {{"labels", {{"zone", "north"}}}};
const Json kEvictingSpec = {{"labels", {{"zone", "north"}}}, {"taints", {{{"key", "shop"}, {"effect", "NoExecute"}}}}};

class NodeReconcilerTest : public ::testing::Test {
 protected:
  std::string Zone() { return StringAt(world_.NodeNow("n"), {"metadata", "labels", "zone"}); }
  long Reads(const char* resource) {
    const std::vector<HttpRequest> requests = world_.cluster.transport()->requests();
    return std::count_if(requests.begin(), requests.end(), [&](const HttpRequest& request) {
      return request.method == "GET" && request.path.find(resource) != std::string::npos;
    });
  }
  long PoolReads() { return Reads("/apis/apps.openyurt.io/"); }
  long CrdReads() { return Reads("/customresourcedefinitions/"); }

  NodePoolWorld world_;
};

TEST_F(NodeReconcilerTest, NodeGetsItsPoolsAttributesInOneWrite) {
  world_.AddPool("a", kSpec);
  world_.AddNode("n", "a");
  ASSERT_TRUE(world_.Give("n"));
  EXPECT_EQ(Zone(), "north");
  EXPECT_EQ(world_.Writes(), 1U);
  ASSERT_TRUE(world_.Give("n"));
  EXPECT_EQ(world_.Writes(), 0U);
}

TEST_F(NodeReconcilerTest, ANodeThatLeavesOrChangesItsPoolLosesThePoolsAttributes) {
  world_.AddPool("a", kSpec);
  world_.AddPool("b", {{"labels", {{"row", "2"}}}});
  world_.AddNode("n", "a");
  world_.Give("n");
  world_.EditNode("n", {{"metadata", {{"labels", {{kNodePoolLabel, "b"}}}}}});
  ASSERT_TRUE(world_.Give("n"));
  EXPECT_EQ(Zone(), "");
  EXPECT_EQ(world_.NodeNow("n")["metadata"]["labels"]["row"], "2");
  world_.EditNode("n", {{"metadata", {{"labels", {{kNodePoolLabel, nullptr}}}}}});
  ASSERT_TRUE(world_.Give("n"));
  const Json metadata = world_.NodeNow("n")["metadata"];
  EXPECT_TRUE(metadata.value("labels", Json::object()).empty()) << metadata;
  EXPECT_TRUE(metadata.value("annotations", Json::object()).empty()) << metadata;
  EXPECT_THAT(world_.events.recorded, IsEmpty());
}

TEST_F(NodeReconcilerTest, ANodeOfADeletedPoolLosesThePoolsAttributesAndIsReportedOnce) {
  world_.AddPool("a", kSpec);
  world_.AddNode("n", "a");
  world_.Give("n");
  world_.cluster.Delete(kNodePoolType, {"", "a"});
  ASSERT_TRUE(world_.Give("n"));
  ASSERT_TRUE(world_.Give("n"));
  EXPECT_EQ(Zone(), "");
  EXPECT_EQ(world_.NodeNow("n")["metadata"]["labels"][kNodePoolLabel], "a")
      << "the operator must not remove the label with the pool";
  EXPECT_THAT(world_.events.recorded,
              ElementsAre("Node n NodePoolMissing: label apps.openyurt.io/nodepool names NodePool "
                          "a, which does not exist"));
}

TEST_F(NodeReconcilerTest, PoolThatIsMissingOnlyInTheCacheLosesNoAttributes) {
  world_.AddPool("a", kSpec);
  world_.AddNode("n", "a");
  world_.Give("n");
  world_.Sync();
  world_.pools.Replace({}, world_.cluster.resource_version());
  world_.Writes();
  EXPECT_FALSE([&] {
    const auto result = world_.giving.Reconcile({"", "n"}, {});
    return result && result->next == ReconcileResult::Next::kDone;
  }());
  EXPECT_EQ(world_.Writes(), 0U);
  EXPECT_EQ(Zone(), "north");
  EXPECT_THAT(world_.events.recorded, IsEmpty());
}

// In a new leader, the cache of pools may be older than the cache of Nodes.
TEST_F(NodeReconcilerTest, StalePoolInTheCacheIsAConflictAndChangesNoNode) {
  world_.AddPool("a", kEvictingSpec);
  world_.AddNode("n", "a");
  world_.Sync();
  world_.EditPool("a", {{"spec", {{"taints", nullptr}}}});
  const auto reconcile = [&] { return world_.giving.Reconcile({"", "n"}, {}); };
  auto result = reconcile();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kConflict);
  EXPECT_EQ(Zone(), "");
  ASSERT_TRUE(world_.Give("n"));
  EXPECT_EQ(Zone(), "north");
  // The previous leader has set another zone.
  world_.EditPool("a", {{"spec", {{"labels", {{"zone", "south"}}}}}});
  world_.EditNode("n", {{"metadata",
                         {{"labels", {{"zone", "south"}}},
                          {"annotations", {{kPreviousAttributesAnnotation, R"({"labels":{"zone":"south"}})"}}}}}});
  NodeReconciler fresh(
      world_.client, world_.pools, world_.nodes, world_.events, [] { return kNodePoolType; }, world_.clock);
  world_.SyncOne(world_.nodes, kNodeType, ProjectNode, StripNode);
  result = fresh.Reconcile({"", "n"}, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kConflict);
  EXPECT_EQ(Zone(), "south");
}

// A user removes the taint from the pool, and then moves a Node into it. The event of the Node arrives first.
TEST_F(NodeReconcilerTest, NodeThatJoinsAfterItsPoolHasChangedIsAConflictAlthoughAnEarlierReadConfirmedThePool) {
  world_.AddPool("a", kEvictingSpec);
  world_.AddNode("m", "a");
  world_.AddNode("n", "");
  ASSERT_TRUE(world_.Give("m"));
  world_.EditPool("a", {{"spec", {{"taints", nullptr}}}});
  world_.EditNode("n", {{"metadata", {{"labels", {{kNodePoolLabel, "a"}}}}}});
  world_.SyncOne(world_.nodes, kNodeType, ProjectNode, StripNode);
  const auto result = world_.giving.Reconcile({"", "n"}, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kConflict);
  EXPECT_EQ(Zone(), "");
}

TEST_F(NodeReconcilerTest, PoolIsReadOncePerSecondForManyNodes) {
  world_.AddPool("a", kEvictingSpec);
  for (int i = 0; i < 20; ++i) world_.AddNode("n" + std::to_string(i), "a");
  world_.Sync();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(world_.giving.Reconcile({"", "n" + std::to_string(i)}, {}));
  EXPECT_EQ(PoolReads(), 1);
  world_.clock.Advance(seconds(1));
  for (int i = 10; i < 19; ++i) ASSERT_TRUE(world_.giving.Reconcile({"", "n" + std::to_string(i)}, {}));
  EXPECT_EQ(PoolReads(), 2);
  EXPECT_EQ(world_.Writes(), 19U);
  world_.EditPool("a", {{"spec", {{"taints", nullptr}}}});
  world_.clock.Advance(seconds(1));
  EXPECT_FALSE(world_.giving.Reconcile({"", "n19"}, {})) << "the confirmation is too old";
}

// The lease contains attributes of a newer version of the pool than the cached version.
TEST_F(NodeReconcilerTest, KeepsTheAttributesOfALeasedNodeWhileTheCacheOfPoolsIsStale) {
  world_.AddPool("a");
  world_.AddNode("n", "a");
  world_.Sync();
  world_.EditPool("a", {{"spec", kSpec}});
  const Json lease = {{"pool", "a"}, {"phase", "Idle"}, {"applied", kSpec}};
  world_.EditNode(
      "n", {{"metadata", {{"labels", {{"zone", "north"}}}, {"annotations", {{kLeaseAnnotation, lease.dump()}}}}}});
  world_.SyncOne(world_.nodes, kNodeType, ProjectNode, StripNode);
  const auto result = world_.giving.Reconcile({"", "n"}, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kConflict);
  EXPECT_EQ(Zone(), "north");
  world_.EditPool("a", {{"spec", {{"labels", nullptr}}}});
  ASSERT_TRUE(world_.Give("n"));
  EXPECT_EQ(Zone(), "");
}

TEST_F(NodeReconcilerTest, NodesAreNotChangedIfPoolsAreDeletedWithTheirCrd) {
  world_.AddPool("a", kSpec);
  world_.AddNode("n", "a");
  world_.Give("n");
  world_.cluster.Delete(kCrdType, {"", "nodepools.apps.openyurt.io"});
  world_.cluster.Delete(kNodePoolType, {"", "a"});
  world_.Writes();
  ASSERT_TRUE(world_.Give("n"));
  EXPECT_EQ(world_.Writes(), 0U);
  EXPECT_EQ(Zone(), "north");
  EXPECT_THAT(world_.events.recorded, IsEmpty());
  // The CRD is created again, without the pools.
  world_.clock.Advance(seconds(1));
  world_.cluster.Create(kCrdType, {{"metadata", {{"name", "nodepools.apps.openyurt.io"}}}});
  const auto born = [&](const ResourceType& type, const std::string& name, std::chrono::minutes ago) {
    world_.cluster.SetCreated(type, {"", name}, FormatTime(world_.clock.WallNow() - ago));
  };
  const auto crd_born = [&](int minutes) {
    born(kCrdType, "nodepools.apps.openyurt.io", std::chrono::minutes(minutes));
  };
  crd_born(40);
  ASSERT_TRUE(world_.Give("n"));
  EXPECT_EQ(Zone(), "north") << "the pool was older than the CRD";
  EXPECT_THAT(world_.events.recorded, SizeIs(1)) << "the missing pool must still be reported";
  // A new process has not seen the pool yet, so it first keeps the attributes.
  NodeReconciler next(
      world_.client, world_.pools, world_.nodes, world_.events, [] { return kNodePoolType; }, world_.clock);
  crd_born(29);
  world_.Sync();
  ASSERT_TRUE(next.Reconcile({"", "n"}, {}));
  EXPECT_EQ(Zone(), "north");
  born(kNodeType, "n", std::chrono::minutes(28));
  world_.EditNode("n", {{"metadata", {{"labels", {{"changed", "1"}}}}}});
  world_.Sync();
  ASSERT_TRUE(next.Reconcile({"", "n"}, {}));
  EXPECT_EQ(Zone(), "") << "the node is younger than the CRD, so it got its attributes under this CRD";
  born(kNodeType, "n", std::chrono::minutes(50));
  world_.EditNode("n", {{"metadata",
                         {{"labels", {{"zone", "north"}}},
                          {"annotations", {{kPreviousAttributesAnnotation, R"({"labels":{"zone":"north"}})"}}}}}});
  world_.Sync();
  ASSERT_TRUE(next.Reconcile({"", "n"}, {}));
  EXPECT_EQ(Zone(), "north");
  crd_born(31);
  ASSERT_TRUE(next.Reconcile({"", "n"}, {}));
  EXPECT_EQ(Zone(), "") << "half an hour after the CRD, the pool would exist again";
  // The pool is newer than the CRD, so its deletion removes the attributes immediately.
  crd_born(2);
  world_.AddPool("a", kSpec);
  born(kNodePoolType, "a", std::chrono::minutes(1));
  ASSERT_TRUE(world_.Give("n"));
  EXPECT_EQ(Zone(), "north");
  world_.cluster.Delete(kNodePoolType, {"", "a"});
  ASSERT_TRUE(world_.Give("n"));
  EXPECT_EQ(Zone(), "");
}

TEST_F(NodeReconcilerTest, MissingCrdIsReadOncePerSecondForAllNodes) {
  for (int i = 0; i < 20; ++i) world_.AddNode("n" + std::to_string(i), i % 2 == 0 ? "a" : "b");
  world_.cluster.Delete(kCrdType, {"", "nodepools.apps.openyurt.io"});
  world_.Sync();
  const auto reconcile_all = [&] {
    for (int i = 0; i < 20; ++i) {
      const auto result = world_.giving.Reconcile({"", "n" + std::to_string(i)}, {});
      ASSERT_TRUE(result);
      EXPECT_EQ(result->next, ReconcileResult::Next::kBackoff);
      EXPECT_EQ(result->at_least, seconds(10));
    }
  };
  reconcile_all();
  EXPECT_EQ(CrdReads(), 1);
  world_.clock.Advance(seconds(1));
  reconcile_all();
  EXPECT_EQ(CrdReads(), 2);
  EXPECT_EQ(PoolReads(), 0);
  world_.cluster.Create(kCrdType, {{"metadata", {{"name", "nodepools.apps.openyurt.io"}}}});
  world_.clock.Advance(seconds(1));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(world_.giving.Reconcile({"", "n" + std::to_string(i)}, {}));
  EXPECT_EQ(CrdReads(), 22) << "an existing CRD is read for each Node, because it may be deleted at any time";
}

TEST_F(NodeReconcilerTest, MissingPoolIsReadOncePerSecondForNodesThatHaveNotChangedSince) {
  for (int i = 0; i < 20; ++i) world_.AddNode("n" + std::to_string(i), "a");
  world_.Sync();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(world_.giving.Reconcile({"", "n" + std::to_string(i)}, {}));
  EXPECT_EQ(PoolReads(), 1);
  world_.clock.Advance(seconds(1));
  for (int i = 10; i < 18; ++i) ASSERT_TRUE(world_.giving.Reconcile({"", "n" + std::to_string(i)}, {}));
  EXPECT_EQ(PoolReads(), 2);
  EXPECT_THAT(world_.events.recorded, SizeIs(18));
  // A user creates the pool, and then changes a Node. The event of the Node arrives first.
  world_.AddPool("a");
  world_.EditNode("n18", {{"metadata", {{"labels", {{"changed", "1"}}}}}});
  world_.SyncOne(world_.nodes, kNodeType, ProjectNode, StripNode);
  const auto result = world_.giving.Reconcile({"", "n18"}, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->next, ReconcileResult::Next::kBackoff);
  EXPECT_EQ(result->at_least, seconds(10));
  EXPECT_THAT(world_.events.recorded, SizeIs(18));
}

TEST_F(NodeReconcilerTest, ConcurrentChangeOfANodeIsAConflictAndTheNodeIsReadAgain) {
  world_.AddPool("a", kSpec);
  world_.AddNode("n", "a");
  world_.Sync();
  world_.EditNode("n", {{"metadata", {{"labels", {{kNodePoolLabel, nullptr}}}}}});
  const auto result = world_.giving.Reconcile({"", "n"}, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kConflict);
  EXPECT_EQ(Zone(), "");
}

TEST_F(NodeReconcilerTest, RevertedAttributesAreRewrittenWithBackoff) {
  Json spec = kSpec;
  spec["taints"] = {{{"key", "shop"}, {"effect", "NoSchedule"}}};
  world_.AddPool("a", spec);
  world_.AddNode("n", "a");
  world_.Give("n");
  world_.Writes();
  const Json label = {{"metadata", {{"labels", {{"zone", nullptr}}}}}}, taints = {{"spec", {{"taints", nullptr}}}};
  int writes = 0;
  for (int second = 0; second < 60; ++second) {
    world_.clock.Advance(seconds(1));
    world_.EditNode("n", second % 2 == 0 ? label : taints);
    ASSERT_TRUE(world_.Give("n"));
    writes += static_cast<int>(world_.Writes());
  }
  EXPECT_GE(writes, 5);
  EXPECT_LE(writes, 13);
}

TEST_F(NodeReconcilerTest, AttributesThatAWebhookRemovesCauseNoLoop) {
  world_.cluster.SetMutation([](const ResourceType& type, const Json&, Json& object) {
    if (type.resource == "nodes") object["metadata"]["labels"].erase("zone");
  });
  world_.AddPool("a", kSpec);
  world_.AddNode("n", "a");
  int writes = 0;
  for (int round = 0; round < 50; ++round) {
    const auto result = world_.Give("n");
    ASSERT_TRUE(result);
    writes += static_cast<int>(world_.Writes());
    if (result->next == ReconcileResult::Next::kAfter) {
      EXPECT_GE(result->after, seconds(1));
      EXPECT_LE(writes, 8);
      return;
    }
  }
  FAIL() << "the reconciler never backs off; " << writes << " writes";
}

}  // namespace
}  // namespace yad::testing
