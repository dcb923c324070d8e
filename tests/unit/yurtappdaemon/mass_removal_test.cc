// The whole reconciler in a cluster in memory: removals of many workloads, the deletion of the NodePool CRD, and
// workloads without their label.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "tests/unit/yurtappdaemon/world.h"

namespace yad::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr auto kAfter = ReconcileResult::Next::kAfter;

class MassRemovalTest : public ::testing::TestWithParam<WorkloadKind> {
 protected:
  void Deployed(const std::string& limit) {
    world_.AddPools({"a", "b", "c", "d"});
    world_.CreateDaemon(DaemonJson("app:1", GetParam()));
    if (!limit.empty()) world_.limit = *ParseRemovalLimit(limit);
    world_.Restart();
    ASSERT_LE(world_.Converge(), 10);
    world_.events.Take();
    world_.cluster.ClearWrites();
  }
  void Exclude(const std::vector<std::string>& pools) {
    world_.EditDaemon([&](Json& daemon) { daemon["spec"]["nodePools"] = {{"exclude", pools}}; });
  }
  void Allow(const std::string& token) {
    world_.EditDaemon([&](Json& daemon) { daemon["metadata"]["annotations"][kAllowRemovalAnnotation] = token; });
  }
  static std::string MessageIn(const World& world) {
    return StringAt(ConditionOf(world.Status(), "RemovalBlocked"), {"message"});
  }
  static std::string TokenIn(const World& world) {
    const std::string message = MessageIn(world);
    const auto at = message.find("(token ");
    return at == std::string::npos ? "" : message.substr(at + 7, 16);
  }
  std::string Message() const { return MessageIn(world_); }
  std::string Token() const { return TokenIn(world_); }

  World world_;
};
INSTANTIATE_TEST_SUITE_P(Kind, MassRemovalTest,
                         ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet));

TEST_P(MassRemovalTest, TooManyRemovalsAreBlockedAndReportedOnceAndOtherPoolsAreUpdated) {
  Deployed("2");
  Exclude({"a", "b", "c"});
  world_.AddPool("e");
  world_.SetImage("app:2");
  const auto first = world_.Reconcile();
  ASSERT_TRUE(first) << first.error().ToString();
  EXPECT_EQ(first->next, kAfter);
  EXPECT_EQ(ConditionReason(world_.Status(), "RemovalBlocked"), "absent");
  world_.Converge();
  EXPECT_THAT(world_.Workloads(), SizeIs(5));
  EXPECT_EQ(ImageOf(world_.Workload("d")), "app:2");
  EXPECT_EQ(ImageOf(world_.Workload("e")), "app:2");
  EXPECT_EQ(ImageOf(world_.Workload("a")), "app:1");
  EXPECT_EQ(ConditionReason(world_.Status(), "RemovalBlocked"), "True TooManyRemovals");
  EXPECT_EQ(ConditionReason(world_.Status(), "WorkLoadProvisioned"), "False ");
  EXPECT_EQ(ConditionReason(world_.Status(), "Ready"), "True PoolsReady");
  EXPECT_EQ(PoolStatus(world_.Status(), "a")["phase"], "Removing");
  EXPECT_EQ(PoolStatus(world_.Status(), "a")["reason"], "RemovalBlocked");
  EXPECT_EQ(PoolStatus(world_.Status(), "a")["message"], "not removed: see condition RemovalBlocked");
  EXPECT_EQ(PoolStatus(world_.Status(), "d")["phase"], "Ready");
  const std::vector<std::string> reasons = world_.events.TakeReasons();
  EXPECT_EQ(std::count(reasons.begin(), reasons.end(), "RemovalBlocked"), 1);
  world_.cluster.ClearWrites();
  world_.Reconcile();
  world_.Restart();
  for (int i = 0; i < 3; ++i) {
    world_.Reconcile();
    world_.clock.Advance(std::chrono::seconds(3));
  }
  EXPECT_THAT(world_.Writes(), IsEmpty());
  EXPECT_THAT(world_.events.Take(), IsEmpty());
}

TEST_P(MassRemovalTest, RemovalsWithinTheLimitWaitUntilNoFurtherPoolLeaves) {
  Deployed("2");
  Exclude({"a"});
  world_.Reconcile();
  world_.clock.Advance(std::chrono::seconds(4));
  Exclude({"a", "b"});
  EXPECT_EQ(world_.Reconcile()->next, kAfter);
  world_.clock.Advance(std::chrono::seconds(4));
  world_.Reconcile();
  EXPECT_THAT(world_.Workloads(), SizeIs(4)) << "pool b left 4 s ago";
  world_.clock.Advance(std::chrono::seconds(1));
  world_.Reconcile();
  EXPECT_THAT(world_.Workloads(), SizeIs(2));
  world_.Converge();
  EXPECT_EQ(ConditionReason(world_.Status(), "RemovalBlocked"), "absent");
}

