#include "operator/capacity/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/capacity/snapshot.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

Json ShortageOf(const StringMap& requirements, const char* reason, int retry_in, const std::vector<std::string>& pods,
                int since_ago = 60) {
  return {{"requirements", requirements},
          {"pods", pods},
          {"reason", reason},
          {"since", FormatTime(Ago(since_ago))},
          {"retryAt", FormatTime(kNow + std::chrono::seconds(retry_in))}};
}

const CapacityPlan::Change* ChangeOf(const CapacityPlan& plan, const std::string& node) {
  const auto found = std::find_if(plan.changes.begin(), plan.changes.end(),
                                  [&](const auto& change) { return change.node->meta.key.name == node; });
  return found == plan.changes.end() ? nullptr : &*found;
}

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

TEST(WaitingPodTest, OtherPodsDoNotCountAsWaiting) {
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

TEST(WaitingPodTest, YoungPodIsLeftToTheSchedulerForPendingSeconds) {
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

TEST(ExpectationTest, ANodeWhosePodNoLongerWaitsIsUnbound) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kReserved, 20, "uid-gone");
  const CapacityPlan plan = snapshot.Plan();
  ASSERT_NE(ChangeOf(plan, "n1"), nullptr);
  EXPECT_EQ(ChangeOf(plan, "n1")->after.phase, LeasePhase::kIdle);
  EXPECT_EQ(ChangeOf(plan, "n1")->after.for_pod, "");
  EXPECT_EQ(ChangeOf(plan, "n1")->after.since, kNow);
}

TEST(ExpectationTest, ANodeWhosePodHasComeIsInUse) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kReserved, 20, "uid-p");
  snapshot.Running("p", "n1");
  const CapacityPlan plan = snapshot.Plan();
  ASSERT_NE(ChangeOf(plan, "n1"), nullptr);
  EXPECT_EQ(ChangeOf(plan, "n1")->after.phase, LeasePhase::kInUse);
  EXPECT_EQ(plan.in_use, 1);
}

TEST(ExpectationTest, SecondNodeThatExpectsTheSamePodIsUnbound) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kReserved, 20, "uid-p");
  snapshot.Leased("n2", LeasePhase::kReserved, 20, "uid-p");
  snapshot.Waiting("p");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(plan.expectations, SizeIs(1));
  EXPECT_THAT(plan.changes, SizeIs(1));
}

TEST(ExpectationTest, PodThatNoLongerFitsIsExpectedElsewhere) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kReserved, 20, "uid-p");
  snapshot.Running("other", "n1", "4");
  snapshot.Free("n2");
  snapshot.Waiting("p");
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n2: p"));
}

// ---- 3. unbound pods meet unbound nodes first

