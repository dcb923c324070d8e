// Pools that their sites hold with the annotation apps.openyurt.io/hold of the NodePool.
#include <gmock/gmock.h>

#include "operator/base/metrics.h"
#include "operator/yurtappdaemon/rollout/rollout.h"
#include "tests/unit/yurtappdaemon/rolling_update_fixture.h"

namespace yad::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class HoldTest : public RollingUpdateTest {
 protected:
  void Hold(const std::string& pool, const std::string& why = "stocktaking") {
    AnnotatePool(pool, kHoldAnnotation, why);
  }
  void Release(const std::string& pool) {
    world_.cluster.Edit(kNodePoolType, {"", pool},
                        [&](Json& object) { object["metadata"]["annotations"].erase(kHoldAnnotation); });
  }
};

TEST_P(HoldTest, HeldPoolIsNotUpdatedAndTheOtherPoolsAreUpdated) {
  Play([&] {
    Deployed({"a", "b", "c"});
    const std::string before = Current();
    Hold("a");
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Images(), "a=1 b=2 c=1") << "the held pool takes no slot";
    Heal("b");
    Step();
    Heal("c");
    Step();
    EXPECT_EQ(Images(), "a=1 b=2 c=2");
    EXPECT_EQ(WaitingFor("a"), "Hold");
    EXPECT_EQ(MessageOf("a"), "the site holds the pool: stocktaking (kubectl yad release a)");
    EXPECT_EQ(Complete(), "False PoolsHeld");
    EXPECT_EQ(Progressing(), "True PoolsHeld");
    EXPECT_EQ(Message(), "2 of 3 pools are updated; held: a (kubectl yad release a)");
    EXPECT_EQ(Ready(), "True PoolsReady");
    EXPECT_EQ(ConditionReason(world_.Status(), "Reconciling"), "absent") << "a tool must not wait until the hold ends";
    EXPECT_EQ(ConditionReason(world_.Status(), "Stalled"), "absent");
    EXPECT_EQ(Current(), before);
    EXPECT_EQ(world_.Status()["failedPools"], 0);
    Release("a");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=2");
    Heal("a");
    Step();
    EXPECT_EQ(Complete(), "True RolloutComplete");
    EXPECT_NE(Current(), before);
  });
}

TEST_P(HoldTest, AHoldTakesEffectDuringABatchOfUpdates) {
  world_.parallel_writes = 1;
  world_.Restart();
  Deployed({"a", "b", "c"}, {{"maxUnavailable", 3}});
  world_.cluster.SetAfterwards([this](const WriteRecord& request) {
    if (request.method != "PUT" || request.resource != TypeOf(GetParam()).resource) return;
    world_.cluster.SetAfterwards(nullptr);
    Hold("b");
    world_.SyncAllButDeployments();
  });
  world_.SetImage("app:2");
  Step();
  EXPECT_EQ(Images(), "a=2 b=1 c=2");
  Release("b");
  Step();
  EXPECT_EQ(Images(), "a=2 b=2 c=2");
}

TEST_P(HoldTest, HeldPoolGetsNewReplicasAndKeepsItsOldTemplate) {
  Play([&] {
    Deployed({"a", "b"});
    Hold("a");
    const auto set_replicas = [&](int replicas) {
      world_.EditDaemon([&](Json& daemon) { TemplateOf(daemon)["spec"]["replicas"] = replicas; });
      Step();
    };
    const auto replicas_of_a = [&] { return world_.Workload("a")["spec"]["replicas"]; };
    world_.SetImage("app:2");
    Step();
    Heal("b");
    const std::string label = world_.Workload("a")["metadata"]["labels"][kRevisionLabel];
    set_replicas(5);
    EXPECT_EQ(Images(), "a=1 b=2");
    EXPECT_EQ(replicas_of_a(), 5);
    EXPECT_EQ(world_.Workload("a")["metadata"]["labels"][kRevisionLabel], label)
        << "the pod template is still of this revision";
    EXPECT_EQ(WaitingFor("a"), "Hold");
    Heal("a");
    Scale("a", 1);
    Step();
    EXPECT_EQ(replicas_of_a(), 5) << "the operator reverts a change of another client to the new number";
    set_replicas(3);
    EXPECT_EQ(replicas_of_a(), 3);
    Heal("a");
    Heal("b");
    world_.cluster.ClearWrites();
    Step();
    for (const WriteRecord& write : world_.cluster.writes())
      EXPECT_NE(write.method, "PUT") << "nothing has changed since the last write";
    Release("a");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2");
    EXPECT_EQ(replicas_of_a(), 3);
    const std::string record = world_.Workload("a")["metadata"]["annotations"][kRenderedFromAnnotation];
    EXPECT_THAT(record, Not(HasSubstr("replicas"))) << "the replicas are again those of the revision";
  });
}

