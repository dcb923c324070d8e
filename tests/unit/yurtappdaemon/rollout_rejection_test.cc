// Writes that the server rejects during a rollout, with one leader and with a new leader at each step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/base/metrics.h"
#include "tests/unit/yurtappdaemon/rolling_update_fixture.h"

namespace yad {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

const HttpResponse kDenied = StatusResponse(403, "Forbidden", "admission webhook \"policy\" denied the request: no");

class RolloutRejectionTest : public RollingUpdateTest {
 protected:
  // Rejects each POST of the pool's workload, until world_.cluster.SetFaults(nullptr).
  void RejectCreationOf(const std::string& pool) {
    world_.cluster.SetFaults(
        [name = world_.NameOf(pool)](const WriteRecord& write, const Json&) -> std::optional<FakeCluster::Fault> {
          if (write.method != "POST" || write.key.name != name) return std::nullopt;
          return FakeCluster::Fault{kDenied, false};
        });
  }
};

INSTANTIATE_TEST_SUITE_P(Kind, RolloutRejectionTest,
                         ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet));

TEST_P(RolloutRejectionTest, RejectedCreationFromCurrentRevisionIsNotAFailureOfTheNewOne) {
  Play([&] {
    Deployed({"a", "b"}, {{"onFailure", "Rollback"}});
    const std::string current = Current();
    AnnotatePool("b", kUpdateWindowsAnnotation, R"([{"start": "06:00", "duration": "1h"}])");
    world_.SetImage("app:2");
    Step();
    Heal("a");
    Step();
    EXPECT_EQ(WaitingFor("b"), "Window");
    RejectCreationOf("b");
    DeleteWorkload("b");
    StepDespiteErrors();
    EXPECT_EQ(Phase("b"), "Failed Forbidden");
    EXPECT_EQ(PoolStatus(world_.Status(), "b")["revision"], current) << "the revision of the rejected write";
    StepDespiteErrors();
    EXPECT_FALSE(IsMarkedFailed());
    EXPECT_EQ(Images(), "a=2");
    world_.cluster.SetFaults(nullptr);
    Step(400);
    EXPECT_EQ(Images(), "a=2 b=1");
  });
}