TEST(MatchTest, AnIdleNodeTakesThePodBeforeAnotherIsLeased) {
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

TEST(MatchTest, TheMostSpecificPodComesFirst) {
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

TEST(MatchTest, APodFitsByRequestsLessWhatRunsThere) {
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

TEST(MatchTest, APodFitsByTaints) {
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

TEST(MatchTest, ANodeWithWorkIsNotLeasedWhereThePoolsTaintWouldEndIt) {
  Snapshot snapshot;
  snapshot.Free("n1");
  snapshot.Running("somebody-elses", "n1", "100m");
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
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n1: p")) << "it has it already";
}

TEST(MatchTest, APodFitsByRequiredAffinity) {
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

TEST(MatchTest, NodeTakesOnePodWithOneNodePerPod) {
  Snapshot snapshot(Autoscaler({{"oneNodePerPod", true}}));
  snapshot.Leased("used", LeasePhase::kInUse, 20);
  snapshot.Running("r", "used");
  snapshot.Leased("bound", LeasePhase::kReserved, 20, "uid-a");
  snapshot.Free("n1");
  snapshot.Free("n2");
  for (const char* name : {"a", "b", "c"}) snapshot.Waiting(name);
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n1: b", "n2: c"));
}

TEST(MatchTest, ANodeThatCanTakeNoPodsIsPassedOver) {
  Snapshot snapshot;
  snapshot.Leased("cordoned", LeasePhase::kIdle, 20).unschedulable = true;
  Snapshot::NotReady(snapshot.Leased("not-ready", LeasePhase::kIdle, 20), 20);
  snapshot.Leased("releasing", LeasePhase::kReleasing, 20);
  snapshot.Free("n1");
  snapshot.Waiting("p");
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n1: p"));
}

TEST(ExpectationTest, PodIsUnschedulableIfDaemonSetPodsTakeItsRoom) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kReserved, 20, "uid-p");
  snapshot.Running("daemon", "n1", "1").of_node = true;
  snapshot.Free("n2");
  snapshot.Waiting("p", "4");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Leases(plan), IsEmpty()) << "the same would come to the next node";
  ASSERT_THAT(plan.shortages, SizeIs(1));
  EXPECT_EQ(plan.shortages[0].reason, "Unschedulable");
}

TEST(ExpectationTest, ANodeThatBlinksBeforeItsPodHasComeKeepsIt) {
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

TEST(MatchTest, ANodeThatBlinksWhileItJoinsIsStillExpectedToTakeItsPods) {
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

// ---- 4. the remaining pods lease free nodes

TEST(LeaseTest, OnlyFreeNodesAreLeased) {
  Snapshot snapshot;
  snapshot.Free("in-a-pool").meta.labels["apps.openyurt.io/nodepool"] = "beijing";
  snapshot.Free("leased").meta.annotations[kLeaseAnnotation] =
      R"({"pool":"beijing","phase":"Idle","for":"","since":"2026-11-20T11:00:00Z"})";
  snapshot.Free("junk").meta.annotations[kLeaseAnnotation] = "[1,";
  snapshot.Free("quarantined").meta.annotations[kQuarantineAnnotation] = "x";
  Snapshot::NotReady(snapshot.Free("not-ready"), 20);
  snapshot.Free("cordoned").unschedulable = true;
  snapshot.Free("of-others").meta.labels.erase("inventory");
  snapshot.Free("deleting").meta.deletion_timestamp = FormatTime(kNow);
  snapshot.Waiting("p");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Leases(plan), ElementsAre("none: p"));
  EXPECT_EQ(plan.quarantined, 1);
  EXPECT_EQ(plan.leased, 0);
}

TEST(LeaseTest, TheSmallestThatFitsIsTaken) {
  Snapshot snapshot;
  snapshot.Free("a-large", "16");
  snapshot.Free("b-small", "1");
  snapshot.Free("c-middle", "2");
  snapshot.Waiting("p", "2");
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("c-middle: p"));
}

TEST(LeaseTest, SeveralPodsShareANodeWhereTheyFit) {
  Snapshot snapshot;
  snapshot.Free("n1");
  snapshot.Free("n2");
  for (const char* name : {"a", "b", "c", "d", "e"}) snapshot.Waiting(name);
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n1: a b c d", "n2: e"));
}

TEST(LeaseTest, PodsThatFitOnAJoiningNodeLeaseNoOtherNode) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kJoining, 1, "uid-a");
  snapshot.Free("n2");
  for (const char* name : {"a", "b", "c"}) snapshot.Waiting(name);
  EXPECT_THAT(Leases(snapshot.Plan()), IsEmpty());
}

TEST(LeaseTest, ThePoolsLabelsAndTaintsCountAsIfTheNodeHadThem) {
  Snapshot snapshot;
  snapshot.Free("n1");
  snapshot.pool.labels = {{"region", "east"}};
  snapshot.pool.taints = {{"pool", "", "NoSchedule"}};
  snapshot.Waiting("p", "1", {{"region", "east"}});
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("none: p"));
  Placement tolerant = *snapshot.pods[0].placement;
  tolerant.tolerations = {{"pool", true, "", ""}};
  snapshot.pods[0].placement = std::make_shared<const Placement>(tolerant);
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n1: p"));
}

