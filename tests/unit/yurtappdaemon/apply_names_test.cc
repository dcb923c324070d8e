// The executor's search for a pool's workload by name before it creates one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/yurtappdaemon/apply/executor.h"
#include "tests/unit/yurtappdaemon/apply_fixture.h"
#include "tests/unit/yurtappdaemon/world.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(PlanExecutorTest, RetryAfterALostResponseCreatesNoSecondWorkload) {
  world_.AddPool("a");
  FailOnce("POST", tl::unexpected<Error>(Error{Reason::kTransport, "connection reset", 0, std::nullopt, {}}),
           /*after=*/true);
  const Snapshot snapshot = Take();
  EXPECT_TRUE(ApplyTo(snapshot).retry);
  const Outcome again = ApplyTo(snapshot);
  EXPECT_FALSE(again.retry);
  ASSERT_TRUE(again.pools[0].workload);
  EXPECT_THAT(world_.Workloads(), SizeIs(1));
  EXPECT_THAT(again.created, IsEmpty());
}

TEST_F(PlanExecutorTest, WorkloadOfAnotherOwnerOrPoolIsAConflictAndIsNotChanged) {
  world_.AddPools({"a", "b"});
  const std::pair<const char*, void (*)(Json&)> cases[] = {
      {"controlled by another", [](Json& w) { w["metadata"]["ownerReferences"][0]["uid"] = "another-owner"; }},
      {"controlled by no owner, with another selector",
       [](Json& w) {
         w["metadata"].erase("ownerReferences");
         w["spec"]["selector"]["matchLabels"] = {{"app", "mine"}};
       }},
      {"ours, of another pool",
       [](Json& w) {
         w["metadata"]["labels"].erase(kPoolNameLabel);
         w["spec"]["selector"]["matchLabels"][kPoolNameLabel] = "b";
       }},
  };
  for (const auto& [what, spoil] : cases) {
    SCOPED_TRACE(what);
    Json theirs = WorkloadJson(world_.Daemon(), MakeRevision(world_.Daemon()), PoolJson("a"));
    spoil(theirs);
    const Json before = world_.cluster.Create(kDeploymentType, theirs);
    const Outcome applied = Apply();
    EXPECT_EQ(applied.pools[0].failure_reason, "WorkloadConflict");
    EXPECT_THAT(applied.pools[0].failure_message, HasSubstr(world_.NameOf("a")));
    EXPECT_TRUE(applied.retry);
    EXPECT_EQ(world_.Workload("a"), before);
    EXPECT_FALSE(world_.Workload("b").is_null()) << "the other pool gets its workload";
    world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("a")});
  }
}

TEST_F(PlanExecutorTest, RepairOfAMissingPoolLabelChangesNothingElse) {
  Deployed({"a"});
  const Json whole = world_.Workload("a");
  // The workload with app:1 loses its label, so the cache does not show it. Then the daemon is paused, and its image is
  // set to app:2.
  world_.EditWorkload("a", [](Json& w) { w["metadata"]["labels"].erase(kPoolNameLabel); });
  world_.EditDaemon([](Json& d) { d["spec"]["paused"] = true; });
  world_.SetImage("app:2");
  const Outcome applied = Apply();
  EXPECT_THAT(applied.created, IsEmpty());
  EXPECT_THAT(applied.repaired, ElementsAre("a"));
  EXPECT_TRUE(applied.pools[0].outstanding) << "the next plan decides what the workload needs";
  Json now = world_.Workload("a");
  EXPECT_EQ(now["metadata"]["labels"], whole["metadata"]["labels"]);
  EXPECT_EQ(now["spec"], whole["spec"]);
  world_.EditDaemon([](Json& d) { d["spec"]["paused"] = false; });
  EXPECT_THAT(Apply().updated, ElementsAre("a"));
}