TEST_P(HoldTest, HeldPoolGetsTheReplicasOfANewOverride) {
  Deployed({"a", "b"});
  Hold("a");
  world_.SetImage("app:2");
  world_.EditDaemon([](Json& daemon) { daemon["spec"]["overrides"] = {{{"pools", {"a"}}, {"replicas", 4}}}; });
  Step();
  EXPECT_EQ(Images(), "a=1 b=2");
  EXPECT_EQ(world_.Workload("a")["spec"]["replicas"], 4);
  Heal("a");
  Heal("b");
  Taint("a", "x");
  Step();
  EXPECT_EQ(world_.Workload("a")["spec"]["replicas"], 4) << "an update for the pool keeps the replicas";
  EXPECT_EQ(Images(), "a=1 b=2");
}

// An autoscaler changes the replicas from now on, also in a pool that keeps its old template.
TEST_P(HoldTest, HeldPoolKeepsTheReplicasOfAnAutoscalerIfTheNewTemplateHasNone) {
  Play([&] {
    Deployed({"a", "b"});
    Hold("a");
    world_.EditDaemon([](Json& daemon) {
      PodSpecOf(TemplateOf(daemon))["containers"][0]["image"] = "app:2";
      TemplateOf(daemon)["spec"].erase("replicas");
    });
    Step();
    EXPECT_EQ(Images(), "a=1 b=2");
    EXPECT_EQ(world_.Workload("a")["spec"]["replicas"], 1) << "the replicas of the autoscaler stay";
    Scale("a", 5);
    Step();
    EXPECT_EQ(world_.Workload("a")["spec"]["replicas"], 5);
    Heal("a");
    Heal("b");
    world_.cluster.ClearWrites();
    Step();
    for (const WriteRecord& write : world_.cluster.writes())
      EXPECT_NE(write.method, "PUT") << "nothing has changed since the last write";
    Taint("a", "x");
    Release("a");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2");
    EXPECT_EQ(world_.Workload("a")["spec"]["replicas"], 5);
  });
}

TEST_P(HoldTest, GroupIsCompleteWithoutItsHeldPools) {
  Play([&] {
    Deployed({"a", "b", "c"},
             {{"groups", {{{"name", "first"}, {"pools", {"a"}}}, {{"name", "second"}, {"pools", {"b"}}}}}});
    Hold("a", "");
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Images(), "a=1 b=2 c=1");
    EXPECT_EQ(MessageOf("a"), "the site holds the pool (kubectl yad release a)") << "a hold without a reason counts";
    Release("a");
    Step();
    EXPECT_EQ(Images(), "a=1 b=2 c=1") << "pool b has the slot";
    Heal("b");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=1") << "the group of pool a is updated first again";
  });
}

TEST_P(HoldTest, HoldDoesNotInterruptAnUpdate) {
  Play([&] {
    Deployed({"a", "b"}, {{"minReadySeconds", 20}});
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Images(), "a=2 b=1");
    Hold("a");
    Step();
    EXPECT_EQ(Phase("a"), "Updating");
    EXPECT_EQ(WaitingFor("a"), "");
    EXPECT_EQ(Images(), "a=2 b=1") << "pool a keeps its slot";
    Heal("a");
    Step(25);
    Step();
    EXPECT_EQ(Images(), "a=2 b=2");
    Heal("b");
    Step(25);
    EXPECT_EQ(Complete(), "True RolloutComplete") << "no pool waits for the hold";
  });
}

