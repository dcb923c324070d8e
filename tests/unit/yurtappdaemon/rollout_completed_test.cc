// Rollouts that were complete once. Condition Complete becomes False again later, for example because a pool joins.
#include <gtest/gtest.h>

#include "operator/workload/service.h"
#include "tests/unit/yurtappdaemon/rolling_update_fixture.h"

namespace yad {
namespace {

using namespace testing;

// Each of these events makes condition Complete False.
enum class LaterEvent { kPoolJoins, kWorkloadIsDeleted, kPoolIsSelectedAgain, kSpecIsInvalid };

class CompletedRolloutTest : public RollingUpdateTest {
 protected:
  // Runs `body` for each event.
  template <typename Body>
  void PlayWithEachEvent(const Body& body) {
    for (const LaterEvent event : {LaterEvent::kPoolJoins, LaterEvent::kWorkloadIsDeleted,
                                   LaterEvent::kPoolIsSelectedAgain, LaterEvent::kSpecIsInvalid}) {
      SCOPED_TRACE(static_cast<int>(event));
      Play([&] { body(event); });
    }
  }
  // Rolls app:2 out to the pools a, b and c without `excluded`. The removal of its workload is blocked.
  void RolledOutWithout(const std::string& excluded) {
    world_.limit = IntOrPercent{0, false};
    world_.Restart();
    Deployed({"a", "b", "c"}, {{"onFailure", "Rollback"}, {"maxUnavailable", 3}});
    world_.EditDaemon([&](Json& daemon) { daemon["spec"]["nodePools"] = {{"exclude", {excluded}}}; });
    world_.SetImage("app:2");
    Step(20);
    for (const char* pool : {"a", "b", "c"}) {
      if (pool != excluded) Heal(pool);
    }
    Step();
    ASSERT_EQ(Complete(), "True RolloutComplete");
  }
  // Rolls app:2 out to the pools a and b. The server responds to updates of pool a with `answer`, and maxFailures
  // allows the failure.
  void RolledOutWhileUpdatesOfAFail(const HttpResponse& answer = StatusResponse(422, "Invalid", "no")) {
    world_.watches_freeze = true;
    world_.Restart();
    Deployed({"a", "b"}, {{"maxUnavailable", 2}, {"maxFailures", 1}});
    RejectUpdatesOf("a", answer);
    world_.SetImage("app:2");
    StepDespiteErrors();
    Heal("b");
    StepDespiteErrors();
  }
  // Rejects the creation of each workload, until world_.cluster.SetFaults(nullptr).
  void RejectCreations(const HttpResponse& answer = StatusResponse(403, "Forbidden", "denied by policy")) {
    world_.cluster.SetFaults(
        [answer, this](const WriteRecord& write, const Json&) -> std::optional<FakeCluster::Fault> {
          if (write.method != "POST" || write.resource != world_.type().resource) return std::nullopt;
          return FakeCluster::Fault{answer, false};
        });
  }
  void Happens(LaterEvent event) {
    const Json spec = world_.Daemon()["spec"];
    switch (event) {
      case LaterEvent::kPoolJoins:
        world_.AddPool("n");
        break;
      case LaterEvent::kWorkloadIsDeleted:
        DeleteWorkload("b");
        break;
      case LaterEvent::kPoolIsSelectedAgain:
        world_.EditDaemon([](Json& daemon) { daemon["spec"].erase("nodePools"); });
        break;
      case LaterEvent::kSpecIsInvalid:
        world_.EditDaemon([](Json& daemon) {
          daemon["spec"]["nodepoolSelector"]["matchExpressions"] = {{{"key", "k"}, {"operator", "In"}}};
        });
        Step();
        EXPECT_EQ(Complete(), "False InvalidSpec");
        world_.EditDaemon([&](Json& daemon) { daemon["spec"] = spec; });
        break;
    }
  }
  // Reconciles for 12 minutes. The pools other than `a` are healthy.
  void ReconcileForTwelveMinutes() {
    for (int i = 0; i < 24; ++i) {
      StepDespiteErrors();
      for (const char* pool : {"b", "c", "n"}) {
        if (!world_.Workload(pool).is_null()) Heal(pool);
      }
      world_.clock.Advance(seconds(22));
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Kind, CompletedRolloutTest,
                         ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet));

TEST_P(CompletedRolloutTest, RejectedChangeOfAPoolThatWasNeverHealthyLeavesTheRolloutComplete) {
  Play([&] {
    Deployed({"a"});
    world_.AddPool("new");
    Step();
    Step(700);  // longer than the deadline
    ASSERT_EQ(Phase("new"), "Failed ProgressDeadlineExceeded");
    ASSERT_EQ(Complete(), "True CompleteWithFailures");
    RejectUpdatesOf("new");
    Taint("new", "edge");
    for (int i = 0; i < 3; ++i) {
      static_cast<void>(world_.Reconcile());
      EXPECT_EQ(Complete(), "True CompleteWithFailures") << "reconcile " << i;
      world_.clock.Advance(seconds(2));
    }
  });
}

// currentRevision stays the revision before the rollout, because the removal of the workload of pool c is blocked.
TEST_P(CompletedRolloutTest, PoolThatFailsLaterCausesNoRollback) {
  PlayWithEachEvent([&](LaterEvent event) {
    ASSERT_NO_FATAL_FAILURE(RolledOutWithout("c"));
    ASSERT_NE(Current(), StringAt(world_.Status(), {"updateRevision"}));
    Break("a");
    Step();
    Step(700);
    ASSERT_EQ(Phase("a"), "Failed ProgressDeadlineExceeded");
    Happens(event);
    ReconcileForTwelveMinutes();
    EXPECT_FALSE(IsMarkedFailed());
    EXPECT_EQ(Images(), event == LaterEvent::kPoolJoins             ? "a=2 b=2 c=1 n=2"
                        : event == LaterEvent::kPoolIsSelectedAgain ? "a=2 b=2 c=2"
                                                                    : "a=2 b=2 c=1");
    EXPECT_EQ(Complete(), "True RolloutComplete");
  });
}

TEST_P(CompletedRolloutTest, PoolThatFailsOnTheRevisionForTheFirstTimeStillStopsIt) {
  Play([&] {
    ASSERT_NO_FATAL_FAILURE(RolledOutWithout("a"));
    Happens(LaterEvent::kPoolIsSelectedAgain);
    ReconcileForTwelveMinutes();
    EXPECT_TRUE(IsMarkedFailed()) << "pool a was never healthy on the revision";
    EXPECT_EQ(Images(), "a=1 b=1 c=1");
    EXPECT_FALSE(world_.Status().contains("completedRevision"));
  });
}

// For a moment in the middle of the rollout, the selector does not match any pool.
TEST_P(CompletedRolloutTest, ARolloutToNoPoolsIsNotComplete) {
  Play([&] {
    world_.limit = IntOrPercent{0, false};
    world_.Restart();
    Deployed({"a", "b", "c"}, {{"onFailure", "Rollback"}});
    world_.SetImage("app:2");
    Step();
    Heal("a");
    Step();
    world_.EditDaemon([](Json& daemon) { daemon["spec"]["nodePools"] = {{"exclude", {"a", "b", "c"}}}; });
    Step(20);
    EXPECT_FALSE(world_.Status().contains("completedRevision"));
    Happens(LaterEvent::kPoolIsSelectedAgain);
    Step();
    Break("a");
    ReconcileForTwelveMinutes();
    EXPECT_TRUE(IsMarkedFailed());
  });
}

TEST_P(CompletedRolloutTest, ARolloutToNoPoolsIsNotCompleteIfAllPoolsHaveTheRevision) {
  Play([&] {
    world_.limit = IntOrPercent{0, false};
    world_.Restart();
    Deployed({"a", "b", "c"}, {{"onFailure", "Rollback"}, {"maxUnavailable", 3}});
    world_.SetImage("app:2");
    Step();
    ASSERT_EQ(Images(), "a=2 b=2 c=2");
    world_.EditDaemon([](Json& daemon) { daemon["spec"]["nodePools"] = {{"exclude", {"a", "b", "c"}}}; });
    Step(20);
    Happens(LaterEvent::kPoolIsSelectedAgain);
    Step();
    EXPECT_EQ(Complete(), "False RollingOut");
    ReconcileForTwelveMinutes();  // pool a does not become healthy
    EXPECT_TRUE(IsMarkedFailed());
  });
}

// The Service of pool b belongs to another owner. The pool still waits for its update.
TEST_P(CompletedRolloutTest, RolloutIsNotCompleteIfAPoolWithAConflictWaitsForItsUpdate) {
  Play([&] {
    world_.AddPools({"a", "b"});
    Json daemon = DaemonJson("app:1", GetParam());
    daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", {{"partition", 1}}}};
    daemon["spec"]["serviceTemplate"] = {{"spec", {{"ports", {{{"name", "http"}, {"port", 80}}}}}}};
    world_.CreateDaemon(daemon);
    world_.Converge();
    const ObjectKey service{kNs, ServiceName(world_.NameOf("b"))};
    world_.cluster.Delete(kServiceType, service);
    world_.cluster.Create(kServiceType, {{"metadata", {{"name", service.name}, {"namespace", service.ns}}},
                                         {"spec", {{"ports", {{{"port", 1}}}}, {"selector", {{"app", "x"}}}}}});
    StepDespiteErrors();
    world_.SetImage("app:2");
    StepDespiteErrors();
    Heal("a");
    for (int i = 0; i < 3; ++i) StepDespiteErrors();
    EXPECT_EQ(Phase("b"), "Failed ServiceConflict");
    EXPECT_EQ(Images(), "a=2 b=1");
    EXPECT_EQ(Complete(), "False PartitionReached");
    EXPECT_NE(Current(), StringAt(world_.Status(), {"updateRevision"}));
  });
}

TEST_P(CompletedRolloutTest, RejectedUpdateIsRetriedAlthoughAnotherPoolHasFailed) {
  Play([&] {
    Deployed({"a", "b", "c"}, {{"maxFailures", 2}, {"progressDeadlineSeconds", 30}});
    RejectUpdatesOf("a");
    world_.SetImage("app:2");
    for (int i = 0; i < 6; ++i) StepDespiteErrors();  // pool b does not become healthy
    Heal("c");
    StepDespiteErrors();
    ASSERT_EQ(Phase("b"), "Failed ProgressDeadlineExceeded");
    ASSERT_EQ(Complete(), "True CompleteWithFailures");
    ASSERT_EQ(Images(), "a=1 b=2 c=2");
    world_.cluster.SetFaults(nullptr);
    Step(400);
    EXPECT_EQ(Images(), "a=2 b=2 c=2");
  });
}

TEST_P(CompletedRolloutTest, UpdateThatAWebhookFailedIsNotRetriedDuringAFreeze) {
  Play([&] {
    RolledOutWhileUpdatesOfAFail(StatusResponse(500, "InternalError", "failed calling webhook \"policy\": EOF"));
    EXPECT_EQ(Phase("a"), "Failed WebhookFailed");
    world_.cluster.Create(kConfigMapType, {{"metadata", {{"namespace", kFreezeNs}, {"name", kFreezeName}}}});
    for (int i = 0; i < 3; ++i) StepDespiteErrors();
    world_.cluster.SetFaults(nullptr);
    for (int i = 0; i < 3; ++i) StepDespiteErrors();
    EXPECT_EQ(Images(), "a=1 b=2");
    world_.cluster.Delete(kConfigMapType, {kFreezeNs, kFreezeName});
    ReconcileForTwelveMinutes();
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

TEST_P(CompletedRolloutTest, ReleasedPoolIsNotUpdatedDuringAFreeze) {
  Play([&] {
    RolledOutWhileUpdatesOfAFail();
    ASSERT_EQ(Complete(), "True CompleteWithFailures");
    AnnotatePool("a", kHoldAnnotation, "stocktaking");  // the rejection of a held pool is dropped
    StepDespiteErrors();
    world_.cluster.Create(kConfigMapType, {{"metadata", {{"namespace", kFreezeNs}, {"name", kFreezeName}}}});
    StepDespiteErrors();
    world_.cluster.SetFaults(nullptr);
    world_.cluster.Edit(kNodePoolType, {"", "a"},
                        [](Json& pool) { pool["metadata"]["annotations"].erase(kHoldAnnotation); });
    for (int i = 0; i < 3; ++i) StepDespiteErrors();
    EXPECT_EQ(Images(), "a=1 b=2");
    EXPECT_EQ(WaitingFor("a"), "Freeze");
    world_.cluster.Delete(kConfigMapType, {kFreezeNs, kFreezeName});
    ReconcileForTwelveMinutes();
    EXPECT_EQ(Images(), "a=2 b=2");
  });
}

TEST_P(CompletedRolloutTest, RejectedUpdateIsNotRetriedDuringAFreeze) {
  PlayWithEachEvent([&](LaterEvent event) {
    if (event == LaterEvent::kPoolIsSelectedAgain) return;
    RolledOutWhileUpdatesOfAFail();
    ASSERT_EQ(Complete(), "True CompleteWithFailures");
    ASSERT_EQ(Current(), StringAt(world_.Status(), {"updateRevision"}));
    world_.cluster.Create(kConfigMapType, {{"metadata", {{"namespace", kFreezeNs}, {"name", kFreezeName}}}});
    StepDespiteErrors();
    world_.cluster.SetFaults(nullptr);
    Happens(event);
    ReconcileForTwelveMinutes();
    EXPECT_EQ(Images(), event == LaterEvent::kPoolJoins ? "a=1 b=2 n=2" : "a=1 b=2");
    world_.cluster.Delete(kConfigMapType, {kFreezeNs, kFreezeName});
    ReconcileForTwelveMinutes();
    EXPECT_EQ(Images(), event == LaterEvent::kPoolJoins ? "a=2 b=2 n=2" : "a=2 b=2");
  });
}

TEST_P(CompletedRolloutTest, StatusNamesTheRevisionUntilTheNextRollout) {
  Deployed({"a", "b"});
  const std::string first = StringAt(world_.Status(), {"updateRevision"});
  EXPECT_EQ(StringAt(world_.Status(), {"completedRevision"}), first);
  world_.SetImage("app:2");
  Look();
  EXPECT_FALSE(world_.Status().contains("completedRevision"));
  // The undo is a new rollout of the first revision.
  world_.SetImage("app:1");
  Look();
  EXPECT_FALSE(world_.Status().contains("completedRevision"));
  Heal("a");
  Look();
  EXPECT_EQ(StringAt(world_.Status(), {"completedRevision"}), first);
  world_.AddPool("n");
  Look();
  EXPECT_EQ(Complete(), "False RollingOut");
  EXPECT_EQ(StringAt(world_.Status(), {"completedRevision"}), first);
}

// The status of an operator version that lacks the field, or of a CRD that lacks it.
TEST_P(CompletedRolloutTest, StatusWithoutTheFieldChangesNoPool) {
  for (const bool complete : {false, true}) {
    SCOPED_TRACE(complete);
    StartOver();
    Deployed({"a", "b", "c"});
    if (!complete) {
      world_.SetImage("app:2");
      Look();
    }
    const std::string images = Images();
    world_.EditDaemon([](Json& daemon) { daemon["status"].erase("completedRevision"); });
    world_.Restart();
    world_.cluster.ClearWrites();
    if (complete) world_.AddPool("n");  // while no operator runs
    Look();
    EXPECT_EQ(Images(), complete ? images + " n=1" : images);
    EXPECT_EQ(world_.Status().contains("completedRevision"), complete);
  }
}

TEST_P(CompletedRolloutTest, CompleteIsFalseAfterAnEditAndItsUndoThatStatusNeverShowed) {
  Deployed({"a", "b"});
  world_.cluster.SetFaults([](const WriteRecord& write, const Json&) -> std::optional<FakeCluster::Fault> {
    if (write.subresource != "status") return std::nullopt;
    return FakeCluster::Fault{StatusResponse(409, "Conflict", "the object has been modified"), false};
  });
  world_.SetImage("app:2");
  StepDespiteErrors();
  ASSERT_EQ(Images(), "a=2 b=1");
  world_.SetImage("app:1");
  StepDespiteErrors();
  ASSERT_EQ(Images(), "a=1 b=1");
  ASSERT_EQ(Complete(), "True RolloutComplete") << "the condition is from the status before the edit";
  world_.cluster.SetFaults(nullptr);
  Look();
  EXPECT_EQ(Complete(), "False RollingOut") << "pool a is not healthy yet";
  Heal("a");
  Look();
  EXPECT_EQ(Complete(), "True RolloutComplete");
  Break("a");
  Look();
  EXPECT_EQ(Complete(), "True RolloutComplete");
}

// The condition does not depend on the responses before the rejection.
TEST_P(CompletedRolloutTest, RejectedWorkloadsOfNewPoolsAreFailuresOfTheRollout) {
  for (const bool rolling : {false, true}) {
    for (const bool error_first : {false, true}) {
      SCOPED_TRACE(::testing::Message() << (rolling ? "RollingUpdate" : "All")
                                        << (error_first ? ", after an error of the server" : ""));
      Play([&] {
        Deployed({"a"}, {{"onFailure", "Rollback"}});
        if (!rolling) world_.EditDaemon([](Json& daemon) { daemon["spec"]["updateStrategy"] = {{"type", "All"}}; });
        Step();
        ASSERT_EQ(Complete(), "True RolloutComplete");
        if (error_first) RejectCreations(StatusResponse(500, "InternalError", "etcd is away"));
        world_.AddPool("b");
        if (error_first) StepDespiteErrors();
        RejectCreations();
        StepDespiteErrors();
        EXPECT_EQ(Phase("b"), "Failed Forbidden");
        EXPECT_EQ(Complete(), "False FailureBudgetExceeded");
        EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
        if (rolling) {
          Strategy("maxFailures", 1);
          StepDespiteErrors();
          EXPECT_EQ(Complete(), "True CompleteWithFailures");
        }
        EXPECT_EQ(Current(), StringAt(world_.Status(), {"updateRevision"}));
        world_.cluster.SetFaults(nullptr);
        Step(400);
        Heal("b");
        Step();
        EXPECT_EQ(Complete(), "True RolloutComplete");
      });
    }
  }
}

// currentRevision stays the revision before the rollout, because the removal of the workload of pool c is blocked.
TEST_P(CompletedRolloutTest, RejectedRecreationOfAWorkloadCausesNoRollback) {
  Play([&] {
    ASSERT_NO_FATAL_FAILURE(RolledOutWithout("c"));
    RejectCreations();
    DeleteWorkload("b");
    ReconcileForTwelveMinutes();
    EXPECT_FALSE(IsMarkedFailed());
    EXPECT_EQ(Images(), "a=2 c=1");
  });
}

}  // namespace
}  // namespace yad
