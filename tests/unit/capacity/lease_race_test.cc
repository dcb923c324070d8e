// Leases and releases of CapacityReconciler while its caches are stale.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/capacity/capacity_reconciler.h"
#include "tests/unit/capacity/world.h"

namespace yad::testing {
namespace {

using ::testing::Contains;

const Json kEvictingSpec = {{"taints", {{{"key", "shop"}, {"effect", "NoExecute"}}}}};

class LeaseRaceTest : public ::testing::Test {
 protected:
  LeaseRaceTest() {
    world_.AddNode("n1");
    world_.AddPod("work", "1", "n1");
    world_.AddPod("p");
    world_.cluster.Edit(kPodType, {"shop", "p"}, [](Json& pod) {
      pod["spec"]["tolerations"] = {{{"operator", "Exists"}}};
    });
  }
  void SetPool(const Json& spec) {
    world_.cluster.Edit(kNodePoolType, {"", "hangzhou"}, [&](Json& pool) { pool["spec"] = spec; });
  }
  // Runs a pass each second. Updates the caches of Nodes and autoscalers, but not the caches of pools and pods.
  void RunWithStalePoolsAndPods(int passes) {
    for (int i = 0; i < passes; ++i) {
      world_.clock.Advance(std::chrono::seconds(1));
      world_.SyncNodes();
      world_.SyncAutoscalers();
      (void)world_.Pass();
    }
  }

  CapacityWorld world_;
};

TEST_F(LeaseRaceTest, NodeWithPodsIsNotLeasedIfThePoolHasGotANoExecuteTaintThatTheCacheDoesNotShow) {
  world_.Schedule();
  world_.Sync();
  SetPool(kEvictingSpec);
  RunWithStalePoolsAndPods(15);
  EXPECT_EQ(world_.PhaseOf("n1"), "");
  world_.Run(15);
  EXPECT_EQ(world_.PhaseOf("n1"), "");
  SetPool(Json::object());
  world_.clock.Advance(std::chrono::seconds(180));  // the default of retryAfterSeconds
  world_.Run(2);
  EXPECT_EQ(world_.PhaseOf("n1"), "InUse");
}

TEST_F(LeaseRaceTest, NodeWithAPodThatTheCacheDoesNotShowIsNotLeasedIfTheTaintOfThePoolWouldEvictThePod) {
  SetPool(kEvictingSpec);
  world_.DeletePod("work");
  world_.Schedule();
  world_.Sync();
  world_.AddPod("work", "1", "n1");
  RunWithStalePoolsAndPods(15);
  EXPECT_EQ(world_.PhaseOf("n1"), "");
  world_.DeletePod("work");
  world_.Run(2);
  EXPECT_THAT(world_.events, Contains("NodePoolAutoscaler hangzhou NodeLeased"));
  EXPECT_EQ(world_.NodeNow("n1").taints.size(), 1U);
}

}  // namespace
}  // namespace yad::testing