TEST_P(HoldTest, PoolThatWasHeldDuringItsUpdateReleasesItsSlotAtTheDeadline) {
  Play([&] {
    Deployed({"a", "b"}, {{"progressDeadlineSeconds", 30}, {"maxFailures", 1}});
    world_.SetImage("app:2");
    Step();
    Hold("a");
    Step(35);
    Step();
    EXPECT_EQ(Phase("a"), "Failed ProgressDeadlineExceeded");
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

TEST_P(HoldTest, RollbackIsCompleteWithoutItsHeldPools) {
  Play([&] {
    Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 30}, {"onFailure", "Rollback"}});
    world_.SetImage("app:2");
    Step();
    Heal("a");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=1");
    Hold("a");
    Hold("b");
    Step(35);
    Step();
    EXPECT_EQ(Progressing(), "False RolledBack");
    EXPECT_EQ(Images(), "a=2 b=2 c=1") << "a hold also stops a rollback";
    EXPECT_NE(Message().find("except for those that are held: a, b"), std::string::npos) << Message();
    EXPECT_EQ(WaitingFor("a"), "Hold");
    Release("b");
    Step();
    EXPECT_EQ(Images(), "a=2 b=1 c=1");
    EXPECT_EQ(Progressing(), "True RollingBack");
    Heal("b");
    Step();
    Release("a");
    Step();
    EXPECT_EQ(Images(), "a=1 b=1 c=1");
    Heal("a");
    Step();
    EXPECT_EQ(Progressing(), "False RolledBack");
    EXPECT_EQ(Message().find("except"), std::string::npos) << Message();
  });
}

TEST_P(HoldTest, HoldDelaysNoCreationRepairOrScaling) {
  Play([&] {
    Deployed({"a", "b"});
    Hold("a");
    world_.AddPool("c");
    Hold("c");
    Step();
    EXPECT_EQ(Images(), "a=1 b=1 c=1") << "the workload is created despite the hold";
    Heal("c");
    world_.EditWorkload(
        "a", [](Json& workload) { workload["spec"]["template"]["spec"]["containers"][0]["image"] = "app:9"; });
    Step();
    EXPECT_EQ(Images(), "a=1 b=1 c=1") << "the workload is repaired despite the hold";
    Heal("a");
    world_.EditDaemon([](Json& daemon) { TemplateOf(daemon)["spec"]["replicas"] = 4; });
    Step();
    EXPECT_EQ(world_.Workload("a")["spec"]["replicas"], 4);
    EXPECT_EQ(WaitingFor("a"), "");
  });
}

TEST_P(HoldTest, CreatedWorkloadOfAHeldPoolIsOnTheCurrentRevision) {
  Play([&] {
    Deployed({"a", "b"});
    Hold("a");
    world_.SetImage("app:2");
    Step();
    Heal("b");
    Step();
    world_.AddPool("c");
    Hold("c");
    world_.cluster.Delete(TypeOf(GetParam()), {kNs, world_.NameOf("a")});
    ASSERT_TRUE(world_.Reconcile());
    EXPECT_EQ(Progressing(), "True PoolsHeld");
    Step();
    EXPECT_EQ(Images(), "a=1 b=2 c=1");
    Heal("a");
    Heal("c");
    Step();
    EXPECT_EQ(Progressing(), "True PoolsHeld");
    Release("a");
    Release("c");
    Step();
    Heal("a");
    Heal("c");
    Step();
    Heal("a");
    Heal("c");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=2");
  });
}

TEST_P(HoldTest, UnhealthyPoolThatIsHeldNeitherCompletesNorStopsTheRollout) {
  for (const int max_failures : {0, 1}) {
    Play([&] {
      Deployed({"a", "b"}, {{"progressDeadlineSeconds", 30}, {"maxFailures", max_failures}});
      const std::string before = Current();
      Hold("a");
      Break("a");
      Step();
      Step(35);
      world_.SetImage("app:2");
      Step();
      Heal("b");
      Step();
      EXPECT_EQ(Images(), "a=1 b=2");
      EXPECT_EQ(Complete(), "False PoolsHeld");
      EXPECT_EQ(Progressing(), "True PoolsHeld");
      EXPECT_EQ(Current(), before);
    });
  }
}

