// serviceTemplate: one Service for each pool, on a real apiserver with the EndpointSlice controller.
#include "operator/workload/service.h"

#include <set>

#include "tests/cluster/fixture.h"
#include "tests/support/fault_proxy.h"

namespace yad::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const ResourceType kEndpointSliceType{"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", true};

Json Port(const std::string& name, int port) { return {{"name", name}, {"port", port}}; }

class ServiceTest : public ClusterTest {
 protected:
  Json WithService(Json daemon, const Json& spec) const {
    daemon["spec"]["serviceTemplate"] = {{"metadata", {{"labels", {{"tier", "shop"}}}}}, {"spec", spec}};
    return daemon;
  }
  Json Headed(const std::string& name, int replicas = 0) const {
    return WithService(Daemon(name, replicas), {{"ports", {Port("http", 80)}}});
  }
  std::vector<Json> Services() { return kube().List(kServiceType, "tier=shop"); }
  // Returns the Service in the pool's status.
  Json ServiceOf(const std::string& daemon, const std::string& pool) {
    return kube().Get(kServiceType, StringAt(PoolStatus(GetDaemon(daemon), pool), {"service"}));
  }
  std::set<std::string> PodsBehind(const std::string& service) {
    std::set<std::string> pods;
    for (const Json& slice : kube().List(kEndpointSliceType, "kubernetes.io/service-name=" + service)) {
      for (const Json& endpoint : slice.value("endpoints", Json::array())) {
        if (BoolAt(endpoint, {"conditions", "ready"})) pods.insert(StringAt(endpoint, {"targetRef", "name"}));
      }
    }
    return pods;
  }
  std::set<std::string> PodsOf(const std::string& pool) {
    std::set<std::string> pods;
    for (const Json& pod : kube().List(kPodType, std::string(kPoolNameLabel) + "=" + pool)) pods.insert(NameOf(pod));
    return pods;
  }
  void ExpectNothingIsWritten() {
    Barrier();
    const WallTime since = Now();
    Barrier();
    for (const AuditedRequest& write : WritesSince(since)) EXPECT_NE(write.resource, "services");
  }
};

class StatefulServiceTest : public ServiceTest {
 protected:
  WorkloadKind kind() const override { return WorkloadKind::kStatefulSet; }
  Json Unnamed(const std::string& name) const {
    Json daemon = Daemon(name);
    daemon["spec"]["workloadTemplate"]["statefulSetTemplate"]["spec"].erase("serviceName");
    return daemon;
  }
};

TEST_F(ServiceTest, EachPoolsServiceSelectsOnlyThePodsOfThatPool) {
  StartOperator();
  const std::vector<std::string> pools = {AddPool("a"), AddPool("b")};
  for (const std::string& pool : pools) AddNode(pool);
  const WallTime since = Now();
  CreateDaemon(Headed("web", 2));
  WaitUntilReady("web");
  for (const std::string& pool : pools) {
    const Json service = ServiceOf("web", pool);
    EXPECT_EQ(NameOf(service), NameOf(WorkloadOf("web", pool)));
    EXPECT_EQ(At(service, "/metadata/ownerReferences/0/uid"), UidOf(GetDaemon("web")));
    Eventually("the Service's endpoints are the pool's two pods",
               [&] { return PodsOf(pool).size() == 2 && PodsBehind(NameOf(service)) == PodsOf(pool); });
  }
  std::set<std::string> made;
  for (const AuditedRequest& write : WritesSince(since)) {
    if (write.verb != "create") continue;
    if (write.resource == "services") made.insert(write.name);
    if (write.resource == "deployments") {
      EXPECT_THAT(made, Contains(write.name)) << "the Service must be created before the workload";
    }
  }
  EXPECT_THAT(made, SizeIs(2));
  ExpectNothingIsWritten();
}

