#include "operator/nodepool/pool_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/base/metrics.h"

namespace yad {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const WallTime kNow = ParseTime("2026-11-22T08:00:00Z");

PoolNode NodeWith(const std::string& name, NodeFault fault = NodeFault::kNone, const std::string& detail = "") {
  return {name, {fault, detail}, StateOf(fault) != NodeState::kNotReady};
}

Json Build(const PoolSummary& summary, const Json& previous = Json::object()) {
  return BuildPoolStatus(summary, previous, 3, kNow);
}

Json Condition(const Json& status, const std::string& type) {
  for (const Json& condition : status.at("conditions")) {
    if (condition.at("type") == type) return condition;
  }
  return nullptr;
}

TEST(PoolStatusTest, ANodeInStateWarningCountsAsReady) {
  PoolSummary summary;
  summary.nodes = {NodeWith("a"), NodeWith("b", NodeFault::kDiskPressure), NodeWith("c", NodeFault::kUnknown)};
  const Json status = Build(summary);
  EXPECT_EQ(status["readyNodeNum"], 2);
  EXPECT_EQ(status["unreadyNodeNum"], 1);
  EXPECT_EQ(status["nodes"], Json({"a", "b", "c"}));
  EXPECT_EQ(status["nodeStates"], Json({{"ready", 1}, {"warning", 1}, {"notReady", 1}}));
}

TEST(PoolStatusTest, TheConditionsHaveTheWorstReasonAndNameTheNodes) {
  PoolSummary summary;
  summary.nodes = {NodeWith("a"), NodeWith("b", NodeFault::kAgentNotReady, "kube-system/proxy"),
                   NodeWith("c", NodeFault::kNotReady)};
  Json status = Build(summary);
  EXPECT_EQ(Condition(status, "Ready")["status"], "True");
  EXPECT_EQ(Condition(status, "Ready")["observedGeneration"], 3);
  EXPECT_EQ(Condition(status, "Degraded")["status"], "True");
  EXPECT_EQ(Condition(status, "Degraded")["reason"], "NodeNotReady");
  EXPECT_EQ(Condition(status, "Degraded")["message"],
            "NodeNotReady on 1 node (c); AgentNotReady on 1 node (b: kube-system/proxy)");

  summary.nodes = {NodeWith("c", NodeFault::kUnknown)};
  status = Build(summary);
  EXPECT_EQ(Condition(status, "Ready")["status"], "False");
  EXPECT_EQ(Condition(status, "Ready")["reason"], "NodeStatusUnknown");

  summary.nodes = {NodeWith("a")};
  status = Build(summary);
  EXPECT_EQ(Condition(status, "Degraded")["status"], "False");

  status = Build({});
  EXPECT_EQ(status["readyNodeNum"], 0);
  EXPECT_EQ(Condition(status, "Ready")["reason"], "NoNodes");
}

TEST(PoolStatusTest, ListOfNodesIsLimitedAndCountersAreExact) {
  PoolSummary summary;
  for (int i = 0; i < 1000; ++i) summary.nodes.push_back(NodeWith("n" + std::to_string(1000 + i)));
  const Json status = Build(summary);
  EXPECT_EQ(status["nodes"].size(), kMaxNodesInStatus);
  EXPECT_EQ(status["nodes"][0], "n1000");
  EXPECT_EQ(status["readyNodeNum"], 1000);
}

TEST(PoolStatusTest, ResourcesAreSumsInTheFormatOfKubernetes) {
  PoolSummary summary;
  const Json capacity = {{"cpu", "64"},           {"memory", "256Gi"},      {"pods", "500"},
                         {"nvidia.com/gpu", "2"}, {"hugepages-2Mi", "1Gi"}, {"ephemeral-storage", "1000"}};
  summary.capacity = Resources::Parse(&capacity);
  const Json requested = {{"cpu", "1500m"}, {"memory", "1500Ki"}};
  summary.requested = Resources::Parse(&requested);
  const Json resources = Build(summary)["resources"];
  EXPECT_EQ(resources["capacity"], capacity);
  EXPECT_EQ(resources["requested"], Json({{"cpu", "1500m"}, {"memory", "1500Ki"}, {"pods", "0"}}));
}

TEST(PoolStatusTest, ConditionsOfOthersAndTransitionTimesAreKept) {
  PoolSummary summary;
  summary.nodes = {NodeWith("a")};
  const Json theirs = {{"type", "LeaderReady"}, {"status", "True"}};
  const Json previous = {
      {"conditions",
       {theirs, {{"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", "2026-01-01T00:00:00Z"}}}}};
  const Json status = Build(summary, previous);
  EXPECT_EQ(Condition(status, "LeaderReady"), theirs);
  EXPECT_EQ(Condition(status, "Ready")["lastTransitionTime"], "2026-01-01T00:00:00Z");
  EXPECT_EQ(Condition(status, "Degraded")["lastTransitionTime"], "2026-11-22T08:00:00Z");
}

TEST(PoolStatusTest, PatchHasOnlyDifferencesAndKeepsFieldsOfOthers) {
  PoolSummary summary;
  summary.nodes = {NodeWith("a")};
  summary.capacity.others = {{"example.com/gpu", 1}};
  Json before = Build(summary);
  before["leaderEndpoints"] = {"x"};
  EXPECT_TRUE(PoolStatusPatch(before, Build(summary, before)).is_null());
  summary.capacity.others.clear();
  summary.requested.milli_cpu = 100;
  const Json patch = PoolStatusPatch(before, Build(summary, before));
  EXPECT_EQ(
      patch,
      Json({{"status",
             {{"resources", {{"capacity", {{"example.com/gpu", nullptr}}}, {"requested", {{"cpu", "100m"}}}}}}}}));
}

TEST(PoolStatusTest, MetricsShowNodesAndResourcesAndAreRemovedWithThePool) {
  {
    PoolMetrics shown("metrics-pool");
    PoolSummary summary;
    summary.nodes = {NodeWith("a"), NodeWith("b", NodeFault::kUnknown)};
    summary.capacity.milli_cpu = 1500;
    summary.capacity.others = {{"example.com/gpu", 2}};
    shown.Show(summary);
    std::string text = metrics::Render();
    EXPECT_THAT(text, HasSubstr("nodepool_nodes{pool=\"metrics-pool\",state=\"notReady\"} 1"));
    EXPECT_THAT(text, HasSubstr("nodepool_resource{kind=\"capacity\",pool=\"metrics-pool\",resource=\"cpu\"} 1.5"));
    EXPECT_THAT(text, HasSubstr("example.com/gpu"));
    summary.capacity.others.clear();
    shown.Show(summary);
    EXPECT_THAT(metrics::Render(), Not(HasSubstr("example.com/gpu")));
  }
  EXPECT_THAT(metrics::Render(), Not(HasSubstr("metrics-pool")));
}

}  // namespace
}  // namespace yad
