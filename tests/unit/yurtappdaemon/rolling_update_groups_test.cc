// updateStrategy RollingUpdate: groups of pools, their approvals and the partition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/yurtappdaemon/rolling_update_fixture.h"

namespace yad {
namespace {

using namespace testing;
using ::testing::HasSubstr;

TEST_P(RollingUpdateTest, PartitionExcludesTheLastPools) {
  Deployed({"a", "b", "c"}, {{"partition", 2}});
  const std::string good = Current();
  world_.SetImage("app:2");
  Look();
  Heal("a");
  Look();
  EXPECT_EQ(Images(), "a=2 b=1 c=1");
  EXPECT_EQ(Progressing(), "True PartitionReached");
  EXPECT_EQ(Ready(), "True PoolsReady");
  EXPECT_EQ(Current(), good);
  Strategy("partition", 0);
  Look();
  EXPECT_EQ(Images(), "a=2 b=2 c=1");
}

TEST_P(RollingUpdateTest, GroupsAreUpdatedInOrderAndAManualGroupWaitsForItsApproval) {
  Deployed(
      {"a", "b", "c", "d"},
      {{"maxUnavailable", "100%"},
       {"groups",
        {{{"name", "canary"}, {"pools", {"c"}}}, {{"name", "north"}, {"pools", {"a", "c"}}, {"approval", "Manual"}}}}});
  world_.SetImage("app:2");
  Look();
  EXPECT_EQ(Images(), "a=1 b=1 c=2 d=1");
  EXPECT_THAT(Message(), HasSubstr("group \"canary\" (1 of 3): 0 of 1 pools are updated"));
  Heal("c");
  Look();
  EXPECT_EQ(Images(), "a=1 b=1 c=2 d=1");
  EXPECT_EQ(Progressing(), "Unknown WaitingForApproval");
  EXPECT_EQ(Ready(), "True PoolsReady");
  const std::string update = StringAt(world_.Status(), {"updateRevision"});
  EXPECT_THAT(Message(), HasSubstr(update + "/north"));
  // A new pool of the group waits with the other pools.
  world_.AddPool("e");
  Strategy("groups", {{{"name", "canary"}, {"pools", {"c"}}},
                      {{"name", "north"}, {"pools", {"a", "e"}}, {"approval", "Manual"}}});
  Look();
  Heal("e");
  EXPECT_EQ(Images(), "a=1 b=1 c=2 d=1 e=1");
  Annotate(kApproveAnnotation, "web-other/north, " + Current() + "/north");
  Look();
  EXPECT_EQ(Images(), "a=1 b=1 c=2 d=1 e=1");
  Annotate(kApproveAnnotation, "web-other/north, " + update + "/north");
  Look();
  EXPECT_EQ(Images(), "a=2 b=1 c=2 d=1 e=2");
  // The group has begun, and also stays approved for the next leader.
  EXPECT_EQ(world_.Status()["begunGroups"], Json({"north"}));
  Annotate(kApproveAnnotation, "");
  world_.Restart();
  Heal("a");
  Heal("e");
  Look();
  EXPECT_EQ(Images(), "a=2 b=2 c=2 d=2 e=2");
}

// A pool that was updated in another group joins this group, which does not approve the group.
TEST_P(RollingUpdateTest, APoolThatJoinsAGroupWithTheNewRevisionDoesNotStartTheGroup) {
  Deployed(
      {"a", "b", "c"},
      {{"maxUnavailable", "100%"},
       {"groups",
        {{{"name", "canary"}, {"pools", {"c"}}}, {{"name", "north"}, {"pools", {"a", "b"}}, {"approval", "Manual"}}}}});
  world_.SetImage("app:2");
  Look();
  Heal("c");
  Look();
  EXPECT_EQ(Images(), "a=1 b=1 c=2");
  EXPECT_FALSE(world_.Status().contains("begunGroups"));
  Strategy("groups", {{{"name", "canary"}, {"pools", {"x"}}},
                      {{"name", "north"}, {"pools", {"a", "b", "c"}}, {"approval", "Manual"}}});
  Look();
  EXPECT_EQ(Images(), "a=1 b=1 c=2");
  EXPECT_EQ(Progressing(), "Unknown WaitingForApproval");
  Annotate(kApproveAnnotation, StringAt(world_.Status(), {"updateRevision"}) + "/north");
  Look();
  EXPECT_EQ(Images(), "a=2 b=2 c=2");
  // Another revision starts again at the first group.
  Heal("a");
  Heal("b");
  Look();
  world_.SetImage("app:3");
  Look();
  EXPECT_EQ(Images(), "a=2 b=2 c=2");
  EXPECT_FALSE(world_.Status().contains("begunGroups"));
}

// Two edits undo each other within a second, so no status shows the revision between them.
TEST_P(RollingUpdateTest, GroupHasNotBegunInALaterRolloutOfTheSameRevision) {
  const Json north = {{"name", "north"}, {"pools", {"a", "b"}}, {"approval", "Manual"}, {"maxUnavailable", 1}};
  Deployed({"a", "b", "c"}, {{"maxUnavailable", 2}, {"groups", {{{"name", "canary"}, {"pools", {"c"}}}, north}}});
  world_.SetImage("app:2");
  Look();
  Heal("c");
  Look();
  const std::string approval = StringAt(world_.Status(), {"updateRevision"}) + "/north";
  Annotate(kApproveAnnotation, approval);
  Look();
  ASSERT_EQ(Images(), "a=2 b=1 c=2");
  Annotate(kApproveAnnotation, "");
  Break("c");
  EXPECT_TRUE(world_.Reconcile());
  world_.SetImage("app:3");
  EXPECT_TRUE(world_.Reconcile());
  EXPECT_EQ(world_.Status()["begunGroups"], Json({"north"})) << "status is written at most once a second";
  world_.SetImage("app:2");
  for (const char* pool : {"a", "c"}) Heal(pool);
  Look();
  for (const char* pool : {"a", "c"}) Heal(pool);
  Look();
  EXPECT_EQ(Images(), "a=2 b=1 c=2");
  EXPECT_EQ(Progressing(), "Unknown WaitingForApproval");
  Annotate(kApproveAnnotation, approval);
  Look();
  EXPECT_EQ(Images(), "a=2 b=2 c=2") << "an approval stays valid until a user removes it";
}

// The first rollout is not complete, so a new workload is created from the spec.
TEST_P(RollingUpdateTest, ANewPoolWithoutACurrentRevisionDoesNotStartItsGroup) {
  world_.AddPools({"a", "b"});
  Json daemon = DaemonJson("app:1", GetParam());
  daemon["spec"]["updateStrategy"] = {
      {"type", "RollingUpdate"},
      {"rollingUpdate",
       {{"maxUnavailable", "100%"},
        {"groups", {{{"name", "north"}, {"nodepoolSelector", Json::object()}, {"approval", "Manual"}}}}}}};
  world_.CreateDaemon(daemon);
  Look();
  Heal("a");
  Break("b");
  Look();
  EXPECT_EQ(Current(), "");
  world_.SetImage("app:2");
  Look();
  EXPECT_EQ(Images(), "a=1 b=1");
  world_.AddPool("c");
  Look();
  Heal("c");
  Look();
  EXPECT_EQ(Images(), "a=1 b=1 c=2");
}

TEST_P(RollingUpdateTest, GroupsWithoutPoolsAreNotCounted) {
  Deployed({"a", "b"}, {{"groups",
                         {{{"name", "none"}, {"pools", {"later"}}},
                          {{"name", "north"}, {"pools", {"a"}}},
                          {{"name", "south"}, {"pools", {"b"}}, {"approval", "Manual"}}}}});
  world_.SetImage("app:2");
  Look();
  EXPECT_THAT(Message(), HasSubstr("group \"north\" (1 of 2): "));
  Heal("a");
  Look();
  EXPECT_THAT(Message(), HasSubstr("group \"south\" (2 of 2): waits for approval"));
}

TEST_P(RollingUpdateTest, GroupWithMoreFailuresThanItsOwnLimitStopsTheRollout) {
  Play([&] {
    Json group = {{"name", "first"}, {"pools", {"a", "b"}}, {"maxFailures", 0}};
    Deployed({"a", "b", "c"}, {{"groups", Json::array({group})}, {"maxFailures", 3}, {"progressDeadlineSeconds", 30}});
    world_.SetImage("app:2");
    Step();
    EXPECT_EQ(Images(), "a=2 b=1 c=1");
    Step(35);
    Step();
    EXPECT_EQ(Images(), "a=2 b=1 c=1");
    EXPECT_EQ(Progressing(), "False FailureBudgetExceeded");
    EXPECT_THAT(Message(), HasSubstr("more pools of group \"first\" failed on revision "));
    EXPECT_EQ(Complete(), "False FailureBudgetExceeded");
    EXPECT_EQ(WaitingFor("b"), "Pause");
    group["maxFailures"] = "50%";
    Strategy("groups", Json::array({group}));
    Step();
    EXPECT_EQ(Images(), "a=2 b=2 c=1");
  });
}

// The workload of pool a has a finalizer, as after a foreground deletion, and one of its pods never terminates.
TEST_P(RollingUpdateTest, DeletionThatDoesNotEndKeepsLaterGroupsWaitingOnlyUntilTheDeadline) {
  Play([&] {
    Deployed({"a", "b"}, {{"groups", {{{"name", "first"}, {"pools", {"a"}}}}}});
    Break("a");
    Step(700);
    ASSERT_EQ(Phase("a"), "Failed ProgressDeadlineExceeded");
    world_.EditWorkload("a", [](Json& workload) { workload["metadata"]["finalizers"] = {"foregroundDeletion"}; });
    world_.cluster.Delete(world_.type(), {kNs, world_.NameOf("a")}, FormatTime(world_.clock.WallNow()));
    world_.SetImage("app:2");
    Step(590);
    EXPECT_EQ(Images(), "a=1 b=1") << "pool a was past its deadline, but its deletion was not";
    Step(12);
    EXPECT_EQ(Images(), "a=1 b=2") << "the last reconcile has requested this reconcile";
    Heal("b");
    Step();
    EXPECT_EQ(Complete(), "False RollingOut");
    world_.EditWorkload("a", [](Json& workload) { workload["metadata"].erase("finalizers"); });
    Step();
    Heal("a");
    Step();
    EXPECT_EQ(Images(), "a=2 b=2");
    EXPECT_EQ(Complete(), "True RolloutComplete");
  });
}

}  // namespace
}  // namespace yad
