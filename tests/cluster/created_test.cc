// The content of a pool's workload and of its pods.
#include <regex>

#include "tests/cluster/fixture.h"

namespace yad::testing {
namespace {

class CreatedTest : public BothKinds {};
INSTANTIATE_BOTH_KINDS(CreatedTest);

TEST_P(CreatedTest, EachPoolGetsOneWorkloadWithExactlyTheSpecifiedFields) {
  StartOperator();
  const std::string plain = AddPool("plain");
  const std::string tainted = AddPool("tainted", R"({"taints": [
      {"key": "region", "value": "x", "effect": "NoSchedule"}, {"key": "edge", "effect": "NoExecute"}]})"_json);
  Json daemon = Daemon("web");
  Json& templ = daemon["spec"]["workloadTemplate"][TemplateField(kind())];
  templ["metadata"]["annotations"] = {{"team", "edge"}};
  const Json created = CreateDaemon(daemon);
  const Json ready = WaitUntilReady("web");
  WaitForPools("web", {plain, tainted});

  const auto revisions = Revisions("web");
  ASSERT_EQ(revisions.size(), 1U);
  const std::string revision = NameOf(revisions[0]);
  EXPECT_THAT(revision, ::testing::StartsWith("web-"));
  EXPECT_EQ(IntAt(revisions[0], {"revision"}), 1);

  for (const auto& [pool, workload] : ByPool("web")) {
    SCOPED_TRACE(pool);
    EXPECT_TRUE(std::regex_match(NameOf(workload), std::regex("web-" + pool + "-[a-z0-9]{5}"))) << NameOf(workload);
    EXPECT_EQ(At(workload, "/metadata/labels"),
              (Json{{"app", "web"}, {kPoolNameLabel, pool}, {kRevisionLabel, revision}}));
    Json annotations = At(workload, "/metadata/annotations");
    const Json from = Json::parse(Annotation(workload, kRenderedFromAnnotation), nullptr, false);
    EXPECT_TRUE(from.is_object()) << annotations;
    annotations.erase(kRenderedFromAnnotation);
    annotations.erase("deployment.kubernetes.io/revision");
    EXPECT_EQ(annotations, (Json{{"team", "edge"}, {kRefNodePoolAnnotation, pool}}));
    EXPECT_EQ(At(workload, "/metadata/ownerReferences"), Json::array({{{"apiVersion", "apps.openyurt.io/v1alpha1"},
                                                                       {"kind", "YurtAppDaemon"},
                                                                       {"name", "web"},
                                                                       {"uid", UidOf(created)},
                                                                       {"controller", true},
                                                                       {"blockOwnerDeletion", true}}}));
    const Json pool_labels = {{"app", "web"}, {kPoolNameLabel, pool}};
    EXPECT_EQ(At(workload, "/spec/selector"), (Json{{"matchLabels", pool_labels}}));
    EXPECT_EQ(At(workload, "/spec/template/metadata/labels"), pool_labels);
    EXPECT_EQ(At(workload, "/spec/template/spec/nodeSelector"), (Json{{kNodePoolLabel, pool}}));
    EXPECT_EQ(At(workload, "/spec/replicas"), 0);
    if (pool == tainted) {
      EXPECT_EQ(At(workload, "/spec/template/spec/tolerations"),
                R"([{"key": "region", "operator": "Exists", "effect": "NoSchedule"},
                    {"key": "edge", "operator": "Exists", "effect": "NoExecute"}])"_json);
    } else {
      EXPECT_EQ(At(workload, "/spec/template/spec/tolerations"), Json());
    }
  }
}

