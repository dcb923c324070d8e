// The nodepool controller writes the status of a pool from its nodes, and sets the pool's attributes on its nodes.
#include <atomic>

#include "tests/cluster/nodepool_fixture.h"

namespace yad::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST_F(NodePoolTest, CountsAndStatesChangeWhenNodesFailAndRecover) {
  StartNodePools({"--node-agents=k8s-app=proxy"});
  const std::string pool = AddPool("a");
  WaitForPoolStatus(pool, {{"readyNodeNum", 0}, {"unreadyNodeNum", 0}, {"nodes", Json::array()}});
  const std::string one = AddOwnNode("1", pool);
  const std::string two = AddOwnNode("2", pool);
  Json status = WaitForPoolStatus(
      pool, {{"readyNodeNum", 2}, {"unreadyNodeNum", 0}, {"nodes", {one, two}}, {"nodeStates/ready", 2}});
  EXPECT_EQ(At(status, "/resources/capacity"), Json({{"cpu", "8"}, {"memory", "16Gi"}, {"pods", "220"}}));
  EXPECT_EQ(ConditionStatus({{"status", status}}, "Degraded"), "False");

  SetConditions(one, {{"Ready", "Unknown"}});
  SetConditions(two, {{"Ready", "True"}, {"DiskPressure", "True"}});
  status = WaitForPoolStatus(
      pool,
      {{"readyNodeNum", 1}, {"unreadyNodeNum", 1}, {"nodeStates", {{"ready", 0}, {"warning", 1}, {"notReady", 1}}}});
  EXPECT_EQ(At(ConditionOf({{"status", status}}, "Degraded"), "/reason"), "NodeStatusUnknown");
  EXPECT_THAT(StringAt(ConditionOf({{"status", status}}, "Degraded"), {"message"}), HasSubstr(two));
  SetConditions(two, {{"Ready", "False"}});
  status = WaitForPoolStatus(pool, {{"readyNodeNum", 0}, {"nodeStates/notReady", 2}});
  EXPECT_EQ(ConditionStatus({{"status", status}}, "Ready"), "False");

  SetConditions(one, {{"Ready", "True"}});
  SetConditions(two, {{"Ready", "True"}});
  WaitForPoolStatus(pool, {{"readyNodeNum", 2}, {"nodeStates/ready", 2}});

  // This pod is an agent of node 1. The test also writes the status of the pod.
  kube().Create(
      kPodType,
      {{"metadata",
        {{"name", "proxy"}, {"labels", {{"k8s-app", "proxy"}}}, {"annotations", {{"kwok.x-k8s.io/status", "custom"}}}}},
       {"spec",
        {{"nodeName", one},
         {"tolerations", {{{"operator", "Exists"}}}},
         {"containers",
          {{{"name", "main"}, {"image", "example.org/proxy:1"}, {"resources", {{"requests", {{"cpu", "250m"}}}}}}}}}}});
  status =
      WaitForPoolStatus(pool, {{"nodeStates/warning", 1}, {"readyNodeNum", 2}, {"resources/requested/cpu", "250m"}});
  EXPECT_THAT(StringAt(ConditionOf({{"status", status}}, "Degraded"), {"message"}), HasSubstr(ns() + "/proxy"));
  kube().MergePatch(kPodType, "proxy",
                    {{"status", {{"phase", "Running"}, {"conditions", Conditions({{"Ready", "True"}})}}}}, "status");
  WaitForPoolStatus(pool, {{"nodeStates/warning", 0}, {"resources/requested/pods", "1"}});
  kube().MergePatch(kPodType, "proxy", {{"status", {{"phase", "Succeeded"}}}}, "status");
  WaitForPoolStatus(pool, {{"resources/requested", {{"cpu", "0"}, {"memory", "0"}, {"pods", "0"}}}});

