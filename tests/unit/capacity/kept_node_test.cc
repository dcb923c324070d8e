// Leased nodes that a user keeps in the pool, or moves to another pool.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/capacity/capacity_reconciler.h"
#include "tests/unit/capacity/world.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class KeptNodeTest : public ::testing::Test {
 protected:
  KeptNodeTest() {
    world_.AddNode("n1");
    world_.Run(3);
    world_.cluster.Edit(kNodeType, {"", "n1"}, [](Json& node) {
      node["spec"]["taints"] = {{{"key", "own"}, {"effect", "NoSchedule"}}};
    });
    world_.cluster.Edit(kNodePoolAutoscalerType, {"", "hangzhou"},
                        [](Json& object) { object["spec"]["mode"] = "Drain"; });
    world_.Run(3);
  }
  void EditMetadata(const Json& patch) {
    world_.cluster.Edit(kNodeType, {"", "n1"}, [&](Json& node) { node["metadata"].merge_patch(patch); });
  }

  CapacityWorld world_{Json{{"standby", {{{"name", "s"}, {"count", 1}}}}}};
};

TEST_F(KeptNodeTest, NodeWhoseLeaseAUserRemovesDuringTheReleaseLosesTheReleasingTaint) {
  ASSERT_EQ(world_.PhaseOf("n1"), "Releasing");
  ASSERT_EQ(world_.NodeNow("n1").taints.size(), 2U);
  EditMetadata({{"annotations", {{kLeaseAnnotation, nullptr}}}});
  world_.Run(2);
  const Node node = world_.NodeNow("n1");
  EXPECT_THAT(node.taints, ElementsAre(NodeTaint{"own", "", "NoSchedule"}));
  EXPECT_EQ(node.pool(), "hangzhou");
  world_.cluster.ClearWrites();
  world_.Run(5);
  EXPECT_THAT(world_.cluster.writes(), IsEmpty());
}

TEST_F(KeptNodeTest, NodeThatAUserMovesToAnotherPoolDuringTheReleaseLosesTheReleasingTaint) {
  ASSERT_EQ(world_.PhaseOf("n1"), "Releasing");
  EditMetadata({{"labels", {{kNodePoolLabel, "beijing"}}}});
  world_.Run(2);
  EXPECT_EQ(world_.NodeNow("n1").taints.size(), 1U);
}

TEST_F(KeptNodeTest, NodeWithAnInvalidLeaseIsNotChanged) {
  EditMetadata({{"annotations", {{kLeaseAnnotation, "[1,"}}}});
  world_.cluster.ClearWrites();
  world_.Run(5);
  EXPECT_EQ(world_.NodeNow("n1").taints.size(), 2U);
}

TEST_F(KeptNodeTest, RemovalOfTheTaintOverwritesNoConcurrentChange) {
  EditMetadata({{"annotations", {{kLeaseAnnotation, nullptr}}}});
  world_.SyncNodes();
  world_.cluster.Edit(kNodeType, {"", "n1"}, [](Json& node) { node["spec"]["unschedulable"] = true; });
  world_.clock.Advance(std::chrono::seconds(1));
  (void)world_.Pass();
  EXPECT_EQ(world_.NodeNow("n1").taints.size(), 2U);
  world_.Run(2);
  EXPECT_EQ(world_.NodeNow("n1").taints.size(), 1U);
}

// No event may follow: the controller ignores most changes of a Node's status.
TEST_F(KeptNodeTest, RemovalOfTheLastTaintIsRetriedIfNoAutoscalerIsLeft) {
  EditMetadata({{"annotations", {{kLeaseAnnotation, nullptr}}}});
  world_.cluster.Delete(kNodePoolAutoscalerType, {"", "hangzhou"});
  world_.Sync();
  world_.cluster.Edit(kNodeType, {"", "n1"}, [](Json& node) { node["spec"]["unschedulable"] = true; });
  world_.clock.Advance(std::chrono::seconds(1));
  const auto conflict = world_.Pass();
  ASSERT_TRUE(conflict);
  EXPECT_EQ(conflict->next, ReconcileResult::Next::kAfter);
  EXPECT_LE(conflict->after, std::chrono::seconds(1));
  world_.Run(2);
  EXPECT_EQ(world_.NodeNow("n1").taints.size(), 1U);
  world_.clock.Advance(std::chrono::seconds(1));
  const auto end = world_.Pass();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->next, ReconcileResult::Next::kDone);
}

}  // namespace
}  // namespace yad::testing
