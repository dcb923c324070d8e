// After a kill or a restart, the next operator process reconciles once and then does not write.
#include <thread>

#include "tests/cluster/fixture.h"

namespace yad::testing {
namespace {

class RestartTest : public BothKinds {
 protected:
  void ExpectNoWrites(WallTime since) {
    std::vector<AuditedRequest> writes = WritesSince(since);
    std::erase_if(writes, [](const AuditedRequest& write) { return write.name.rfind("barrier-", 0) == 0; });
    EXPECT_TRUE(writes.empty()) << ToString(writes);
  }
  // Returns a daemon with values that the apiserver stores in another form (1000m as 1), and without values that it
  // defaults.
  Json DaemonInOtherSpelling() {
    Json daemon = Daemon("web", std::nullopt);
    Json& templ = daemon["spec"]["workloadTemplate"][TemplateField(kind())];
    templ["spec"]["template"]["spec"]["containers"][0].update(R"({
        "resources": {"requests": {"cpu": "1000m", "memory": "1024Mi"}, "limits": {"cpu": 2, "memory": "2e9"}},
        "ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}],
        "env": [{"name": "A", "value": ""}, {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        "livenessProbe": {"tcpSocket": {"port": 80}},
        "volumeMounts": [{"name": "cache", "mountPath": "/cache"}, {"name": "config", "mountPath": "/config"}]})"_json);
    templ["spec"]["template"]["spec"]["volumes"] = R"([{"name": "cache", "emptyDir": {}},
                                                       {"name": "config", "configMap": {"name": "c"}}])"_json;
    templ["spec"]["template"]["spec"]["securityContext"] = Json::object();
    templ["spec"]["template"]["metadata"]["creationTimestamp"] = nullptr;
    return daemon;
  }
  // Returns the resourceVersions of all objects that the operator writes, as one string.
  std::string AllVersions() {
    std::string text;
    for (const ResourceType& one : {type(), kYurtAppDaemonType, kControllerRevisionType}) {
      for (const Json& object : kube().List(one)) {
        if (NameOf(object).rfind("barrier-", 0) != 0) text += NameOf(object) + "=" + VersionOf(object) + " ";
      }
    }
    return text;
  }
  // Blocks until the objects have not changed for longer than a second. The operator writes a status at most once a
  // second.
  void AwaitQuiet() {
    std::string versions;
    for (int quiet = 0; quiet < 3;) {
      const std::string now = AllVersions();
      quiet = now == versions ? quiet + 1 : 0;
      versions = now;
      Barrier();
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
  }
  void ExpectTheAuditedWritesInTheMetrics(WallTime since) {
    Eventually("the metrics and the audit log count the same writes", [&]() -> std::string {
      double counted = 0;
      for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
        counted += op().Metric("rest_client_requests_total", {std::string("method=\"") + method + "\""});
      }
      const auto audited = WritesSince(since);
      return counted == static_cast<double>(audited.size()) && counted > 0
                 ? ""
                 : std::to_string(counted) + " in the metrics, in the log:" + ToString(audited);
    });
  }
};
INSTANTIATE_BOTH_KINDS(RestartTest);

// Tests of behaviour that does not depend on the kind.
class RestartOnceTest : public RestartTest {};
INSTANTIATE_ONE_KIND(RestartOnceTest, WorkloadKind::kDeployment);

TEST_P(RestartOnceTest, NoWorkloadIsDuplicatedOrLostByAKillDuringCreationsAndUpdates) {
  const WallTime begin = Now();
  const auto pools = AddPools(60);
  StartOperator({"--kube-api-qps=30", "--kube-api-burst=5"});  // slow enough to be killed in the middle
  CreateDaemon(Daemon("web"));
  Eventually("at least five workloads exist", [&] { return kube().List(type()).size() >= 5; });
  KillOperator();
  const std::size_t at_the_kill = kube().List(type()).size();
  ASSERT_LT(at_the_kill, 60U) << "the operator was killed too late";
  StartOperator();
  WaitForPools("web", pools);
  WaitUntilReady("web");
  EXPECT_EQ(kube().List(type()).size(), 60U);
  EXPECT_EQ(Revisions("web").size(), 1U);
  int created = 0;
  for (const AuditedRequest& write : WritesSince(begin)) {
    if (write.verb == "create" && write.resource == type().resource && write.code == 201) ++created;
    EXPECT_NE(write.verb, "delete") << write.resource << " " << write.name;
  }
  EXPECT_LE(created, 60);  // The audit log may lack a create whose client disconnected.

  // Also kills the operator in the middle of an update of all workloads.
  StopOperator();
  StartOperator({"--kube-api-qps=30", "--kube-api-burst=5"});
  SetImage("web", "example.org/app:2");
  const auto updated = [&] {
    int count = 0;
    for (const Json& workload : kube().List(type())) count += ImageOf(workload) == "example.org/app:2";
    return count;
  };
  Eventually("at least five workloads are updated", [&] { return updated() >= 5; });
  KillOperator();
  ASSERT_LT(updated(), 60);
  StartOperator();
  WaitUntilReady("web");
  Eventually("all workloads are updated", [&] { return updated() == 60; });
  WaitForPools("web", pools);
  EXPECT_EQ(Revisions("web").size(), 2U);
  for (const auto& [pool, workload] : ByPool("web")) EXPECT_EQ(At(workload, "/metadata/generation"), 2) << pool;
}

TEST_P(RestartTest, ARestartWithoutAChangeCausesNoWrite) {
  StartOperator();
  AddPools(5);
  const std::string tainted = AddPool("tainted", R"({"taints": [{"key": "x", "effect": "NoSchedule"}]})"_json);
  AddNode(Pool("p000"));
  AddPoolNamed(Pool("x") + std::string(70, 'a'));  // a pool that always fails
  CreateDaemon(DaemonInOtherSpelling());
  CreateDaemon(Daemon("zero"));
  CreateDaemon(Daemon("paused"));
  const auto six_ready = [](const Json& status) {
    return At(status, "/readyPools") == 6 && At(status, "/failedPools") == 1;
  };
  WaitForStatus("zero", "six pools are ready", six_ready);
  WaitForStatus("paused", "six pools are ready", six_ready);
  PatchSpec("paused", {{"paused", true}});
  WaitUntilObserved("paused");
  SetImage("paused", "example.org/app:2");
  WaitUntilObserved("paused");
  WaitForStatus("web", "has seven pools", [](const Json& status) { return At(status, "/desiredPools") == 7; });
  AwaitQuiet();
  StopOperator();
  const std::string versions = AllVersions();
  const WallTime before = Now();
  StartOperator();
  Barrier();
  Barrier();
  ExpectNoWrites(before);
  EXPECT_EQ(AllVersions(), versions);
  // The operator's metrics agree with the audit log. The only writes are for the daemons of Barrier().
  ExpectTheAuditedWritesInTheMetrics(before);
}

TEST_P(RestartOnceTest, ChangesDuringADowntimeAreReconciledAfterTheStart) {
  StartOperator();
  const std::string a = AddPool("a");
  const std::string b = AddPool("b");
  CreateDaemon(Daemon("web"));
  CreateDaemon(Daemon("gone"));
  WaitUntilReady("web");
  WaitUntilReady("gone");
  StopOperator();
  SetImage("web", "example.org/app:2");
  Unselect(a);
  const std::string c = AddPool("c");
  kube().MergePatch(type(), NameOf(WorkloadOf("web", b)), {{"metadata", {{"labels", {{kPoolNameLabel, nullptr}}}}}});
  kube().Delete(kYurtAppDaemonType, "gone");
  StartOperator();
  WaitForPools("web", {b, c});
  WaitUntilReady("web");
  for (const auto& [pool, workload] : ByPool("web")) EXPECT_EQ(ImageOf(workload), "example.org/app:2");
  EXPECT_EQ(Label(WorkloadOf("web", b), kPoolNameLabel), b);
  Eventually("the other daemon's workloads are gone", [&] { return kube().List(type()).size() == 2; });
}

class ApiserverTest : public ClusterTest {};

TEST_F(ApiserverTest, OperatorContinuesAfterARestartOfTheApiserver) {
  StartOperator();
  const std::string a = AddPool("a");
  CreateDaemon(Daemon("web"));
  WaitUntilReady("web");
  const Json before = WorkloadOf("web", a);
  plane().RunScript("stop-apiserver");
  plane().RunScript("start-apiserver");
  Eventually("the apiserver is ready", [&] { return kube().client().GetRaw("/readyz").has_value(); });
  const std::string b = AddPool("b");
  WaitForPools("web", {a, b});
  EXPECT_EQ(UidOf(WorkloadOf("web", a)), UidOf(before));
  EXPECT_EQ(At(WorkloadOf("web", a), "/metadata/generation"), At(before, "/metadata/generation"));
  EXPECT_FALSE(op().ExitCode().has_value());
}

}  // namespace
}  // namespace yad::testing
