#include "operator/yurtappdaemon/diagnose/misplaced.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/base/metrics.h"
#include "operator/yurtappdaemon/observe/pods.h"
#include "tests/unit/yurtappdaemon/pods.h"
#include "tests/unit/yurtappdaemon/world.h"

namespace yad {
namespace {

using namespace testing;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Next = ReconcileResult::Next;

class MisplacedPodsTest : public ::testing::Test {
 protected:
  // Creates daemon ns/web with these pools, each with the node "node-<pool>" and a pod on it.
  void Deployed(const std::vector<std::string>& pools, WorkloadKind kind = WorkloadKind::kDeployment) {
    world_.AddPools(pools);
    world_.CreateDaemon(DaemonJson("app:1", kind));
    world_.Converge();
    for (const std::string& pool : pools) {
      AddNode("node-" + pool, pool);
      AddPod(pool, "node-" + pool, "p-" + pool);
    }
    world_.events.Take();
  }
  void AddNode(const std::string& name, const std::string& pool) {
    Json labels = Json::object();
    if (!pool.empty()) labels[kNodePoolLabel] = pool;
    world_.cluster.Create(kNodeType, {{"metadata", {{"name", name}, {"labels", labels}}}});
  }
  void Relabel(const std::string& node, const std::string& pool) {
    world_.cluster.Edit(kNodeType, {"", node}, [&](Json& object) {
      object["metadata"]["labels"] = Json::object();
      if (!pool.empty()) object["metadata"]["labels"][kNodePoolLabel] = pool;
    });
  }
  void AddPod(const std::string& pool, const std::string& node, const std::string& name,
              const std::function<void(Json&)>& edit = nullptr) {
    const std::string workload = world_.NameOf(pool);
    const bool deployment = world_.kind == WorkloadKind::kDeployment;
    Json pod = ReadyPod(name);
    pod["metadata"]["namespace"] = kNs;
    pod["metadata"]["labels"][kPoolNameLabel] = pool;
    pod["metadata"]["ownerReferences"] = {{{"apiVersion", "apps/v1"},
                                           {"kind", deployment ? "ReplicaSet" : "StatefulSet"},
                                           {"name", deployment ? workload + "-r1" : workload},
                                           {"uid", "uid-of-the-owner"},
                                           {"controller", true}}};
    pod["spec"]["nodeName"] = node;
    if (edit) edit(pod);
    world_.cluster.Create(kPodType, pod);
  }
  ReconcileResult CountPods(const std::string& pool) {
    world_.Sync();
    const auto result = world_.misplaced().CountPods({"", pool}, {});
    EXPECT_TRUE(result) << result.error().ToString();
    return result.value_or(ReconcileResult{});
  }
  Json Count(const std::string& pool) {
    EXPECT_TRUE(world_.Reconcile());
    world_.clock.Advance(seconds(2));
    EXPECT_TRUE(world_.Reconcile());
    return PoolStatus(world_.Status(), pool).value("misplacedReplicas", Json());
  }
  static Event Changed(Json before, Json after) {
    const auto object = [](Json status) {
      Json pool = PoolJson("a");
      pool["metadata"]["uid"] = "uid-a";
      pool["status"] = std::move(status);
      return AsWatched(pool, kProjectedOfPools, ProjectPool);
    };
    return {object(std::move(before)), object(std::move(after))};
  }
  bool RequiresCount(Json before, Json after) {
    return world_.misplaced().RequiresCount(Changed(std::move(before), std::move(after)));
  }