TEST_F(ServiceTest, ChangedOrDeletedServicesAreRestoredAndKeepValuesOfTheServer) {
  StartOperator();
  const std::string pool = AddPool("a");
  CreateDaemon(WithService(Daemon("web"), {{"type", "NodePort"}, {"ports", {Port("http", 80), Port("dns", 53)}}}));
  WaitUntilReady("web");
  const Json before = ServiceOf("web", pool);
  kube().Edit(kServiceType, NameOf(before), [](Json& service) {
    service["spec"]["selector"]["app"] = "other";
    service["spec"]["ports"].erase(1);
    service["spec"]["ports"][0]["targetPort"] = 81;
    service["metadata"]["labels"].erase("tier");
    service["metadata"]["annotations"]["theirs"] = "1";
  });
  Json repaired;
  Eventually("the Service is repaired", [&] {
    repaired = ServiceOf("web", pool);
    return At(repaired, "/spec/ports").size() == 2 && At(repaired, "/spec/selector") == At(before, "/spec/selector");
  });
  EXPECT_EQ(At(repaired, "/spec/ports/0"), At(before, "/spec/ports/0"));
  EXPECT_EQ(At(repaired, "/spec/clusterIP"), At(before, "/spec/clusterIP"));
  EXPECT_EQ(Label(repaired, "tier"), "shop");
  EXPECT_EQ(Annotation(repaired, "theirs"), "1");
  ExpectNothingIsWritten();

  // Because it lacks this label, the Service leaves the operator's watch.
  kube().MergePatch(kServiceType, NameOf(before), {{"metadata", {{"labels", {{kPoolNameLabel, nullptr}}}}}});
  Eventually("the Service has its label again", [&] { return Label(ServiceOf("web", pool), kPoolNameLabel) == pool; });
  EXPECT_EQ(UidOf(ServiceOf("web", pool)), UidOf(before));

  kube().Delete(kServiceType, NameOf(before));
  Eventually("the Service is recreated", [&] {
    const auto now = kube().Find(kServiceType, NameOf(before));
    return now && UidOf(*now) != UidOf(before);
  });
}

TEST_F(ServiceTest, ANewTemplateChangesTheServiceAndRestartsNoPod) {
  StartOperator();
  const std::string pool = AddPool("a");
  CreateDaemon(WithService(Daemon("web"), {{"type", "NodePort"}, {"ports", {Port("http", 80), Port("dns", 53)}}}));
  WaitUntilReady("web");
  const Json before = ServiceOf("web", pool);
  const Json workload = WorkloadOf("web", pool);
  PatchSpec("web", {{"serviceTemplate", {{"spec", {{"ports", {Port("metrics", 9090), Port("http", 80)}}}}}}});
  WaitUntilReady("web");
  const Json after = ServiceOf("web", pool);
  ASSERT_THAT(At(after, "/spec/ports"), SizeIs(2)) << after;
  EXPECT_EQ(At(after, "/spec/ports/0/name"), "metrics");
  EXPECT_EQ(At(after, "/spec/ports/1"), At(before, "/spec/ports/0")) << "the port must keep its nodePort";
  EXPECT_EQ(At(after, "/spec/clusterIP"), At(before, "/spec/clusterIP"));
  EXPECT_EQ(At(WorkloadOf("web", pool), "/spec"), At(workload, "/spec"));
  EXPECT_EQ(Revisions("web").size(), 2U);

  PatchSpec("web", {{"serviceTemplate", {{"spec", {{"type", nullptr}, {"ports", {Port("http", 80)}}}}}}});
  WaitUntilReady("web");
  const Json plain = ServiceOf("web", pool);
  EXPECT_EQ(At(plain, "/spec/type"), "ClusterIP");
  EXPECT_EQ(At(plain, "/spec/ports/0/nodePort"), Json());
  ExpectNothingIsWritten();
}

TEST_F(ServiceTest, ServicesAreDeletedWithTheirPoolOrTheServiceTemplate) {
  StartOperator();
  const std::string a = AddPool("a");
  const std::string b = AddPool("b");
  CreateDaemon(Headed("web"));
  WaitUntilReady("web");
  EXPECT_THAT(Services(), SizeIs(2));
  Unselect(b);
  Eventually("the removed pool's Service is gone", [&] { return Services().size() == 1; });
  EXPECT_EQ(Label(Services().at(0), kPoolNameLabel), a);
  PatchSpec("web", {{"serviceTemplate", nullptr}});
  WaitUntilReady("web");
  Eventually("no Service exists", [&] { return Services().empty(); });
  Eventually("status contains no Service", [&] { return !PoolStatus(GetDaemon("web"), a).contains("service"); });
  EXPECT_THAT(Workloads("web"), SizeIs(1));
}

TEST_F(ServiceTest, AnInvalidServiceNameGetsAPrefix) {
  StartOperator();
  const std::string pool = AddPool("a.b");
  CreateDaemon(Headed("7web"));
  WaitUntilReady("7web");
  const Json service = ServiceOf("7web", pool);
  EXPECT_EQ(NameOf(service), "s-" + NameOf(WorkloadOf("7web", pool)));
  EXPECT_THAT(NameOf(service), HasSubstr("s-7web-"));
}

