// Pods on a node that now belongs to another pool.
#include "tests/cluster/nodepool_fixture.h"

namespace yad::testing {
namespace {

using ::testing::HasSubstr;

class MisplacedTest : public NodePoolTest {
 protected:
  void WaitForCount(const std::string& pool, const Json& count) {
    WaitForStatus("web", pool + " has misplacedReplicas " + count.dump(), [&](const Json& status) {
      return PoolStatus({{"status", status}}, pool).value("misplacedReplicas", Json()) == count;
    });
  }
  double Metric() {
    return op().Metric("yurtappdaemon_misplaced_replicas", {"namespace=\"" + ns() + "\"", "name=\"web\""});
  }
  std::size_t Events() {
    std::size_t count = 0;
    for (const Json& event : EventsAbout("web")) count += StringAt(event, {"reason"}) == "PodsMisplaced";
    return count;
  }
};

TEST_F(MisplacedTest, PodsOnANodeThatChangedItsPoolAreCountedUntilTheyAreDeleted) {
  StartNodePools();
  const std::string a = AddPool("a"), b = AddPool("b");
  for (const std::string& pool : {a, a, b}) AddNode(pool);
  for (const auto& [pool, nodes] : {std::pair{a, 2}, {b, 1}}) WaitForPoolStatus(pool, {{"readyNodeNum", nodes}});
  CreateDaemon(Daemon("web", 1));
  WaitUntilReady("web");
  Eventually("the metric exists", [&] { return Metric() == 0; });

  const auto pod_of = [&](const std::string& pool) -> Json {
    for (const Json& pod : kube().List(kPodType, std::string(kPoolNameLabel) + "=" + pool)) {
      if (Find(pod, {"metadata", "deletionTimestamp"}) == nullptr) return pod;
    }
    return nullptr;
  };
  const Json pod = pod_of(a);
  const std::string node = StringAt(pod, {"spec", "nodeName"});
  kube().MergePatch(kNodeType, node, {{"metadata", {{"labels", {{kNodePoolLabel, b}}}}}});
  WaitForCount(a, 1);
  WaitForCount(b, nullptr);
  Eventually("the metric counts the pod", [&] { return Metric() == 1; });
  Eventually("there is one event", [&] { return Events() == 1; });
  EXPECT_EQ(UidOf(pod_of(a)), UidOf(pod)) << "the operator must not evict the pod";

  kube().Delete(kPodType, NameOf(pod));
  WaitForCount(a, nullptr);
  Eventually("the metric counts no pod", [&] { return Metric() == 0; });
  WaitUntilReady("web");
  EXPECT_NE(StringAt(pod_of(a), {"spec", "nodeName"}), node);
  EXPECT_EQ(Events(), 1U);
}

TEST_F(MisplacedTest, CountIsKeptByANewLeaderAndEndsWhenTheNodeReturns) {
  StartNodePools();
  const std::string a = AddPool("a"), b = AddPool("b");
  AddNode(a);
  WaitForPoolStatus(a, {{"readyNodeNum", 1}});
  CreateDaemon(Daemon("web", 1));
  WaitUntilReady("web");
  const Json pod = kube().List(kPodType, std::string(kPoolNameLabel) + "=" + a).at(0);
  kube().MergePatch(kNodeType, StringAt(pod, {"spec", "nodeName"}),
                    {{"metadata", {{"labels", {{kNodePoolLabel, b}}}}}});
  WaitForCount(a, 1);
  KillOperator();
  StartNodePools();
  Eventually("the metric counts the pod", [&] { return Metric() == 1; });
  WaitForCount(a, 1);
  kube().MergePatch(kNodeType, StringAt(pod, {"spec", "nodeName"}),
                    {{"metadata", {{"labels", {{kNodePoolLabel, a}}}}}});
  WaitForCount(a, nullptr);
}

}  // namespace
}  // namespace yad::testing