  EXPECT_EQ(op().Metric("nodepool_nodes", {"pool=\"" + pool + "\"", "state=\"ready\""}), 2);
  EXPECT_EQ(op().Metric("nodepool_resource", {"pool=\"" + pool + "\"", "resource=\"cpu\"", "kind=\"capacity\""}), 8);
  DeletePool(pool);
  Eventually("the pool's metrics are gone",
             [&] { return op().Metrics().find("pool=\"" + pool + "\"") == std::string::npos; });
}

TEST_F(NodePoolTest, ANodeGetsThePoolsAttributesAndLosesOnlyTheseWhenItLeavesThePool) {
  StartNodePools();
  const Json taint = {{"key", "edge"}, {"value", "yes"}, {"effect", "NoSchedule"}};
  const std::string a =
      AddPool("a", {{"labels", {{"zone", "north"}, {"kubernetes.io/hostname", "not-this"}, {"shared", "same"}}},
                    {"annotations", {{"owner", "shop"}}},
                    {"taints", Json::array({taint})}});
  const std::string b = AddPool("b", {{"labels", {{"zone", "south"}}}});
  const std::string node = AddOwnNode("1", "");
  kube().MergePatch(kNodeType, node, {{"metadata", {{"labels", {{"shared", "same"}, {"mine", "1"}}}}}});
  const Json before = kube().Get(kNodeType, node);
  const auto node_is = [&](const std::string& what, const std::string& zone, const std::string& owner, bool tainted) {
    Eventually("the node is " + what, [&]() -> std::string {
      const Json now = kube().Get(kNodeType, node);
      bool has = false;
      for (const Json& entry : At(now, "/spec/taints")) has = has || StringAt(entry, {"key"}) == "edge";
      return Label(now, "zone") == zone && Annotation(now, "owner") == owner && has == tainted ? "" : now.dump();
    });
  };
  const auto join = [&](const Json& pool) {
    kube().MergePatch(kNodeType, node, {{"metadata", {{"labels", {{kNodePoolLabel, pool}}}}}});
  };

  join(a);
  node_is("in a", "north", "shop", true);
  EXPECT_EQ(
      Json::parse(Annotation(kube().Get(kNodeType, node), kPreviousAttributesAnnotation)),
      Json({{"labels", {{"zone", "north"}}}, {"annotations", {{"owner", "shop"}}}, {"taints", Json::array({taint})}}));
  // The operator's taint stays while the node controller adds its own.
  SetConditions(node, {{"Ready", "False"}});
  Eventually("the node has the taint not-ready", [&] {
    return At(kube().Get(kNodeType, node), "/spec/taints").dump().find("node.kubernetes.io/not-ready") !=
           std::string::npos;
  });
  node_is("in a and not ready", "north", "shop", true);
  SetConditions(node, {{"Ready", "True"}});
  kube().MergePatch(kNodePoolType, a, {{"spec", {{"annotations", nullptr}, {"taints", nullptr}}}});
  node_is("in a, which has fewer attributes now", "north", "", false);
  join(b);
  node_is("in b", "south", "", false);
  DeletePool(b);
  node_is("in a deleted pool", "", "", false);
  Eventually("the missing pool is reported",
             [&] { return ::testing::Matches(Contains("NodePoolMissing"))(NodeEvents(node)); });
  join(nullptr);
  // The operator's annotation is not valid JSON.
  kube().MergePatch(kNodeType, node, {{"metadata", {{"annotations", {{kPreviousAttributesAnnotation, "{junk"}}}}}});
  join(a);
  node_is("in a again", "north", "", false);
  join(nullptr);
  node_is("in no pool", "", "", false);
  const Json after = kube().Get(kNodeType, node);
  EXPECT_EQ(At(after, "/metadata/labels"), At(before, "/metadata/labels"));
  Eventually("the node has its original attributes", [&]() -> std::string {
    const Json now = kube().Get(kNodeType, node);
    const bool same = At(now, "/metadata/annotations") == At(before, "/metadata/annotations") &&
                      At(now, "/spec/taints") == Json::array({kOwnTaint});
    return same ? "" : now.dump();
  });
}