TEST(LeaseTest, LeaseWithoutAFreeNodeNamesTheRequirements) {
  Snapshot snapshot;
  snapshot.Free("n1");
  snapshot.Waiting("a", "1", {{"size", "l"}});
  snapshot.Waiting("b", "1", {{"size", "l"}});
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_EQ(ToJson(plan),
            Json::parse(R"({"leases": [{"node": null, "for": ["shop/a", "shop/b"], "requirements": {"size": "l"}}],
                            "releases": [], "expectations": {},
                            "shortages": [{"requirements": {"size": "l"}, "pods": ["shop/a", "shop/b"],
                                           "reason": "NoCapacity", "since": "2026-11-20T12:00:00Z",
                                           "retryAt": "2026-11-20T12:03:00Z"}]})"));
}

TEST(LeaseTest, FailedShapeWaitsUntilAFixedRetryAt) {
  const Json known = Json::array({ShortageOf({{"size", "l"}}, "NoCapacity", 100, {"shop/a"})});
  Snapshot snapshot(Autoscaler({}, known));
  snapshot.Free("n1", "4", {{"size", "l"}});  // older than the failure
  snapshot.Waiting("a", "1", {{"size", "l"}});
  snapshot.Waiting("b", "1", {{"size", "l"}});
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(plan.leases, IsEmpty());
  ASSERT_THAT(plan.shortages, SizeIs(1));
  EXPECT_EQ(plan.shortages[0].retry_at, kNow + std::chrono::seconds(100));
  EXPECT_EQ(plan.shortages[0].since, Ago(60));
  EXPECT_THAT(plan.shortages[0].pods, ElementsAre("shop/a", "shop/b"));
  EXPECT_EQ(plan.wake, kNow + std::chrono::seconds(100));
}

TEST(LeaseTest, FailedShapeIsRetriedAfterRetryAt) {
  const Json known = Json::array({ShortageOf({{"size", "l"}}, "JoinTimeout", 0, {"shop/a"})});
  Snapshot snapshot(Autoscaler({}, known));
  snapshot.Waiting("a", "1", {{"size", "l"}});
  CapacityPlan plan = snapshot.Plan();
  ASSERT_THAT(plan.shortages, SizeIs(1));
  EXPECT_EQ(plan.shortages[0].retry_at, kNow + std::chrono::seconds(180));
  snapshot.Free("n1", "4", {{"size", "l"}});
  plan = snapshot.Plan();
  EXPECT_THAT(Leases(plan), ElementsAre("n1: a"));
  EXPECT_THAT(plan.shortages, IsEmpty());
}

TEST(LeaseTest, AMatchingNewNodeEndsTheWait) {
  const Json known = Json::array({ShortageOf({{"size", "l"}}, "NoCapacity", 100, {"shop/a"})});
  Snapshot snapshot(Autoscaler({}, known));
  snapshot.Waiting("a", "1", {{"size", "l"}});
  snapshot.Free("n1", "4", {{"size", "s"}}).meta.creation_timestamp = FormatTime(Ago(5));
  EXPECT_THAT(snapshot.Plan().leases, IsEmpty());
  snapshot.Free("n2", "4", {{"size", "l"}}).meta.creation_timestamp = FormatTime(Ago(5));
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n2: a"));
}

TEST(LeaseTest, SmallerPodsAreNotBlockedByPodsThatGotNoNode) {
  const Json known = Json::array({ShortageOf({}, "NoCapacity", 100, {"shop/big"})});
  Snapshot snapshot(Autoscaler({}, known));
  snapshot.Free("n1");
  snapshot.Waiting("big", "64");
  snapshot.Waiting("bigger", "65");
  snapshot.Waiting("small", "1");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Leases(plan), ElementsAre("n1: small"));
  ASSERT_THAT(plan.shortages, SizeIs(1));
  EXPECT_THAT(plan.shortages[0].pods, ElementsAre("shop/big", "shop/bigger"));
  EXPECT_EQ(plan.shortages[0].retry_at, kNow + std::chrono::seconds(100));
}

TEST(LeaseTest, BackoffOfOneShapeDoesNotDelayAnother) {
  const Json known = Json::array({ShortageOf({{"size", "l"}}, "NoCapacity", 100, {"shop/a"})});
  Snapshot snapshot(Autoscaler({}, known));
  snapshot.Free("n1", "4", {{"size", "s"}});
  snapshot.Waiting("a", "1", {{"size", "l"}});
  snapshot.Waiting("b", "1", {{"size", "s"}});
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n1: b"));
}

