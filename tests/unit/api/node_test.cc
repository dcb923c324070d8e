#include "operator/api/node.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace yad {
namespace {

TEST(NodeTest, ConditionsTaintsAndAllocatableResourcesAreRead) {
  const Node node = ParseNode(
      {{"metadata", {{"name", "n1"}, {"labels", {{"apps.openyurt.io/nodepool", "hangzhou"}}}}},
       {"spec",
        {{"unschedulable", true},
         {"taints", {{{"key", "k"}, {"value", "v"}, {"effect", "NoSchedule"}}, {{"effect", "NoSchedule"}}, 7}}}},
       {"status",
        {{"allocatable", {{"cpu", "2"}, {"pods", "110"}}},
         {"capacity", {{"cpu", "4"}}},
         {"conditions",
          {{{"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", "2026-11-20T10:00:00Z"}},
           {{"type", "DiskPressure"}, {"status", "False"}}}}}}});
  EXPECT_TRUE(node.ready());
  EXPECT_EQ(node.pool(), "hangzhou");
  EXPECT_TRUE(node.unschedulable);
  ASSERT_EQ(node.taints.size(), 1U);
  EXPECT_EQ(node.taints[0].value, "v");
  EXPECT_EQ(node.allocatable.milli_cpu, 2000);
  EXPECT_EQ(node.allocatable.pods, 110);
  EXPECT_EQ(node.capacity.milli_cpu, 4000);
  EXPECT_EQ(node.conditions.at("DiskPressure"), "False");
  EXPECT_EQ(FormatTime(node.ready_since), "2026-11-20T10:00:00Z");
}

TEST(NodeTest, NodeWithoutFieldsIsNotReadyAndInNoPool) {
  for (const Json& object :
       {Json(), Json{{"status", {{"conditions", {{{"type", "Ready"}, {"status", "Unknown"}}}}}}}}) {
    EXPECT_FALSE(ParseNode(object).ready());
    EXPECT_EQ(ParseNode(object).pool(), "");
    EXPECT_EQ(ParseNode(object).allocatable.pods, std::numeric_limits<std::int64_t>::max());
  }
}

}  // namespace
}  // namespace yad
