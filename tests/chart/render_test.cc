// The rendered chart, checked by helm and by a real apiserver. Nothing is installed.
#include <algorithm>
#include <regex>

#include "operator/api/well_known.h"
#include "tests/chart/fixture.h"
#include "tests/support/eventually.h"

namespace yad::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

using Values = std::vector<std::string>;

bool Includes(const Json& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// The values that the tests render: each option alone, and some combinations.
const std::vector<Values> kMatrix = {
    {},
    {"nameOverride=other", "fullnameOverride=quite-another-name-of-forty-characters-x"},
    {"image.registry=example.org:5000", "image.tag=v9", "imagePullSecrets[0].name=pull"},
    {"image.digest=sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
    {"replicas=1", "podDisruptionBudget.enabled=false"},
    {"podDisruptionBudget.maxUnavailable=50%"},
    {"watchNamespace=default"},
    {"workers=8", "kubeApi.qps=50", "kubeApi.burst=100", "log.level=debug", "log.format=json"},
    {"maxRemovals=20"},
    {"checks.jobs=true", "checks.prometheus.url=http://prometheus.monitoring:9090"},
    {"checks.jobs=true", "watchNamespace=default", "checks.prometheus.url=https://metrics.example.com/team-a/",
     "checks.prometheus.caConfigMap=metrics-ca", "checks.prometheus.tokenSecret=metrics.token"},
    {"notifications.cloudEvents.url=http://events.monitoring/rollouts"},
    {"notifications.traces.url=https://collector:4318/v1/traces", "notifications.traces.caConfigMap=ca",
     "notifications.traces.tokenSecret=token"},
    {"notifications.cloudEvents.url=https://events.example.com/", "notifications.cloudEvents.caConfigMap=events-ca",
     "notifications.cloudEvents.tokenSecret=events.token"},
    {"prefetch.enabled=true", "prefetch.image=example.org/pause:1"},
    {"prefetch.enabled=true", "watchNamespace=default"},
    {"nodePoolController.mode=Disabled"},
    {"nodePoolController.mode=Enabled", "nodePoolController.nodeAgents={k8s-app=kube-proxy,tier in (hub)}",
     "nodePoolController.requiredCsiDrivers={disk.csi.example.com}", "watchNamespace=default"},
    {"nodePoolAutoscaler.enabled=true"},
    {"nodePoolAutoscaler.enabled=true", "watchNamespace=default", "webhook.existingSecret=tls",
     "webhook.caBundle=-----BEGIN CERTIFICATE-----"},
    {"extraArgs[0]=--kube-api-qps=5"},
    {"resources=null", "priorityClassName=", "nodeSelector.disk=ssd", "podSecurityContext.runAsUser=null"},
    {"tolerations[0].operator=Exists", "podAnnotations.a=b", "podLabels.c=d", "hostNetwork=true"},
    {"affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey=zone"},
    {"topologySpreadConstraints[0].maxSkew=1", "topologySpreadConstraints[0].topologyKey=zone",
     "topologySpreadConstraints[0].whenUnsatisfiable=ScheduleAnyway"},
    {"serviceAccount.create=false", "serviceAccount.name=mine"},
    {"serviceAccount.annotations.a=b", "rbac.create=false"},
    {"policies.approvals.enabled=true", "policies.approvals.approvers[0].kind=User",
     "policies.approvals.approvers[0].name=rob", "policies.sites.enabled=true", "policies.sites.namespace=sites"},
    {"policies.approvals.enabled=true", "policies.sites.enabled=true", "watchNamespace=default", "rbac.create=false"},
    {"rbac.aggregateToUserRoles=false", "health.port=10081", "metrics.port=10080", "webhook.port=10443"},
    {"metrics.enabled=false"},
    {"metrics.serviceMonitor.enabled=true", "metrics.serviceMonitor.labels.release=prometheus"},
    {"metrics.prometheusRule.enabled=true", "metrics.prometheusRule.labels.release=prometheus"},
    {"metrics.grafanaDashboard.enabled=true"},
    {"metrics.serviceMonitor.enabled=true", "metrics.serviceMonitor.namespace=default",
     "metrics.serviceMonitor.scrapeTimeout=10s", "metrics.serviceMonitor.relabelings[0].targetLabel=a",
     "metrics.serviceMonitor.metricRelabelings[0].action=drop", "metrics.serviceMonitor.annotations.a=b"},
    {"metrics.podMonitor.enabled=true", "metrics.podMonitor.relabelings[0].targetLabel=a"},
    {"commonLabels.team=edge", "global.commonLabels.cost=shops", "serviceAccount.labels.a=b",
     "deploymentAnnotations.a=b", "certManager.enabled=true", "certManager.secretTemplate.labels.a=b",
     "certManager.renewBefore=720h"},
    {"strategy.type=Recreate", "revisionHistoryLimit=0", "dnsPolicy=Default", "dnsConfig.nameservers={10.0.0.1}",
     "hostAliases[0].ip=10.0.0.2", "hostAliases[0].hostnames={registry.example}", "runtimeClassName=kata"},
    {"extraEnv[0].name=HTTPS_PROXY", "extraEnv[0].value=http://proxy.example", "extraVolumes[0].name=ca",
     "extraVolumes[0].configMap.name=ca", "extraVolumeMounts[0].name=ca", "extraVolumeMounts[0].mountPath=/ca",
     "extraContainers[0].name=side", "extraContainers[0].image=side:1", "initContainers[0].name=first",
     "initContainers[0].image=first:1"},
    {"livenessProbe.timeoutSeconds=5", "startupProbe.failureThreshold=30", "leaderElection.leaseDuration=60s",
     "leaderElection.renewDeadline=40s", "leaderElection.retryPeriod=5s"},
    {"podDisruptionBudget.minAvailable=1", "podDisruptionBudget.unhealthyPodEvictionPolicy=IfHealthyBudget"},
    {"rbac.nodePoolReaders[0].kind=Group", "rbac.nodePoolReaders[0].name=shops",
     "rbac.nodePoolReaders[0].apiGroup=rbac.authorization.k8s.io", "watchNamespace=default",
     "rbac.eventsInDefaultNamespace=false"},
    {"webhook.objectSelector.matchLabels.checked=yes", "webhook.annotations.a=b", "webhook.serviceAnnotations.a=b",
     "webhook.matchConditions[0].name=no-robots", "webhook.ipFamilyPolicy=SingleStack", "webhook.ipFamilies={IPv4}",
     "webhook.matchConditions[0].expression=request.userInfo.username != \"robot\""},
    {"extraObjects[0].apiVersion=v1", "extraObjects[0].kind=ConfigMap", "extraObjects[0].metadata.name=extra",
     "extraObjects[0].metadata.namespace=default"},
    {"webhook.enabled=false"},
    {"webhook.failurePolicy=Ignore", "webhook.timeoutSeconds=30", "webhook.servicePort=8443"},
    {"webhook.namespaceSelector.matchLabels.yad=yes", "watchNamespace=default"},
    {"webhook.existingSecret=tls", "webhook.caBundle=-----BEGIN CERTIFICATE-----"},
    {"certManager.enabled=true"},
    {"certManager.enabled=true", "certManager.issuerRef.name=company", "certManager.issuerRef.kind=ClusterIssuer"},
    {"networkPolicy.enabled=true"},
    {"networkPolicy.enabled=true", "networkPolicy.webhookFrom[0].ipBlock.cidr=10.0.0.0/28"},
    {"networkPolicy.enabled=true", "networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.name=monitoring",
     "networkPolicy.egress[0].ports[0].port=443"},
    {"crds.enabled=false"},
    {"crds.nodePool=false", "crds.keep=false"},
    {"watchNamespace=default", "webhook.enabled=false", "metrics.enabled=false", "crds.enabled=false"},
};

// Values that the chart rejects, and strings that the error message must contain.
const std::vector<std::pair<Values, std::vector<std::string>>> kRejected = {
    {{"replicas=-1"}, {"/replicas", "want 0"}},
    {{"replicas=two"}, {"/replicas", "want integer"}},
    {{"replica=3"}, {"'replica' not allowed"}},
    {{"webhook.certDir=/certs"}, {"/webhook", "'certDir' not allowed"}},
    {{"image.pullPolicy=Sometimes"}, {"/image/pullPolicy", "'Always', 'IfNotPresent', 'Never'"}},
    {{"image.digest=sha256:12"}, {"/image/digest", "pattern"}},
    {{"image.repository="}, {"image.repository is empty", "make image"}},
    {{"image.repository=operator:v1"}, {"/image/repository", "pattern"}},
    {{"imagePullSecrets[0]=name"}, {"/imagePullSecrets/0", "want object"}},
    {{"watchNamespace=A_b"}, {"/watchNamespace", "pattern"}},
    {{"fullnameOverride=a.b"}, {"/fullnameOverride", "pattern"}},
    {{"workers=65"}, {"/workers", "want 64"}},
    {{"workers=0"}, {"/workers", "want 1"}},
    {{"maxRemovals=-1"}, {"/maxRemovals", "want 0"}},
    {{"maxRemovals=1000001"}, {"/maxRemovals", "maximum"}},
    {{"maxRemovals=1.5"}, {"/maxRemovals", "pattern"}},
    {{"maxRemovals=101%"}, {"/maxRemovals", "pattern"}},
    {{"maxRemovals=many"}, {"/maxRemovals", "pattern"}},
    {{"maxRemovals=true"}, {"/maxRemovals", "want integer or string"}},
    {{"nodePoolController.mode=true"}, {"/nodePoolController/mode", "'Disabled', 'Auto', 'Enabled'"}},
    {{"nodePoolController.enabled=true"}, {"/nodePoolController", "'enabled' not allowed"}},
    {{"nodePoolController.nodeAgents[0]="}, {"/nodePoolController/nodeAgents/0", "minLength"}},
    {{"nodePoolAutoscaler.enabled=1"}, {"/nodePoolAutoscaler/enabled", "want boolean"}},
    {{"nodePoolAutoscaler.mode=Auto"}, {"/nodePoolAutoscaler", "'mode' not allowed"}},
    {{"checks.jobs=yes"}, {"/checks/jobs", "want boolean"}},
    {{"checks.enabled=true"}, {"/checks", "'enabled' not allowed"}},
    {{"checks.prometheus.url=prometheus:9090"}, {"/checks/prometheus/url", "pattern"}},
    {{"checks.prometheus.url=https://user:secret@prometheus"}, {"/checks/prometheus/url", "pattern"}},
    {{"checks.prometheus.tokenSecret=A_b"}, {"/checks/prometheus/tokenSecret", "pattern"}},
    {{"checks.prometheus.caConfigMap=ca"}, {"checks.prometheus.caConfigMap", "need a checks.prometheus.url"}},
    {{"checks.prometheus.tokenSecret=t", "checks.prometheus.url=http://prometheus"},
     {"checks.prometheus.tokenSecret", "begins with https://"}},
    {{"notifications.url=http://x"}, {"/notifications", "'url' not allowed"}},
    {{"notifications.traces.caConfigMap=ca"}, {"notifications.traces.caConfigMap", "need a notifications.traces.url"}},
    {{"notifications.cloudEvents.url=events"}, {"/notifications/cloudEvents/url", "pattern"}},
    {{"notifications.cloudEvents.tokenSecret=t", "notifications.cloudEvents.url=http://events"},
     {"notifications.cloudEvents.tokenSecret", "begins with https://"}},
    {{"kubeApi.qps=-5"}, {"/kubeApi/qps", "want 0"}},
    {{"kubeApi.burst=5"}, {"kubeApi.burst has no effect without kubeApi.qps"}},
    {{"log.level=trace"}, {"/log/level", "'debug', 'info', 'warn', 'error'"}},
    {{"log.format=xml"}, {"/log/format", "'text', 'json'"}},
    {{"extraArgs[0]=workers"}, {"/extraArgs/0", "pattern"}},
    {{"podAnnotations.a=1"}, {"/podAnnotations/a", "want string"}},
    {{"podDisruptionBudget.maxUnavailable=5x"}, {"/podDisruptionBudget/maxUnavailable", "pattern"}},
    {{"hostNetwork=maybe"}, {"/hostNetwork", "want boolean"}},
    {{"health.port=0"}, {"/health/port", "want 1"}},
    {{"metrics.port=65536"}, {"/metrics/port", "want 65,535"}},
    {{"metrics.serviceMonitor.interval=often"}, {"/metrics/serviceMonitor/interval", "pattern"}},
    {{"webhook.failurePolicy=fail"}, {"/webhook/failurePolicy", "'Fail', 'Ignore'"}},
    {{"webhook.timeoutSeconds=31"}, {"/webhook/timeoutSeconds", "want 30"}},
    {{"webhook.namespaceSelector.labels.a=b"}, {"/webhook/namespaceSelector", "'labels' not allowed"}},
    {{"webhook.namespaceSelector.matchExpressions[0].key=a"}, {"/matchExpressions/0", "operator"}},
    {{"webhook.certificateValidity=1y"}, {"/webhook/certificateValidity", "pattern"}},
    {{"webhook.caBundle=ca.crt"}, {"/webhook/caBundle", "BEGIN CERTIFICATE"}},
    {{"webhook.existingSecret=tls"}, {"webhook.caBundle is empty", "--set-file webhook.caBundle"}},
    {{"webhook.caBundle=-----BEGIN CERTIFICATE-----"}, {"webhook.caBundle is set without webhook.existingSecret"}},
    {{"certManager.enabled=true", "webhook.existingSecret=tls"},
     {"certManager.enabled and webhook.existingSecret exclude each other"}},
    {{"certManager.issuerRef.issuer=x"}, {"/certManager/issuerRef", "'issuer' not allowed"}},
    {{"networkPolicy.webhookFrom=10.0.0.0/28"}, {"/networkPolicy/webhookFrom", "want array"}},
    {{"crds.keep=yes"}, {"/crds/keep", "want boolean"}},
    {{"commonLabels.a=1"}, {"/commonLabels/a", "want string"}},
    {{"leaderElection.leaseDuration=soon"}, {"/leaderElection/leaseDuration", "pattern"}},
    {{"startupProbe.httpGet.path=/x"}, {"/startupProbe", "'httpGet' not allowed"}},
    {{"rbac.nodePoolReaders[0].name=shops"}, {"/rbac/nodePoolReaders/0", "kind"}},
    {{"policies.approvals.approvers[0].name=rob"}, {"/policies/approvals/approvers/0", "kind"}},
    {{"policies.sites.namespace=A_b"}, {"/policies/sites/namespace", "pattern"}},
    {{"webhook.ipFamilies={IPv5}"}, {"/webhook/ipFamilies/0", "'IPv4', 'IPv6'"}},
    {{"metrics.serviceMonitor.enabled=true", "metrics.podMonitor.enabled=true"}, {"exclude each other"}},
    {{"test.image.tag="}, {"/test/image/tag", "minLength"}},
};

const Json kNotDeleted = Json::array(
    {{{"name", "not-deleted"}, {"expression", "object == null || !has(object.metadata.deletionTimestamp)"}}});

std::string Text(const Values& values) {
  std::string text = "values:";
  for (const std::string& value : values) text += " " + value;
  return text;
}

class RenderTest : public ChartTest {};

TEST_F(RenderTest, HelmLintReportsNoError) {
  const ProcessResult result = helm().Try({"lint", "--strict", "--kube-version", "1.34.0", helm().chart()});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, Not(HasSubstr("[WARNING]")));
}

TEST_F(RenderTest, EveryCombinationOfValuesIsAcceptedByTheApiserver) {
  AdmitAll(kMatrix);
  for (const Values& values : kMatrix) {
    SCOPED_TRACE(Text(values));
    std::vector<Json> objects;
    ASSERT_NO_THROW(objects = Admitted(values));
    EXPECT_EQ(OfKind(objects, "Deployment").size(), 1u);
  }
}

TEST_F(RenderTest, InvalidValuesAreRejectedByName) {
  for (const auto& [values, words] : kRejected) {
    SCOPED_TRACE(Text(values));
    std::vector<std::string> command = {"template", "yad",   helm().chart(), "--kube-version",
                                        "1.34.0",   "--set", kImageValue};
    for (const std::string& value : values) command.insert(command.end(), {"--set", value});
    const ProcessResult result = helm().Try(command);
    EXPECT_NE(result.exit_code, 0);
    for (const std::string& word : words) EXPECT_THAT(result.err, HasSubstr(word));
  }
}

TEST_F(RenderTest, KubernetesVersionsBelowTheMinimumAreRejected) {
  const ProcessResult result = helm().Try({"template", "yad", helm().chart(), "--kube-version", "1.29.9"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr(">=1.30.0"));
}

TEST_F(RenderTest, NoRoleOfTheOperatorHasAWildcard) {
  for (const Values& values : kMatrix) {
    SCOPED_TRACE(Text(values));
    const std::vector<Json> objects = Admitted(values);
    for (const char* kind : {"ClusterRole", "Role"}) {
      for (const Json& role : OfKind(objects, kind)) {
        for (const Json& rule : role.at("rules")) EXPECT_THAT(rule.dump(), Not(HasSubstr("*"))) << NameOf(role);
      }
    }
  }
}

TEST_F(RenderTest, RolesAllowSecretsOnlyByNameAndInTheOperatorsNamespace) {
  for (const Values& values : kMatrix) {
    SCOPED_TRACE(Text(values));
    const std::vector<Json> objects = Admitted(values);
    for (const char* kind : {"ClusterRole", "Role"}) {
      for (const Json& role : OfKind(objects, kind)) {
        for (const Json& rule : role.at("rules")) {
          if (rule.at("resources") != Json{"secrets"}) continue;
          EXPECT_EQ(At(role, "/metadata/namespace"), kOperatorNamespace) << NameOf(role);
          EXPECT_TRUE(rule.contains("resourceNames") || rule.at("verbs") == Json{"create"}) << rule;
        }
      }
    }
  }
}

TEST_F(RenderTest, RolesAllowNoConfigMapExceptTheFreeze) {
  for (const Values& values : kMatrix) {
    SCOPED_TRACE(Text(values));
    const std::vector<Json> objects = Admitted(values);
    std::vector<Json> found;
    for (const char* kind : {"ClusterRole", "Role"}) {
      for (const Json& role : OfKind(objects, kind)) {
        for (const Json& rule : role.at("rules")) {
          if (!Includes(rule.at("resources"), "configmaps")) continue;
          EXPECT_EQ(At(role, "/metadata/namespace"), kOperatorNamespace) << NameOf(role);
          found.push_back(rule);
        }
      }
    }
    const bool rbac = !OfKind(objects, "RoleBinding").empty();
    ASSERT_EQ(found.size(), rbac ? 1U : 0U);
    if (!rbac) continue;
    EXPECT_EQ(found.front().at("resourceNames"), Json{kFreezeName});
    EXPECT_EQ(found.front().at("verbs"), (Json{"list", "watch"}));
  }
}

TEST_F(RenderTest, RolesAndOptionalObjectsAreNotRenderedIfTheyAreDisabled) {
  const std::vector<Json> objects =
      Admitted({"rbac.create=false", "crds.enabled=false", "metrics.enabled=false", "webhook.enabled=false"});
  std::vector<std::string> kinds;
  for (const Json& object : objects) {
    kinds.push_back(StringAt(object, {"kind"}));
  }
  EXPECT_THAT(kinds, UnorderedElementsAre("Deployment", "PodDisruptionBudget", "ServiceAccount"));
}

TEST_F(RenderTest, PodsAreAdmittedWherePodSecurityIsRestricted) {
  MakeNamespace("restricted", {{"pod-security.kubernetes.io/enforce", "restricted"},
                               {"pod-security.kubernetes.io/warn", "restricted"}});
  const auto warnings = [&](const Values& values) {
    const std::string pods = Render(values, "yad", "restricted", "--show-only=templates/deployment.yaml");
    const ProcessResult result = plane().TryKubectl({"create", "--dry-run=server", "-f", "-"}, pods);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.err;
  };
  for (const Values& values : std::vector<Values>{{}, {"certManager.enabled=true"}, {"webhook.enabled=false"}}) {
    SCOPED_TRACE(Text(values));
    EXPECT_THAT(warnings(values), Not(HasSubstr("PodSecurity")));
    EXPECT_NO_THROW(AdmittedTest(values, "restricted"));
  }
  // An invalid value shows that the checks above detect a violation.
  const Values wrong = {"securityContext.capabilities=null"};
  EXPECT_THAT(warnings(wrong), HasSubstr("would violate PodSecurity \"restricted:latest\""));
  EXPECT_THROW(AdmittedTest(wrong, "restricted"), TestFailure);
}

TEST_F(RenderTest, DeploymentHasASecurityContextPriorityAntiAffinityProbesAndRequests) {
  const Json pod = At(TheOne(Admitted({}), "Deployment"), "/spec/template/spec");
  EXPECT_EQ(At(pod, "/securityContext/runAsNonRoot"), true);
  EXPECT_EQ(At(pod, "/securityContext/runAsUser"), 65532);
  EXPECT_EQ(At(pod, "/securityContext/seccompProfile/type"), "RuntimeDefault");
  EXPECT_EQ(At(pod, "/priorityClassName"), "system-cluster-critical");
  EXPECT_EQ(
      At(pod, "/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/0/podAffinityTerm"),
      (Json{{"topologyKey", "kubernetes.io/hostname"},
            {"labelSelector",
             {{"matchLabels",
               {{"app.kubernetes.io/name", "yurtappdaemon-operator"}, {"app.kubernetes.io/instance", "yad"}}}}}}));
  const Json container = At(pod, "/containers/0");
  EXPECT_EQ(At(container, "/securityContext/readOnlyRootFilesystem"), true);
  EXPECT_EQ(At(container, "/securityContext/allowPrivilegeEscalation"), false);
  EXPECT_EQ(At(container, "/securityContext/capabilities"), (Json{{"drop", {"ALL"}}}));
  EXPECT_EQ(At(container, "/livenessProbe/httpGet/path"), "/healthz");
  EXPECT_EQ(At(container, "/readinessProbe/httpGet/path"), "/readyz");
  EXPECT_FALSE(At(container, "/resources/requests").empty());
}

TEST_F(RenderTest, MaxRemovalsBecomesAFlagEvenWithValueZero) {
  const std::vector<std::pair<Values, std::string>> cases = {
      {{}, ""},
      {{"maxRemovals="}, ""},
      {{"maxRemovals=null"}, ""},
      {{"maxRemovals=0"}, "--max-removals=0"},
      {{"maxRemovals=20"}, "--max-removals=20"},
      {{"maxRemovals=1000000"}, "--max-removals=1000000"},
      {{"maxRemovals=0%"}, "--max-removals=0%"},
      {{"maxRemovals=10%"}, "--max-removals=10%"},
  };
  for (const auto& [values, flag] : cases) {
    SCOPED_TRACE(Text(values));
    std::string found;
    for (const std::string arg : At(TheOne(Admitted(values), "Deployment"), "/spec/template/spec/containers/0/args")) {
      if (arg.starts_with("--max-removals")) found += arg;
    }
    EXPECT_EQ(found, flag);
  }
}

TEST_F(RenderTest, OnlyTheReplicasAreEndpointsOfTheServices) {
  const std::vector<Json> objects = Admitted({});
  const std::vector<Json> tests = AdmittedTest({}, kOperatorNamespace);
  const Json& test_pod = TheOne(tests, "Pod");
  for (const Json& service : OfKind(objects, "Service")) {
    const Json selector = At(service, "/spec/selector");
    EXPECT_TRUE(selector == At(TheOne(objects, "Deployment"), "/spec/template/metadata/labels"));
    Json labels = At(test_pod, "/metadata/labels");
    labels.update(selector);
    EXPECT_NE(labels, At(test_pod, "/metadata/labels")) << "the Service must not select the pod of helm test";
  }
}

TEST_F(RenderTest, WebhookConfigurationsSelectOurObjectsAndOmitTheCaBundle) {
  const std::vector<Json> objects = Admitted({"webhook.namespaceSelector.matchLabels.yad=yes", "watchNamespace=default",
                                              "webhook.timeoutSeconds=7", "webhook.servicePort=8443"});
  for (const auto& [kind, verb] :
       {std::pair{"MutatingWebhookConfiguration", "mutate"}, {"ValidatingWebhookConfiguration", "validate"}}) {
    const Json& configuration = TheOne(objects, kind);
    ASSERT_EQ(configuration.at("webhooks").size(), 1u);
    const Json& webhook = configuration.at("webhooks")[0];
    EXPECT_EQ(webhook.at("name"), std::string(verb) + ".apps.v1alpha1.yurtappdaemon.openyurt.io");
    EXPECT_EQ(webhook.at("clientConfig"),
              (Json{{"service",
                     {{"name", "yad-yurtappdaemon-operator-webhook"},
                      {"namespace", kOperatorNamespace},
                      {"path", "/" + std::string(verb) + "-apps-openyurt-io-v1alpha1-yurtappdaemon"},
                      {"port", 8443}}}}));
    EXPECT_EQ(webhook.at("rules"), (Json{{{"apiGroups", {"apps.openyurt.io"}},
                                          {"apiVersions", {"v1alpha1"}},
                                          {"operations", {"CREATE", "UPDATE"}},
                                          {"resources", {"yurtappdaemons"}},
                                          {"scope", "Namespaced"}}}));
    EXPECT_EQ(webhook.at("failurePolicy"), "Fail");
    EXPECT_EQ(webhook.at("matchPolicy"), "Equivalent");
    EXPECT_EQ(webhook.at("sideEffects"), "None");
    EXPECT_EQ(webhook.at("timeoutSeconds"), 7);
    EXPECT_EQ(webhook.at("matchConditions"), kNotDeleted);
    EXPECT_EQ(webhook.at("namespaceSelector"),
              (Json{{"matchLabels", {{"yad", "yes"}}},
                    {"matchExpressions",
                     {{{"key", "kubernetes.io/metadata.name"}, {"operator", "In"}, {"values", {"default"}}}}}}));
  }
}

TEST_F(RenderTest, OptionsOfTheNodePoolControllerBecomeFlags) {
  const auto args = [&](const Values& values) {
    return At(TheOne(Admitted(values), "Deployment"), "/spec/template/spec/containers/0/args").dump();
  };
  EXPECT_THAT(args({}), HasSubstr("\"--controllers=*\""));
  EXPECT_THAT(args({"watchNamespace=default"}), HasSubstr("\"--controllers=*,-nodepool\""));
  EXPECT_THAT(args({"nodePoolController.mode=Disabled"}), HasSubstr("\"--controllers=*,-nodepool\""));
  const std::string enabled = args(
      {"nodePoolController.mode=Enabled", "nodePoolController.nodeAgents[0]=k8s-app=kube-proxy",
       "nodePoolController.nodeAgents[1]=tier in (hub)", "nodePoolController.requiredCsiDrivers={a.example.com,b}"});
  EXPECT_THAT(enabled, HasSubstr("\"--controllers=*,nodepool\""));
  EXPECT_THAT(enabled, HasSubstr("\"--node-agents=k8s-app=kube-proxy;tier in (hub)\""));
  EXPECT_THAT(enabled, HasSubstr("\"--required-csi-drivers=a.example.com,b\""));
}

TEST_F(RenderTest, ObjectsOfTheAutoscalerAreRenderedOnlyIfItIsEnabled) {
  const std::vector<Json> without = Admitted({});
  for (const Json& object : without) EXPECT_THAT(object.dump(), Not(HasSubstr("capacity.openyurt.io")));
  const std::vector<Json> with = Admitted({"nodePoolAutoscaler.enabled=true"});
  EXPECT_NO_THROW(TheOne(with, "CustomResourceDefinition", kAutoscalerCrd));
  EXPECT_NO_THROW(TheOne(with, "ClusterRoleBinding", "-capacity"));
  EXPECT_THAT(
      TheOne(Admitted({"nodePoolAutoscaler.enabled=true", "watchNamespace=default"}), "ClusterRole", "-capacity")
          .dump(),
      HasSubstr("events.k8s.io"))
      << "pending pods may be in any namespace";
  EXPECT_EQ(TheOne(with, "MutatingWebhookConfiguration").at("webhooks").size(), 1u);
  const Json& configuration = TheOne(with, "ValidatingWebhookConfiguration");
  ASSERT_EQ(configuration.at("webhooks").size(), 2u);
  // The operator sets the caBundle of each webhook that calls its Service, in the configurations of this name.
  EXPECT_EQ(NameOf(configuration), NameOf(TheOne(without, "ValidatingWebhookConfiguration")));
  const Json& webhook = configuration.at("webhooks")[1];
  EXPECT_EQ(webhook.at("clientConfig"), (Json{{"service",
                                               {{"name", "yad-yurtappdaemon-operator-webhook"},
                                                {"namespace", kOperatorNamespace},
                                                {"path", "/validate-capacity-openyurt-io-v1alpha1-nodepoolautoscaler"},
                                                {"port", 443}}}}));
  EXPECT_EQ(webhook.at("rules"), (Json{{{"apiGroups", {"capacity.openyurt.io"}},
                                        {"apiVersions", {"v1alpha1"}},
                                        {"operations", {"CREATE", "UPDATE"}},
                                        {"resources", {"nodepoolautoscalers"}},
                                        {"scope", "Cluster"}}}));
  EXPECT_EQ(webhook.at("failurePolicy"), "Fail");
  EXPECT_EQ(webhook.at("sideEffects"), "None");
  EXPECT_EQ(webhook.at("matchConditions"), kNotDeleted);
  EXPECT_THAT(
      OfKind(Admitted({"nodePoolAutoscaler.enabled=true", "webhook.enabled=false"}), "ValidatingWebhookConfiguration"),
      IsEmpty());
}

TEST_F(RenderTest, NetworkPolicyAllowsReviewsFromTheGivenPeersOrFromAll) {
  const auto rule = [&](const Values& values) {
    const Json ingress = At(TheOne(Admitted(values), "NetworkPolicy"), "/spec/ingress");
    EXPECT_EQ(At(ingress, "/0/ports/0/port"), "webhook");
    EXPECT_TRUE(At(ingress, "/1/from").is_null()) << "the metrics have other peers";
    return At(ingress, "/0/from");
  };
  EXPECT_TRUE(rule({"networkPolicy.enabled=true"}).is_null());
  const Json peers = rule({"networkPolicy.enabled=true", "networkPolicy.webhookFrom[0].ipBlock.cidr=10.0.0.0/28",
                           "networkPolicy.webhookFrom[1].podSelector.matchLabels.a=b"});
  EXPECT_EQ(peers,
            (Json{{{"ipBlock", {{"cidr", "10.0.0.0/28"}}}}, {{"podSelector", {{"matchLabels", {{"a", "b"}}}}}}}));
}

TEST_F(RenderTest, CertManagersCertificateIsInjectedMountedAndServed) {
  const std::vector<Json> objects = Admitted({"certManager.enabled=true"});
  const Json& leaf = TheOne(objects, "Certificate", "-webhook");
  const std::string name = std::string(kOperatorNamespace) + "/" + NameOf(leaf);
  for (const char* kind : {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}) {
    const Json annotations = At(TheOne(objects, kind), "/metadata/annotations");
    EXPECT_EQ(annotations.at("cert-manager.io/inject-ca-from"), name);
  }
  const Json pod = At(TheOne(objects, "Deployment"), "/spec/template/spec");
  EXPECT_EQ(At(pod, "/volumes/0/secret/secretName"), At(leaf, "/spec/secretName"));
  EXPECT_EQ(At(pod, "/containers/0/volumeMounts/0/mountPath"), "/webhook-certificate");
  EXPECT_THAT(At(pod, "/containers/0/args"),
              AllOf(Contains("--webhook-cert-dir=/webhook-certificate"),
                    Not(Contains("--webhook-cert-secret=yad-yurtappdaemon-operator-webhook"))));
  EXPECT_THAT(OfKind(objects, "Secret"), IsEmpty());
  EXPECT_EQ(At(leaf, "/spec/dnsNames/0"),
            "yad-yurtappdaemon-operator-webhook." + std::string(kOperatorNamespace) + ".svc");
}

TEST_F(RenderTest, ACertificateOfTheUserIsMountedAndItsCaIsTrusted) {
  const std::vector<Json> objects =
      Admitted({"webhook.existingSecret=tls", "webhook.caBundle=-----BEGIN CERTIFICATE-----"});
  const Json pod = At(TheOne(objects, "Deployment"), "/spec/template/spec");
  EXPECT_EQ(At(pod, "/volumes/0/secret/secretName"), "tls");
  for (const char* kind : {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}) {
    EXPECT_EQ(At(TheOne(objects, kind), "/webhooks/0/clientConfig/caBundle"), "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t");
  }
  EXPECT_THAT(OfKind(objects, "Secret"), IsEmpty());
}

TEST_F(RenderTest, EveryRenderedFlagIsAcceptedByTheOperator) {
  const ProcessResult help = RunProcess({YAD_OPERATOR_BINARY, "--help"});
  ASSERT_EQ(help.exit_code, 0);
  for (const Values& values : kMatrix) {
    SCOPED_TRACE(Text(values));
    for (const Json& arg : At(TheOne(Admitted(values), "Deployment"), "/spec/template/spec/containers/0/args")) {
      const std::string flag = arg.get<std::string>().substr(0, arg.get<std::string>().find('='));
      EXPECT_TRUE(std::regex_search(help.out, std::regex(flag + "[ ,=]"))) << flag;
    }
  }
}

}  // namespace
}  // namespace yad::testing