TEST_P(MassRemovalTest, PoolsThatLeaveOneByOneAreCountedTogether) {
  Deployed("2");
  for (const char* pool : {"a", "b", "c"}) {
    world_.RemovePool(pool);
    world_.Reconcile();
    world_.clock.Advance(std::chrono::seconds(2));
  }
  world_.Converge();
  EXPECT_THAT(world_.Workloads(), SizeIs(4));
  EXPECT_EQ(ConditionReason(world_.Status(), "RemovalBlocked"), "True TooManyRemovals");
}

TEST_P(MassRemovalTest, TokenAllowsItsRemovalsButNotLaterRemovals) {
  Deployed("1");
  Exclude({"a", "b"});
  world_.Converge();
  const std::string token = Token();
  Allow("0000000000000000");
  world_.Converge();
  EXPECT_THAT(world_.Workloads(), SizeIs(4));
  Allow(token);
  world_.cluster.ClearWrites();
  world_.events.Take();
  world_.Reconcile();
  EXPECT_THAT(world_.Workloads(), SizeIs(2));
  world_.Converge();
  EXPECT_EQ(ConditionReason(world_.Status(), "RemovalBlocked"), "False NothingBlocked");
  EXPECT_THAT(world_.events.TakeReasons(), ElementsAre("WorkloadRemoved"));
  // The same pools return and leave again; the token does not cover their new workloads.
  Exclude({});
  world_.Converge();
  EXPECT_THAT(world_.Workloads(), SizeIs(4));
  Exclude({"a", "b"});
  world_.Converge();
  EXPECT_THAT(world_.Workloads(), SizeIs(4));
  EXPECT_EQ(ConditionReason(world_.Status(), "RemovalBlocked"), "True TooManyRemovals");
  EXPECT_NE(Token(), token);
  EXPECT_THAT(world_.events.TakeReasons(), Contains("RemovalBlocked"));
}

// There are six writes: three workloads are annotated with the token of their removal, and then deleted. In each round,
// the process exits at another write, whose response is lost.
TEST_P(MassRemovalTest, AllowedRemovalsContinueAfterACrash) {
  for (int crash = 1; crash <= 6; ++crash) {
    SCOPED_TRACE(crash);
    World world;
    world.AddPools({"a", "b", "c", "d"});
    world.CreateDaemon(DaemonJson("app:1", GetParam()));
    world.limit = IntOrPercent{1, false};
    world.Restart();
    world.Converge();
    world.EditDaemon([](Json& daemon) { daemon["spec"]["nodePools"] = {{"exclude", {"a", "b", "c"}}}; });
    world.Converge();
    const std::string token = TokenIn(world);
    world.EditDaemon([&](Json& daemon) { daemon["metadata"]["annotations"][kAllowRemovalAnnotation] = token; });
    std::atomic<int> writes = 0;
    world.cluster.SetFaults([&](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
      if (request.method == "GET") return std::nullopt;
      const int number = ++writes;
      if (number < crash) return std::nullopt;
      return FakeCluster::Fault{StatusResponse(503, "ServiceUnavailable", "killed"), number == crash};
    });
    world.Reconcile();
    EXPECT_GE(writes.load(), crash);
    world.cluster.SetFaults(nullptr);
    world.Restart();
    world.Converge();
    EXPECT_THAT(world.Workloads(), SizeIs(1));
    EXPECT_EQ(ConditionReason(world.Status(), "RemovalBlocked"), "False NothingBlocked");
  }
}

TEST_P(MassRemovalTest, NoWorkloadIsRemovedUntilAllAreMarked) {
  Deployed("1");
  Exclude({"a", "b", "c"});
  world_.Converge();
  Allow(Token());
  world_.cluster.SetFaults([&](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
    if (request.method != "PATCH" || request.key.name != world_.NameOf("b")) return std::nullopt;
    return FakeCluster::Fault{StatusResponse(403, "Forbidden", "no"), false};
  });
  const auto result = world_.Reconcile();
  EXPECT_FALSE(result && result->next == kReconcileDone);
  EXPECT_THAT(world_.Workloads(), SizeIs(4));
  world_.cluster.SetFaults(nullptr);
  world_.Converge();
  EXPECT_THAT(world_.Workloads(), SizeIs(1));
}