TEST(LeaseTest, MaxNodesLimitsTheLeasedNodes) {
  Snapshot snapshot(Autoscaler({{"maxNodes", 2}}));
  snapshot.Leased("used", LeasePhase::kInUse, 20);
  snapshot.Running("r", "used", "4");
  snapshot.Free("n1");
  snapshot.Free("n2");
  snapshot.Waiting("a", "4");
  snapshot.Waiting("b", "4");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Leases(plan), ElementsAre("n1: a"));
  ASSERT_THAT(plan.shortages, SizeIs(1));
  EXPECT_EQ(plan.shortages[0].reason, "MaxNodes");
  EXPECT_THAT(plan.shortages[0].pods, ElementsAre("shop/b"));
}

TEST(LeaseTest, TheLimitOfACycleGoesRoundTheShapes) {
  Snapshot snapshot(Autoscaler({{"scaleUp", {{"maxPerCycle", 2}}}}));
  for (const char* name : {"n1", "n2", "n3", "n4"}) snapshot.Free(name);
  for (const char* name : {"a1", "a2", "a3"}) snapshot.Waiting(name, "4").created = Ago(100);
  snapshot.Waiting("b", "3");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(plan.expectations, SizeIs(2));
  EXPECT_TRUE(plan.expectations.contains("shop/a1"));
  EXPECT_TRUE(plan.expectations.contains("shop/b"));
  EXPECT_THAT(plan.shortages, IsEmpty()) << "they come with the next cycle";
}

TEST(LeaseTest, ManualModeReportsShortagesAndChangesNothing) {
  Snapshot snapshot(
      Autoscaler({{"mode", "Manual"},
                  {"standby", {{{"name", "s"}, {"nodeSelector", {{"matchLabels", {{"size", "s"}}}}}, {"count", 1}}}}}));
  snapshot.Leased("idle", LeasePhase::kIdle, 10000).unschedulable = true;
  snapshot.Leased("changed", LeasePhase::kReserved, 10, "uid-gone");
  snapshot.Free("n1");
  snapshot.Waiting("a", "4");
  snapshot.Waiting("b", "4");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(plan.leases, IsEmpty());
  EXPECT_THAT(plan.releases, IsEmpty());
  EXPECT_THAT(plan.changes, IsEmpty());
  ASSERT_THAT(plan.shortages, SizeIs(2)) << "the pods' and the standby's";
  EXPECT_EQ(plan.shortages[0].reason, "Manual");
  EXPECT_THAT(plan.shortages[0].pods, ElementsAre("shop/b"));
}

TEST(LeaseTest, StoppedAutoscalerChangesNothing) {
  Snapshot snapshot;
  snapshot.stopped = true;
  snapshot.Leased("idle", LeasePhase::kIdle, 10000);
  snapshot.Leased("releasing", LeasePhase::kReleasing, 100);
  snapshot.Free("n1");
  snapshot.Waiting("p", "5");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(plan.leases, IsEmpty());
  EXPECT_THAT(plan.releases, IsEmpty());
  EXPECT_THAT(plan.changes, IsEmpty());
  ASSERT_THAT(plan.shortages, SizeIs(1));
  EXPECT_EQ(plan.shortages[0].reason, "Stopped");
}

TEST(LeaseTest, PodsWithOtherTolerationsAreNotBlockedByPodsThatGotNoNode) {
  const Json known = Json::array({ShortageOf({}, "NoCapacity", 100, {"shop/a"})});
  Snapshot snapshot(Autoscaler({}, known));
  snapshot.Free("n1").taints = {{"spare", "", "NoSchedule"}};
  snapshot.Waiting("a");
  Pod& tolerant = snapshot.Waiting("b");
  Placement placement = *tolerant.placement;
  placement.tolerations = {{"spare", true, "", ""}};
  tolerant.placement = std::make_shared<const Placement>(placement);
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n1: b"));
}

