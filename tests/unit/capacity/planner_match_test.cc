// PlanCapacity: which pods wait for a node, and which nodes of the pool are assigned to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/capacity/capacity_plan.h"
#include "tests/unit/capacity/snapshot.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// ---- 1. which pods wait

TEST(WaitingPodTest, PodThatTheSchedulerCannotPlaceGetsANode) {
  Snapshot snapshot;
  snapshot.Free("n1");
  snapshot.Waiting("p");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Leases(plan), ElementsAre("n1: p"));
  EXPECT_THAT(plan.expectations, ElementsAre(Pair("shop/p", "n1")));
  EXPECT_THAT(plan.shortages, IsEmpty());
}

TEST(WaitingPodTest, PodsThatTheAutoscalerNeedNotPlaceDoNotCountAsWaiting) {
  Snapshot snapshot;
  snapshot.Free("n1");
  snapshot.Waiting("deleting").deleting = true;
  snapshot.Waiting("gated").gated = true;
  snapshot.Waiting("untried").unschedulable = false;
  snapshot.Waiting("running").pending = false;
  snapshot.Waiting("done").terminal = true;
  Pod& elsewhere = snapshot.Waiting("elsewhere");
  Placement other = *elsewhere.placement;
  other.node_selector["apps.openyurt.io/nodepool"] = "beijing";
  elsewhere.placement = std::make_shared<const Placement>(other);
  Pod& anywhere = snapshot.Waiting("anywhere");
  anywhere.placement = std::make_shared<const Placement>();
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Leases(plan), IsEmpty());
  EXPECT_THAT(plan.shortages, IsEmpty());
}

TEST(WaitingPodTest, YoungPodGetsNoNodeBeforePendingSeconds) {
  Snapshot snapshot(Autoscaler({{"scaleUp", {{"pendingSeconds", 30}}}}));
  snapshot.Free("n1");
  snapshot.Waiting("p").created = Ago(29);
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Leases(plan), IsEmpty());
  EXPECT_EQ(plan.wake, kNow + std::chrono::seconds(1));
  snapshot.pods[0].created = Ago(30);
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n1: p"));
}

// ---- 2. expectations come from the leases of the Nodes

TEST(ExpectationTest, ExpectedPodGetsNoSecondNode) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kReserved, 20, "uid-p");
  snapshot.Free("n2");
  snapshot.Waiting("p");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Leases(plan), IsEmpty());
  EXPECT_THAT(plan.expectations, ElementsAre(Pair("shop/p", "n1")));
  EXPECT_THAT(plan.changes, IsEmpty());
}

TEST(ExpectationTest, ANodeWhosePodNoLongerWaitsIsIdle) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kReserved, 20, "uid-gone");
  const CapacityPlan plan = snapshot.Plan();
  ASSERT_NE(ChangeOf(plan, "n1"), nullptr);
  EXPECT_EQ(ChangeOf(plan, "n1")->after.phase, LeasePhase::kIdle);
  EXPECT_EQ(ChangeOf(plan, "n1")->after.for_pod, "");
  EXPECT_EQ(ChangeOf(plan, "n1")->after.since, kNow);
}

TEST(ExpectationTest, ANodeWhosePodRunsIsInUse) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kReserved, 20, "uid-p");
  snapshot.Running("p", "n1");
  const CapacityPlan plan = snapshot.Plan();
  ASSERT_NE(ChangeOf(plan, "n1"), nullptr);
  EXPECT_EQ(ChangeOf(plan, "n1")->after.phase, LeasePhase::kInUse);
  EXPECT_EQ(plan.in_use, 1);
}

TEST(ExpectationTest, SecondNodeThatExpectsTheSamePodIsIdle) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kReserved, 20, "uid-p");
  snapshot.Leased("n2", LeasePhase::kReserved, 20, "uid-p");
  snapshot.Waiting("p");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(plan.expectations, SizeIs(1));
  EXPECT_THAT(plan.changes, SizeIs(1));
}