TEST_P(MassRemovalTest, ARemovedTokenKeepsTheMarkedWorkloads) {
  Deployed("1");
  Exclude({"a", "b", "c"});
  world_.Converge();
  Allow(Token());
  world_.Sync();
  std::atomic<bool> marked = false;
  world_.cluster.SetAfterwards([&](const WriteRecord& request) {
    if (request.method == "PATCH" && request.resource == world_.type().resource && !marked.exchange(true)) Allow("");
  });
  world_.Reconcile();
  EXPECT_TRUE(marked.load());
  EXPECT_THAT(world_.Workloads(), SizeIs(4));
}

TEST_P(MassRemovalTest, AnApprovalThatIsWithdrawnAfterTheFirstRemovalKeepsTheRemainingWorkloads) {
  Deployed("2");
  Exclude({"a", "b", "c"});
  world_.Converge();
  Allow(Token());
  world_.cluster.SetFaults([&](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
    if (request.method != "DELETE" || request.key.name == world_.NameOf("a")) return std::nullopt;
    return FakeCluster::Fault{StatusResponse(409, "Conflict", "changed meanwhile"), false};
  });
  world_.Reconcile();
  ASSERT_THAT(world_.Workloads(), SizeIs(3));
  world_.cluster.SetFaults(nullptr);
  world_.Sync();
  Allow("");
  world_.ReconcileWithOldCaches();
  EXPECT_THAT(world_.Workloads(), SizeIs(3)) << "the cache still shows the approval";
  // The remaining two removals are within the limit.
  world_.Converge();
  EXPECT_THAT(world_.Workloads(), SizeIs(3));
  EXPECT_EQ(ConditionReason(world_.Status(), "RemovalBlocked"), "True TooManyRemovals");
  Allow(Token());
  world_.Converge();
  EXPECT_THAT(world_.Workloads(), SizeIs(1));
}

TEST_P(MassRemovalTest, MarkHasNoEffectAfterThePoolWasSelectedAgain) {
  Deployed("1");
  Exclude({"a", "b", "c"});
  world_.Converge();
  const std::string token = Token();
  Allow(token);
  // The operator marked the workloads, and then was down until the pools were back.
  for (const char* pool : {"a", "b", "c"}) {
    world_.EditWorkload(
        pool, [&](Json& workload) { workload["metadata"]["annotations"][kRemovalAllowedAnnotation] = token; });
  }
  Exclude({});
  world_.Converge();
  EXPECT_THAT(world_.Workloads(), SizeIs(4));
  Exclude({"a", "b"});
  world_.Converge();
  EXPECT_THAT(world_.Workloads(), SizeIs(4));
  EXPECT_EQ(ConditionReason(world_.Status(), "RemovalBlocked"), "True TooManyRemovals");
}

TEST_P(MassRemovalTest, ConditionAndPhaseAreResetWhenThePoolsReturn) {
  Deployed("1");
  const Json before = world_.Workloads();
  Exclude({"a", "b", "c"});
  world_.Converge();
  Exclude({});
  world_.Converge();
  EXPECT_EQ(ConditionReason(world_.Status(), "RemovalBlocked"), "False NothingBlocked");
  EXPECT_EQ(PoolStatus(world_.Status(), "a")["phase"], "Ready");
  EXPECT_EQ(Json(world_.Workloads()), before);
}

TEST_P(MassRemovalTest, NothingIsWrittenForABlockedDaemonThatIsBeingDeleted) {
  Deployed("0");
  Exclude({"a", "b"});
  world_.Converge();
  world_.EditDaemon([](Json& daemon) { daemon["metadata"]["finalizers"] = Json::array({"foregroundDeletion"}); });
  world_.cluster.Delete(kYurtAppDaemonType, {kNs, "web"});
  Allow(Token());
  world_.cluster.ClearWrites();
  EXPECT_EQ(world_.Reconcile()->next, kReconcileDone);
  EXPECT_THAT(world_.Writes(), IsEmpty()) << "the garbage collector deletes the workloads";
}

// ---- the NodePool CRD ----

const ObjectKey kPoolCrd{"", "nodepools.apps.openyurt.io"};