TEST_P(CreatedTest, PodsBecomeReadyOnTheNodesOfEachPool) {
  StartOperator();
  const Json taint = {{"key", "region"}, {"value", "x"}, {"effect", "NoSchedule"}};
  const std::string plain = AddPool("plain");
  const std::string tainted = AddPool("tainted", {{"taints", Json::array({taint})}});
  AddNode(plain);
  AddNode(tainted, Json::array({taint}));
  CreateDaemon(Daemon("web", 2));
  const Json daemon = WaitUntilReady("web");
  std::map<std::string, int> ready_pods;
  for (const Json& pod : kube().List(kPodType, "app=web")) {
    const Json node = kube().Get(kNodeType, StringAt(pod, {"spec", "nodeName"}));
    EXPECT_EQ(Label(node, kNodePoolLabel), Label(pod, kPoolNameLabel));
    for (const Json& condition : At(pod, "/status/conditions")) {
      if (condition["type"] == "Ready" && condition["status"] == "True") ++ready_pods[Label(pod, kPoolNameLabel)];
    }
  }
  EXPECT_EQ(ready_pods, (std::map<std::string, int>{{plain, 2}, {tainted, 2}}));
  EXPECT_EQ(At(daemon, "/status/readyReplicas"), 4);
}

TEST_P(CreatedTest, SchedulingFieldsLabelsAndAnnotationsOfTheTemplateAreKept) {
  StartOperator();
  const std::string pool = AddPool("a", R"({"taints": [{"key": "region", "effect": "NoSchedule"},
                                                         {"key": "mine", "effect": "NoSchedule"}]})"_json);
  Json daemon = Daemon("web");
  Json& templ = daemon["spec"]["workloadTemplate"][TemplateField(kind())];
  templ["metadata"]["labels"]["tier"] = "front";
  templ["spec"]["template"]["metadata"]["labels"]["tier"] = "front";
  templ["spec"]["template"]["metadata"]["annotations"] = {{"note", "kept"}};
  const Json affinity = R"({
      "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
          {"matchExpressions": [{"key": "arch", "operator": "In", "values": ["amd64", "arm64"]}]}]}},
      "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
          {"weight": 1, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname", "namespaceSelector": {}}}]}})"_json;
  templ["spec"]["template"]["spec"]["affinity"] = affinity;
  templ["spec"]["template"]["spec"]["nodeSelector"] = {{"disk", "ssd"}};
  const Json own = R"([{"key": "mine", "operator": "Exists", "effect": "NoSchedule"},
                       {"key": "other", "operator": "Equal", "value": "v", "effect": "NoExecute",
                        "tolerationSeconds": 7}])"_json;
  templ["spec"]["template"]["spec"]["tolerations"] = own;
  CreateDaemon(daemon);
  WaitUntilReady("web");
  const Json workload = WorkloadOf("web", pool);
  EXPECT_EQ(Label(workload, "tier"), "front");
  EXPECT_EQ(At(workload, "/spec/template/metadata/labels/tier"), "front");
  EXPECT_EQ(At(workload, "/spec/template/metadata/annotations/note"), "kept");
  EXPECT_EQ(At(workload, "/spec/template/spec/affinity"), affinity);
  EXPECT_EQ(At(workload, "/spec/template/spec/nodeSelector"), (Json{{"disk", "ssd"}, {kNodePoolLabel, pool}}));
  // The template itself tolerates the pool's taint "mine".
  Json wanted = own;
  wanted.push_back(R"({"key": "region", "operator": "Exists", "effect": "NoSchedule"})"_json);
  EXPECT_EQ(At(workload, "/spec/template/spec/tolerations"), wanted);
}