TEST(LeaseTest, ANodeThatHasBecomeReadySinceIsANewOne) {
  const Json known = Json::array({ShortageOf({}, "NoCapacity", 100, {"shop/a"})});
  Snapshot snapshot(Autoscaler({}, known));
  snapshot.Free("n1").ready_since = Ago(5);
  snapshot.Waiting("a");
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n1: a"));
  snapshot.autoscaler.shortages[0].reason = "JoinTimeout";
  EXPECT_THAT(Leases(snapshot.Plan()), IsEmpty()) << "it may be the one that did not join";
}

TEST(LeaseTest, ShapeThatDidNotJoinBacksOffEvenWithoutPods) {
  const Json known = Json::array({ShortageOf({{"size", "l"}}, "JoinTimeout", 100, {"shop/gone"})});
  Snapshot snapshot(Autoscaler({}, known));
  const CapacityPlan plan = snapshot.Plan();
  ASSERT_THAT(plan.shortages, SizeIs(1));
  EXPECT_EQ(plan.shortages[0].retry_at, kNow + std::chrono::seconds(100));
  EXPECT_THAT(plan.shortages[0].pods, IsEmpty());
}

// ---- 5. standby, and idle nodes

TEST(StandbyTest, PodsThatGotNoNodeDoNotBlockStandby) {
  const Json known = Json::array({ShortageOf({}, "NoCapacity", 100, {"shop/big"})});
  Snapshot snapshot(Autoscaler({{"standby", {{{"name", "s"}, {"count", 1}}}}}, known));
  snapshot.Free("n1");
  snapshot.Waiting("big", "99");
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n1: standby"));
}

TEST(StandbyTest, StandbyIsFilledUp) {
  Snapshot snapshot(Autoscaler(
      {{"standby", {{{"name", "small"}, {"nodeSelector", {{"matchLabels", {{"size", "s"}}}}}, {"count", 2}}}}}));
  snapshot.Leased("n1", LeasePhase::kIdle, 20, "", {{"size", "s"}});
  snapshot.Free("n2", "4", {{"size", "l"}});
  snapshot.Free("n3", "4", {{"size", "s"}});
  snapshot.Free("n4", "2", {{"size", "s"}});
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Leases(plan), ElementsAre("n4: standby"));
  ASSERT_THAT(plan.standby, SizeIs(1));
  EXPECT_EQ(plan.standby[0].want, 2);
  EXPECT_EQ(plan.standby[0].have, 1);
}

TEST(StandbyTest, PodsTakeStandbyNodesAndStandbyIsRefilled) {
  Snapshot snapshot(Autoscaler({{"standby", {{{"name", "s"}, {"count", 1}}}}}));
  snapshot.Leased("n1", LeasePhase::kIdle, 20);
  snapshot.Free("n2");
  snapshot.Waiting("p");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(plan.expectations, ElementsAre(Pair("shop/p", "n1")));
  EXPECT_THAT(Leases(plan), ElementsAre("n2: standby"));
}

TEST(StandbyTest, ANodeCountsOnceInListOrder) {
  Snapshot snapshot(
      Autoscaler({{"standby",
                   {{{"name", "any"}, {"count", 1}},
                    {{"name", "small"}, {"nodeSelector", {{"matchLabels", {{"size", "s"}}}}}, {"count", 1}}}}}));
  snapshot.Leased("n1", LeasePhase::kIdle, 20, "", {{"size", "s"}});
  snapshot.Free("n2", "4", {{"size", "s"}});
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_EQ(plan.standby[0].have, 1);
  EXPECT_EQ(plan.standby[1].have, 0);
  EXPECT_THAT(Leases(plan), ElementsAre("n2: standby"));
}

TEST(StandbyTest, OnlyHealthyNodesCountAndJoiningNodesAreAwaited) {
  Snapshot snapshot(Autoscaler({{"standby", {{{"name", "s"}, {"count", 2}}}}}));
  Snapshot::NotReady(snapshot.Leased("sick", LeasePhase::kIdle, 50), 50);
  Snapshot::NotReady(snapshot.Leased("joining", LeasePhase::kJoining, 50), 50);
  snapshot.Free("n1");
  snapshot.Free("n2");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_EQ(plan.standby[0].have, 0);
  EXPECT_THAT(Leases(plan), ElementsAre("n1: standby"));
}