TEST_P(MassRemovalTest, DeletionOfTheNodePoolCrdRemovesNoWorkload) {
  Deployed("");
  world_.cluster.Edit(kCrdType, kPoolCrd,
                      [](Json& crd) { crd["metadata"]["finalizers"] = Json::array({"cleanup/pools"}); });
  world_.cluster.Delete(kCrdType, kPoolCrd);
  const Json before = world_.Workloads();
  for (const char* pool : {"a", "b", "c"}) {
    world_.RemovePool(pool);
    EXPECT_TRUE(world_.Reconcile());
  }
  world_.cluster.Edit(kCrdType, kPoolCrd, [](Json& crd) { crd["metadata"].erase("finalizers"); });
  ASSERT_FALSE(world_.cluster.Get(kCrdType, kPoolCrd).has_value());
  world_.RemovePool("d");
  world_.Converge();
  EXPECT_EQ(Json(world_.Workloads()), before);
  EXPECT_EQ(ConditionReason(world_.Status(), "RemovalBlocked"), "True NodePoolCRDDeleted");
  const std::vector<std::string> reasons = world_.events.TakeReasons();
  EXPECT_EQ(std::count(reasons.begin(), reasons.end(), "RemovalBlocked"), 1);
  // A client creates the CRD again, without its pools, and the operator restarts.
  world_.cluster.Create(kCrdType, {{"metadata", {{"name", kPoolCrd.name}}}});
  world_.Restart();
  world_.Converge();
  EXPECT_EQ(Json(world_.Workloads()), before);
  EXPECT_EQ(ConditionReason(world_.Status(), "RemovalBlocked"), "True NodePoolCRDDeleted");
  world_.AddPools({"a", "b", "c"});
  world_.Converge();
  EXPECT_EQ(Json(world_.Workloads()), before);
  // The pools a, b and c exist again, and only pool d does not.
  EXPECT_THAT(Message(), HasSubstr("1 pool: "));
  Allow(Token());
  world_.Converge();
  EXPECT_THAT(world_.Workloads(), SizeIs(3));
  EXPECT_EQ(ConditionReason(world_.Status(), "RemovalBlocked"), "False NothingBlocked");
}

TEST_P(MassRemovalTest, UnselectedPoolLosesItsWorkloadWithoutTheNodePoolCrd) {
  Deployed("");
  world_.cluster.Delete(kCrdType, kPoolCrd);
  Exclude({"a"});
  world_.Converge();
  EXPECT_THAT(world_.Workloads(), SizeIs(3));
}

// Labels that a user has set with kubectl are not in the manifests of the NodePools.
TEST_P(MassRemovalTest, PoolsThatExistAgainWithoutTheirLabelsKeepTheirWorkloads) {
  Deployed("");
  const auto label = [&] {
    for (const char* pool : {"a", "b", "c", "d"}) {
      world_.cluster.Edit(kNodePoolType, {"", pool}, [](Json& p) { p["metadata"]["labels"]["site"] = "shop"; });
    }
  };
  label();
  world_.EditDaemon([](Json& daemon) { daemon["spec"]["nodepoolSelector"] = {{"matchLabels", {{"site", "shop"}}}}; });
  world_.Converge();
  const Json before = world_.Workloads();
  world_.cluster.Delete(kCrdType, kPoolCrd);
  for (const char* pool : {"a", "b", "c", "d"}) world_.RemovePool(pool);
  world_.Converge();
  world_.cluster.Create(kCrdType, {{"metadata", {{"name", kPoolCrd.name}}}});
  world_.AddPools({"a", "b", "c"});
  world_.Converge();
  EXPECT_EQ(Json(world_.Workloads()), before);
  EXPECT_EQ(ConditionReason(world_.Status(), "RemovalBlocked"), "True NodePoolCRDDeleted");
  EXPECT_THAT(Message(), HasSubstr("these NodePools were deleted with their CRD; restore both. To allow"));
  world_.AddPool("d");
  world_.Converge();
  EXPECT_EQ(Json(world_.Workloads()), before);
  EXPECT_EQ(ConditionReason(world_.Status(), "RemovalBlocked"), "True NodePoolCRDDeleted");
  EXPECT_THAT(Message(), HasSubstr("these NodePools were created again after the deletion of their CRD; "
                                   "restore their labels. To allow the removal (token "));
  label();
  world_.Converge();
  EXPECT_EQ(Json(world_.Workloads()), before);
  EXPECT_EQ(ConditionReason(world_.Status(), "RemovalBlocked"), "False NothingBlocked");
}

TEST_P(MassRemovalTest, APoolThatExistsAgainWithoutItsLabelLosesItsWorkloadIfTheCrdStayed) {
  Deployed("");
  world_.EditDaemon([](Json& daemon) {
    daemon["spec"]["nodepoolSelector"] = {{"matchExpressions", {{{"key", "gone"}, {"operator", "DoesNotExist"}}}}};
  });
  world_.Converge();
  world_.RemovePool("a");
  Json pool = PoolJson("a");
  pool["metadata"]["labels"]["gone"] = "";
  world_.cluster.Create(kNodePoolType, pool);
  world_.Converge();
  EXPECT_THAT(world_.Workloads(), SizeIs(3));
}