TEST(ExpectationTest, PodThatNoLongerFitsIsExpectedOnAnotherNode) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kReserved, 20, "uid-p");
  snapshot.Running("other", "n1", "4");
  snapshot.Free("n2");
  snapshot.Waiting("p");
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n2: p"));
}

TEST(ExpectationTest, PodIsExpectedOnAnotherNodeIfItsNodeIsCordoned) {
  for (const LeasePhase phase : {LeasePhase::kJoining, LeasePhase::kReserved}) {
    Snapshot snapshot;
    Node& node = snapshot.Leased("n1", phase, 20, "uid-p");
    node.unschedulable = true;
    node.taints = {{"node.kubernetes.io/unschedulable", "", "NoSchedule"}};
    snapshot.Free("n2");
    snapshot.Waiting("p");
    const CapacityPlan plan = snapshot.Plan();
    EXPECT_THAT(Leases(plan), ElementsAre("n2: p"));
    EXPECT_THAT(plan.shortages, IsEmpty());
    ASSERT_NE(ChangeOf(plan, "n1"), nullptr);
    EXPECT_EQ(ChangeOf(plan, "n1")->after.phase, LeasePhase::kIdle);
  }
}

TEST(ExpectationTest, PodIsExpectedOnAnotherNodeIfItsNodeHasATaintForPressure) {
  Snapshot snapshot;
  Node& node = snapshot.Leased("n1", LeasePhase::kReserved, 20, "uid-p");
  node.taints = {{"node.kubernetes.io/disk-pressure", "", "NoSchedule"}};
  snapshot.Free("n2");
  snapshot.Waiting("p");
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n2: p"));
  EXPECT_THAT(snapshot.Plan().shortages, IsEmpty());
  node.taints = {{"own", "", "NoSchedule"}};
  EXPECT_THAT(Leases(snapshot.Plan()), IsEmpty()) << "other leased nodes may have this taint too";
  ASSERT_THAT(snapshot.Plan().shortages, SizeIs(1));
  EXPECT_EQ(snapshot.Plan().shortages[0].reason, "Unschedulable");
}

TEST(ExpectationTest, PodThatToleratesThePressureAndDoesNotFitIsUnschedulable) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kReserved, 20, "uid-p").taints = {
      {"node.kubernetes.io/disk-pressure", "", "NoSchedule"}};
  snapshot.Free("n2");
  Pod& pod = snapshot.Waiting("p", "5");
  Placement tolerant = *pod.placement;
  tolerant.tolerations = {{"node.kubernetes.io/disk-pressure", true, "", ""}};
  pod.placement = std::make_shared<const Placement>(tolerant);
  const CapacityPlan plan = snapshot.Plan();
  ASSERT_THAT(plan.shortages, SizeIs(1));
  EXPECT_EQ(plan.shortages[0].reason, "Unschedulable");
}

// ---- 3. leased nodes that do not expect a pod are assigned first

TEST(MatchTest, AnIdleNodeIsUsedBeforeAnotherNodeIsLeased) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kIdle, 20);
  snapshot.Free("n2");
  snapshot.Waiting("p");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Leases(plan), IsEmpty());
  EXPECT_THAT(plan.expectations, ElementsAre(Pair("shop/p", "n1")));
  ASSERT_NE(ChangeOf(plan, "n1"), nullptr);
  EXPECT_EQ(ChangeOf(plan, "n1")->after.phase, LeasePhase::kReserved);
  EXPECT_EQ(ChangeOf(plan, "n1")->after.for_pod, "uid-p");
}

TEST(MatchTest, TheMostSpecificPodIsMatchedFirst) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kIdle, 20, "", {{"gpu", "yes"}});
  snapshot.Waiting("any", "4").created = Ago(500);
  snapshot.Waiting("special", "4", {{"gpu", "yes"}});
  EXPECT_THAT(snapshot.Plan().expectations, ElementsAre(Pair("shop/special", "n1")));
}