  World world_;
};

TEST_F(MisplacedPodsTest, CountsPodsOnNodesOfAnotherPool) {
  Deployed({"a", "b"});
  Relabel("node-a", "b");
  EXPECT_EQ(Count("a"), nullptr);
  EXPECT_EQ(CountPods("a").next, Next::kAfter);
  EXPECT_THAT(world_.shown, ElementsAre(Request{kNs, "web"}));
  EXPECT_EQ(Count("a"), 1);
  EXPECT_EQ(Count("b"), nullptr);
  EXPECT_THAT(metrics::Render(), HasSubstr("yurtappdaemon_misplaced_replicas{name=\"web\",namespace=\"ns\"} 1\n"));

  world_.cluster.Delete(kPodType, {kNs, "p-a"});
  EXPECT_EQ(CountPods("a").next, Next::kDone);
  EXPECT_EQ(world_.shown.size(), 2U);
  EXPECT_EQ(Count("a"), nullptr);
  EXPECT_THAT(metrics::Render(), HasSubstr("yurtappdaemon_misplaced_replicas{name=\"web\",namespace=\"ns\"} 0\n"));
}

TEST_F(MisplacedPodsTest, CountsPodsOnNodesWithoutAPool) {
  Deployed({"a"});
  Relabel("node-a", "");
  CountPods("a");
  EXPECT_EQ(Count("a"), 1);
}

TEST_F(MisplacedPodsTest, CountsPodsOfStatefulSets) {
  Deployed({"a"}, WorkloadKind::kStatefulSet);
  AddPod("a", "node-a", "p2");
  Relabel("node-a", "b");
  CountPods("a");
  EXPECT_EQ(Count("a"), 2);
}

TEST_F(MisplacedPodsTest, SkipsDeletedFinishedUnscheduledAndForeignPods) {
  Deployed({"a"});
  world_.cluster.Delete(kPodType, {kNs, "p-a"});
  AddNode("elsewhere", "b");
  AddPod("a", "elsewhere", "deleted", [](Json& pod) {
    pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    pod["metadata"]["finalizers"] = {"example.org/stays"};
  });
  AddPod("a", "elsewhere", "failed", [](Json& pod) { pod["status"]["phase"] = "Failed"; });
  AddPod("a", "elsewhere", "succeeded", [](Json& pod) { pod["status"]["phase"] = "Succeeded"; });
  AddPod("a", "", "unscheduled");
  AddPod("a", "no-such-node", "lost");
  AddPod("a", "elsewhere", "without-owner", [](Json& pod) { pod["metadata"].erase("ownerReferences"); });
  AddPod("a", "elsewhere", "of-another-owner",
         [](Json& pod) { pod["metadata"]["ownerReferences"][0]["name"] = "other-r1"; });
  EXPECT_EQ(CountPods("a").next, Next::kDone);
  EXPECT_EQ(Count("a"), nullptr);
}

TEST_F(MisplacedPodsTest, RecordsOneEventUntilThePodsAreDeleted) {
  Deployed({"a"});
  AddPod("a", "node-a", "p2");
  Relabel("node-a", "b");
  CountPods("a");
  const auto events = world_.events.Take();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].reason, "PodsMisplaced");
  EXPECT_EQ(
      events[0].note,
      "2 pods of pool a run on nodes outside the pool (node-a) and still count as ready; delete these pods, so that "
      "they are recreated on nodes of the pool");
  world_.cluster.Delete(kPodType, {kNs, "p2"});
  world_.clock.Advance(minutes(10));
  CountPods("a");
  EXPECT_EQ(Count("a"), 1);
  EXPECT_THAT(world_.events.TakeReasons(), IsEmpty());
  Relabel("node-a", "a");
  world_.clock.Advance(minutes(10));
  EXPECT_EQ(CountPods("a").next, Next::kDone);
  Relabel("node-a", "b");
  world_.clock.Advance(minutes(10));
  CountPods("a");
  EXPECT_THAT(world_.events.TakeReasons(), ElementsAre("PodsMisplaced"));
}

