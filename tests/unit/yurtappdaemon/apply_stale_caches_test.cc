// The executor reads objects from the server before a write that a stale cache could make wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "operator/yurtappdaemon/apply/executor.h"
#include "tests/unit/yurtappdaemon/apply_fixture.h"
#include "tests/unit/yurtappdaemon/world.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(PlanExecutorTest, RemovalKeepsANewWorkloadWithTheNameOfThePlannedOne) {
  Deployed({"a"});
  world_.RemovePool("a");
  const Snapshot snapshot = Take();
  const Json old = world_.Workload("a");
  world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("a")});
  EXPECT_FALSE(ApplyTo(snapshot).retry) << "the workload is already gone";
  world_.cluster.Create(kDeploymentType, old);
  EXPECT_TRUE(ApplyTo(snapshot).retry);
  EXPECT_THAT(world_.Workloads(), SizeIs(1)) << "the new workload has another uid";
}

TEST_F(PlanExecutorTest, DuplicateIsKeptIfTheOtherWorkloadWasDeleted) {
  const Snapshot snapshot = TakeWithADuplicate();
  world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("a")});
  const Outcome applied = ApplyTo(snapshot);
  EXPECT_TRUE(applied.retry);
  EXPECT_THAT(applied.duplicates_removed, IsEmpty());
  EXPECT_THAT(world_.Workloads(), SizeIs(1)) << "otherwise, the pool would have no workload";
  world_.RunWorkloadControllers();
  Apply();
  EXPECT_THAT(world_.Workloads(), SizeIs(1));
}

TEST_F(PlanExecutorTest, DuplicateIsKeptIfTheOtherWorkloadHasLostItsLabel) {
  const Snapshot snapshot = TakeWithADuplicate();
  world_.EditWorkload("a", [](Json& w) { w["metadata"]["labels"].erase(kPoolNameLabel); });
  const Outcome applied = ApplyTo(snapshot);
  EXPECT_TRUE(applied.retry);
  EXPECT_THAT(applied.duplicates_removed, IsEmpty());
  EXPECT_THAT(world_.Workloads(), SizeIs(2)) << "the informer shows only the workload that would be removed";
}

TEST_F(PlanExecutorTest, DuplicateIsKeptIfTheOtherWorkloadIsNoLongerAvailable) {
  const Snapshot snapshot = TakeWithADuplicate();
  world_.EditWorkload("a", [](Json& w) { w["status"]["conditions"][0]["status"] = "False"; });
  const Outcome applied = ApplyTo(snapshot);
  EXPECT_TRUE(applied.retry);
  EXPECT_THAT(applied.duplicates_removed, IsEmpty());
  EXPECT_THAT(world_.Workloads(), SizeIs(2)) << "only the duplicate is available";
}

TEST_F(PlanExecutorTest, WorkloadIsKeptIfTheDaemonOnTheServerSelectsItsPool) {
  Deployed({"a", "b"});
  Snapshot snapshot = Take();
  snapshot.pools.clear();  // as in a list from an apiserver that lags
  world_.RemovePool("b");
  const Outcome applied = ApplyTo(snapshot);
  EXPECT_THAT(applied.removed, ElementsAre("b"));
  ASSERT_TRUE(applied.retry);
  EXPECT_EQ(applied.retry->reason, Reason::kConflict);
  EXPECT_FALSE(world_.Workload("a").is_null());
}

TEST_F(PlanExecutorTest, WorkloadIsKeptIfItsPoolCannotBeRead) {
  Deployed({"a"});
  world_.RemovePool("a");
  for (const int code : {403, 404, 500, 503}) {
    world_.cluster.SetFaults([&](const WriteRecord& r, const Json&) -> std::optional<FakeCluster::Fault> {
      if (r.resource != "nodepools") return std::nullopt;
      return FakeCluster::Fault{StatusResponse(code, "", "no"), false};
    });
    const Outcome applied = Apply();
    EXPECT_TRUE(applied.retry) << code;
    EXPECT_FALSE(world_.Workload("a").is_null()) << code;
  }
}

TEST_F(PlanExecutorTest, AWorkloadThatLostItsOwnerIsNotRemoved) {
  Deployed({"a"});
  world_.RemovePool("a");
  const Snapshot snapshot = Take();
  world_.EditWorkload("a", [](Json& w) { w["metadata"].erase("ownerReferences"); });
  EXPECT_TRUE(ApplyTo(snapshot).retry);
  EXPECT_FALSE(world_.Workload("a").is_null());
}