TEST_P(RolloutRejectionTest, RejectedCreationInTheFirstRolloutIsAFailure) {
  Play([&] {
    world_.AddPools({"a", "b"});
    Json daemon = DaemonJson("app:1", GetParam());
    daemon["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}};
    world_.CreateDaemon(daemon);
    RejectCreationOf("b");
    for (int i = 0; i < 3; ++i) {
      StepDespiteErrors();
      EXPECT_EQ(Phase("b"), "Failed Forbidden");
      EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
    }
  });
}

TEST_P(RolloutRejectionTest, RetryWithAnInconclusiveResponseDoesNotResumeTheRollout) {
  for (const HttpResponse& unclear :
       {StatusResponse(500, "InternalError", "etcd is away"), StatusResponse(409, "Conflict", "changed"),
        StatusResponse(500, "InternalError", "failed calling webhook \"policy\": connection refused")}) {
    SCOPED_TRACE(unclear.body);
    Play([&] {
      Deployed({"a", "b", "c"}, {{"maxUnavailable", 2}});
      RejectUpdatesOf("a", kDenied);
      world_.SetImage("app:2");
      StepDespiteErrors();
      EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
      Heal("b");
      RejectUpdatesOf("a", unclear);
      for (int i = 0; i < 3; ++i) {
        StepDespiteErrors();
        EXPECT_EQ(Phase("a"), "Failed Forbidden");
        EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
      }
      EXPECT_EQ(Images(), "a=1 b=2 c=1");
      world_.cluster.SetFaults(nullptr);
      Step(400);
      EXPECT_EQ(Images(), "a=2 b=2 c=2");
    });
  }
}

// The responses mean that a webhook's JSON patch does not fit this workload, or that the webhook fails for it.
TEST_P(RolloutRejectionTest, PoolWhoseWritesTheWebhookFailsBlocksOnlyTheNextGroup) {
  for (const char* message : {"Internal error occurred: add operation does not apply: doc is missing path: /spec/x",
                              "failed calling webhook \"policy\": EOF"}) {
    SCOPED_TRACE(message);
    Play([&] {
      Deployed({"a", "b", "c", "d"}, {{"groups", {{{"name", "first"}, {"pools", {"a", "b", "c"}}}}}});
      RejectUpdatesOf("a", StatusResponse(500, "InternalError", message));
      world_.SetImage("app:2");
      StepDespiteErrors();
      EXPECT_EQ(Images(), "a=1 b=2 c=1 d=1");
      Heal("b");
      StepDespiteErrors();
      Heal("c");
      for (int i = 0; i < 3; ++i) StepDespiteErrors();
      EXPECT_EQ(Images(), "a=1 b=2 c=2 d=1");
      EXPECT_EQ(Phase("a"), "Failed WebhookFailed");
      EXPECT_EQ(WaitingFor("d"), "Group");
      EXPECT_EQ(Progressing(), "True RollingOut");
      world_.cluster.SetFaults(nullptr);
      Step(400);
      Heal("a");
      Step();
      EXPECT_EQ(Images(), "a=2 b=2 c=2 d=2");
    });
  }
}

TEST_P(RolloutRejectionTest, MetricOfAStoppedRolloutIsSetWhileTheSpecIsInvalid) {
  const std::string metric = R"(yurtappdaemon_rollout_stopped{name="web",namespace="ns"})";
  Deployed({"a"});
  EXPECT_THAT(metrics::Render(), HasSubstr(metric + " 0\n"));
  const auto select = [&](const char* selector) {
    world_.EditDaemon([&](Json& daemon) { daemon["spec"]["nodepoolSelector"] = Json::parse(selector); });
    Look();
  };
  select(R"({"matchExpressions": [{"key": "k", "operator": "In"}]})");
  EXPECT_EQ(Progressing(), "False InvalidSpec");
  EXPECT_THAT(metrics::Render(), HasSubstr(metric + " 1\n"));
  select("{}");
  EXPECT_THAT(metrics::Render(), HasSubstr(metric + " 0\n"));
}

// While the rollout is stopped, the workload is created from currentRevision, and the server accepts or rejects the
// creation.
TEST_P(RolloutRejectionTest, CreationFromCurrentRevisionDoesNotResumeTheRolloutThatARejectedCreationStopped) {
  for (const bool rejects_both : {true, false}) {
    SCOPED_TRACE(rejects_both);
    Deployed({"a", "b", "c"}, {{"maxUnavailable", 2}});
    world_.SetImage("app:2");
    DeleteWorkload("a");
    world_.cluster.SetFaults([name = world_.NameOf("a"), rejects_both](
                                 const WriteRecord& write, const Json& body) -> std::optional<FakeCluster::Fault> {
      if (write.key.name != name || write.method == "GET") return std::nullopt;
      if (!rejects_both && ImageOf(body) != "app:2") return std::nullopt;
      return FakeCluster::Fault{kDenied, false};
    });
    for (int i = 0; i < 10; ++i) {
      static_cast<void>(world_.Reconcile());
      Heal("b");
      world_.clock.Advance(seconds(2));
    }
    EXPECT_EQ(Images(), rejects_both ? "b=2 c=1" : "a=1 b=2 c=1");
    EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
    world_.cluster.SetFaults(nullptr);
    Wait(seconds(400));
    Look();
    Look();
    EXPECT_EQ(Images(), "a=2 b=2 c=2");
    StartOver();
  }
}

TEST_P(RolloutRejectionTest, CorrectedOverrideIsNotAFailureWhileThePoolWaits) {
  Play([&] {
    Deployed(
        {"a", "b"},
        {{"groups",
          {{{"name", "first"}, {"pools", {"a"}}}, {{"name", "second"}, {"pools", {"b"}}, {"approval", "Manual"}}}}});
    const auto label = [&](const std::string& site) {
      world_.cluster.Edit(kNodePoolType, {"", "b"}, [&](Json& pool) { pool["metadata"]["labels"] = {{"site", site}}; });
    };
    label("wrong");
    world_.EditDaemon([](Json& daemon) {
      daemon["spec"]["overrides"] = {{{"nodepoolSelector", {{"matchLabels", {{"site", "wrong"}}}}},
                                      {"images", {{{"name", "absent"}, {"image", "x"}}}}}};
    });
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Phase("b"), "Failed InvalidOverride");
    label("right");
    Step();
    EXPECT_EQ(Phase("b"), "Ready");
    EXPECT_EQ(WaitingFor("b"), "Group");
  });
}

