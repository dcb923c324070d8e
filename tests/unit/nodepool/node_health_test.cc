#include "operator/nodepool/node_health.h"

#include <gtest/gtest.h>

namespace yad {
namespace {

Node WithConditions(std::map<std::string, std::string> conditions) {
  Node node;
  node.conditions = std::move(conditions);
  return node;
}

NodeFault FaultOf(std::map<std::string, std::string> conditions, const std::vector<std::string>& agents = {},
                  const std::vector<std::string>& drivers = {}) {
  return HealthOf(WithConditions(std::move(conditions)), agents, drivers).fault;
}

TEST(NodeHealthTest, NodeWhoseReadyConditionIsFalseUnknownOrAbsentIsNotReady) {
  EXPECT_EQ(FaultOf({{"Ready", "False"}}), NodeFault::kNotReady);
  EXPECT_EQ(FaultOf({{"Ready", "Unknown"}}), NodeFault::kUnknown);
  EXPECT_EQ(FaultOf({}), NodeFault::kUnknown);
  EXPECT_EQ(StateOf(NodeFault::kNotReady), NodeState::kNotReady);
  EXPECT_EQ(StateOf(NodeFault::kUnknown), NodeState::kNotReady);
}

TEST(NodeHealthTest, MissingNetworkAndEachPressureAreWarnings) {
  for (const auto& [type, fault] : {std::pair{"NetworkUnavailable", NodeFault::kNetworkUnavailable},
                                    {"MemoryPressure", NodeFault::kMemoryPressure},
                                    {"DiskPressure", NodeFault::kDiskPressure},
                                    {"PIDPressure", NodeFault::kPidPressure}}) {
    EXPECT_EQ(FaultOf({{"Ready", "True"}, {type, "True"}}), fault) << type;
    EXPECT_EQ(FaultOf({{"Ready", "True"}, {type, "False"}}), NodeFault::kNone) << type;
    EXPECT_EQ(FaultOf({{"Ready", "True"}, {type, "Unknown"}}), NodeFault::kNone) << type;
    EXPECT_EQ(StateOf(fault), NodeState::kWarning) << type;
  }
}

TEST(NodeHealthTest, AgentThatIsNotReadyIsNamedInAWarning) {
  const NodeHealth health = HealthOf(WithConditions({{"Ready", "True"}}), {"kube-system/kube-proxy-a"}, {});
  EXPECT_EQ(health.fault, NodeFault::kAgentNotReady);
  EXPECT_EQ(StateOf(health.fault), NodeState::kWarning);
  EXPECT_EQ(health.detail, "kube-system/kube-proxy-a");
}

TEST(NodeHealthTest, MissingCsiDriverIsNamedInAWarning) {
  const NodeHealth health = HealthOf(WithConditions({{"Ready", "True"}}), {}, {"disk.csi.example.com"});
  EXPECT_EQ(health.fault, NodeFault::kCsiDriverMissing);
  EXPECT_EQ(StateOf(health.fault), NodeState::kWarning);
  EXPECT_EQ(health.detail, "disk.csi.example.com");
}

TEST(NodeHealthTest, WorstOfSeveralProblemsIsReported) {
  const std::map<std::string, std::string> all = {
      {"Ready", "True"}, {"NetworkUnavailable", "True"}, {"MemoryPressure", "True"}, {"PIDPressure", "True"}};
  EXPECT_EQ(FaultOf(all, {"a"}, {"d"}), NodeFault::kNetworkUnavailable);
  EXPECT_EQ(FaultOf({{"Ready", "True"}, {"PIDPressure", "True"}}, {"a"}, {"d"}), NodeFault::kPidPressure);
  EXPECT_EQ(FaultOf({{"Ready", "True"}}, {"a"}, {"d"}), NodeFault::kAgentNotReady);
  auto down = all;
  down["Ready"] = "False";
  EXPECT_EQ(FaultOf(down, {"a"}, {"d"}), NodeFault::kNotReady);
}

}  // namespace
}  // namespace yad
