// Nodes whose changes the server rejects.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "operator/capacity/capacity_reconciler.h"
#include "tests/unit/capacity/world.h"

namespace yad::testing {
namespace {

using ::testing::Contains;

class NodeRejectionsTest : public ::testing::Test {
 protected:
  // From now on, the server rejects each PATCH of these Nodes.
  void Reject(const std::set<std::string>& names) {
    world_.cluster.SetFaults([&, names](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
      if (request.method != "PATCH" || request.resource != "nodes" || !names.contains(request.key.name))
        return std::nullopt;
      ++asked_;
      const Json status{{"kind", "Status"},
                        {"status", "Failure"},
                        {"reason", "Invalid"},
                        {"message", "metadata.annotations: Too long"},
                        {"code", 422}};
      return FakeCluster::Fault{HttpResponse{422, {}, status.dump()}};
    });
  }
  // Runs passes for some seconds, then no passes for 570 s, and then again for some seconds.
  void RunAlmostTenMinutes() {
    world_.Run(3);
    world_.clock.Advance(std::chrono::seconds(570));
    world_.Run(3);
  }
  void SetSpec(const Json& patch) {
    world_.cluster.Edit(kNodePoolAutoscalerType, {"", "hangzhou"},
                        [&](Json& object) { object["spec"].merge_patch(patch); });
  }

  int asked_ = 0;
  CapacityWorld world_{Json{{"standby", {{{"name", "s"}, {"count", 2}}}}}};
};

TEST_F(NodeRejectionsTest, OneNodeThatCannotBeChangedStopsNoLeases) {
  for (const char* name : {"n1", "n2", "n3", "n4"}) world_.AddNode(name);
  Reject({"n1"});
  world_.Run(10);
  EXPECT_EQ(world_.PhaseOf("n2"), "Idle");
  EXPECT_EQ(world_.PhaseOf("n3"), "Idle");
  EXPECT_EQ(world_.Reason(), "Acting");
  EXPECT_THAT(world_.events, Contains("NodePoolAutoscaler hangzhou LabelChangeRefused"));
  EXPECT_EQ(asked_, 1);
  RunAlmostTenMinutes();
  EXPECT_EQ(asked_, 1);
  world_.Run(30);
  SetSpec({{"standby", {{{"name", "s"}, {"count", 4}}}}});
  world_.Run(5);
  EXPECT_EQ(world_.PhaseOf("n4"), "Idle");
  EXPECT_EQ(asked_, 2);
  EXPECT_EQ(world_.Reason(), "Acting");
}

TEST_F(NodeRejectionsTest, AutoscalerStopsAfterThreeNodesInARowCouldNotBeChanged) {
  for (const char* name : {"n1", "n2", "n3", "n4", "n5"}) world_.AddNode(name);
  Reject({"n1", "n2", "n3", "n4", "n5"});
  RunAlmostTenMinutes();
  EXPECT_EQ(asked_, 3);
  EXPECT_EQ(world_.Reason(), "LabelChangeRefused");
  world_.Run(40);
  EXPECT_EQ(asked_, 6);
}

TEST_F(NodeRejectionsTest, OneNodeThatCannotBeChangedStopsNoReleases) {
  world_.AddNode("n1");
  world_.AddNode("n2");
  world_.Run(3);
  ASSERT_EQ(world_.PhaseOf("n2"), "Idle");
  Reject({"n1"});
  SetSpec({{"mode", "Drain"}});
  world_.Run(60);
  EXPECT_EQ(world_.PhaseOf("n2"), "");
  EXPECT_EQ(world_.PhaseOf("n1"), "Idle");
  EXPECT_EQ(asked_, 1);
}

TEST_F(NodeRejectionsTest, OneNodeThatCannotBeChangedStopsNoReleasesOfADeletedAutoscaler) {
  world_.AddNode("n1");
  world_.AddNode("n2");
  world_.Run(3);
  Reject({"n1"});
  world_.cluster.Delete(kNodePoolAutoscalerType, {"", "hangzhou"});
  world_.Run(60);
  EXPECT_EQ(world_.PhaseOf("n2"), "");
  EXPECT_EQ(asked_, 1);
}

TEST_F(NodeRejectionsTest, TaintThatCannotBeRemovedIsRetriedAfterTenMinutes) {
  world_.AddNode("n1");
  world_.cluster.Edit(kNodeType, {"", "n1"}, [](Json& node) {
    node["spec"]["taints"] = {{{"key", kReleasingTaint}, {"effect", "NoSchedule"}}};
  });
  Reject({"n1"});
  RunAlmostTenMinutes();
  EXPECT_EQ(asked_, 1);
  Reject({});
  world_.Run(40);
  EXPECT_TRUE(world_.NodeNow("n1").taints.empty());
}

}  // namespace
}  // namespace yad::testing