TEST(StandbyTest, MissingStandbyNodeIsAShortageWithoutPods) {
  Snapshot snapshot(
      Autoscaler({{"standby", {{{"name", "s"}, {"nodeSelector", {{"matchLabels", {{"size", "s"}}}}}, {"count", 3}}}}}));
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_EQ(ToJson(plan)["leases"],
            Json::parse(R"([{"node": null, "for": "standby", "requirements": {"size": "s"}}])"));
  ASSERT_THAT(plan.shortages, SizeIs(1));
  EXPECT_THAT(plan.shortages[0].pods, IsEmpty());
}

TEST(ReleaseTest, NodeThatIdledForIdleSecondsIsReleased) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kIdle, 599);
  CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Releases(plan), IsEmpty());
  EXPECT_EQ(plan.wake, kNow + std::chrono::seconds(1));
  snapshot.Leased("n2", LeasePhase::kIdle, 600);
  EXPECT_THAT(Releases(snapshot.Plan()), ElementsAre("n2"));
}

TEST(ReleaseTest, LongestIdleNodeIsReleasedFirst) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kIdle, 700);
  snapshot.Leased("n2", LeasePhase::kIdle, 800);
  EXPECT_THAT(Releases(snapshot.Plan()), ElementsAre("n2"));
  snapshot.autoscaler.max_releases = 2;
  EXPECT_THAT(Releases(snapshot.Plan()), ElementsAre("n1", "n2"));
}

TEST(ReleaseTest, StandbyAndMinNodesAreNotReleased) {
  Snapshot snapshot(Autoscaler({{"standby", {{{"name", "s"}, {"count", 1}}}}, {"scaleDown", {{"maxPerCycle", 5}}}}));
  snapshot.Leased("n1", LeasePhase::kIdle, 700);
  snapshot.Leased("n2", LeasePhase::kIdle, 800);
  snapshot.Leased("n3", LeasePhase::kIdle, 900);
  EXPECT_THAT(Releases(snapshot.Plan()), ElementsAre("n2", "n3"));
  snapshot.autoscaler.min_nodes = 2;
  EXPECT_THAT(Releases(snapshot.Plan()), ElementsAre("n3"));
  snapshot.autoscaler.min_nodes = 3;
  EXPECT_THAT(Releases(snapshot.Plan()), IsEmpty());
}

TEST(ReleaseTest, NodeWithAPodIsNeverReleased) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kIdle, 10000);
  snapshot.Running("r", "n1");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Releases(plan), IsEmpty());
  EXPECT_EQ(ChangeOf(plan, "n1")->after.phase, LeasePhase::kInUse);
}

TEST(LeaseTest, PendingPodOfADaemonSetLeasesNoNodeAndIsNoShortage) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kIdle, 60);
  snapshot.Free("n2");
  // The pod's affinity names a node that has no room for it.
  Pod& pod = snapshot.Waiting("ds", "64");
  pod.of_node = true;
  CapacityPlan plan = snapshot.Plan();
  EXPECT_TRUE(plan.leases.empty());
  EXPECT_TRUE(plan.shortages.empty());
  pod.requests.milli_cpu = 1000;
  plan = snapshot.Plan();
  EXPECT_TRUE(plan.leases.empty());
  EXPECT_TRUE(plan.expectations.empty()) << "n1 is not kept for it";
}

TEST(ReleaseTest, DaemonSetPodsAndFinishedPodsDoNotBlockARelease) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kIdle, 10000);
  snapshot.Running("ds", "n1").of_node = true;
  snapshot.Running("done", "n1").terminal = true;
  EXPECT_THAT(Releases(snapshot.Plan()), ElementsAre("n1"));
}

TEST(ReleaseTest, NodeThatAWaitingPodNeedsStays) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kIdle, 10000);
  snapshot.Waiting("p");
  EXPECT_THAT(Releases(snapshot.Plan()), IsEmpty());
}

