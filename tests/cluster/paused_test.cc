// spec.paused: the operator does not update pools to another revision, and does everything else.
#include "tests/cluster/fixture.h"

namespace yad::testing {
namespace {

class PausedTest : public BothKinds {
 protected:
  // Creates two pools with image app:1, pauses the daemon, and changes the image to app:2. Returns the name of the
  // first revision.
  std::string StartPausedWithNewTemplate() {
    StartOperator();
    AddPool("a");
    AddPool("b");
    CreateDaemon(Daemon("web"));
    const std::string first = StringAt(WaitUntilReady("web"), {"status", "updateRevision"});
    PatchSpec("web", {{"paused", true}});
    SetImage("web", "example.org/app:2");
    WaitForStatus("web", "has the new updateRevision",
                  [&](const Json& status) { return At(status, "/updateRevision") != first; });
    return first;
  }
};
INSTANTIATE_ONE_KIND(PausedTest, WorkloadKind::kStatefulSet);

TEST_P(PausedTest, ANewTemplateIsNotRolledOutUntilTheDaemonIsResumed) {
  const std::string first = StartPausedWithNewTemplate();
  Barrier();
  for (const auto& [pool, workload] : ByPool("web")) {
    EXPECT_EQ(ImageOf(workload), "example.org/app:1");
    EXPECT_EQ(Label(workload, kRevisionLabel), first);
  }
  const Json paused = WaitUntilReady("web");  // paused daemons are Ready with the current revision
  EXPECT_EQ(ConditionStatus(paused, "Paused"), "True");
  EXPECT_EQ(At(paused, "/status/updatedPools"), 0);
  EXPECT_EQ(At(paused, "/status/currentRevision"), first);
  EXPECT_EQ(ConditionStatus(paused, "WorkLoadUpdated"), "False");
  PatchSpec("web", {{"paused", false}});
  const Json resumed = WaitForStatus("web", "is rolled out", [](const Json& status) {
    return At(status, "/updatedPools") == 2 && At(status, "/currentRevision") == At(status, "/updateRevision");
  });
  EXPECT_NE(ConditionStatus(resumed, "Paused"), "True");
  for (const auto& [pool, workload] : ByPool("web")) EXPECT_EQ(ImageOf(workload), "example.org/app:2");
}

TEST_P(PausedTest, NewPoolGetsTheCurrentRevisionAndRemovedPoolLosesItsWorkload) {
  const std::string first = StartPausedWithNewTemplate();
  const std::string c = AddPool("c");
  WaitForPools("web", {Pool("a"), Pool("b"), c});
  EXPECT_EQ(ImageOf(WorkloadOf("web", c)), "example.org/app:1");
  EXPECT_EQ(Label(WorkloadOf("web", c), kRevisionLabel), first);
  Unselect(Pool("a"));
  WaitForPools("web", {Pool("b"), c});
}

TEST_P(PausedTest, DaemonThatIsCreatedPausedCreatesItsWorkloads) {
  StartOperator();
  const std::string a = AddPool("a");
  Json daemon = Daemon("web");
  daemon["spec"]["paused"] = true;
  CreateDaemon(daemon);
  WaitForPools("web", {a});
  WaitUntilReady("web");
}

TEST_P(PausedTest, DriftIsRepairedAndADeletedWorkloadIsRecreatedWithItsRevision) {
  const std::string first = StartPausedWithNewTemplate();
  const std::string name = NameOf(WorkloadOf("web", Pool("a")));
  kube().Edit(type(), name, [](Json& workload) {
    workload["spec"]["template"]["spec"]["containers"][0]["image"] = "example.org/evil:1";
  });
  Eventually("the workload has the image of the old revision",
             [&] { return ImageOf(WorkloadOf("web", Pool("a"))) == "example.org/app:1"; });
  kube().Delete(type(), NameOf(WorkloadOf("web", Pool("b"))));
  WaitForPools("web", {Pool("a"), Pool("b")});
  EXPECT_EQ(ImageOf(WorkloadOf("web", Pool("b"))), "example.org/app:1");
  EXPECT_EQ(Label(WorkloadOf("web", Pool("b")), kRevisionLabel), first);
}

TEST_P(PausedTest, AChangeOfOnlyReplicasIsApplied) {
  StartOperator();
  const std::string a = AddPool("a");
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  PatchSpec("web", {{"paused", true}});
  PatchTemplate("web", {{"spec", {{"replicas", 2}}}});
  Eventually("the workload has 2 replicas", [&] { return At(WorkloadOf("web", a), "/spec/replicas") == 2; });
  EXPECT_EQ(ImageOf(WorkloadOf("web", a)), "example.org/app:1");
}

TEST_P(PausedTest, ANewTaintOfAPoolIsNotToleratedUntilTheDaemonIsResumed) {
  StartOperator();
  const std::string a = AddPool("a");
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  PatchSpec("web", {{"paused", true}});
  WaitUntilObserved("web");
  kube().MergePatch(kNodePoolType, a, R"({"spec": {"taints": [{"key": "x", "effect": "NoSchedule"}]}})"_json);
  Barrier();
  Barrier();
  EXPECT_EQ(At(WorkloadOf("web", a), "/spec/template/spec/tolerations"), Json());
  PatchSpec("web", {{"paused", false}});
  Eventually("the workload tolerates the taint",
             [&] { return At(WorkloadOf("web", a), "/spec/template/spec/tolerations").size() == 1; });
}

}  // namespace
}  // namespace yad::testing