TEST(MatchTest, EquallySpecificPodsAreOrderedByPriorityAgeAndName) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kIdle, 20);
  snapshot.Waiting("b", "4");
  snapshot.Waiting("a", "4");
  EXPECT_THAT(snapshot.Plan().expectations, ElementsAre(Pair("shop/a", "n1")));
  snapshot.pods[0].created = Ago(61);
  EXPECT_THAT(snapshot.Plan().expectations, ElementsAre(Pair("shop/b", "n1")));
  snapshot.pods[1].priority = 1;
  EXPECT_THAT(snapshot.Plan().expectations, ElementsAre(Pair("shop/a", "n1")));
}

TEST(MatchTest, APodFitsIfItsRequestsFitBesideTheRunningPods) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kInUse, 20);
  snapshot.Running("r", "n1", "3");
  Pod& daemon = snapshot.Running("of-a-daemonset", "n1", "500m");
  daemon.of_node = true;
  snapshot.Running("done", "n1", "4").terminal = true;
  snapshot.Waiting("small", "500m");
  snapshot.Waiting("large", "501m");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(plan.expectations, ElementsAre(Pair("shop/small", "n1")));
  EXPECT_THAT(plan.shortages, SizeIs(1));
}

TEST(MatchTest, APodFitsIfItToleratesTheTaints) {
  Snapshot snapshot;
  snapshot.Free("n1").taints = {{"k", "v", "NoSchedule"}};
  snapshot.Free("n2").taints = {{"k", "v", "NoExecute"}};
  snapshot.Free("n3").taints = {{"k", "v", "PreferNoSchedule"}};
  snapshot.Waiting("p");
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n3: p"));
  Placement tolerant = *snapshot.pods[0].placement;
  tolerant.tolerations = {{"k", true, "", ""}};
  snapshot.pods[0].placement = std::make_shared<const Placement>(tolerant);
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n1: p"));
}

TEST(MatchTest, ANodeIsNotLeasedIfThePoolsTaintWouldEvictItsPods) {
  Snapshot snapshot;
  snapshot.Free("n1");
  snapshot.Running("of-another-pool", "n1", "100m");
  snapshot.Free("n2", "8");
  snapshot.Waiting("p");
  Placement tolerant = *snapshot.pods.back().placement;
  tolerant.tolerations = {{"shop", true, "", ""}};
  snapshot.pods.back().placement = std::make_shared<const Placement>(tolerant);
  snapshot.pool.taints = {{"shop", "", "NoSchedule"}};
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n1: p"));
  snapshot.pool.taints = {{"shop", "", "NoExecute"}};
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n2: p"));
  snapshot.nodes.front().taints = {{"shop", "", "NoExecute"}};
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n1: p")) << "the node already has the taint";
  snapshot.nodes.front().taints = {{"shop", "old", "NoExecute"}};
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n2: p")) << "the lease replaces the value";
}

TEST(MatchTest, ALabelOfThePoolReplacesTheLabelOfTheNode) {
  Snapshot snapshot;
  snapshot.Free("n1", "4", {{"tier", "cold"}});
  snapshot.pool.labels = {{"tier", "hot"}};
  snapshot.Waiting("cold", "1", {{"tier", "cold"}});
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("none: cold"));
  snapshot.Waiting("hot", "1", {{"tier", "hot"}});
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n1: hot", "none: cold"));
}

TEST(MatchTest, ATaintOfThePoolReplacesTheTaintOfTheNodeWithTheSameKeyAndEffect) {
  const auto leases = [](const char* value) {
    Snapshot snapshot;
    snapshot.Free("n1").taints = {{"tier", "cold", "NoSchedule"}};
    snapshot.pool.taints = {{"tier", "hot", "NoSchedule"}};
    Placement tolerant = *snapshot.Waiting("p").placement;
    tolerant.tolerations = {{"tier", false, value, ""}};
    snapshot.pods[0].placement = std::make_shared<const Placement>(tolerant);
    return Leases(snapshot.Plan());
  };
  EXPECT_THAT(leases("cold"), ElementsAre("none: p"));
  EXPECT_THAT(leases("hot"), ElementsAre("n1: p"));
}