// Thousands of removals take time. A user may correct the selector during this time.
TEST_F(PlanExecutorTest, ARevertedSelectorStopsTheRemainingRemovals) {
  Deployed({"a", "b", "c"});
  world_.EditDaemon([](Json& daemon) { daemon["spec"]["nodepoolSelector"] = {{"matchLabels", {{"no", "such"}}}}; });
  After("DELETE",
        [this] { world_.EditDaemon([](Json& daemon) { daemon["spec"]["nodepoolSelector"] = Json::object(); }); });
  Snapshot snapshot = Take();
  snapshot.pools.clear();
  const Outcome applied = ApplyInTurn(snapshot);
  EXPECT_THAT(applied.removed, ElementsAre("a"));
  ASSERT_TRUE(applied.retry);
  EXPECT_EQ(applied.retry->reason, Reason::kConflict);
  EXPECT_THAT(world_.Workloads(), SizeIs(2));
}

// The limit has tokens for the three live reads: of the daemon, of the pool, and of the daemon again.
TEST_F(PlanExecutorTest, RemovalDoesNotWaitForTheRateLimitAfterItsLiveReads) {
  Deployed({"a"});
  world_.RemovePool("a");
  const Snapshot snapshot = Take();
  plan_ = MakePlan(snapshot, memo_);
  ClientOptions options;
  options.qps = 1;
  options.burst = 3;
  Client limited(world_.cluster.transport(), options, world_.clock);
  const PlanExecutor executor(limited, world_.caches(), Clock::Real(), {});
  auto applied =
      std::async(std::launch::async, [&] { return executor.Apply(snapshot.daemon, plan_, memo_, {}).removed; });
  const bool at_once = applied.wait_for(std::chrono::seconds(5)) == std::future_status::ready;
  world_.clock.Advance(std::chrono::minutes(1));
  EXPECT_TRUE(at_once);
  EXPECT_THAT(applied.get(), ElementsAre("a"));
}

// An update of thousands of pools takes time. A user may pause the daemon, or correct the template, during this time.
TEST_F(PlanExecutorTest, ANewerSpecInTheCacheStopsTheRemainingWrites) {
  Deployed({"a", "b", "c"});
  world_.AddPool("d");
  world_.SetImage("app:2");
  After("PUT", [this] {
    world_.EditDaemon([](Json& daemon) { daemon["spec"]["paused"] = true; });
    world_.SyncAllButDeployments();
  });
  const Outcome applied = ApplyInTurn();
  EXPECT_THAT(applied.updated, ElementsAre("a"));
  EXPECT_THAT(applied.created, IsEmpty());
  ASSERT_TRUE(applied.retry);
  EXPECT_EQ(applied.retry->reason, Reason::kConflict);
  EXPECT_EQ(ImageOf(world_.Workload("b")), "app:1");
}

TEST_F(PlanExecutorTest, DeletionOfTheDaemonInTheCacheStopsTheRemainingWrites) {
  Deployed({"a", "b"});
  world_.SetImage("app:2");
  After("PUT", [this] {
    world_.cluster.Delete(kYurtAppDaemonType, {kNs, "web"});
    world_.SyncAllButDeployments();
  });
  EXPECT_THAT(ApplyInTurn().updated, ElementsAre("a"));
  EXPECT_EQ(ImageOf(world_.Workload("b")), "app:1");
}

TEST_F(PlanExecutorTest, AnOlderSpecInTheCacheStopsNoWrite) {
  Deployed({"a"});
  Store old;
  old.Replace({AsWatched(world_.Daemon(), kProjectedOfDaemons, ProjectDaemon)}, "1");
  world_.SetImage("app:2");
  const Snapshot snapshot = Take();
  plan_ = MakePlan(snapshot, memo_);
  World::Stores& now = world_.stores();
  const ReconcilerStores caches{old, now.pools, now.deployments, now.stateful_sets, now.revisions};
  const PlanExecutor executor(world_.client, caches, Clock::Real(), {});
  EXPECT_THAT(executor.Apply(snapshot.daemon, plan_, memo_, {}).updated, ElementsAre("a"));
}

// After a stop, the client rejects every request. Rendering the workload of each remaining pool would only delay the
// exit.
TEST_F(PlanExecutorTest, NoPoolIsRenderedAfterAStop) {
  Deployed({"a", "b"});
  world_.AddPool("c");
  world_.RemovePool("b");
  world_.SetImage("app:2");
  std::stop_source stop;
  After("PUT", [&] { stop.request_stop(); });
  const Outcome applied = ApplyInTurn(Take(), stop.get_token());
  EXPECT_THAT(applied.updated, ElementsAre("a"));
  ASSERT_TRUE(applied.retry);
  EXPECT_EQ(applied.retry->message, "the reconcile was stopped");
}