TEST_F(MisplacedPodsTest, BacksOffBetweenReadsWhileThePodsRemain) {
  Deployed({"a"});
  Relabel("node-a", "b");
  std::vector<Duration> waits;
  for (int i = 0; i < 9; ++i) {
    const ReconcileResult result = CountPods("a");
    ASSERT_EQ(result.next, Next::kAfter);
    waits.push_back(result.after);
    world_.clock.Advance(result.after);
  }
  EXPECT_THAT(waits, ElementsAre(seconds(5), seconds(10), seconds(20), seconds(40), seconds(80), seconds(160),
                                 seconds(300), seconds(300), seconds(300)));
  AddPod("a", "node-a", "p2");
  EXPECT_EQ(CountPods("a").after, seconds(5)) << "the count has changed";
  world_.cluster.Delete(kPodType, {kNs, "p2"});
  EXPECT_EQ(CountPods("a").after, seconds(2)) << "the next read is not due yet";
  EXPECT_EQ(Count("a"), 2);
}

TEST_F(MisplacedPodsTest, ReadsPodsOnlyWhenANodeMayHaveLeftThePool) {
  Deployed({"a"});
  const auto status = [](std::vector<std::string> nodes, int ready, int unready = 0) {
    return Json{{"nodes", nodes}, {"readyNodeNum", ready}, {"unreadyNodeNum", unready}};
  };
  EXPECT_FALSE(RequiresCount(status({"x", "y"}, 2), status({"y", "x"}, 1, 1))) << "a node is not ready";
  EXPECT_FALSE(RequiresCount(status({"x"}, 1), status({"x", "y"}, 2))) << "a node has joined";
  EXPECT_TRUE(RequiresCount(status({"x", "y"}, 2), status({"x"}, 1)));
  EXPECT_TRUE(RequiresCount(status({"x", "y"}, 2), status({"x", "z"}, 2)))
      << "one node has left and another has joined";
  EXPECT_TRUE(RequiresCount(status({"x"}, 501), status({"x"}, 500))) << "the list of nodes is truncated";
  const Event changed = Changed(status({"x"}, 1), status({}, 0));
  EXPECT_FALSE(world_.misplaced().RequiresCount({nullptr, changed.after}));
  EXPECT_FALSE(world_.misplaced().RequiresCount({changed.before, nullptr}));

  Relabel("node-a", "b");
  CountPods("a");
  EXPECT_TRUE(RequiresCount(status({"x"}, 1), status({"x", "y"}, 2))) << "the pool has misplaced pods";
  EXPECT_FALSE(RequiresCount(status({"x"}, 1), status({"x"}, 0, 1)));
}

TEST_F(MisplacedPodsTest, WorkloadEventsQueueOnlyPoolsWithMisplacedPods) {
  Deployed({"a", "b"});
  Relabel("node-a", "b");
  CountPods("a");
  const auto pools_of = [&](const std::string& pool) {
    const auto object = world_.stores().deployments.Get({kNs, world_.NameOf(pool)});
    return world_.misplaced().PoolOf({*object, *object});
  };
  EXPECT_THAT(pools_of("a"), ElementsAre(Request{"", "a"}));
  EXPECT_THAT(pools_of("b"), IsEmpty());
}

TEST_F(MisplacedPodsTest, NewLeaderReadsTheCountFromStatusAndThenThePods) {
  Deployed({"a", "b"});
  Relabel("node-a", "b");
  CountPods("a");
  EXPECT_EQ(Count("a"), 1);
  world_.events.Take();
  world_.Restart();
  EXPECT_EQ(Count("a"), 1);
  EXPECT_THAT(world_.looks, ElementsAre(Request{"", "a"})) << "once, and only this pool";
  CountPods("a");
  EXPECT_THAT(world_.events.TakeReasons(), IsEmpty());
  EXPECT_EQ(Count("a"), 1);

  world_.Restart();
  world_.cluster.Delete(kPodType, {kNs, "p-a"});
  EXPECT_EQ(Count("a"), 1);
  CountPods("a");
  EXPECT_EQ(Count("a"), nullptr);
}