TEST_F(NodePoolTest, AThousandHeartbeatsCauseNoReconcileAndNoWrite) {
  StartNodePools();
  const std::string pool = AddPool("a", {{"labels", {{"zone", "north"}}}});
  std::vector<std::string> nodes;
  for (int i = 0; i < 10; ++i) nodes.push_back(AddOwnNode(std::to_string(i), pool));
  WaitForPoolStatus(pool, {{"readyNodeNum", 10}});
  for (const std::string& node : nodes)
    Eventually(node + " has the pool's label", [&] { return Label(kube().Get(kNodeType, node), "zone") == "north"; });
  const auto reconciles = [&] {
    return op().Metric("controller_runtime_reconcile_total", {"controller=\"nodepool\""}) +
           op().Metric("controller_runtime_reconcile_total", {"controller=\"nodepool-nodes\""});
  };
  const auto settled = [&] {
    const double before = reconciles();
    Barrier();
    return reconciles() == before;
  };
  Eventually("the operator no longer reconciles", settled);
  const double before = reconciles();
  const WallTime since = Now();
  for (int i = 0; i < 1000; ++i) {
    Json conditions = Conditions({{"Ready", "True"}, {"MemoryPressure", "False"}});
    if (i >= 10)
      conditions[0]["lastHeartbeatTime"] = FormatTime(ParseTime("2026-11-22T09:00:00Z") + std::chrono::seconds(i));
    kube().MergePatch(kNodeType, nodes[static_cast<std::size_t>(i) % nodes.size()],
                      {{"status", {{"conditions", conditions}}}}, "status");
    if (i == 9) {
      // The first heartbeats have added a condition.
      Eventually("the operator no longer reconciles", settled);
    }
  }
  // The event of this patch follows the events of the heartbeats.
  kube().MergePatch(kNodeType, nodes[0], {{"metadata", {{"labels", {{"zone", "west"}}}}}});
  Eventually("the node's label is repaired", [&] { return Label(kube().Get(kNodeType, nodes[0]), "zone") == "north"; });
  Eventually("the operator no longer reconciles", settled);
  // Only the ten new conditions, the label and its repair cause reconciles.
  EXPECT_LE(reconciles() - before, 10 + 10 + 4);
  int writes = 0;
  for (const AuditedRequest& request : plane().OperatorWrites("", since)) {
    if (request.resource == "nodes" || request.resource == "nodepools") ++writes;
  }
  EXPECT_EQ(writes, 1) << "only the label's repair";
}

TEST_F(NodePoolTest, ADriverMissingFromTheCsiNodeIsAWarning) {
  StartNodePools({"--required-csi-drivers=disk.csi.example.com"});
  const std::string pool = AddPool("a");
  const std::string node = AddOwnNode("1", pool);
  const Json status = WaitForPoolStatus(pool, {{"nodeStates/warning", 1}});
  EXPECT_EQ(At(ConditionOf({{"status", status}}, "Degraded"), "/reason"), "CSIDriverMissing");
  const ResourceType csi_node{"storage.k8s.io", "v1", "csinodes", "CSINode", false};
  kube().Create(csi_node, {{"metadata", {{"name", node}}},
                           {"spec", {{"drivers", {{{"name", "disk.csi.example.com"}, {"nodeID", "n"}}}}}}});
  WaitForPoolStatus(pool, {{"nodeStates/ready", 1}});
  kube().Delete(csi_node, node);
  WaitForPoolStatus(pool, {{"nodeStates/warning", 1}});
}

