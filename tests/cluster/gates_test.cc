// The gates of a rollout with a real control plane: update windows, the freeze of the fleet, nodes in maintenance, and
// groups with percentages.
#include "tests/cluster/rollout_fixture.h"

namespace yad::testing {
namespace {

using ::testing::HasSubstr;

class GatesTest : public RolloutFixture {
 protected:
  void TearDown() override {
    if (HasControlPlane())
      TryKubectl({"delete", "configmap", kFreezeName, "--namespace=" + Operators().ns(), "--ignore-not-found"});
    RolloutFixture::TearDown();
  }
  // Returns the namespace of the operator.
  Kube Operators() { return Kube(plane().client(), SharedInstall()->ns()); }
  // Returns a window of one minute that opens at this time of the day (UTC).
  static Json WindowAt(WallTime time) {
    return {{"start", FormatTime(time).substr(std::string("2026-01-01T").size(), std::string("HH:MM").size())},
            {"duration", "1m"}};
  }
  void Annotate(const std::string& pool, const Json& annotations) {
    kube().MergePatch(kNodePoolType, Pool(pool), {{"metadata", {{"annotations", annotations}}}});
  }
  // Like a kubelet, KWOK keeps conditions that it does not know.
  void SetNodeCondition(const std::string& node, const std::string& type, const std::string& status) {
    const Json condition = {{"type", type}, {"status", status}, {"reason", "Test"}, {"message", ""}};
    const Json patch = {{"status", {{"conditions", Json::array({condition})}}}};
    Kubectl({"patch", "node", node, "--subresource=status", "--type=strategic", "--patch=" + patch.dump()});
  }
  std::string ImageIn(const std::string& pool) { return ImageOf(WorkloadOf("web", Pool(pool))); }
};
INSTANTIATE_ONE_KIND(GatesTest, WorkloadKind::kDeployment);

TEST_P(GatesTest, ClosedWindowDelaysTheUpdateAndAPoolMayHaveItsOwnWindow) {
  Deploy({"a", "b"}, {{"maxUnavailable", 2}, {"windows", {WindowAt(Now() + std::chrono::hours(6))}}});
  SetImage("web", "example.org/app:2");
  const Json daemon = WaitForProgress("WaitingForWindow");
  EXPECT_EQ(At(PoolStatus(daemon, Pool("a")), "/waitingFor"), "Window");
  EXPECT_THAT(At(PoolStatus(daemon, Pool("a")), "/message").get<std::string>(),
              HasSubstr("the update window opens at "));
  EXPECT_EQ(ImageIn("a"), "example.org/app:1");

  Annotate("a", {{kUpdateWindowsAnnotation, R"([{"start": "00:00", "duration": "24h"}])"}});
  WaitForStatus("web", "pool a is updated", [&](const Json& status) { return At(status, "/updatedPools") == 1; });
  EXPECT_EQ(ImageIn("a"), "example.org/app:2");
  Barrier();
  EXPECT_EQ(ImageIn("b"), "example.org/app:1");

  Annotate("b", {{kTimeZoneAnnotation, "Europe/Atlantis"}});
  const Json held = WaitForProgress("PoolsHeld");
  EXPECT_EQ(At(PoolStatus(held, Pool("b")), "/reason"), "InvalidWindow");
  EXPECT_THAT(At(PoolStatus(held, Pool("b")), "/message").get<std::string>(), HasSubstr("Europe/Atlantis"));

  PatchSpec("web", {{"updateStrategy", {{"rollingUpdate", {{"windows", nullptr}}}}}});
  Annotate("b", {{kTimeZoneAnnotation, nullptr}});
  WaitForProgress("RolloutComplete");
  EXPECT_EQ(ImageIn("b"), "example.org/app:2");
}

TEST_P(GatesTest, ClosedWindowDelaysANewTemplateButNotNewReplicas) {
  Deploy({"a"}, {{"windows", {WindowAt(Now() + std::chrono::hours(6))}}});
  SetImage("web", "example.org/app:2");
  WaitForProgress("WaitingForWindow");
  PatchSpec("web", {{"workloadTemplate", {{TemplateField(kind()), {{"spec", {{"replicas", 3}}}}}}}});
  const auto ready = [&] { return At(WorkloadOf("web", Pool("a")), "/status/readyReplicas"); };
  Eventually("three pods of the old template are ready", [&] { return ready() == 3; });
  EXPECT_EQ(ImageIn("a"), "example.org/app:1");

  // The workload already has the new replicas and the old template. A new leader must not write it again.
  const Json before = At(WorkloadOf("web", Pool("a")), "/metadata/generation");
  StopOperator();
  StartOperator();
  Barrier();
  EXPECT_EQ(At(WorkloadOf("web", Pool("a")), "/metadata/generation"), before);

  PatchSpec("web", {{"updateStrategy", {{"rollingUpdate", {{"windows", nullptr}}}}}});
  WaitForProgress("RolloutComplete");
  EXPECT_EQ(ImageIn("a"), "example.org/app:2");
  EXPECT_EQ(ready(), 3);
}

TEST_P(GatesTest, FreezeStopsUpdatesUntilItIsRemoved) {
  Deploy({"a"}, Json::object());
  Operators().Create(kConfigMapType, {{"metadata", {{"name", kFreezeName}}}, {"data", {{"reason", "Christmas"}}}});
  Barrier();
  SetImage("web", "example.org/app:2");
  const Json daemon = WaitForProgress("Frozen");
  EXPECT_EQ(At(PoolStatus(daemon, Pool("a")), "/waitingFor"), "Freeze");
  EXPECT_EQ(ImageIn("a"), "example.org/app:1");

  // A new leader reads the freeze before it decides.
  StopOperator();
  StartOperator();
  Barrier();
  EXPECT_EQ(ImageIn("a"), "example.org/app:1");
  Operators().Delete(kConfigMapType, kFreezeName);
  WaitForProgress("RolloutComplete");
  EXPECT_EQ(ImageIn("a"), "example.org/app:2");
}

TEST_P(GatesTest, NodeInMaintenanceHoldsItsPoolUntilItsConditionEnds) {
  Deploy({"a", "b"}, {{"maxUnavailable", 2}});
  const std::string node = Pool("node-0");  // of pool a
  SetNodeCondition(node, "MaintenanceInProgress", "True");
  Barrier();
  SetImage("web", "example.org/app:2");
  const Json held = WaitForProgress("PoolsHeld");
  EXPECT_EQ(ConditionStatus(held, "Complete"), "False");
  EXPECT_EQ(At(PoolStatus(held, Pool("a")), "/waitingFor"), "Hold");
  EXPECT_EQ(At(PoolStatus(held, Pool("a")), "/reason"), "NodeMaintenance");
  EXPECT_THAT(At(PoolStatus(held, Pool("a")), "/message").get<std::string>(),
              HasSubstr("node " + node + ": MaintenanceInProgress"));
  EXPECT_EQ(ImageIn("a"), "example.org/app:1");
  EXPECT_EQ(ImageIn("b"), "example.org/app:2");

  // A new leader reads the Nodes before it decides.
  StopOperator();
  StartOperator();
  Barrier();
  EXPECT_EQ(ImageIn("a"), "example.org/app:1");
  SetNodeCondition(node, "MaintenanceInProgress", "False");
  WaitForProgress("RolloutComplete");
  EXPECT_EQ(ImageIn("a"), "example.org/app:2");
}

TEST_P(GatesTest, PercentGroupIsUpdatedFirstAndKeepsItsPoolsWhenPoolsJoinAndAfterARestart) {
  const Json groups = {{{"name", "canary"}, {"percent", 30}},
                       {{"name", "rest"}, {"nodepoolSelector", Json::object()}, {"approval", "Manual"}}};
  Deploy({"a", "b", "c", "d"}, {{"maxUnavailable", "100%"}, {"groups", groups}});
  EXPECT_EQ(Annotation(Revisions("web").back(), kPercentGroupsAnnotation), "") << "no rollout has started yet";
  SetImage("web", "example.org/app:2");
  const std::string update = StringAt(WaitForProgress("WaitingForApproval"), {"status", "updateRevision"});
  const auto updated = [&] {
    std::set<std::string> pools;
    for (const auto& [pool, workload] : ByPool("web")) {
      if (ImageOf(workload) == "example.org/app:2") pools.insert(pool);
    }
    return pools;
  };
  const std::set<std::string> canary = updated();
  EXPECT_EQ(canary.size(), 2U) << "30 % of four pools, rounded up";
  const std::string stored = Annotation(Revisions("web").back(), kPercentGroupsAnnotation);
  EXPECT_THAT(stored, HasSubstr("\"canary\""));

  StopOperator();
  for (const char* late : {"e", "f", "g", "h"}) AddNode(AddPool(late));
  StartOperator();
  WaitForStatus("web", "eight pools are ready", [](const Json& status) { return At(status, "/readyPools") == 8; });
  EXPECT_EQ(updated(), canary);
  EXPECT_EQ(Annotation(Revisions("web").back(), kPercentGroupsAnnotation), stored);

  kube().MergePatch(kYurtAppDaemonType, "web",
                    {{"metadata", {{"annotations", {{kApproveAnnotation, update + "/rest"}}}}}});
  WaitForProgress("RolloutComplete");
  EXPECT_EQ(updated().size(), 8U);
  EXPECT_EQ(Revisions("web").size(), 2U);
}

}  // namespace
}  // namespace yad::testing
