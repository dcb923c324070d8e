// The messages of condition Progressing about a RollingUpdate: the cause of a failure, and the numbers of pools.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/yurtappdaemon/observe/pods.h"
#include "tests/unit/yurtappdaemon/pods.h"
#include "tests/unit/yurtappdaemon/rolling_update_fixture.h"

namespace yad::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kLate[] = "ProgressDeadlineExceeded: not healthy within 30 s on its revision";

class RolloutMessagesTest : public RollingUpdateTest {
 protected:
  std::string EventNote(const std::string& reason) {
    for (const RecordedEvent& event : world_.events.Take()) {
      if (event.reason == reason) return event.note;
    }
    return "";
  }
  std::int64_t UpdatedPools() { return IntAt(world_.Status(), {"updatedPools"}); }
  // Creates a pod of the pool that kube-scheduler rejects.
  void CreateUnschedulablePod(const std::string& pool) {
    Json pod = UnschedulablePod("0/1 nodes are available: 1 Insufficient memory.");
    pod["metadata"].update({{"namespace", kNs}, {"labels", {{"app", "web"}, {kPoolNameLabel, pool}}}});
    pod["metadata"]["ownerReferences"] = {{{"apiVersion", "apps/v1"},
                                           {"kind", world_.type().kind},
                                           {"name", world_.NameOf(pool)},
                                           {"uid", StringAt(world_.Workload(pool), {"metadata", "uid"})},
                                           {"controller", true}}};
    world_.cluster.Create(kPodType, pod);
  }
};

INSTANTIATE_TEST_SUITE_P(Kind, RolloutMessagesTest,
                         ::testing::Values(WorkloadKind::kDeployment, WorkloadKind::kStatefulSet));

TEST_P(RolloutMessagesTest, RollbackNamesThePoolThatFailedAndItsReason) {
  Play([&] {
    Deployed({"a", "b"}, {{"progressDeadlineSeconds", 30}, {"onFailure", "Rollback"}});
    world_.SetImage("app:bad");
    Step(33);
    EXPECT_EQ(Progressing(), "True RollingBack");
    EXPECT_THAT(Message(), HasSubstr(std::string(" failed (pool a: ") + kLate + "); 1 of 2 pools are back on "));
    Heal("a");
    Step();
    EXPECT_EQ(Progressing(), "False RolledBack");
    EXPECT_THAT(Message(), HasSubstr(std::string(" (pool a: ") + kLate + "): the pools are on "));
    EXPECT_THAT(Message(), HasSubstr("`kubectl yad undo web` restores the earlier spec, `kubectl yad restart web`"));
    EXPECT_EQ(EventNote("RolledBack"), Message());
    const Json before = world_.Status();
    Step(100);
    EXPECT_EQ(world_.Status(), before);
  });
}

TEST_P(RolloutMessagesTest, RollbackNamesTheProblemOfThePods) {
  Deployed({"a", "b"}, {{"progressDeadlineSeconds", 30}, {"onFailure", "Rollback"}});
  world_.SetImage("app:bad");
  Look();
  Break("a");
  world_.EditWorkload("a", [](Json& w) { w["status"]["observedGeneration"] = w["metadata"]["generation"]; });
  CreateUnschedulablePod("a");
  Wait(seconds(33));
  EXPECT_THAT(Message(), HasSubstr(" failed (pool a: Unschedulable: "));
  EXPECT_THAT(Message(), HasSubstr("Insufficient memory"));
}

TEST_P(RolloutMessagesTest, RollbackOfAnOlderVersionHasNoReason) {
  Deployed({"a", "b"}, {{"progressDeadlineSeconds", 30}, {"onFailure", "Rollback"}});
  world_.SetImage("app:bad");
  Wait(seconds(33));
  Heal("a");
  Look();
  const std::string update = StringAt(world_.Status(), {"updateRevision"});
  world_.cluster.Edit(kControllerRevisionType, {kNs, update},
                      [](Json& revision) { revision["metadata"]["annotations"].erase(kFailureAnnotation); });
  Look();
  EXPECT_THAT(Message(), StartsWith("revision " + update + " failed at 20"));
  EXPECT_THAT(Message(), HasSubstr("Z: the pools are on "));
}

TEST_P(RolloutMessagesTest, StoppedRolloutNamesTheFirstFailedPoolAndCountsTheOthers) {
  Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 30}, {"maxUnavailable", 2}, {"maxFailures", 1}});
  world_.SetImage("app:bad");
  Wait(seconds(33));
  EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
  EXPECT_THAT(Message(), StartsWith("2 pools failed on revision web-"));
  EXPECT_THAT(Message(),
              HasSubstr(std::string(" (pool a: ") + kLate + ", and 1 more pool), and maxFailures allows 1: "));
  EXPECT_THAT(Message(), HasSubstr("run `kubectl yad undo web`,"));
  EXPECT_THAT(StringAt(ConditionOf(world_.Status(), "WorkLoadFailure"), {"message"}), HasSubstr("(and 1 more pool)"));
  EXPECT_EQ(EventNote("FailureBudgetExceeded"), Message());
}

TEST_P(RolloutMessagesTest, FailedPoolIsNotCountedAsUpdated) {
  Play([&] {
    Deployed({"a", "b", "c"}, {{"progressDeadlineSeconds", 30}, {"maxFailures", 1}});
    world_.SetImage("app:bad");
    Step(33);
    EXPECT_EQ(Message(), "0 of 3 pools are updated, 1 failed; waiting for b");
    EXPECT_EQ(UpdatedPools(), 0);
    Heal("b");
    Step();
    EXPECT_EQ(Message(), "1 of 3 pools are updated, 1 failed; waiting for c");
    EXPECT_EQ(UpdatedPools(), 1);
    Heal("c");
    Step();
    EXPECT_EQ(Complete(), "True CompleteWithFailures");
    EXPECT_THAT(StringAt(ConditionOf(world_.Status(), "Complete"), {"message"}),
                StartsWith(std::string("1 pool has failed (pool a: ") + kLate + "); maxFailures allows this, or "));
  });
}

TEST_P(RolloutMessagesTest, OfflinePoolIsCountedAsUpdatedOnlyAfterItsWrite) {
  Play([&] {
    Deployed({"a", "b", "c"});
    GoOffline("c");
    Step();
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Message(), "0 of 3 pools are updated; waiting for a");
    EXPECT_EQ(UpdatedPools(), 0);
  });
}

TEST_P(RolloutMessagesTest, HeldPoolIsNotCountedAsUpdated) {
  Play([&] {
    Deployed({"a", "b", "c"});
    AnnotatePool("a", kHoldAnnotation, "test");
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Message(), "0 of 3 pools are updated, 1 held; waiting for b");
    EXPECT_EQ(UpdatedPools(), 0);
  });
}

TEST_P(RolloutMessagesTest, PauseNamesTheCommandThatEndsIt) {
  Deployed({"a"});
  Pause(true);
  world_.SetImage("app:2");
  Look();
  EXPECT_EQ(Message(), "spec.paused is true: no pool is updated to another revision (kubectl yad resume web)");
}

}  // namespace
}  // namespace yad::testing