TEST_F(NodePoolTest, APoolWhoseOnlyNodeFailsIsOfflineForItsDaemonsUntilTheNodeRecovers) {
  StartNodePools();
  const std::string pool = AddPool("a");
  const std::string node = AddOwnNode("1", pool);
  WaitForPoolStatus(pool, {{"readyNodeNum", 1}});
  CreateDaemon(Daemon("web"));
  const auto phase_is = [&](const std::string& phase) {
    WaitForStatus("web", "the pool is " + phase, [&](const Json& status) {
      return StringAt(PoolStatus({{"status", status}}, pool), {"phase"}) == phase;
    });
  };
  phase_is("Ready");
  SetConditions(node, {{"Ready", "Unknown"}});
  phase_is("Offline");
  SetConditions(node, {{"Ready", "True"}});
  phase_is("Ready");
}

TEST_F(NodePoolTest, APoolOfAThousandNodesCausesFewStatusWritesAndOneWriteForEachNode) {
  if (!RunsEverything()) GTEST_SKIP() << "takes half a minute; set YAD_ALL=1";
  StartNodePools();
  const WallTime since = Now();
  const auto begin = std::chrono::steady_clock::now();
  const std::string pool = AddPool("a", {{"labels", {{"zone", "north"}}}});
  for (int i = 0; i < 1000; ++i) AddOwnNode(std::to_string(10000 + i), pool);
  const Json status = WaitForPoolStatus(pool, {{"readyNodeNum", 1000}, {"nodeStates/ready", 1000}});
  EXPECT_EQ(At(status, "/nodes").size(), 500U);
  EXPECT_EQ(At(status, "/resources/capacity/cpu"), "4000");
  Eventually("each node has the pool's label",
             [&] { return kube().List(kNodeType, "zone=north,own-node-of=" + ns()).size() == 1000; });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  double of_pool = 0, of_nodes = 0;
  for (const AuditedRequest& request : plane().OperatorWrites("", since)) {
    (request.resource == "nodepools" ? of_pool : of_nodes) += request.code == 200 ? 1 : 0;
  }
  EXPECT_LE(of_pool, seconds + 1);
  EXPECT_EQ(of_nodes, 1000);
}

// Installs a NodePool CRD whose status has only OpenYurt's fields.
class PruningCrdTest : public NodePoolTest {
 protected:
  void SetUp() override {
    NodePoolTest::SetUp();
    if (!HasControlPlane()) return;
    ours_ = At(kube().Get(kCrdType, kCrd), kFields);
    Json fields = ours_;
    for (const char* field : {"nodeStates", "resources", "conditions"}) fields.erase(field);
    SetFields(fields);
  }
  void TearDown() override {
    if (HasControlPlane()) SetFields(ours_);
    NodePoolTest::TearDown();
  }

 private:
  void SetFields(const Json& fields) {
    kube().Edit(kCrdType, kCrd, [&](Json& crd) { crd[Json::json_pointer(kFields)] = fields; });
  }

  static constexpr char kCrd[] = "nodepools.apps.openyurt.io";
  static constexpr char kFields[] = "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties";
  Json ours_;
};

TEST_F(PruningCrdTest, FieldsThatOpenYurtsCrdLacksAreWrittenOnlyOnce) {
  StartNodePools();
  const std::string pool = AddPool("a");
  Eventually("the apiserver prunes unknown fields", [&] {
    kube().MergePatch(kNodePoolType, pool, {{"status", {{"nodeStates", {{"ready", 7}}}}}}, "status");
    return At(PoolStatusNow(pool), "/nodeStates").is_null();
  });
  const std::string node = AddOwnNode("1", pool);
  WaitForPoolStatus(pool, {{"readyNodeNum", 1}});
  const WallTime since = Now();
  const auto reconciles = [&] {
    return op().Metric("controller_runtime_reconcile_total", {"controller=\"nodepool\"", "result=\"success\""});
  };
  const double before = reconciles();
  SetConditions(node, {{"Ready", "True"}, {"FrequentKubeletRestart", "False"}});
  Eventually("the pool is reconciled again", [&] { return reconciles() > before; });
  Barrier();
  EXPECT_THAT(ToString(plane().OperatorWrites("", since)), ::testing::Not(HasSubstr("nodepools")));
}

}  // namespace
}  // namespace yad::testing
