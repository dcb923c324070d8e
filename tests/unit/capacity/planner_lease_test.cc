// PlanCapacity: leases of nodes for pods, and leased nodes that do or do not become ready in time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/capacity/capacity_plan.h"
#include "operator/capacity/releases.h"
#include "tests/unit/capacity/snapshot.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

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

TEST(LeaseTest, TheSmallestFittingNodeIsLeased) {
  Snapshot snapshot;
  snapshot.Free("a-large", "16");
  snapshot.Free("b-small", "1");
  snapshot.Free("c-middle", "2");
  snapshot.Waiting("p", "2");
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("c-middle: p"));
}

TEST(LeaseTest, SeveralPodsShareANodeIfTheyFit) {
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

TEST(LeaseTest, RetryTimeOfAFailedShapeDoesNotChangeWhileItWaits) {
  const Json known = Json::array({ShortageOf({{"size", "l"}}, "NoCapacity", 100, {"shop/a"})});
  Snapshot snapshot(Autoscaler({}, known));
  snapshot.Free("n1", "4", {{"size", "l"}});  // was Ready before the failed attempt
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

TEST(LeaseTest, FailedShapeIsRetriedAfterItsRetryTime) {
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

TEST(LeaseTest, FailedShapeIsRetriedIfItsRetryIsFurtherAwayThanRetryAfterSeconds) {
  const Json known =
      Json::array({ShortageOf({}, "JoinTimeout", 3600, {}), ShortageOf({}, "Unschedulable", 3600, {"shop/p"})});
  Snapshot snapshot(Autoscaler({}, known));
  snapshot.Free("n1");
  snapshot.Waiting("p");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Leases(plan), ElementsAre("n1: p"));
  EXPECT_THAT(plan.shortages, IsEmpty());
}

TEST(LeaseTest, AMatchingNewNodeEndsTheBackoff) {
  const Json known = Json::array({ShortageOf({{"size", "l"}}, "NoCapacity", 100, {"shop/a"})});
  Snapshot snapshot(Autoscaler({}, known));
  snapshot.Waiting("a", "1", {{"size", "l"}});
  snapshot.Free("n1", "4", {{"size", "s"}}).meta.creation_timestamp = FormatTime(Ago(5));
  EXPECT_THAT(snapshot.Plan().leases, IsEmpty());
  snapshot.Free("n2", "4", {{"size", "l"}}).meta.creation_timestamp = FormatTime(Ago(5));
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n2: a"));
}

TEST(LeaseTest, SmallerPodsAreNotBlockedByPodsWithoutANode) {
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

TEST(LeaseTest, LimitOfACycleIsSharedByAllShapes) {
  Snapshot snapshot(Autoscaler({{"scaleUp", {{"maxPerCycle", 2}}}}));
  for (const char* name : {"n1", "n2", "n3", "n4"}) snapshot.Free(name);
  for (const char* name : {"a1", "a2", "a3"}) snapshot.Waiting(name, "4").created = Ago(100);
  snapshot.Waiting("b", "3");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(plan.expectations, SizeIs(2));
  EXPECT_TRUE(plan.expectations.contains("shop/a1"));
  EXPECT_TRUE(plan.expectations.contains("shop/b"));
  EXPECT_THAT(plan.shortages, IsEmpty()) << "the remaining pods get their leases in the next cycle";
}

TEST(LeaseTest, ManualModeReportsShortagesAndChangesNoNode) {
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
  ASSERT_THAT(plan.shortages, SizeIs(2)) << "one shortage of the pods and one of the standby";
  EXPECT_EQ(plan.shortages[0].reason, "Manual");
  EXPECT_THAT(plan.shortages[0].pods, ElementsAre("shop/b"));
}

TEST(LeaseTest, StoppedAutoscalerOnlyCompletesReleasesThatHaveBegun) {
  Snapshot snapshot;
  snapshot.stopped = true;
  snapshot.Leased("idle", LeasePhase::kIdle, 10000);
  snapshot.Leased("releasing", LeasePhase::kReleasing, 100);
  snapshot.Free("n1");
  snapshot.Waiting("p", "5");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(plan.leases, IsEmpty());
  EXPECT_THAT(Releases(plan), ElementsAre("releasing"));
  EXPECT_THAT(plan.changes, IsEmpty());
  ASSERT_THAT(plan.shortages, SizeIs(1));
  EXPECT_EQ(plan.shortages[0].reason, "Stopped");
}

TEST(LeaseTest, PodsWithOtherTolerationsAreNotBlockedByPodsWithoutANode) {
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

TEST(LeaseTest, ANodeThatBecameReadyAfterTheFailedTryCountsAsNew) {
  const Json known = Json::array({ShortageOf({}, "NoCapacity", 100, {"shop/a"})});
  Snapshot snapshot(Autoscaler({}, known));
  snapshot.Free("n1").ready_since = Ago(5);
  snapshot.Waiting("a");
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n1: a"));
  snapshot.autoscaler.shortages[0].reason = "JoinTimeout";
  EXPECT_THAT(Leases(snapshot.Plan()), IsEmpty()) << "the node may be the one that did not join";
}

// Objects have times in whole seconds, so the node may have become ready after the failed attempt.
TEST(LeaseTest, ANodeThatBecameReadyInTheSameSecondAsTheFailedTryCountsAsNew) {
  const Json known = Json::array({ShortageOf({}, "NoCapacity", 100, {"shop/a"})});
  Snapshot snapshot(Autoscaler({}, known));
  const int seconds_since_try = static_cast<int>(snapshot.autoscaler.retry_after.count()) - 100;
  snapshot.Free("n1").ready_since = Ago(seconds_since_try + 1);
  snapshot.Waiting("a");
  EXPECT_THAT(Leases(snapshot.Plan()), IsEmpty());
  snapshot.Free("n2").ready_since = Ago(seconds_since_try);
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n2: a"));
}

TEST(LeaseTest, ShapeWhoseNodeDidNotJoinBacksOffEvenWithoutPods) {
  const Json known = Json::array({ShortageOf({{"size", "l"}}, "JoinTimeout", 100, {"shop/gone"})});
  Snapshot snapshot(Autoscaler({}, known));
  const CapacityPlan plan = snapshot.Plan();
  ASSERT_THAT(plan.shortages, SizeIs(1));
  EXPECT_EQ(plan.shortages[0].retry_at, kNow + std::chrono::seconds(100));
  EXPECT_THAT(plan.shortages[0].pods, IsEmpty());
}

TEST(LeaseTest, PendingPodOfADaemonSetCausesNoLeaseAndNoShortage) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kIdle, 60);
  snapshot.Free("n2");
  // Like the pod of a DaemonSet: its affinity requires one node, which is too small.
  Pod& pod = snapshot.Waiting("ds", "64");
  pod.of_node = true;
  CapacityPlan plan = snapshot.Plan();
  EXPECT_TRUE(plan.leases.empty());
  EXPECT_TRUE(plan.shortages.empty());
  pod.requests.milli_cpu = 1000;
  plan = snapshot.Plan();
  EXPECT_TRUE(plan.leases.empty());
  EXPECT_TRUE(plan.expectations.empty()) << "no node is reserved for the DaemonSet's pod";
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

TEST(JoinTest, NodeThatIsNotReadyByJoinTimeoutIsReleasedAndItsShapeBacksOff) {
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
      << "the node may join at a later attempt";
}

TEST(JoinTest, ShapeOfAStandbyNodeThatDoesNotJoinBacksOff) {
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

TEST(JoinTest, APodThatStillCannotBeScheduledBacksOffWithoutDelayingOthers) {
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
