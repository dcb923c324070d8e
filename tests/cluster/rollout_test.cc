// updateStrategy RollingUpdate with real controllers, scheduler and pods.
#include "tests/cluster/rollout_fixture.h"

namespace yad::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RolloutTest : public RolloutFixture {
 protected:
  void RestoreTemplate() { PatchTemplate("web", {{"spec", {{"template", {{"spec", {{"nodeSelector", nullptr}}}}}}}}); }
  std::vector<std::string> PoolsUpdatedSince(WallTime since) {
    std::vector<std::string> pools;
    std::map<std::string, std::string> pool_of;
    for (const auto& [pool, workload] : ByPool("web")) pool_of[NameOf(workload)] = pool;
    for (const AuditedRequest& write : WritesSince(since)) {
      if (write.verb == "update" && write.resource == type().resource && write.subresource.empty())
        pools.push_back(pool_of[write.name]);
    }
    return pools;
  }
};
INSTANTIATE_BOTH_KINDS(RolloutTest);

// Tests of behaviour that does not depend on the kind.
class RolloutOnceTest : public RolloutTest {};
INSTANTIATE_ONE_KIND(RolloutOnceTest, WorkloadKind::kStatefulSet);

TEST_P(RolloutTest, UpdatesOnePoolAtATimeAndWaitsUntilItIsHealthy) {
  Deploy({"a", "b", "c"}, {{"minReadySeconds", 1}});
  const WallTime before = Now();
  SetImage("web", "example.org/app:2");
  WaitForStatus("web", "is rolled out", [&](const Json& status) {
    EXPECT_LE(3 - At(status, "/readyPools").get<int>(), 1) << "more than one pool is not ready: " << status;
    return At(status, "/updatedPools") == 3 && At(status, "/currentRevision") == At(status, "/updateRevision");
  });
  EXPECT_THAT(PoolsUpdatedSince(before), ElementsAre(Pool("a"), Pool("b"), Pool("c")));
  for (const auto& [pool, workload] : ByPool("web")) EXPECT_EQ(ImageOf(workload), "example.org/app:2") << pool;
  const std::vector<Json> events = EventsAbout("web");
  EXPECT_TRUE(std::any_of(events.begin(), events.end(),
                          [](const Json& e) { return StringAt(e, {"reason"}) == "RolloutComplete"; }));
}

TEST_P(RolloutTest, FailingTemplateIsStoppedAfterOnePoolAndRolledBack) {
  Deploy({"a", "b", "c"}, {{"progressDeadlineSeconds", 3}, {"onFailure", "Rollback"}});
  const std::string good = StringAt(GetDaemon("web"), {"status", "currentRevision"});
  const WallTime before = Now();
  SetBadTemplate();
  WaitForProgress("RolledBack");
  // A StatefulSet waits until the pod without a node is replaced.
  const Json daemon = WaitForStatus("web", "is Ready again", [](const Json& status) {
    return ConditionStatus({{"status", status}}, "Ready") == "True" && At(status, "/readyPools") == 3;
  });
  EXPECT_EQ(StringAt(ConditionOf(daemon, "Progressing"), {"reason"}), "RolledBack");
  EXPECT_THAT(PoolsUpdatedSince(before), ElementsAre(Pool("a"), Pool("a"))) << "one update and its rollback";
  EXPECT_EQ(At(daemon, "/status/currentRevision"), good);
  EXPECT_NE(At(daemon, "/status/updateRevision"), good);
  EXPECT_NE(Annotation(Revisions("web").back(), kFailedAnnotation), "");
  // A new leader does not roll out the failed template again.
  StopOperator();
  StartOperator();
  Barrier();
  EXPECT_EQ(PoolsUpdatedSince(before).size(), 2U);
  RestoreTemplate();
  WaitForProgress("RolloutComplete");
}

TEST_P(RolloutOnceTest, AnExceededBudgetStopsTheRolloutAndAFixedTemplateContinuesIt) {
  Deploy({"a", "b"}, {{"progressDeadlineSeconds", 3}});
  SetBadTemplate();
  const Json daemon = WaitForProgress("FailureBudgetExceeded");
  EXPECT_EQ(At(PoolStatus(daemon, Pool("a")), "/phase"), "Failed");
  EXPECT_EQ(At(PoolStatus(daemon, Pool("b")), "/phase"), "Ready");
  RestoreTemplate();
  SetImage("web", "example.org/app:3");
  WaitForStatus("web", "is rolled out", [](const Json& status) { return At(status, "/updatedPools") == 2; });
}

TEST_P(RolloutOnceTest, AManualGroupWaitsForItsApprovalAndThenUpdatesItsOfflinePoolToo) {
  const Json groups = {{{"name", "canary"}, {"pools", {Pool("b")}}},
                       {{"name", "rest"}, {"pools", {Pool("a"), Pool("off")}}, {"approval", "Manual"}}};
  Deploy({"a", "b"}, {{"groups", groups}});
  const std::string off = AddPool("off");
  kube().MergePatch(kNodePoolType, off, {{"status", {{"readyNodeNum", 0}, {"unreadyNodeNum", 1}}}}, "status");
  WaitForStatus("web", "off is Offline", [](const Json& status) { return At(status, "/offlinePools") == 1; });
  SetImage("web", "example.org/app:2");
  const Json waiting = WaitForProgress("WaitingForApproval");
  EXPECT_EQ(ImageOf(WorkloadOf("web", Pool("b"))), "example.org/app:2");
  EXPECT_EQ(ImageOf(WorkloadOf("web", Pool("a"))), "example.org/app:1");
  EXPECT_EQ(ImageOf(WorkloadOf("web", off)), "example.org/app:1");
  const std::string approval = StringAt(waiting, {"status", "updateRevision"}) + "/rest";
  EXPECT_THAT(StringAt(ConditionOf(waiting, "Progressing"), {"message"}), HasSubstr(approval));
  kube().MergePatch(kYurtAppDaemonType, "web", {{"metadata", {{"annotations", {{kApproveAnnotation, approval}}}}}});
  const Json done = WaitForStatus("web", "is rolled out", [](const Json& status) {
    return At(status, "/updatedPools") == 3 && At(status, "/currentRevision") == At(status, "/updateRevision");
  });
  EXPECT_EQ(At(PoolStatus(done, off), "/phase"), "Offline");
  EXPECT_EQ(ImageOf(WorkloadOf("web", off)), "example.org/app:2");
}

}  // namespace
}  // namespace yad::testing