TEST_F(PlanExecutorTest, FindsAWorkloadByTheLongNameOfAnOlderVersionAndCreatesNoSecondOne) {
  const std::string pool = "country-cn-region-hangzhou-00042-site-edge-production-cluster";
  world_.AddPool(pool);
  Json workload = WorkloadJson(world_.Daemon(), MakeRevision(world_.Daemon()), PoolJson(pool));
  workload["metadata"]["name"] = NameOfOlderVersion("web", world_.uid, pool, WorkloadKind::kDeployment);
  workload["metadata"]["labels"].erase(kPoolNameLabel);  // The cache does not show a workload without the label.
  world_.cluster.Create(kDeploymentType, workload);
  const Outcome applied = Apply();
  EXPECT_THAT(applied.repaired, ElementsAre(pool));
  EXPECT_THAT(applied.created, IsEmpty());
  EXPECT_THAT(world_.Workloads(), SizeIs(1));
}

TEST_F(PlanExecutorTest, CreatesAWorkloadIfTheOneWithTheOldLongNameBelongsToAnotherPool) {
  const std::string pool = "country-cn-region-hangzhou-00042-site-edge-production-cluster";
  world_.AddPool(pool);
  Json other = WorkloadJson(world_.Daemon(), MakeRevision(world_.Daemon()), PoolJson("other"));
  other["metadata"]["name"] = NameOfOlderVersion("web", world_.uid, pool, WorkloadKind::kDeployment);
  other["metadata"]["labels"].erase(kPoolNameLabel);
  world_.cluster.Create(kDeploymentType, other);
  EXPECT_THAT(Apply().created, ElementsAre(pool));
  EXPECT_FALSE(world_.Workload(pool).is_null());
}

TEST_F(PlanExecutorTest, WorkloadWithoutItsPoolLabelIsFoundByItsGeneratedNameInStatus) {
  world_.AddPool("a");
  Json workload = OpenYurtWorkloadJson(world_.Daemon(), MakeRevision(world_.Daemon()), PoolJson("a"));
  workload["metadata"]["labels"].erase(kPoolNameLabel);
  world_.cluster.Create(kDeploymentType, workload);
  world_.EditDaemon([](Json& d) { d["status"]["pools"] = {{{"name", "a"}, {"workload", "web-a-x7k2p"}}}; });
  EXPECT_THAT(Apply().repaired, ElementsAre("a"));
  ASSERT_THAT(world_.Workloads(), SizeIs(1));
  EXPECT_EQ(world_.Workloads()[0]["metadata"]["labels"][kPoolNameLabel], "a");
}

TEST_F(PlanExecutorTest, FindsAWorkloadByTheStatusOnTheServerIfTheCachedStatusIsOlder) {
  Deployed({"a"});
  Json second = world_.Workload("a");
  second["metadata"]["name"] = "web-a-x7k2p";
  second["metadata"]["labels"].erase(kPoolNameLabel);
  world_.cluster.Create(kDeploymentType, second);
  world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("a")});
  const auto remember = [&](const std::string& name) {
    world_.EditDaemon([&](Json& d) { d["status"]["pools"] = {{{"name", "a"}, {"workload", name}}}; });
  };
  remember(world_.NameOf("a"));
  const Snapshot snapshot = Take();
  remember("web-a-x7k2p");
  EXPECT_THAT(ApplyTo(snapshot).repaired, ElementsAre("a"));
  EXPECT_THAT(world_.Workloads(), SizeIs(1));
}

TEST_F(PlanExecutorTest, WorkloadThatIsBeingDeletedCausesARetryAndNoFailure) {
  Deployed({"a"});
  world_.EditWorkload("a", [](Json& w) {
    w["metadata"]["finalizers"] = {"x"};
    w["metadata"]["labels"].erase(kPoolNameLabel);
  });
  world_.cluster.Delete(kDeploymentType, {kNs, world_.NameOf("a")});
  const Outcome applied = Apply();
  EXPECT_TRUE(applied.retry);
  EXPECT_EQ(applied.pools[0].failure_reason, "");
}

}  // namespace
}  // namespace yad::testing