TEST(ReleaseTest, OnlyLeasedNodesAreReleased) {
  Snapshot snapshot(Autoscaler({{"mode", "Drain"}}));
  snapshot.Free("of-the-pool").meta.labels["apps.openyurt.io/nodepool"] = "hangzhou";
  Node& moved = snapshot.Leased("moved-by-a-person", LeasePhase::kIdle, 10000);
  moved.meta.labels["apps.openyurt.io/nodepool"] = "beijing";
  snapshot.Leased("junk", LeasePhase::kIdle, 10000).meta.annotations[kLeaseAnnotation] = "true";
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(plan.releases, IsEmpty());
  EXPECT_EQ(plan.leased, 0);
}

TEST(ReleaseTest, AnIdleUnhealthyNodeIsGivenBackSooner) {
  Snapshot snapshot;
  Node& node = snapshot.Leased("n1", LeasePhase::kIdle, 300);
  Snapshot::NotReady(node, 89);
  EXPECT_THAT(Releases(snapshot.Plan()), IsEmpty());
  Snapshot::NotReady(node, 90);
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Releases(plan), ElementsAre("n1"));
  EXPECT_NE(QuarantineReason(snapshot.autoscaler, node, plan.releases[0].lease, kNow), "");
}

TEST(ReleaseTest, AnUnhealthyNodeWithWorkStays) {
  Snapshot snapshot;
  Snapshot::NotReady(snapshot.Leased("n1", LeasePhase::kInUse, 300), 200);
  snapshot.Running("r", "n1");
  EXPECT_THAT(Releases(snapshot.Plan()), IsEmpty());
}

TEST(ReleaseTest, DrainReleasesIdleNodesAtOnceAndLeasesNothing) {
  Snapshot snapshot(Autoscaler({{"mode", "Drain"},
                                {"minNodes", 2},
                                {"standby", {{{"name", "s"}, {"count", 2}}}},
                                {"scaleDown", {{"maxPerCycle", 5}}}}));
  snapshot.Leased("n1", LeasePhase::kIdle, 1);
  snapshot.Leased("n2", LeasePhase::kInUse, 1);
  snapshot.Running("r", "n2", "4");
  snapshot.Free("n3");
  snapshot.Waiting("p", "5");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Releases(plan), ElementsAre("n1"));
  EXPECT_THAT(plan.leases, IsEmpty());
  ASSERT_THAT(plan.shortages, SizeIs(1));
  EXPECT_EQ(plan.shortages[0].reason, "Draining");
}

TEST(ReleaseTest, APoolThatIsGoneIsDrained) {
  Snapshot snapshot;
  snapshot.pool_gone = true;
  snapshot.Leased("n1", LeasePhase::kIdle, 1);
  EXPECT_THAT(Releases(snapshot.Plan()), ElementsAre("n1"));
}

TEST(ReleaseTest, APodOnANodeThatIsBeingGivenBackBringsItBackToUse) {
  Snapshot snapshot;
  Node& node = snapshot.Leased("n1", LeasePhase::kReleasing, 10);
  node.taints = {{kReleasingTaint, "", "NoSchedule"}, {"own", "", "NoSchedule"}};
  CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Releases(plan), ElementsAre("n1"));
  EXPECT_TRUE(plan.releases[0].begun);
  snapshot.Running("r", "n1");
  plan = snapshot.Plan();
  EXPECT_THAT(Releases(plan), IsEmpty());
  ASSERT_NE(ChangeOf(plan, "n1"), nullptr);
  EXPECT_EQ(ChangeOf(plan, "n1")->after.phase, LeasePhase::kInUse);
  const Json patch = PhasePatch(node, ChangeOf(plan, "n1")->after);
  EXPECT_EQ(patch["spec"]["taints"], Json::parse(R"([{"key": "own", "effect": "NoSchedule"}])"));
}

TEST(ReleaseTest, ReclaimPolicyQuarantineKeepsOutEveryReleasedNode) {
  Snapshot snapshot(Autoscaler({{"scaleDown", {{"reclaimPolicy", "Quarantine"}}}}));
  Node& node = snapshot.Leased("n1", LeasePhase::kIdle, 600);
  EXPECT_NE(QuarantineReason(snapshot.autoscaler, node, {}, kNow), "");
  snapshot.autoscaler.quarantine = false;
  EXPECT_EQ(QuarantineReason(snapshot.autoscaler, node, {}, kNow), "");
}

