// PlanCapacity: standby nodes, and when idle nodes are released.
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

// ---- 5. standby, and idle nodes

TEST(StandbyTest, PodsWithoutANodeDoNotBlockStandby) {
  const Json known = Json::array({ShortageOf({}, "NoCapacity", 100, {"shop/big"})});
  Snapshot snapshot(Autoscaler({{"standby", {{{"name", "s"}, {"count", 1}}}}}, known));
  snapshot.Free("n1");
  snapshot.Waiting("big", "99");
  EXPECT_THAT(Leases(snapshot.Plan()), ElementsAre("n1: standby"));
}

TEST(StandbyTest, StandbyIsFilledWithLeasedNodes) {
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

TEST(StandbyTest, ANodeCountsOnlyForTheFirstMatchingEntry) {
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

TEST(StandbyTest, OnlyHealthyNodesCountAndJoiningNodesAreNotReplaced) {
  Snapshot snapshot(Autoscaler({{"standby", {{{"name", "s"}, {"count", 2}}}}}));
  Snapshot::NotReady(snapshot.Leased("sick", LeasePhase::kIdle, 50), 50);
  Snapshot::NotReady(snapshot.Leased("joining", LeasePhase::kJoining, 50), 50);
  snapshot.Free("n1");
  snapshot.Free("n2");
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_EQ(plan.standby[0].have, 0);
  EXPECT_THAT(Leases(plan), ElementsAre("n1: standby"));
}

TEST(StandbyTest, JoiningNodesBeyondTheCountOfAnEntryCountForTheNextEntry) {
  Snapshot snapshot(Autoscaler({{"standby", {{{"name", "one"}, {"count", 1}}, {{"name", "two"}, {"count", 2}}}}}));
  for (const char* name : {"n1", "n2", "n3"}) Snapshot::NotReady(snapshot.Leased(name, LeasePhase::kJoining, 5), 4);
  snapshot.Free("n4");
  EXPECT_THAT(Leases(snapshot.Plan()), IsEmpty());
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

TEST(ReleaseTest, NodeThatWasIdleForIdleSecondsIsReleased) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kIdle, 599);
  CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Releases(plan), IsEmpty());
  EXPECT_EQ(plan.wake, kNow + std::chrono::seconds(1));
  snapshot.Leased("n2", LeasePhase::kIdle, 600);
  EXPECT_THAT(Releases(snapshot.Plan()), ElementsAre("n2"));
}

TEST(ReleaseTest, IdleTimeBeginsAgainIfTheClockWasSetBack) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kIdle, -3600);
  const CapacityPlan plan = snapshot.Plan();
  ASSERT_NE(ChangeOf(plan, "n1"), nullptr);
  EXPECT_EQ(ChangeOf(plan, "n1")->after.phase, LeasePhase::kIdle);
  EXPECT_EQ(ChangeOf(plan, "n1")->after.since, kNow);
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

TEST(ReleaseTest, DaemonSetPodsAndFinishedPodsDoNotBlockARelease) {
  Snapshot snapshot;
  snapshot.Leased("n1", LeasePhase::kIdle, 10000);
  snapshot.Running("ds", "n1").of_node = true;
  snapshot.Running("done", "n1").terminal = true;
  EXPECT_THAT(Releases(snapshot.Plan()), ElementsAre("n1"));
}

TEST(ReleaseTest, NodeThatAWaitingPodNeedsIsNotReleased) {
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

TEST(ReleaseTest, AnIdleUnhealthyNodeIsReleasedSooner) {
  Snapshot snapshot;
  Node& node = snapshot.Leased("n1", LeasePhase::kIdle, 300);
  Snapshot::NotReady(node, 89);
  EXPECT_THAT(Releases(snapshot.Plan()), IsEmpty());
  Snapshot::NotReady(node, 90);
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Releases(plan), ElementsAre("n1"));
  EXPECT_NE(QuarantineReason(snapshot.autoscaler, node, plan.releases[0].lease, kNow), "");
}

TEST(ReleaseTest, AnIdleUnhealthyNodeIsReleasedAndQuarantinedIfItsClockIsAhead) {
  Snapshot snapshot;
  Node& node = snapshot.Leased("n1", LeasePhase::kIdle, 90);
  Snapshot::NotReady(node, -3600);
  const CapacityPlan plan = snapshot.Plan();
  EXPECT_THAT(Releases(plan), ElementsAre("n1"));
  EXPECT_NE(QuarantineReason(snapshot.autoscaler, node, {}, kNow), "");
}

TEST(ReleaseTest, AnIdleUnhealthyNodeIsNotReleasedEarlyIfItsClockIsSlightlyAhead) {
  Snapshot snapshot;
  Node& node = snapshot.Leased("n1", LeasePhase::kIdle, 200);
  Snapshot::NotReady(node, -2);
  EXPECT_THAT(Releases(snapshot.Plan()), IsEmpty());
  EXPECT_EQ(QuarantineReason(snapshot.autoscaler, node, {}, kNow), "");
}

TEST(ReleaseTest, AnUnhealthyNodeWithPodsIsNotReleased) {
  Snapshot snapshot;
  Snapshot::NotReady(snapshot.Leased("n1", LeasePhase::kInUse, 300), 200);
  snapshot.Running("r", "n1");
  EXPECT_THAT(Releases(snapshot.Plan()), IsEmpty());
}

TEST(ReleaseTest, DrainReleasesIdleNodesImmediatelyAndLeasesNoNode) {
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

TEST(ReleaseTest, ADeletedPoolIsDrained) {
  Snapshot snapshot;
  snapshot.pool_gone = true;
  snapshot.Leased("n1", LeasePhase::kIdle, 1);
  EXPECT_THAT(Releases(snapshot.Plan()), ElementsAre("n1"));
}

TEST(ReleaseTest, PodOnAReleasingNodeCancelsTheRelease) {
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

TEST(ReleaseTest, ReclaimPolicyQuarantineQuarantinesEveryReleasedNode) {
  Snapshot snapshot(Autoscaler({{"scaleDown", {{"reclaimPolicy", "Quarantine"}}}}));
  Node& node = snapshot.Leased("n1", LeasePhase::kIdle, 600);
  EXPECT_NE(QuarantineReason(snapshot.autoscaler, node, {}, kNow), "");
  snapshot.autoscaler.quarantine = false;
  EXPECT_EQ(QuarantineReason(snapshot.autoscaler, node, {}, kNow), "");
}

}  // namespace
}  // namespace yad::testing
