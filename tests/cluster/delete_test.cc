// Deletion of a daemon.
#include "tests/cluster/fixture.h"

namespace yad::testing {
namespace {

class DeleteTest : public BothKinds {
 protected:
  Json WithService(Json daemon) {
    daemon["spec"]["serviceTemplate"] = {{"spec", {{"ports", {{{"port", 80}}}}}}};
    return daemon;
  }
};
INSTANTIATE_ONE_KIND(DeleteTest, WorkloadKind::kStatefulSet);

TEST_P(DeleteTest, DeletionOfADaemonDeletesAllItsObjects) {
  StartOperator();
  const auto pools = AddPools(3);
  AddNode(pools[0]);
  CreateDaemon(WithService(Daemon("web", 1)));
  WaitForPools("web", pools);
  SetImage("web", "example.org/app:2");
  WaitForStatus("web", "has two revisions", [&](const Json&) { return Revisions("web").size() == 2; });
  Kubectl({"delete", "yad", "web", "--wait=true", "--timeout=180s"});
  Eventually("all objects of the daemon are deleted", [&]() -> std::string {
    for (const ResourceType& one : {type(), kReplicaSetType, kControllerRevisionType, kPodType, kServiceType}) {
      const auto left = kube().List(one);
      if (!left.empty()) return one.resource + ": " + std::to_string(left.size());
    }
    return "";
  });
}

TEST_P(DeleteTest, OrphanedWorkloadsAreKeptAndANewDaemonOfThatNameAdoptsThem) {
  StartOperator();
  const auto pools = AddPools(2);
  CreateDaemon(WithService(Daemon("web")));
  WaitUntilReady("web");
  const auto before = ByPool("web");
  std::map<std::string, std::string> services;
  for (const Json& service : kube().List(kServiceType)) services[NameOf(service)] = UidOf(service);
  Kubectl({"delete", "yad", "web", "--cascade=orphan", "--wait=true", "--timeout=180s"});
  Barrier();
  for (const auto& [pool, workload] : before) {
    const Json now = kube().Get(type(), NameOf(workload));
    EXPECT_EQ(UidOf(now), UidOf(workload));
    EXPECT_EQ(At(now, "/metadata/deletionTimestamp"), Json());
    EXPECT_EQ(At(now, "/metadata/ownerReferences"), Json());
  }
  CreateDaemon(WithService(Daemon("web")));
  WaitUntilReady("web");
  WaitForPools("web", pools);
  EXPECT_EQ(kube().List(type()).size(), 2U);
  ASSERT_EQ(services.size(), 2U);
  for (const auto& [name, uid] : services) {
    const Json service = kube().Get(kServiceType, name);
    EXPECT_EQ(UidOf(service), uid);
    EXPECT_EQ(At(service, "/metadata/ownerReferences/0/uid"), UidOf(GetDaemon("web")));
  }
  for (const auto& [pool, workload] : ByPool("web")) {
    EXPECT_EQ(UidOf(workload), UidOf(before.at(pool))) << "the workload was recreated in " << pool;
    EXPECT_EQ(PodTemplate(workload), PodTemplate(before.at(pool)));
  }
}

TEST_P(DeleteTest, NothingIsWrittenForADaemonThatIsBeingDeleted) {
  StartOperator();
  const std::string a = AddPool("a");
  Json daemon = Daemon("web");
  daemon["metadata"]["finalizers"] = Json::array({"cluster-test.example.org/hold"});
  CreateDaemon(daemon);
  WaitUntilReady("web");
  kube().Delete(kYurtAppDaemonType, "web");
  ASSERT_NE(StringAt(GetDaemon("web"), {"metadata", "deletionTimestamp"}), "");
  Barrier();
  const WallTime before = Now();
  kube().Delete(type(), NameOf(WorkloadOf("web", a)));
  AddPool("b");
  SetImage("web", "example.org/app:2");
  // After a reconcile of another daemon over the same pools, the operator has handled these events.
  CreateDaemon(Daemon("other"));
  WaitUntilReady("other");
  Barrier();
  EXPECT_TRUE(Workloads("web").empty());
  for (const AuditedRequest& write : WritesSince(before)) {
    EXPECT_NE(write.name, "web") << write.verb;
    EXPECT_NE(write.name.rfind("web-", 0), 0U) << write.verb << " " << write.resource << " " << write.name;
  }
  kube().MergePatch(kYurtAppDaemonType, "web", {{"metadata", {{"finalizers", nullptr}}}});
  Eventually("the daemon is gone", [&] { return !kube().Find(kYurtAppDaemonType, "web").has_value(); });
}

TEST_P(DeleteTest, ADaemonThatIsRecreatedImmediatelyGetsItsOwnWorkloads) {
  StartOperator();
  const auto pools = AddPools(3);
  CreateDaemon(Daemon("web"));
  WaitForPools("web", pools);
  kube().Delete(kYurtAppDaemonType, "web");
  CreateDaemon(Daemon("web"));
  WaitForPools("web", pools);
  WaitUntilReady("web");
  Eventually("the garbage collector has deleted the first daemon's workloads",
             [&] { return kube().List(type()).size() == 3; });
  WaitForPools("web", pools);
}

}  // namespace
}  // namespace yad::testing