TEST_F(MisplacedPodsTest, AReadThatFailsKeepsTheCount) {
  Deployed({"a"});
  Relabel("node-a", "b");
  CountPods("a");
  for (const char* rejected : {"nodes", "pods"}) {
    for (const int code : {403, 500}) {
      world_.clock.Advance(minutes(10));
      world_.cluster.SetFaults([&](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
        if (request.method != "GET" || request.resource != rejected) return std::nullopt;
        return FakeCluster::Fault{StatusResponse(code, code == 403 ? "Forbidden" : "InternalError", "no"), false};
      });
      const auto result = world_.misplaced().CountPods({"", "a"}, {});
      EXPECT_EQ(result.has_value(), code == 403) << "without the permission, a retry would also fail";
      EXPECT_EQ(Count("a"), 1);
    }
  }
}

TEST_F(MisplacedPodsTest, CheckOfAPoolWithoutMisplacedPodsSendsTwoLists) {
  Deployed({"a", "b"});
  const std::size_t before = world_.cluster.transport()->requests().size();
  CountPods("a");
  const auto requests = world_.cluster.transport()->requests();
  ASSERT_EQ(requests.size(), before + 2);
  EXPECT_THAT(requests[before].path, HasSubstr("/nodes?"));
  EXPECT_THAT(requests[before].headers.at("Accept"), HasSubstr("as=PartialObjectMetadataList"));
  EXPECT_THAT(requests[before + 1].path, HasSubstr("/pods?"));
}

TEST_F(MisplacedPodsTest, LimitsTheRateOfItsRequests) {
  std::vector<std::string> pools;
  for (char pool = 'a'; pool < 'k'; ++pool) pools.push_back({pool});
  Deployed(pools);
  int at_once = 0;
  for (const std::string& pool : pools) at_once += CountPods(pool).next == Next::kDone;
  EXPECT_EQ(at_once, 5) << "ten requests";
  world_.clock.Advance(seconds(2));
  for (const std::string& pool : pools) CountPods(pool);
  world_.clock.Advance(seconds(60));
  for (const std::string& pool : pools) at_once += CountPods(pool).next == Next::kDone;
  EXPECT_GE(at_once, 10);
}

TEST_F(MisplacedPodsTest, PodsOnManyForeignNodesCauseOneMoreList) {
  Deployed({"a"});
  for (int i = 0; i < 40; ++i) {
    const std::string node = "foreign-" + std::to_string(i);
    if (i > 0) AddNode(node, i % 2 == 0 ? "b" : "");  // Node 0 was deleted.
    AddPod("a", node, "p-" + node);
  }
  const std::size_t before = world_.cluster.transport()->requests().size();
  CountPods("a");
  EXPECT_EQ(world_.cluster.transport()->requests().size(), before + 3);
  EXPECT_EQ(Count("a"), 39);
}

TEST_F(MisplacedPodsTest, ReadsOfForeignNodesDelayTheNextCounts) {
  Deployed({"a", "b"});
  for (int i = 0; i < 8; ++i) {
    const std::string node = "foreign-" + std::to_string(i);
    AddNode(node, "b");
    AddPod("a", node, "p-" + node);
  }
  CountPods("a");
  const ReconcileResult next = CountPods("b");
  EXPECT_EQ(next.next, Next::kAfter) << "ten requests for pool a";
  world_.clock.Advance(next.after);
  EXPECT_EQ(CountPods("b").next, Next::kDone);
}

TEST_F(MisplacedPodsTest, MetricIsRemovedWithTheDaemon) {
  Deployed({"a"});
  Count("a");
  EXPECT_THAT(metrics::Render(), HasSubstr("yurtappdaemon_misplaced_replicas{"));
  world_.cluster.Delete(kYurtAppDaemonType, {kNs, "web"});
  ASSERT_TRUE(world_.Reconcile());
  EXPECT_THAT(metrics::Render(), ::testing::Not(HasSubstr("yurtappdaemon_misplaced_replicas{")));
}

}  // namespace
}  // namespace yad