TEST_P(HoldTest, NewTaintOfAHeldPoolIsToleratedAfterTheRelease) {
  Play([&] {
    Deployed({"a", "b"});
    Hold("a");
    Taint("a", "gpu");
    Step();
    EXPECT_FALSE(Tolerates("a"));
    Release("a");
    Step();
    EXPECT_TRUE(Tolerates("a"));
  });
}

TEST_P(HoldTest, HeldPoolWithARejectedWriteIsNotAFailure) {
  Play([&] {
    Deployed({"a", "b"});
    RejectUpdatesOf("a");
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
    Hold("a");
    Step();
    EXPECT_EQ(Images(), "a=1 b=2");
    EXPECT_EQ(Phase("a"), "Ready");
    EXPECT_EQ(WaitingFor("a"), "Hold");
  });
}

TEST_P(HoldTest, LongReasonIsTruncated) {
  Deployed({"a", "b"});
  Hold("a", std::string(100'000, 'x'));
  world_.SetImage("app:2");
  Step();
  EXPECT_EQ(WaitingFor("a"), "Hold");
  EXPECT_LT(MessageOf("a").size(), 400U);
}

TEST_P(HoldTest, StatusOfManyHeldPoolsStaysWithinItsLimit) {
  std::vector<std::string> pools;
  for (int i = 0; i < 501; ++i) pools.push_back("p" + std::to_string(1000 + i));
  Deployed(pools);
  for (const std::string& pool : pools) Hold(pool, std::string(4000, 'x'));
  world_.SetImage("app:2");
  Step();
  const Json status = world_.Status();
  EXPECT_EQ(status["pools"].size(), 500U);
  EXPECT_EQ(WaitingFor("p1000"), "Hold");
  EXPECT_EQ(Progressing(), "True PoolsHeld");
  EXPECT_LT(Message().size(), 1000U);
  std::size_t messages = 0;
  for (const Json& pool : status["pools"]) messages += StringAt(pool, {"message"}).size();
  EXPECT_LE(messages, 64U * 1024);
  EXPECT_LT(status.dump().size(), 500'000U);
}

TEST_P(HoldTest, MetricCountsThePoolsThatWaitByReason) {
  for (const std::string_view reason : WaitingForValues()) {  // Another test may have set their metrics.
    metrics::Remove("yurtappdaemon_waiting_pools",
                    {{"name", "web"}, {"namespace", "ns"}, {"reason", std::string(reason)}});
  }
  Deployed({"a", "b", "c", "d"});
  const auto metric = [](const std::string& reason) {
    return "yurtappdaemon_waiting_pools{name=\"web\",namespace=\"ns\",reason=\"" + reason + "\"}";
  };
  EXPECT_THAT(metrics::Render(), Not(HasSubstr("yurtappdaemon_waiting_pools{name=\"web\",")));
  Hold("a");
  world_.SetImage("app:2");
  Step();
  EXPECT_EQ(Images(), "a=1 b=2 c=1 d=1");
  EXPECT_THAT(metrics::Render(), HasSubstr(metric("Hold") + " 1\n"));
  EXPECT_THAT(metrics::Render(), HasSubstr(metric("Slot") + " 2\n"));
  EXPECT_THAT(metrics::Render(), Not(HasSubstr(metric("Group"))));
  Release("a");
  Step();
  EXPECT_THAT(metrics::Render(), HasSubstr(metric("Hold") + " 0\n"));
  EXPECT_THAT(metrics::Render(), HasSubstr(metric("Slot") + " 3\n"));
  world_.cluster.Delete(kYurtAppDaemonType, {kNs, "web"});
  Look();
  EXPECT_THAT(metrics::Render(), Not(HasSubstr("yurtappdaemon_waiting_pools{name=\"web\",")));
}

INSTANTIATE_TEST_SUITE_P(Kind, HoldTest, ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet));

TEST(WaitingForValuesTest, ValuesAreUniqueAndBeginWithSlot) {
  EXPECT_EQ(WaitingForValues().front(), "Slot");
  EXPECT_EQ(std::set(WaitingForValues().begin(), WaitingForValues().end()).size(), WaitingForValues().size());
  EXPECT_THAT(WaitingForValues(), ::testing::Contains(ToString(WaitingFor::kDeletion)));
}

}  // namespace
}  // namespace yad::testing