TEST_P(RolloutRejectionTest, RolledBackNamesThePoolsWhoseRollbackTheServerRejects) {
  Play([&] {
    Deployed({"a", "b"}, {{"progressDeadlineSeconds", 30}, {"onFailure", "Rollback"}});
    world_.SetImage("app:bad");
    Step();
    RejectUpdatesOf("a", kDenied);
    for (int i = 0; i < 6; ++i) {
      StepDespiteErrors();
      world_.clock.Advance(seconds(4));
    }
    EXPECT_TRUE(IsMarkedFailed());
    EXPECT_EQ(Images(), "a=bad b=1");
    EXPECT_EQ(Progressing(), "False RolledBack");
    EXPECT_THAT(Message(), HasSubstr(", except for those whose update the server rejects: a;"));
    world_.cluster.SetFaults(nullptr);
    Step(400);
    EXPECT_EQ(Images(), "a=1 b=1");
    Heal("a");
    Step();
    EXPECT_EQ(Progressing(), "False RolledBack");
    EXPECT_THAT(Message(), Not(HasSubstr("except")));
  });
}

TEST_P(RolloutRejectionTest, MarkOfAFailedRevisionThatAPolicyRemovesIsRetriedWithBackoff) {
  Deployed({"a", "b"}, {{"progressDeadlineSeconds", 30}, {"onFailure", "Rollback"}});
  world_.cluster.SetMutation([](const ResourceType& type, const Json&, Json& object) {
    if (type.resource != kControllerRevisionType.resource) return;
    if (object["metadata"].contains("annotations")) object["metadata"]["annotations"].erase(kFailedAnnotation);
  });
  world_.SetImage("app:bad");
  Look();
  world_.clock.Advance(seconds(40));
  static_cast<void>(world_.Reconcile());  // confirms the failure by live reads
  for (int i = 0; i < 3; ++i) {
    const auto unmarked = world_.Reconcile();
    ASSERT_FALSE(unmarked);
    EXPECT_NE(unmarked.error().reason, Reason::kConflict) << "a conflict would be retried every second";
  }
  EXPECT_EQ(Images(), "a=bad b=1");
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  DeleteWorkload("b");
  world_.clock.Advance(seconds(2));
  const auto unmarked = world_.Reconcile();
  EXPECT_TRUE(!unmarked || unmarked->next == ReconcileResult::Next::kBackoff);
  EXPECT_EQ(Images(), "a=bad b=1");
  EXPECT_EQ(Phase("b"), "Updating");
  Heal("b");
  world_.cluster.SetMutation(nullptr);
  Look();
  EXPECT_TRUE(IsMarkedFailed());
  EXPECT_EQ(Images(), "a=1 b=1");
}

