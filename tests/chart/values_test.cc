// Values that affect many objects: values of a parent chart, labels, images, roles and monitors.
#include <filesystem>
#include <regex>

#include "tests/chart/fixture.h"

namespace yad::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class ValuesTest : public ChartTest {
 protected:
  // Renders a parent chart that depends on the project's chart under the condition "yurtappdaemon-operator.enabled".
  ProcessResult RenderParent(const std::vector<std::string>& values) {
    const std::string parent = plane().dir() + "/parent";
    std::filesystem::create_directories(parent + "/charts");
    std::filesystem::copy(helm().chart(), parent + "/charts/yurtappdaemon-operator",
                          std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
    WriteFile(parent + "/Chart.yaml",
              "apiVersion: v2\nname: parent\nversion: 1.0.0\ndependencies:\n- name: yurtappdaemon-operator\n"
              "  version: '>0'\n  condition: yurtappdaemon-operator.enabled\n");
    std::vector<std::string> command = {"template", "p", parent, "--kube-version", "1.34.0"};
    for (const std::string& value : values) command.insert(command.end(), {"--set", value});
    return helm().Try(command);
  }
  // Returns Helm's error for the values, or "" if it accepts them.
  std::string Rejection(const std::vector<std::string>& values) {
    std::vector<std::string> command = {"template", "yad", helm().chart(), "--kube-version", "1.34.0"};
    for (const std::string& value : values) command.insert(command.end(), {"--set", value});
    const ProcessResult result = helm().Try(command);
    return result.exit_code == 0 ? "" : result.err;
  }
  Json PodSpec(const std::vector<std::string>& values) {
    return At(TheOne(Admitted(values), "Deployment"), "/spec/template/spec");
  }
};

TEST_F(ValuesTest, AParentChartEnablesTheChartByItsCondition) {
  const ProcessResult off = RenderParent({"yurtappdaemon-operator.enabled=false"});
  EXPECT_EQ(off.exit_code, 0) << off.err;
  EXPECT_THAT(off.out, Not(HasSubstr("kind:")));
  const ProcessResult on = RenderParent(
      {"yurtappdaemon-operator.enabled=true", "yurtappdaemon-operator.image.repository=operator", "global.other.x=1"});
  EXPECT_EQ(on.exit_code, 0) << on.err;
  EXPECT_THAT(on.out, HasSubstr("kind: Deployment"));
}

TEST_F(ValuesTest, GlobalValuesOfAParentChartApplyToEveryImageAndObject) {
  const ProcessResult result =
      RenderParent({"global.imageRegistry=registry.example:5000", "global.imagePullSecrets[0]=by-name",
                    "global.imagePullSecrets[1].name=by-object", "global.commonLabels.team=edge",
                    "yurtappdaemon-operator.image.repository=operator"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("image: registry.example:5000/operator:v"),
                                HasSubstr("image: registry.example:5000/alpine/k8s:"),
                                HasSubstr("imagePullSecrets:\n      - name: by-name\n      - name: by-object\n")));
}

TEST_F(ValuesTest, TheChartsOwnRegistryAndDigestOverrideGlobalValues) {
  const std::string digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
  const auto image = [&](const std::vector<std::string>& values) {
    return At(PodSpec(values), "/containers/0/image").get<std::string>();
  };
  EXPECT_THAT(image({}), HasSubstr("yurtappdaemon-operator:v"));
  EXPECT_EQ(image({"image.registry=own.example", "global.imageRegistry=global.example", "image.tag=v9"}),
            "own.example/yurtappdaemon-operator:v9");
  EXPECT_EQ(image({"image.digest=" + digest}), "yurtappdaemon-operator@" + digest);
  EXPECT_EQ(image({"image.digest=" + digest, "image.tag=v9"}), "yurtappdaemon-operator:v9@" + digest);
}

TEST_F(ValuesTest, TheRepositoryOfTheImageMayBeginWithARegistryAndItsPort) {
  EXPECT_THAT(At(PodSpec({"image.repository=localhost:5000/team/operator"}), "/containers/0/image").get<std::string>(),
              HasSubstr("localhost:5000/team/operator:v"));
  for (const char* repository : {"localhost:5000", "localhost:5000/operator:v1", "operator@sha256:12", "a b"}) {
    EXPECT_THAT(Rejection({"image.repository=" + std::string(repository)}), HasSubstr("/image/repository"));
  }
}

TEST_F(ValuesTest, CommonLabelsAreOnEveryObjectAndPodAndReplaceNoLabelOfTheChart) {
  const std::vector<std::string> values = {"commonLabels.team=edge",
                                           "commonLabels.app\\.kubernetes\\.io/name=other",
                                           "certManager.enabled=true",
                                           "networkPolicy.enabled=true",
                                           "metrics.serviceMonitor.enabled=true",
                                           "metrics.prometheusRule.enabled=true",
                                           "metrics.grafanaDashboard.enabled=true",
                                           "nodePoolAutoscaler.enabled=true",
                                           "rbac.nodePoolReaders[0].kind=Group",
                                           "rbac.nodePoolReaders[0].name=shops"};
  for (const Json& object : Admitted(values)) {
    SCOPED_TRACE(StringAt(object, {"kind"}) + " " + NameOf(object));
    EXPECT_EQ(StringAt(object, {"metadata", "labels", "team"}), "edge");
    EXPECT_EQ(StringAt(object, {"metadata", "labels", "app.kubernetes.io/name"}), "yurtappdaemon-operator");
  }
  const Json deployment = TheOne(Admitted(values), "Deployment");
  EXPECT_EQ(At(deployment, "/spec/template/metadata/labels/team"), "edge");
  EXPECT_EQ(At(TheOne(AdmittedTest(values, kOperatorNamespace), "Pod"), "/metadata/labels/team"), "edge");
  EXPECT_FALSE(At(deployment, "/spec/selector/matchLabels").contains("team")) << "a selector cannot be changed later";
}

TEST_F(ValuesTest, OnlyASpreadConstraintWithoutASelectorGetsTheLabelsOfTheReplicas) {
  const std::string spread = "topologySpreadConstraints[0].";
  const std::vector<std::string> values = {spread + "maxSkew=1", spread + "topologyKey=zone",
                                           spread + "whenUnsatisfiable=ScheduleAnyway"};
  const Json selector = {
      {"matchLabels", {{"app.kubernetes.io/name", "yurtappdaemon-operator"}, {"app.kubernetes.io/instance", "yad"}}}};
  EXPECT_EQ(At(PodSpec(values), "/topologySpreadConstraints/0/labelSelector"), selector);
  std::vector<std::string> own = values;
  own.push_back(spread + "labelSelector.matchExpressions[0].key=a");
  own.push_back(spread + "labelSelector.matchExpressions[0].operator=Exists");
  const Json expression = {{"key", "a"}, {"operator", "Exists"}};
  EXPECT_EQ(At(PodSpec(own), "/topologySpreadConstraints/0/labelSelector"),
            Json({{"matchExpressions", Json::array({expression})}}));
}

TEST_F(ValuesTest, MonitorsSetTheLabelThatAlertsUseAndSelectTheOperatorsNamespace) {
  const Json monitor = TheOne(Admitted({"metrics.podMonitor.enabled=true"}), "PodMonitor");
  const Json endpoint = At(monitor, "/spec/podMetricsEndpoints/0");
  EXPECT_EQ(endpoint.at("honorLabels"), true);
  EXPECT_EQ(endpoint.at("relabelings"),
            (Json{{{"targetLabel", "service"}, {"replacement", "yad-yurtappdaemon-operator-metrics"}}}));
  const Json service = TheOne(
      Admitted({"metrics.serviceMonitor.enabled=true", "metrics.serviceMonitor.namespace=default"}), "ServiceMonitor");
  EXPECT_EQ(At(service, "/metadata/namespace"), "default");
  EXPECT_EQ(At(service, "/spec/namespaceSelector/matchNames"), Json{kOperatorNamespace});
}

TEST_F(ValuesTest, ReadersOfNodePoolsGetAClusterRoleBinding) {
  const std::vector<Json> objects =
      Admitted({"rbac.nodePoolReaders[0].kind=Group", "rbac.nodePoolReaders[0].name=shops",
                "rbac.nodePoolReaders[0].apiGroup=rbac.authorization.k8s.io"});
  const Json& binding = TheOne(objects, "ClusterRoleBinding", "-nodepool-reader");
  EXPECT_EQ(At(binding, "/subjects/0/name"), "shops");
  EXPECT_EQ(At(TheOne(objects, "ClusterRole", "-nodepool-reader"), "/rules/0/verbs"), (Json{"get", "list", "watch"}));
}

TEST_F(ValuesTest, TheRoleInNamespaceDefaultCanBeDisabled) {
  EXPECT_EQ(At(TheOne(Admitted({"watchNamespace=default"}), "Role", "-crd-events"), "/metadata/namespace"), "default");
  const std::vector<Json> without = Admitted({"watchNamespace=default", "rbac.eventsInDefaultNamespace=false"});
  for (const Json& role : OfKind(without, "Role")) EXPECT_THAT(NameOf(role), Not(HasSubstr("crd-events")));
}

TEST_F(ValuesTest, RolesAllowJobsOnlyIfChecksMayRunJobs) {
  for (const auto& [values, kind, ns] : std::vector<std::tuple<std::vector<std::string>, std::string, Json>>{
           {{"checks.jobs=true"}, "ClusterRole", nullptr},
           {{"checks.jobs=true", "watchNamespace=default"}, "Role", "default"}}) {
    SCOPED_TRACE(kind);
    const Json role = TheOne(Admitted(values), kind, "-workloads");
    EXPECT_EQ(At(role, "/metadata/namespace"), ns);
    EXPECT_THAT(role.at("rules"), Contains(Json{{"apiGroups", {"batch"}},
                                                {"resources", {"jobs"}},
                                                {"verbs", {"list", "watch", "create", "delete"}}}));
  }
  for (const Json& object : Admitted({"checks.prometheus.url=http://prometheus"})) {
    if (!StringAt(object, {"kind"}).ends_with("Role")) continue;
    EXPECT_THAT(object.dump(), Not(HasSubstr("jobs")));
  }
}

TEST_F(ValuesTest, PrefetchAddsPermissionsOnDaemonSetsAndItsImageIsAFlag) {
  for (const auto& [values, kind, ns] : std::vector<std::tuple<std::vector<std::string>, std::string, Json>>{
           {{"prefetch.enabled=true"}, "ClusterRole", nullptr},
           {{"prefetch.enabled=true", "watchNamespace=default"}, "Role", "default"}}) {
    SCOPED_TRACE(kind);
    const Json role = TheOne(Admitted(values), kind, "-workloads");
    EXPECT_EQ(At(role, "/metadata/namespace"), ns);
    EXPECT_THAT(role.at("rules"), Contains(Json{{"apiGroups", {"apps"}},
                                                {"resources", {"daemonsets"}},
                                                {"verbs", {"list", "watch", "create", "delete"}}}));
  }
  for (const Json& object : Admitted({"prefetch.image=example.org/pause:1"})) {
    if (!StringAt(object, {"kind"}).ends_with("Role")) continue;
    EXPECT_THAT(object.dump(), Not(HasSubstr("daemonsets")));
  }
  EXPECT_THAT(PodSpec({}).dump(), Not(HasSubstr("--prefetch-image")));
  EXPECT_THAT(At(PodSpec({"prefetch.image=example.org/pause:1"}), "/containers/0/args"),
              Contains("--prefetch-image=example.org/pause:1"));
}

TEST_F(ValuesTest, TheAddressOfPrometheusIsAFlagAndItsCaAndTokenAreMounted) {
  EXPECT_THAT(PodSpec({}).dump(), Not(HasSubstr("prometheus")));
  const Json plain = PodSpec({"checks.prometheus.url=http://prometheus.monitoring:9090"});
  EXPECT_THAT(At(plain, "/containers/0/args"), Contains("--prometheus-url=http://prometheus.monitoring:9090"));
  EXPECT_THAT(plain.dump(), Not(HasSubstr("--prometheus-ca-file")));
  const Json secured = PodSpec({"checks.prometheus.url=https://metrics.example.com", "checks.prometheus.caConfigMap=ca",
                                "checks.prometheus.tokenSecret=token", "extraVolumes[0].name=mine",
                                "extraVolumes[0].configMap.name=mine", "extraVolumeMounts[0].name=mine",
                                "extraVolumeMounts[0].mountPath=/mine"});
  EXPECT_THAT(At(secured, "/containers/0/args"), AllOf(Contains("--prometheus-ca-file=/prometheus-ca/ca.crt"),
                                                       Contains("--prometheus-token-file=/prometheus-token/token")));
  EXPECT_EQ(At(secured, "/volumes/0/configMap/name"), "ca");
  EXPECT_EQ(At(secured, "/volumes/1/secret/secretName"), "token");
  EXPECT_EQ(At(secured, "/volumes/2/name"), "mine");
  const Json mounts = At(secured, "/containers/0/volumeMounts");
  EXPECT_EQ(mounts[0], (Json{{"name", "prometheus-ca"}, {"mountPath", "/prometheus-ca"}, {"readOnly", true}}));
  EXPECT_EQ(mounts[1], (Json{{"name", "prometheus-token"}, {"mountPath", "/prometheus-token"}, {"readOnly", true}}));
  EXPECT_EQ(mounts[2].at("name"), "mine");
}

TEST_F(ValuesTest, TheAddressOfCloudEventsIsAFlagAndItsCaAndTokenAreMounted) {
  EXPECT_THAT(PodSpec({}).dump(), Not(HasSubstr("cloud-events")));
  const Json spec =
      PodSpec({"notifications.cloudEvents.url=https://events.example.com/a", "notifications.cloudEvents.caConfigMap=ca",
               "notifications.cloudEvents.tokenSecret=token"});
  EXPECT_THAT(At(spec, "/containers/0/args"), AllOf(Contains("--cloud-events-url=https://events.example.com/a"),
                                                    Contains("--cloud-events-ca-file=/cloud-events-ca/ca.crt"),
                                                    Contains("--cloud-events-token-file=/cloud-events-token/token")));
  EXPECT_EQ(At(spec, "/volumes/0/configMap/name"), "ca");
  EXPECT_EQ(At(spec, "/volumes/1/secret/secretName"), "token");
  EXPECT_EQ(At(spec, "/containers/0/volumeMounts/0/mountPath"), "/cloud-events-ca");
  EXPECT_EQ(At(spec, "/containers/0/volumeMounts/1/mountPath"), "/cloud-events-token");
}

// In a values file, a line without a value ("watchNamespace:") is null, and makes Helm remove the default.
TEST_F(ValuesTest, NullHasTheMeaningOfAnEmptyValue) {
  const std::string defaults = Render({});
  for (const char* value : {"global", "watchNamespace", "webhook.namespaceSelector", "webhook.caBundle", "nodeSelector",
                            "affinity", "commonLabels", "extraObjects", "imagePullSecrets"}) {
    EXPECT_EQ(Render({std::string(value) + "=null"}), defaults) << value;
  }
}

TEST_F(ValuesTest, NullIsRejectedByNameIfTheChartNeedsTheValue) {
  for (const auto& [group, name] : std::vector<std::pair<std::string, std::string>>{
           {"", "replicas"}, {"metrics.", "serviceMonitor"}, {"webhook.", "failurePolicy"}, {"crds.", "keep"}}) {
    EXPECT_THAT(Rejection({group + name + "=null"}), HasSubstr("missing property '" + name + "'"));
  }
}

TEST_F(ValuesTest, DurationsThatTheOperatorRejectsAreRejected) {
  // A flag with an invalid value makes the operator exit with 2.
  const auto exits_with_2 = [](const std::string& flag) {
    return RunProcess({YAD_OPERATOR_BINARY, "--kubeconfig=/none", flag}).exit_code == 2;
  };
  struct Case {
    std::string value;
    std::string flag;
    std::string message;
  };
  const std::vector<Case> rejected = {
      {"webhook.certificateValidity=2s", "--webhook-cert-validity=2s", "must be between 3s and 87600h"},
      {"webhook.certificateValidity=87601h", "--webhook-cert-validity=87601h", "must be between 3s and 87600h"},
      {"webhook.certificateValidity=99999999999h", "--webhook-cert-validity=99999999999h", "pattern"},
      {"leaderElection.leaseDuration=10s", "--leader-elect-lease-duration=10s",
       "leaderElection.leaseDuration (10s) must be longer than leaderElection.renewDeadline (10s)"},
      {"leaderElection.leaseDuration=87601h", "--leader-elect-lease-duration=87601h", "must be at most 87600h"},
      {"leaderElection.renewDeadline=2s", "--leader-elect-renew-deadline=2s",
       "leaderElection.renewDeadline (2s) must be longer than leaderElection.retryPeriod (2s)"},
      {"leaderElection.retryPeriod=10s", "--leader-elect-retry-period=10s",
       "leaderElection.renewDeadline (10s) must be longer than leaderElection.retryPeriod (10s)"},
  };
  for (const Case& c : rejected) {
    SCOPED_TRACE(c.value);
    EXPECT_THAT(Rejection({c.value}), HasSubstr(c.message));
    EXPECT_TRUE(exits_with_2(c.flag));
  }
  for (const auto& [value, flag] : std::vector<std::pair<std::string, std::string>>{
           {"webhook.certificateValidity=3s", "--webhook-cert-validity=3s"},
           {"webhook.certificateValidity=87600h", "--webhook-cert-validity=87600h"},
           {"leaderElection.leaseDuration=11s", "--leader-elect-lease-duration=11s"},
           {"leaderElection.leaseDuration=87600h", "--leader-elect-lease-duration=87600h"},
           {"leaderElection.renewDeadline=3s", "--leader-elect-renew-deadline=3s"}}) {
    SCOPED_TRACE(value);
    EXPECT_EQ(Rejection({value}), "");
    EXPECT_FALSE(exits_with_2(flag));
  }
}

// Helm reads numbers in a values file and in --set-json as floats.
TEST_F(ValuesTest, LimitsOfRequestsThatAreFloatsAreRenderedAndChecked) {
  const auto render = [&](const std::string& limits) {
    return helm().Try({"template", "yad", helm().chart(), "--kube-version=1.34.0", "--set-json=kubeApi=" + limits});
  };
  EXPECT_THAT(render(R"({"qps": 0.01, "burst": 1000000})").out,
              AllOf(HasSubstr("- --kube-api-qps=0.01\n"), HasSubstr("- --kube-api-burst=1000000\n")));
  EXPECT_THAT(render(R"({"qps": 0.009})").err, HasSubstr("kubeApi.qps must be 0, or 0.01 or more"));
}

TEST_F(ValuesTest, ThePortsOfTheServersMustDiffer) {
  const std::string words = "health.port, metrics.port and webhook.port are ports of one pod";
  EXPECT_THAT(Rejection({"webhook.port=8080"}), HasSubstr(words));
  EXPECT_THAT(Rejection({"metrics.enabled=false", "webhook.port=8081"}), HasSubstr(words));
  EXPECT_EQ(Rejection({"metrics.enabled=false", "webhook.enabled=false", "health.port=8080"}), "");
}

TEST_F(ValuesTest, MonitorsAlertsAndDashboardNeedTheMetrics) {
  for (const std::string part : {"serviceMonitor", "podMonitor", "prometheusRule", "grafanaDashboard"}) {
    const std::string enabled = "metrics." + part + ".enabled=true";
    EXPECT_THAT(Rejection({enabled, "metrics.enabled=false"}),
                HasSubstr("metrics." + part + ".enabled has no effect without metrics.enabled"));
    EXPECT_EQ(Rejection({enabled}), "");
  }
}

TEST_F(ValuesTest, ExtraObjectsAreRenderedAsTemplates) {
  const Json object = TheOne(
      Admitted({"extraObjects[0].apiVersion=v1", "extraObjects[0].kind=ConfigMap",
                "extraObjects[0].metadata.name=of-{{ .Release.Name }}", "extraObjects[0].metadata.namespace=default"}),
      "ConfigMap");
  EXPECT_EQ(NameOf(object), "of-yad");
}

TEST_F(ValuesTest, ExtraMatchConditionsFollowThoseOfTheChart) {
  const Json webhook = At(
      TheOne(Admitted({"webhook.matchConditions[0].name=more", "webhook.matchConditions[0].expression=object != null",
                       "webhook.objectSelector.matchLabels.checked=yes"}),
             "ValidatingWebhookConfiguration"),
      "/webhooks/0");
  EXPECT_EQ(At(webhook, "/matchConditions/0/name"), "not-deleted");
  EXPECT_EQ(At(webhook, "/matchConditions/1/name"), "more");
  EXPECT_EQ(At(webhook, "/objectSelector/matchLabels/checked"), "yes");
}

TEST_F(ValuesTest, ExtraMatchConditionsApplyToNoWebhookOfNodePoolAutoscalers) {
  const Json webhooks =
      At(TheOne(Admitted({"nodePoolAutoscaler.enabled=true", "webhook.matchConditions[0].name=more",
                          "webhook.matchConditions[0].expression=object.metadata.namespace != \"a\""}),
                "ValidatingWebhookConfiguration"),
         "/webhooks");
  EXPECT_EQ(At(webhooks, "/0/matchConditions").size(), 2U);
  // A NodePoolAutoscaler has no namespace.
  EXPECT_EQ(At(webhooks, "/1/rules/0/resources/0"), "nodepoolautoscalers");
  EXPECT_EQ(At(webhooks, "/1/matchConditions").size(), 1U);
  EXPECT_EQ(At(webhooks, "/1/matchConditions/0/name"), "not-deleted");
}

TEST_F(ValuesTest, NoToolPrunesCrdsThatAreKept) {
  const Json kept = {{"helm.sh/resource-policy", "keep"},
                     {"argocd.argoproj.io/sync-options", "Prune=false"},
                     {"kustomize.toolkit.fluxcd.io/prune", "disabled"}};
  const std::vector<Json> crds = OfKind(Admitted({"nodePoolAutoscaler.enabled=true"}), "CustomResourceDefinition");
  EXPECT_EQ(crds.size(), 3U);
  for (const Json& crd : crds) EXPECT_EQ(At(crd, "/metadata/annotations"), kept) << NameOf(crd);
  const std::vector<Json> others = OfKind(Admitted({"crds.keep=false"}), "CustomResourceDefinition");
  EXPECT_EQ(others.size(), 2U);
  for (const Json& crd : others) EXPECT_TRUE(At(crd, "/metadata/annotations").is_null()) << NameOf(crd);
}

// With tracking by label, Argo CD writes the name of the Application to the label by which the ServiceMonitor selects.
TEST_F(ValuesTest, TheDocumentedApplicationOfArgoCdHasTheNameOfItsRelease) {
  const std::string page = ReadFile(YAD_SOURCE_DIR "/docs/gitops/argocd.md");
  std::smatch application, release;
  ASSERT_TRUE(std::regex_search(page, application, std::regex("\\{name: ([a-z-]+), namespace: argocd\\}")));
  ASSERT_TRUE(std::regex_search(page, release, std::regex("releaseName: ([a-z-]+)")));
  EXPECT_EQ(application[1], release[1]);
}

TEST_F(ValuesTest, TheTestExpectsARejectionOnlyIfTheWebhookReviewsEveryYurtAppDaemon) {
  const auto script = [&](const std::vector<std::string>& values) {
    return At(TheOne(AdmittedTest(values, kOperatorNamespace), "Pod"), "/spec/containers/0/args/0").get<std::string>();
  };
  const std::string words = "The webhook must reject";
  EXPECT_THAT(script({}), HasSubstr(words));
  for (const std::vector<std::string>& values : std::vector<std::vector<std::string>>{
           {"webhook.enabled=false"},
           {"webhook.namespaceSelector.matchLabels.checked=yes"},
           {"webhook.objectSelector.matchLabels.checked=yes"},
           {"webhook.matchConditions[0].name=more", "webhook.matchConditions[0].expression=object != null"}}) {
    EXPECT_THAT(script(values), Not(HasSubstr(words))) << values[0];
  }
}

// A new pod can't use the ports of the node before the old pod of this node is gone.
TEST_F(ValuesTest, WithHostNetworkAnUpgradeNeedsNoFurtherNode) {
  const auto strategy = [&](const std::vector<std::string>& values) {
    return At(TheOne(Admitted(values), "Deployment"), "/spec/strategy");
  };
  EXPECT_EQ(strategy({"hostNetwork=true"}),
            (Json{{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxSurge", 0}, {"maxUnavailable", 1}}}}));
  EXPECT_EQ(strategy({}),
            (Json{{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxSurge", "25%"}, {"maxUnavailable", "25%"}}}}));
  EXPECT_EQ(strategy({"hostNetwork=true", "strategy.type=Recreate"}), (Json{{"type", "Recreate"}}));
}

TEST_F(ValuesTest, NeitherOperatorNorTestRunsOnEdgeOrWindowsNodes) {
  const Json operators = PodSpec({});
  const Json test = At(TheOne(AdmittedTest({}, kOperatorNamespace), "Pod"), "/spec");
  const std::string terms =
      "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions";
  for (const Json& pod : {operators, test}) {
    EXPECT_THAT(At(pod, terms).dump(), AllOf(HasSubstr("openyurt.io/is-edge-worker"), HasSubstr("windows")));
  }
}

}  // namespace
}  // namespace yad::testing