TEST_F(ServiceTest, AForeignServiceOrARejectionFailsOnlyItsPool) {
  StartOperator();
  const std::string a = AddPool("a");
  const std::string b = AddPool("b");
  const std::string uid = UidOf(CreateDaemon(Headed("web")));
  WaitUntilReady("web");
  // A Service without an owner has the name that the operator will choose for pool c.
  const std::string name = NameOf(ServiceOf("web", a));
  const std::string c = Pool("c");
  const std::string taken = WorkloadName("web", uid, c, WorkloadKind::kDeployment);
  const Json foreign =
      kube().Create(kServiceType, {{"metadata", {{"name", taken}}}, {"spec", {{"ports", {Port("x", 1)}}}}});
  AddPool("c");
  WaitForStatus("web", "the pool has reason ServiceConflict", [&](const Json& status) {
    return StringAt(PoolStatus({{"status", status}}, c), {"reason"}) == "ServiceConflict" &&
           status.at("readyPools") == 2;
  });
  EXPECT_EQ(WithoutStatus(kube().Get(kServiceType, taken)), WithoutStatus(foreign));
  EXPECT_FALSE(ByPool("web").contains(c)) << "the workload must wait for its Service";
  kube().Delete(kServiceType, taken);
  Kubectl({"annotate", "nodepool", c, "nudge=1"});
  WaitUntilReady("web");

  // Two Services cannot have the same address.
  const std::string address = StringAt(ServiceOf("web", b), {"spec", "clusterIP"});
  PatchSpec("web", {{"serviceTemplate", {{"spec", {{"clusterIP", address}}}}}});
  WaitForStatus("web", "the pool's message contains the apiserver's error", [&](const Json& status) {
    return StringAt(PoolStatus({{"status", status}}, a), {"reason"}) == "Invalid" &&
           StringAt(PoolStatus({{"status", status}}, b), {"phase"}) == "Ready";
  });
  EXPECT_NE(At(kube().Get(kServiceType, name), "/spec/clusterIP"), address);
  PatchSpec("web", {{"serviceTemplate", {{"spec", {{"clusterIP", nullptr}}}}}});
  WaitUntilReady("web");
}

TEST_F(StatefulServiceTest, AnOmittedServiceNameBecomesThatOfThePoolsService) {
  StartOperator();
  const std::string old = AddPool("a");
  CreateDaemon(Unnamed("web"));
  WaitUntilReady("web");
  const Json before = WorkloadOf("web", old);
  PatchSpec("web", {{"serviceTemplate", {{"spec", {{"clusterIP", "None"}, {"ports", {Port("http", 80)}}}}}}});
  const std::string later = AddPool("b");
  WaitUntilReady("web");
  EXPECT_EQ(At(WorkloadOf("web", old), "/spec"), At(before, "/spec"))
      << "the workload was created without a serviceName, which is immutable";
  EXPECT_EQ(At(WorkloadOf("web", later), "/spec/serviceName"), NameOf(ServiceOf("web", later)));
  EXPECT_EQ(At(ServiceOf("web", later), "/spec/clusterIP"), "None");

  // The workload keeps its serviceName although the Service is gone, which is not drift.
  const std::string uid = UidOf(WorkloadOf("web", later));
  PatchSpec("web", {{"serviceTemplate", nullptr}});
  SetImage("web", "example.org/app:2");
  WaitUntilReady("web");
  EXPECT_EQ(UidOf(WorkloadOf("web", later)), uid);
  EXPECT_EQ(ImageOf(WorkloadOf("web", later)), "example.org/app:2");
  EXPECT_NE(At(WorkloadOf("web", later), "/spec/serviceName"), Json());
}

// The operator has the roles of an older chart, without permissions on Services.
class OlderRolesTest : public ServiceTest {
 protected:
  void TearDown() override {
    ServiceTest::TearDown();
    proxy_.reset();
  }
  OperatorOptions DefaultOptions() override {
    OperatorOptions options = ServiceTest::DefaultOptions();
    proxy_ = MakeProxy(options.kubeconfig, [](const ProxiedRequest& request) {
      Fault fault;
      if (request.path.ends_with("/services")) {
        fault.instead = ProxyReply{403, R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden",)"
                                        R"("code":403,"message":"services is forbidden"})"};
      }
      return fault;
    });
    options.kubeconfig = KubeconfigThrough(*proxy_, options.kubeconfig, plane().dir() + "/" + ns() + ".kubeconfig");
    return options;
  }

 private:
  std::unique_ptr<FaultProxy> proxy_;
};

TEST_F(OlderRolesTest, OnlyDaemonsWithAServiceTemplateNeedPermissionsOnServices) {
  StartOperator();
  AddPool("a");
  CreateDaemon(Headed("web"));
  Eventually("condition Ready contains the apiserver's error", [&] {
    return ConditionOf(GetDaemon("web"), "Ready").dump().find("services is forbidden") != std::string::npos;
  });
  EXPECT_EQ(StringAt(ConditionOf(GetDaemon("web"), "Ready"), {"reason"}), "ServicesUnreadable");
  CreateDaemon(Daemon("plain"));
  WaitUntilReady("plain");
  PatchSpec("web", {{"serviceTemplate", nullptr}});
  WaitUntilReady("web");
  EXPECT_THAT(Services(), IsEmpty());
}

}  // namespace
}  // namespace yad::testing