TEST_P(RolloutRejectionTest, MaxFailuresAllowsNoWritesThatAWebhookFails) {
  for (const HttpResponse& answer :
       {StatusResponse(500, "InternalError", "failed calling webhook \"policy\": EOF"),
        StatusResponse(403, "Forbidden",
                       "deployments.apps \"web\" is forbidden: User \"system:serviceaccount:sys:yad\" "
                       "cannot update resource \"deployments\" in API group \"apps\"")}) {
    SCOPED_TRACE(answer.body);
    Play([&] {
      Deployed({"a", "b", "c"}, {{"maxFailures", 3}});
      const std::string before = Current();
      world_.cluster.SetFaults([&](const WriteRecord& write, const Json&) -> std::optional<FakeCluster::Fault> {
        if (write.method != "PUT") return std::nullopt;
        return FakeCluster::Fault{answer, false};
      });
      world_.SetImage("app:2");
      for (int i = 0; i < 4; ++i) StepDespiteErrors();
      EXPECT_EQ(Images(), "a=1 b=1 c=1");
      EXPECT_EQ(Complete(), "False RollingOut");
      EXPECT_EQ(Current(), before);
      EXPECT_FALSE(world_.Status().contains("completedRevision"));
      EXPECT_FALSE(IsMarkedFailed());
      world_.cluster.SetFaults(nullptr);
    });
  }
}

TEST_P(RolloutRejectionTest, ReplicasThatAWebhookFailsAreRollingOut) {
  Play([&] {
    Deployed({"a", "b"});
    world_.cluster.SetFaults([](const WriteRecord& write, const Json&) -> std::optional<FakeCluster::Fault> {
      if (write.method != "PUT") return std::nullopt;
      return FakeCluster::Fault{StatusResponse(500, "InternalError", "failed calling webhook \"policy\": EOF"), false};
    });
    world_.EditDaemon([](Json& daemon) { TemplateOf(daemon)["spec"]["replicas"] = 5; });
    for (int i = 0; i < 3; ++i) StepDespiteErrors();
    EXPECT_EQ(Complete(), "False RollingOut");
    EXPECT_EQ(Progressing(), "True RollingOut");
    EXPECT_EQ(ConditionReason(world_.Status(), "Reconciling"), "True RollingOut");
    world_.cluster.SetFaults(nullptr);
    Step(400);
    for (const char* pool : {"a", "b"}) Heal(pool);
    Step();
    EXPECT_EQ(Complete(), "True RolloutComplete");
  });
}

// While an apiserver starts, its admission plugins respond with 403 until they have read their objects.
TEST_P(RolloutRejectionTest, StartOfAnApiserverIsNotAFailureOfTheRevision) {
  Play([&] {
    Deployed({"a", "b"}, {{"onFailure", "Rollback"}});
    RejectUpdatesOf("a", StatusResponse(403, "Forbidden",
                                        "deployments.apps \"web-a\" is forbidden: not yet ready to handle request"));
    world_.SetImage("app:2");
    for (int i = 0; i < 3; ++i) StepDespiteErrors();
    EXPECT_FALSE(IsMarkedFailed());
    world_.cluster.SetFaults(nullptr);
    Step();
    EXPECT_EQ(Images(), "a=2 b=1");
  });
}

TEST_P(RolloutRejectionTest, ANewPoolWhoseChangeTheServerRejectsStopsNothing) {
  Play([&] {
    const Json canary = {{"name", "canary"}, {"pools", {"a", "new"}}};
    Deployed({"a", "b"}, {{"onFailure", "Rollback"}, {"groups", Json::array({canary})}});
    world_.SetImage("app:2");
    Step();
    world_.AddPool("new");
    Step();
    Heal("a");
    RejectUpdatesOf("new");
    Taint("new", "edge");
    StepDespiteErrors();
    EXPECT_EQ(Images(), "a=2 b=2 new=2");
    Heal("b");
    StepDespiteErrors();
    EXPECT_EQ(Phase("new"), "Failed Invalid");
    EXPECT_EQ(Complete(), "True CompleteWithFailures");
    EXPECT_EQ(Current(), StringAt(world_.Status(), {"updateRevision"}));
    world_.cluster.SetFaults(nullptr);
    Step(400);
    EXPECT_TRUE(Tolerates("new"));
    Heal("new");
    Step();
    EXPECT_EQ(Complete(), "True RolloutComplete");
  });
}

}  // namespace
}  // namespace yad