// ---- 6. nodes that join, and nodes that do not

TEST(JoinTest, ANodeThatIsReadyHasJoined) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kJoining, 20, "uid-p");
  snapshot.Leased("n2", LeasePhase::kJoining, 20);
  snapshot.Waiting("p");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_EQ(ChangeOf(plan, "n1")->after.phase, LeasePhase::kReserved);
  EXPECT_EQ(ChangeOf(plan, "n2")->after.phase, LeasePhase::kIdle);
  EXPECT_EQ(plan.joining, 1);
  EXPECT_EQ(plan.idle, 1);
}

TEST(JoinTest, NodeNotReadyByJoinTimeoutIsReleasedAndItsShapeBacksOff) {
  Snapshot snapshot;
  Node& node = snapshot.Leased("n1", LeasePhase::kJoining, 299, "uid-p", {{"size", "l"}});
  Snapshot::NotReady(node, 250);
  snapshot.Free("n2", "4", {{"size", "l"}});
  snapshot.Waiting("p", "1", {{"size", "l"}});
  EXPECT_THAT(Releases(snapshot.Plan()), IsEmpty());
  NodeLease lease = *ParseLease(node.meta.annotations[kLeaseAnnotation]);
  lease.since = Ago(300);
  node.meta.annotations[kLeaseAnnotation] = FormatLease(lease);
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Releases(plan), ElementsAre("n1"));
  EXPECT_THAT(plan.leases, IsEmpty());
  ASSERT_THAT(plan.shortages, SizeIs(1));
  EXPECT_EQ(plan.shortages[0].reason, "JoinTimeout");
  EXPECT_EQ(plan.shortages[0].requirements, (StringMap{{"size", "l"}}));
  EXPECT_THAT(plan.shortages[0].pods, ElementsAre("shop/p"));
  EXPECT_EQ(plan.shortages[0].retry_at, kNow + std::chrono::seconds(180));
  EXPECT_EQ(QuarantineReason(snapshot.autoscaler, node, plan.releases[0].lease, kNow), "")
      << "it may join another time";
}

TEST(JoinTest, AStandbysShapeBacksOffToo) {
  Snapshot snapshot(
      Autoscaler({{"standby", {{{"name", "s"}, {"nodeSelector", {{"matchLabels", {{"size", "s"}}}}}, {"count", 1}}}}}));
  Snapshot::NotReady(snapshot.Leased("n1", LeasePhase::kJoining, 300, "", {{"size", "s"}}), 200);
  snapshot.Free("n2", "4", {{"size", "s"}});
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Releases(plan), ElementsAre("n1"));
  EXPECT_THAT(plan.leases, IsEmpty());
  ASSERT_THAT(plan.shortages, SizeIs(1));
  EXPECT_EQ(plan.shortages[0].reason, "JoinTimeout");
}

TEST(JoinTest, APodThatStillCannotBeScheduledBacksOffByItself) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kReserved, 300, "uid-a");
  snapshot.Waiting("a");
  snapshot.Waiting("b");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(plan.expectations, ElementsAre(Pair("shop/b", "n1")));
  ASSERT_THAT(plan.shortages, SizeIs(1));
  EXPECT_EQ(plan.shortages[0].reason, "Unschedulable");
  EXPECT_THAT(plan.shortages[0].pods, ElementsAre("shop/a"));
}

TEST(JoinTest, PodThatBacksOffIsNotMatched) {
  const Json known = Json::array({ShortageOf({}, "Unschedulable", 100, {"shop/a"})});
  Snapshot snapshot(Autoscaler({}, known));
  snapshot.Leased("n1", LeasePhase::kIdle, 20);
  snapshot.Free("n2");
  snapshot.Waiting("a");
  snapshot.Waiting("b");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(plan.expectations, ElementsAre(Pair("shop/b", "n1")));
  EXPECT_THAT(plan.leases, IsEmpty());
  ASSERT_THAT(plan.shortages, SizeIs(1));
  EXPECT_EQ(plan.shortages[0].retry_at, kNow + std::chrono::seconds(100));
}

}  // namespace
}  // namespace yad::testing