TEST(MatchTest, ANodeThatTheInventoryWouldNotSelectAfterItsReleaseIsNotLeased) {
  const auto leases = [](const Json& selector, const StringMap& labels_of_pool) {
    Snapshot snapshot(Autoscaler({{"inventorySelector", selector}}));
    snapshot.Free("n1", "4", {{"tier", "cold"}});
    snapshot.pool.labels = labels_of_pool;
    snapshot.Waiting("p");
    return Leases(snapshot.Plan());
  };
  const auto expression = [](const char* key, const char* op) {
    return Json{{"matchExpressions", {{{"key", key}, {"operator", op}}}}};
  };
  const Json by_label{{"matchLabels", {{"inventory", "spare"}}}};
  EXPECT_THAT(leases(by_label, {{"inventory", "used"}}), ElementsAre("none: p"));
  EXPECT_THAT(leases(expression("tier", "Exists"), {{"tier", "hot"}}), ElementsAre("none: p"));
  EXPECT_THAT(leases(by_label, {{"inventory", "spare"}}), ElementsAre("n1: p")) << "the release keeps the label";
  EXPECT_THAT(leases(by_label, {{"tier", "hot"}}), ElementsAre("n1: p"));
  EXPECT_THAT(leases(expression("region", "DoesNotExist"), {{"region", "east"}}), ElementsAre("n1: p"))
      << "the release removes the label";
  EXPECT_THAT(leases(expression("apps.openyurt.io/nodepool", "DoesNotExist"), {}), ElementsAre("n1: p"));
}

TEST(MatchTest, APodFitsIfItsRequiredAffinityMatches) {
  Snapshot snapshot;
  snapshot.Free("n1", "4", {{"zone", "a"}, {"cores", "4"}});
  snapshot.Free("n2", "4", {{"zone", "b"}, {"cores", "16"}});
  snapshot.Waiting("p");
  const auto with = [&](const std::vector<NodeTerm>& terms) {
    Placement placement = *snapshot.pods[0].placement;
    placement.has_affinity = true;
    placement.affinity = terms;
    snapshot.pods[0].placement = std::make_shared<const Placement>(placement);
    return Leases(snapshot.Plan());
  };
  EXPECT_THAT(with({{{{"zone", "In", {"b"}}}, {}}}), ElementsAre("n2: p"));
  EXPECT_THAT(with({{{{"zone", "NotIn", {"a"}}}, {}}}), ElementsAre("n2: p"));
  EXPECT_THAT(with({{{{"cores", "Gt", {"8"}}}, {}}}), ElementsAre("n2: p"));
  EXPECT_THAT(with({{{{"cores", "Lt", {"8"}}}, {}}}), ElementsAre("n1: p"));
  EXPECT_THAT(with({{{{"other", "DoesNotExist", {}}}, {}}}), ElementsAre("n1: p"));
  EXPECT_THAT(with({{{{"other", "Exists", {}}}, {}}}), ElementsAre("none: p"));
  EXPECT_THAT(with({{{}, {{"metadata.name", "In", {"n2"}}}}}), ElementsAre("n2: p"));
  EXPECT_THAT(with({{{{"other", "Exists", {}}}, {}}, {{{"zone", "In", {"b"}}}, {}}}), ElementsAre("n2: p"));
  EXPECT_THAT(with({{{}, {}}}), ElementsAre("none: p"));
  EXPECT_THAT(with({}), ElementsAre("none: p"));
}

TEST(MatchTest, ANodeGetsOnlyOnePodIfOneNodePerPodIsSet) {
  Snapshot snapshot(Autoscaler({{"oneNodePerPod", true}}));
  snapshot.Leased("used", LeasePhase::kInUse, 20);
  snapshot.Running("r", "used");
  snapshot.Leased("bound", LeasePhase::kReserved, 20, "uid-a");
  snapshot.Free("n1");
  snapshot.Free("n2");
  for (const char* name : {"a", "b", "c"}) snapshot.Waiting(name);
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n1: b", "n2: c"));
}