// kubectl delete --cascade=orphan removes the ownerReferences of the workloads. A workload that is adopted again would
// be garbage collected.
TEST_F(PlanExecutorTest, ReleasedWorkloadIsNotAdoptedAgain) {
  Deployed({"a"});
  world_.SetImage("app:2");
  const Snapshot snapshot = Take();
  world_.EditWorkload("a", [](Json& w) { w["metadata"].erase("ownerReferences"); });
  const Outcome applied = ApplyTo(snapshot);
  EXPECT_THAT(applied.updated, IsEmpty());
  EXPECT_TRUE(applied.retry);
  EXPECT_FALSE(world_.Workload("a")["metadata"].contains("ownerReferences"));
}

TEST_F(PlanExecutorTest, DeletionOfTheDaemonStopsTheRemainingAdoptions) {
  Deployed({"a", "b"});
  for (const char* pool : {"a", "b"}) {
    world_.EditWorkload(pool, [](Json& w) { w["metadata"].erase("ownerReferences"); });
  }
  world_.EditDaemon([](Json& daemon) { daemon["metadata"]["finalizers"] = {"orphan"}; });
  After("PUT", [this] { world_.cluster.Delete(kYurtAppDaemonType, {kNs, "web"}); });
  EXPECT_THAT(ApplyInTurn().adopted, ElementsAre("a"));
  EXPECT_FALSE(world_.Workload("b")["metadata"].contains("ownerReferences"));
}

TEST_F(PlanExecutorTest, WorkloadThatIsOrphanedAfterThePlanIsLeftForTheNextPlan) {
  Deployed({"a"});
  Json left = world_.Workload("a");
  left["metadata"]["name"] = "web-a-zzzzz";
  left["metadata"]["ownerReferences"][0]["uid"] = "earlier";
  world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("a")});
  world_.cluster.Create(kDeploymentType, left);
  const Snapshot snapshot = Take();
  world_.cluster.Edit(kDeploymentType, {kNs, "web-a-zzzzz"}, [](Json& w) { w["metadata"].erase("ownerReferences"); });
  world_.Sync();  // The cache shows the orphan now, but the plan is older.
  EXPECT_TRUE(ApplyTo(snapshot).rejected);
  EXPECT_THAT(world_.Workloads(), SizeIs(1));
  EXPECT_THAT(Apply().adopted, ElementsAre("a"));
}

TEST_F(PlanExecutorTest, NothingIsWrittenIfTheServerHasANewerSpec) {
  Deployed({"a", "b"});
  world_.AddPool("c");
  world_.RemovePool("b");
  world_.SetImage("app:2");
  const Snapshot snapshot = Take();
  world_.SetImage("app:3");
  const Outcome applied = ApplyTo(snapshot);
  ASSERT_TRUE(applied.rejected);
  EXPECT_EQ(applied.rejected->reason, Reason::kConflict);
  EXPECT_THAT(world_.Writes(), IsEmpty());
}

TEST_F(PlanExecutorTest, NothingIsWrittenForAReplacedOrUnreadableDaemon) {
  Deployed({"a"});
  world_.AddPool("b");
  const Snapshot snapshot = Take();
  FailOnce("GET", StatusResponse(503, "ServiceUnavailable", "later"));
  EXPECT_TRUE(ApplyTo(snapshot).rejected);
  const Json daemon = world_.Daemon();
  world_.cluster.Delete(kYurtAppDaemonType, {kNs, "web"});
  EXPECT_TRUE(ApplyTo(snapshot).rejected);
  world_.cluster.Create(kYurtAppDaemonType, daemon);
  EXPECT_TRUE(ApplyTo(snapshot).rejected);
  EXPECT_THAT(world_.Writes(), IsEmpty());
}

TEST_F(PlanExecutorTest, NothingIsWrittenIfThePoolOnTheServerHasOtherTaintsOrIsGone) {
  Deployed({"a"});
  const Snapshot before = Take();
  world_.cluster.Edit(kNodePoolType, {"", "a"}, [](Json& pool) {
    pool["spec"]["taints"] = {{{"key", "shop"}, {"effect", "NoSchedule"}}};
  });
  EXPECT_THAT(Apply().updated, ElementsAre("a"));
  // The snapshot has the current workload, and the pool without its taint.
  Snapshot snapshot = Take();
  snapshot.pools = before.pools;
  world_.cluster.ClearWrites();
  EXPECT_TRUE(ApplyTo(snapshot).retry);
  EXPECT_THAT(world_.Writes(), IsEmpty());
  world_.RemovePool("a");
  EXPECT_TRUE(ApplyTo(snapshot).retry);
  EXPECT_THAT(world_.Writes(), IsEmpty());
}

}  // namespace
}  // namespace yad::testing
