#include <algorithm>
#include <cstdlib>

#include "operator/api/well_known.h"
#include "operator/client/auth/config.h"
#include "tests/bench/beast_transport.h"
#include "tests/bench/bench.h"
#include "tests/bench/load.h"
#include "tests/support/eventually.h"

namespace yad::bench {
namespace {

constexpr char kAccount[] = "bench";

testing::ControlPlaneOptions Plane(bool audit, bool controllers) {
  testing::ControlPlaneOptions options;
  options.controllers = controllers;
  options.audit = audit;
  return options;
}

}  // namespace

TransportOptions AdminTransport(const ClusterConfig& config) {
  TransportOptions options;
  options.server = config.server;
  options.tls = config.tls;
  return options;
}

Cluster::Cluster(bool audit, bool controllers) : plane_(YAD_SOURCE_DIR, Plane(audit, controllers)) {
  const auto config = LoadClusterConfig(plane_.kubeconfig());
  if (!config) throw testing::TestFailure(config.error().ToString());
  transport_ = AdminTransport(*config);
  beast_ = MakeBareTransport(transport_);
}

testing::Kube Cluster::Namespace(const std::string& name) {
  testing::Kube kube(plane_.client(), name);
  kube.Create(testing::kNamespaceType, {{"metadata", {{"name", name}}}});
  return kube;
}

std::shared_ptr<HttpTransport> Cluster::NewBeast() const { return MakeBareTransport(transport_); }

const std::string& Cluster::account_kubeconfig() {
  if (!account_kubeconfig_.empty()) return account_kubeconfig_;
  plane_.Kubectl({"create", "serviceaccount", kAccount, "--namespace=default"});
  plane_.Kubectl({"create", "clusterrolebinding", kAccount, "--clusterrole=cluster-admin",
                  std::string("--serviceaccount=default:") + kAccount});
  return account_kubeconfig_ = plane_.TokenKubeconfig("default", kAccount);
}

std::string Cluster::Token() {
  const auto config = LoadClusterConfig(account_kubeconfig());
  if (!config) throw testing::TestFailure(config.error().ToString());
  return config->token;
}

std::string PoolName(const std::string& name, int i) { return name + "-" + std::to_string(10000 + i).substr(1); }

void Cluster::AddPools(const std::string& name, int count, const std::string& group) {
  const auto make = [&](std::size_t i) {
    const Json pool = {
        {"apiVersion", kNodePoolType.ApiVersion()},
        {"kind", kNodePoolType.kind},
        {"metadata", {{"name", PoolName(name, static_cast<int>(i))}, {"labels", {{kGroupLabel, group}}}}},
        {"spec", {{"type", "Edge"}}}};
    return Write("POST", ResourcePath(kNodePoolType, ""), pool.dump());
  };
  SendAll(beast(), Requests(static_cast<std::size_t>(count), make), kParallelWrites);
}

std::unique_ptr<testing::OperatorProcess> Cluster::Operator(const std::string& ns,
                                                            const std::vector<std::string>& flags) {
  testing::OperatorOptions options;
  options.kubeconfig = plane_.kubeconfig();
  options.ns = ns;
  options.flags = flags;
  return Operator(std::move(options));
}

std::unique_ptr<testing::OperatorProcess> Cluster::Operator(testing::OperatorOptions options) {
  options.binary = YAD_OPERATOR_BINARY;
  options.log_file = plane_.dir() + "/operator.log";
  options.env["GLIBC_TUNABLES"] = "glibc.malloc.tcache_count=100";  // as in the image
  return std::make_unique<testing::OperatorProcess>(options);
}

pid_t Cluster::PidOf(const std::string& program) const {
  return std::atoi(testing::ReadFile(plane_.dir() + "/" + program + ".pid").c_str());
}

std::vector<testing::AuditedRequest> Cluster::RequestsSince(const WallTime& since) {
  return plane_.RequestsOf("default", kAccount, since);
}

Json Daemon(const std::string& name, const std::vector<std::string>& groups) {
  const Json container = Json::parse(R"({
    "name": "till",
    "env": [{"name": "LOG_LEVEL", "value": "info"}],
    "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
    "readinessProbe": {"httpGet": {"path": "/readyz", "port": 8080}, "periodSeconds": 10}})");
  Json with_image = container;
  with_image["image"] = kImage;
  const Json labels = {{"app.kubernetes.io/name", name}};
  const Json pods = {{"metadata", {{"labels", labels}}},
                     {"spec", {{"containers", Json::array({with_image})}, {"terminationGracePeriodSeconds", 30}}}};
  return {{"metadata", {{"name", name}}},
          {"spec",
           {{"selector", {{"matchLabels", {{"app.kubernetes.io/name", name}}}}},
            {"nodepoolSelector",
             {{"matchExpressions", Json::array({{{"key", kGroupLabel}, {"operator", "In"}, {"values", groups}}})}}},
            {"workloadTemplate",
             {{"deploymentTemplate",
               {{"metadata", {{"labels", labels}}}, {"spec", {{"replicas", 0}, {"template", pods}}}}}}}}}};
}

Json HealthyPatch(const Json& deployment) {
  const std::string at = testing::At(deployment, "/metadata/creationTimestamp");
  const Json available = {{"type", "Available"},
                          {"status", "True"},
                          {"reason", "MinimumReplicasAvailable"},
                          {"message", "Deployment has minimum availability."},
                          {"lastTransitionTime", at},
                          {"lastUpdateTime", at}};
  const Json progressing = {
      {"type", "Progressing"},
      {"status", "True"},
      {"reason", "NewReplicaSetAvailable"},
      {"message", "ReplicaSet \"" + testing::NameOf(deployment) + "-6b7f9d8c5\" has successfully progressed."},
      {"lastTransitionTime", at},
      {"lastUpdateTime", at}};
  return {{"status", {{"observedGeneration", 1}, {"conditions", Json::array({available, progressing})}}}};
}

HttpRequest Write(const std::string& method, const std::string& path, std::string body,
                  const std::string& content_type) {
  return {.method = method, .path = path, .headers = {{"Content-Type", content_type}}, .body = std::move(body)};
}

std::size_t CountWrites(const std::vector<testing::AuditedRequest>& requests) {
  return static_cast<std::size_t>(std::count_if(requests.begin(), requests.end(), [](const auto& request) {
    return request.verb != "get" && request.verb != "list" && request.verb != "watch";
  }));
}

}  // namespace yad::bench