TEST_P(CreatedTest, PodFieldsThatTypedClientsOftenLackAreInTheWorkload) {
  StartOperator();
  const std::string pool = AddPool("a");
  Json daemon = Daemon("web");
  Json& pod = daemon["spec"]["workloadTemplate"][TemplateField(kind())]["spec"]["template"]["spec"];
  pod["hostUsers"] = false;
  pod["initContainers"] = R"([{"name": "sidecar", "image": "example.org/s:1", "restartPolicy": "Always"}])"_json;
  pod["containers"][0]["startupProbe"] = R"({"httpGet": {"path": "/", "port": 80}})"_json;
  pod["containers"][0]["resizePolicy"] = R"([{"resourceName": "cpu", "restartPolicy": "NotRequired"}])"_json;
  CreateDaemon(daemon);
  WaitUntilReady("web");
  const Json made = At(WorkloadOf("web", pool), "/spec/template/spec");
  // Before 1.33, an apiserver drops these fields by default.
  if (plane().minor() >= 33) {
    EXPECT_EQ(At(made, "/hostUsers"), false);
    EXPECT_EQ(At(made, "/containers/0/resizePolicy"), pod["containers"][0]["resizePolicy"]);
  }
  EXPECT_EQ(At(made, "/initContainers/0/restartPolicy"), "Always");
  EXPECT_EQ(At(made, "/containers/0/startupProbe/httpGet/path"), "/");
  // The operator does not set a pull policy. The apiserver's default for this tag is IfNotPresent.
  EXPECT_EQ(At(made, "/containers/0/imagePullPolicy"), "IfNotPresent");
}

TEST_P(CreatedTest, UnknownFieldsAreKeptInTheRevisionAndCauseNoRepeatedWrites) {
  StartOperator();
  const std::string pool = AddPool("a");
  Json daemon = Daemon("web");
  const Json unknown = {{"level", 3}, {"list", {1, 2, "x"}}, {"ratio", 0.5}};
  daemon["spec"]["workloadTemplate"][TemplateField(kind())]["spec"]["template"]["spec"]["fieldOfTheFuture"] = unknown;
  CreateDaemon(daemon);
  WaitUntilReady("web");
  const auto revisions = Revisions("web");
  ASSERT_EQ(revisions.size(), 1U);
  const std::string path =
      std::string("/spec/workloadTemplate/") + TemplateField(kind()) + "/spec/template/spec/fieldOfTheFuture";
  EXPECT_EQ(At(revisions[0], "/data" + path), unknown);
  EXPECT_EQ(At(GetDaemon("web"), path), unknown);
  // The apiserver drops the unknown field from the workload, which is not drift.
  Barrier();
  const WallTime before = Now();
  for (int i = 0; i < 3; ++i) {
    kube().MergePatch(type(), NameOf(WorkloadOf("web", pool)),
                      {{"metadata", {{"annotations", {{"poke", std::to_string(i)}}}}}});
    Barrier();
  }
  std::vector<AuditedRequest> writes = WritesSince(before);
  std::erase_if(writes, [&](const AuditedRequest& write) {
    return write.resource != type().resource || write.code == 409;  // 409: a conflict with the test's own writes
  });
  EXPECT_LE(writes.size(), 3U) << ToString(writes);
}

TEST_P(CreatedTest, ASelectorMayHaveOnlyExpressions) {
  StartOperator();
  const std::string pool = AddPool("a");
  Json daemon = Daemon("web");
  daemon["spec"]["selector"] =
      R"({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "other"]}]})"_json;
  CreateDaemon(daemon);
  WaitUntilReady("web");
  const Json selector = At(WorkloadOf("web", pool), "/spec/selector");
  EXPECT_EQ(At(selector, "/matchExpressions"), daemon["spec"]["selector"]["matchExpressions"]);
  EXPECT_EQ(At(selector, "/matchLabels"), (Json{{kPoolNameLabel, pool}}));
}

TEST_P(CreatedTest, ATemplateMayHaveItsOwnSelector) {
  StartOperator();
  const std::string pool = AddPool("a");
  Json daemon = Daemon("web");
  daemon["spec"]["workloadTemplate"][TemplateField(kind())]["spec"]["selector"] = {{"matchLabels", {{"app", "web"}}}};
  CreateDaemon(daemon);
  WaitUntilReady("web");
  EXPECT_EQ(At(WorkloadOf("web", pool), "/spec/selector/matchLabels"), (Json{{"app", "web"}, {kPoolNameLabel, pool}}));
}

}  // namespace
}  // namespace yad::testing