TEST(MatchTest, ANodeThatAcceptsNoPodsIsSkipped) {
  Snapshot snapshot;
  snapshot.Leased("cordoned", LeasePhase::kIdle, 20).unschedulable = true;
  Snapshot::NotReady(snapshot.Leased("not-ready", LeasePhase::kIdle, 20), 20);
  snapshot.Leased("releasing", LeasePhase::kReleasing, 20);
  snapshot.Free("n1");
  snapshot.Waiting("p");
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n1: p"));
}

TEST(ExpectationTest, PodIsUnschedulableIfDaemonSetPodsUseItsResources) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kReserved, 20, "uid-p");
  snapshot.Running("daemon", "n1", "1").of_node = true;
  snapshot.Free("n2");
  snapshot.Waiting("p", "4");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Leases(plan), IsEmpty()) << "the DaemonSet's pods would also run on the next node";
  ASSERT_THAT(plan.shortages, SizeIs(1));
  EXPECT_EQ(plan.shortages[0].reason, "Unschedulable");
}

TEST(ExpectationTest, RetryTimeOfAPodStaysWhileManualModeKeepsTheLeaseThatNamesThePod) {
  const Json known = Json::array({ShortageOf({}, "Unschedulable", 100, {"shop/p"})});
  Snapshot snapshot(Autoscaler({{"mode", "Manual"}}, known));
  snapshot.Leased("n1", LeasePhase::kReserved, 400, "uid-p");
  snapshot.Waiting("p");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(plan.changes, IsEmpty());
  ASSERT_THAT(plan.shortages, SizeIs(1));
  EXPECT_EQ(plan.shortages[0].retry_at, kNow + std::chrono::seconds(100));
}

TEST(ExpectationTest, NodeThatIsBrieflyNotReadyKeepsItsExpectedPod) {
  Snapshot snapshot;
  Node& node = snapshot.Leased("n1", LeasePhase::kReserved, 20, "uid-p");
  Snapshot::NotReady(node, 5);
  node.taints = {{"node.kubernetes.io/not-ready", "", "NoSchedule"}};
  snapshot.Free("n2");
  snapshot.Waiting("p");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Leases(plan), IsEmpty());
  EXPECT_THAT(plan.expectations, ElementsAre(Pair("shop/p", "n1")));
}

TEST(ExpectationTest, PodIsUnschedulableAfterTheJoinTimeoutIfTheClockOfTheNodeIsAhead) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kReserved, 300, "uid-p").ready_since = Ago(-3600);
  snapshot.Waiting("p");
  const CapacityPlan plan = snapshot.Plan();
  ASSERT_THAT(plan.shortages, SizeIs(1));
  EXPECT_EQ(plan.shortages[0].reason, "Unschedulable");
}

TEST(ExpectationTest, ReservedNodeThatIsNotReadyTimesOutIfItsClockIsAhead) {
  Snapshot snapshot;
  Snapshot::NotReady(snapshot.Leased("n1", LeasePhase::kReserved, 300, "uid-p"), -3600);
  snapshot.Waiting("p");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(plan.expectations, IsEmpty());
  ASSERT_THAT(plan.shortages, SizeIs(1));
  EXPECT_EQ(plan.shortages[0].reason, "JoinTimeout");
}

TEST(MatchTest, JoiningNodeThatIsBrieflyNotReadyKeepsItsPods) {
  Snapshot snapshot;
  Node& node = snapshot.Leased("n1", LeasePhase::kJoining, 20, "uid-a");
  Snapshot::NotReady(node, 10);
  node.taints = {{"node.kubernetes.io/not-ready", "", "NoSchedule"}};
  snapshot.Free("n2");
  snapshot.Waiting("a");
  snapshot.Waiting("b");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Leases(plan), IsEmpty());
  EXPECT_THAT(plan.expectations, UnorderedElementsAre(Pair("shop/a", "n1"), Pair("shop/b", "n1")));
}

}  // namespace
}  // namespace yad::testing