TEST_P(MassRemovalTest, UnavailableCrdBlocksRemovalsAndForbiddenCrdDoesNot) {
  Deployed("");
  const auto reject = [&](int code, const char* reason) {
    world_.cluster.SetFaults([=](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
      if (request.resource != kCrdType.resource) return std::nullopt;
      return FakeCluster::Fault{StatusResponse(code, reason, "no"), false};
    });
  };
  reject(503, "ServiceUnavailable");
  world_.RemovePool("a");
  EXPECT_FALSE(world_.Reconcile());
  EXPECT_THAT(world_.Workloads(), SizeIs(4));
  reject(403, "Forbidden");
  world_.Converge();
  EXPECT_THAT(world_.Workloads(), SizeIs(3));
}

// ---- workloads that the caches do not show ----

TEST_P(MassRemovalTest, AWorkloadThatLostItsLabelIsRemovedWithItsPool) {
  Deployed("");
  world_.EditWorkload("a", [](Json& workload) { workload["metadata"]["labels"].erase(kPoolNameLabel); });
  Exclude({"a"});
  world_.Restart();
  world_.Converge();
  EXPECT_THAT(world_.Workloads(), SizeIs(3));
  EXPECT_TRUE(PoolStatus(world_.Status(), "a").is_null());
}

TEST_P(MassRemovalTest, ReadsAWorkloadWithoutItsLabelUntilItIsDeleted) {
  Deployed("");
  world_.EditWorkload("a", [](Json& workload) { workload["metadata"]["labels"].erase(kPoolNameLabel); });
  Exclude({"a"});
  world_.Restart();
  const auto first = world_.Reconcile();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->next, ReconcileResult::Next::kBackoff);
  EXPECT_EQ(ConditionReason(world_.Status(), "WorkLoadProvisioned"), "False ");
  const auto second = world_.Reconcile();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->next, kAfter) << "statuses are written a second apart";
  world_.clock.Advance(std::chrono::seconds(1));
  const auto third = world_.Reconcile();
  ASSERT_TRUE(third);
  EXPECT_EQ(third->next, kReconcileDone);
  EXPECT_EQ(ConditionReason(world_.Status(), "WorkLoadProvisioned"), "True ");
}

TEST_P(MassRemovalTest, ABlockedWorkloadThatLosesItsLabelIsStillTracked) {
  Deployed("0");
  Exclude({"a"});
  world_.Converge();
  const std::string token = Token();
  world_.EditWorkload("a", [](Json& workload) { workload["metadata"]["labels"].erase(kPoolNameLabel); });
  world_.Converge();
  EXPECT_EQ(Token(), token);
  EXPECT_EQ(ConditionReason(world_.Status(), "RemovalBlocked"), "True TooManyRemovals");
  Allow(token);
  world_.Converge();
  EXPECT_THAT(world_.Workloads(), SizeIs(3));
}

TEST_P(MassRemovalTest, KeepsAForeignWorkloadWithTheNameOfADeletedOne) {
  Deployed("");
  world_.cluster.Delete(world_.type(), {kNs, world_.NameOf("a")});
  Exclude({"a"});
  const Json other =
      world_.cluster.Create(world_.type(), {{"metadata", {{"namespace", kNs}, {"name", world_.NameOf("a")}}},
                                            {"spec", {{"selector", {{"matchLabels", {{kPoolNameLabel, "a"}}}}}}}});
  world_.Restart();
  world_.Converge();
  EXPECT_EQ(world_.Workload("a")["metadata"]["uid"], other["metadata"]["uid"]);
  EXPECT_TRUE(PoolStatus(world_.Status(), "a").is_null());
}

TEST_P(MassRemovalTest, RemovedWorkloadsAreNotReadAgain) {
  Deployed("");
  std::atomic<int> reads = 0;
  world_.cluster.SetFaults([&](const WriteRecord& request, const Json&) -> std::optional<FakeCluster::Fault> {
    if (request.method == "GET" && request.resource == world_.type().resource) ++reads;
    return std::nullopt;
  });
  Exclude({"a", "b"});
  for (int i = 0; i < 5; ++i) {
    world_.Sync();
    reads = 0;
    world_.ReconcileWithOldCaches();
    EXPECT_EQ(reads.load(), 0);
    world_.clock.Advance(std::chrono::seconds(1));
  }
  EXPECT_THAT(world_.Workloads(), SizeIs(2));
}

}  // namespace
}  // namespace yad::testing
