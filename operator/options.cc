#include "operator/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>
#include <utility>

#include "operator/base/number.h"
#include "operator/client/transport/server_address.h"
#include "operator/yurtappdaemon/plan/removal_guard.h"

namespace yad {
namespace {

constexpr std::chrono::seconds kShortestValidity{3};
constexpr std::chrono::seconds kLongestTimeout{300};
// The maximum of a duration flag, about ten years. In seconds, it fits into the 32-bit number in which a Lease stores a
// duration.
constexpr std::chrono::seconds kLongestTime = std::chrono::hours(24 * 3650);
constexpr double kLowestQps = 0.01;

// Checks the flags --NAME-url, --NAME-ca-file and --NAME-token-file. Returns an error message, or "".
std::string ServiceFault(const std::string& name, const ServiceOptions& flags) {
  const std::string url = "--" + name + "-url", ca = "--" + name + "-ca-file", token = "--" + name + "-token-file";
  const bool has_ca = !flags.ca_file.empty();
  const bool has_token = !flags.token_file.empty();
  if (flags.url.empty()) {
    if (!has_ca && !has_token) return "";
    return ca + ", " + token + ": have no effect without " + url + "; set " + url + " too";
  }
  const Result<ServerAddress> address = ParseServerAddress(flags.url);
  if (!address) return url + ": " + address.error().message;
  if (has_ca && !address->tls) return ca + ": has no effect, because " + url + " is not https";
  if (has_token && !address->tls)
    return token + ": " + url + " must be https, because the token would be readable on the network";
  return "";
}

// Checks the flags of all servers other than the apiserver. Returns an error message, or "".
std::string ServicesFault(const Options& options) {
  const bool used = options.controllers.Choose(kYurtAppDaemonController) != Chosen::kNo;
  for (const auto& [name, flags] : {std::pair{"prometheus", &options.prometheus},
                                    {"cloud-events", &options.cloud_events},
                                    {"otlp-traces", &options.otlp_traces}}) {
    if (!used && !flags->url.empty())
      return "--" + std::string(name) + "-url: has no effect without the controller yurtappdaemon";
    if (std::string fault = ServiceFault(name, *flags); !fault.empty()) return fault;
  }
  return "";
}

// Checks the ranges of values, and flags that contradict each other. Returns an error message, or "".
std::string Contradiction(const Options& options) {
  const auto runs = [&](const char* name) { return options.controllers.Choose(name) != Chosen::kNo; };
  const bool leases = options.controllers.Choose(kAutoscalerController) == Chosen::kYes;
  if (!runs(kYurtAppDaemonController) && !runs(kNodePoolController) && !leases)
    return "--controllers: no controller is selected; name at least one";
  if (!runs(kNodePoolController) && (!options.nodepool.agents.empty() || !options.nodepool.csi_drivers.empty()))
    return "--node-agents, --required-csi-drivers: have no effect without the controller nodepool";
  const CertificateOptions& webhook = options.webhook.certificates;
  const bool has_secret = !webhook.secret.name.empty();
  if (!runs(kYurtAppDaemonController) && (!webhook.directory.empty() || has_secret))
    return "--webhook-cert-dir, --webhook-cert-secret: the webhook needs the controller yurtappdaemon";
  const ClientOptions& client = options.client;
  if (client.timeout < std::chrono::seconds(1) || client.timeout > kLongestTimeout)
    return "--kube-api-timeout: must be between 1s and 5m";
  if (leases && options.capacity_resync < client.timeout)
    return "--capacity-resync: must not be shorter than --kube-api-timeout (" +
           std::to_string(client.timeout / std::chrono::seconds(1)) +
           "s): the next pass would begin before a request of this pass times out";
  if (client.qps != 0 && !(client.qps >= kLowestQps)) return "--kube-api-qps: must be 0, or 0.01 or more";
  if (client.burst > 0 && client.qps <= 0) return "--kube-api-burst: has no effect without --kube-api-qps; set both";
  if (!webhook.directory.empty() && has_secret)
    return "--webhook-cert-dir, --webhook-cert-secret: give one of them, not both";
  if (has_secret && (webhook.service.name.empty() || webhook.configuration.empty()))
    return "--webhook-cert-secret: needs --webhook-service and --webhook-configuration too";
  if (webhook.validity < kShortestValidity) return "--webhook-cert-validity: must be 3s or more";
  const LeaderElectionOptions& election = options.election;
  if (election.retry_period < std::chrono::seconds(1)) return "--leader-elect-retry-period: must be 1s or more";
  if (election.renew_deadline <= election.retry_period)
    return "--leader-elect-renew-deadline: must be longer than --leader-elect-retry-period";
  if (election.lease_duration <= election.renew_deadline)
    return "--leader-elect-lease-duration: must be longer than --leader-elect-renew-deadline";
  return ServicesFault(options);
}

// Parses --node-agents, which contains label selectors separated by semicolons.
Result<std::vector<LabelSelector>> ParseAgents(const std::vector<std::string>& texts) {
  std::vector<LabelSelector> agents;
  for (const std::string& text : texts) {
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ';');) {
      YAD_TRY(auto agent, LabelSelector::ParseText(part));
      agents.push_back(std::move(agent));
    }
  }
  return agents;
}

// Replaces a duration, such as "90s", "15m" or "8760h", with its number of seconds. Returns an error message, or "".
std::string ToSeconds(std::string& text) {
  const std::size_t unit = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto count = ParseNumber<std::uint64_t>(std::string_view(text).substr(0, unit));
  const std::map<std::string, std::uint64_t> seconds = {{"s", 1}, {"m", 60}, {"h", 3600},
                                                        {"S", 1}, {"M", 60}, {"H", 3600}};
  const auto found = seconds.find(text.substr(unit));
  if (unit == 0 || found == seconds.end())
    return "must be a whole number with the unit s, m or h (90s, 15m, 8760h); it is \"" + text + "\"";
  if (!count || *count > static_cast<std::uint64_t>(kLongestTime.count()) / found->second)
    return "must be at most 87600h";
  text = std::to_string(*count * found->second);
  return "";
}

// Adds a flag for a duration, such as "90s", "15m" or "8760h". `initial` is the default in this form, for --help.
template <typename Time>
void AddDuration(CLI::App& app, const std::string& flag, Time& value, const std::string& initial,
                 const std::string& help) {
  app.add_option_function<std::uint64_t>(
         flag, [&value](const std::uint64_t& count) { value = std::chrono::seconds(count); }, help)
      ->transform(CLI::Validator(ToSeconds, "s|m|h"))
      ->default_str(initial);
}

// Values of flags that are parsed later, by Interpret.
struct Texts {
  std::vector<std::string> controllers = {"*"};
  std::vector<std::string> agents;
  std::string max_removals;
};

void AddLeaderElectionFlags(CLI::App& app, Options& options) {
  app.add_flag("--leader-elect,!--no-leader-elect", options.leader_elect,
               "If set, only the replica that holds a Lease writes. Required with more than one replica.");
  app.add_option("--leader-election-namespace", options.election.lease.ns,
                 "Namespace of the Lease. Default: the namespace of the pod, or of the kubeconfig's context.");
  AddDuration(
      app, "--leader-elect-lease-duration", options.election.lease_duration, "15s",
      "Time without a renewal after which another replica takes the Lease. It must be the same for all replicas.");
  AddDuration(app, "--leader-elect-renew-deadline", options.election.renew_deadline, "10s",
              "Time for which the leader retries to renew the Lease. Then its process exits.");
  AddDuration(app, "--leader-elect-retry-period", options.election.retry_period, "2s",
              "Interval at which the leader renews the Lease, and other replicas read it.");
}

void AddRequestFlags(CLI::App& app, ClientOptions& options) {
  AddDuration(app, "--kube-api-timeout", options.timeout, "30s",
              "Timeout of one request to the apiserver, except for watches.");
  app.add_option("--kube-api-qps", options.qps, "Maximum number of requests to the apiserver per second; 0: no limit.")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--kube-api-burst", options.burst, "Maximum burst of requests with --kube-api-qps.")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

void AddControllerFlags(CLI::App& app, Options& options, Texts& texts) {
  app.add_option("--workers", options.daemons.workers, "Number of YurtAppDaemons that are reconciled at the same time.")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option(
         "--controllers", texts.controllers,
         "Controllers to run: NAME, -NAME to exclude one, and * for all that run by default. yurtappdaemon runs by "
         "default. nodepool (counts the pools' nodes, and writes the pools' labels, annotations and taints to them) "
         "runs by default unless OpenYurt's yurt-manager manages the pools; if it is named, it always runs. "
         "nodepool-autoscaler (leases spare nodes to pools) runs only if it is named.")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("--node-agents", texts.agents,
                 "Label selectors of pods that every node depends on, separated by semicolons (k8s-app=kube-proxy;"
                 "k8s-app=yurt-hub). A node on which such a pod is not ready is in state warning.")
      ->allow_extra_args(false);
  app.add_option("--required-csi-drivers", options.nodepool.csi_drivers,
                 "CSI drivers that every node must have, separated by commas. A node that lacks any of them is in "
                 "state warning.")
      ->delimiter(',')
      ->allow_extra_args(false);
  AddDuration(app, "--capacity-resync", options.capacity_resync, "30s",
              "Maximum time between two passes of the controller nodepool-autoscaler.");
  app.add_option(
         "--max-removals", texts.max_removals,
         "Maximum number of pools of one YurtAppDaemon whose workloads are removed together: a number, or a percentage "
         "of its pools that have workloads (20, 10%). Larger removals are blocked until a user allows them. 0: each "
         "removal is blocked until a user allows it. Default: no limit.")
      ->check([](const std::string& text) -> std::string {
        const auto limit = text.empty() ? Result<IntOrPercent>() : ParseRemovalLimit(text);
        return limit ? "" : limit.error().message;
      });
}

void AddWebhookFlags(CLI::App& app, WebhookOptions& options) {
  CertificateOptions& certificates = options.certificates;
  app.add_option("--webhook-port", options.port, "Port of the admission webhook.")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  app.add_option("--webhook-cert-dir", certificates.directory,
                 "Folder with the webhook's tls.crt and tls.key, which are read again when they change.");
  app.add_option(
      "--webhook-cert-secret", certificates.secret.name,
      "Secret, in the operator's own namespace, for a webhook certificate that the operator issues and rotates.");
  app.add_option("--webhook-service", certificates.service.name,
                 "Service, in the operator's own namespace, through which the apiserver calls the webhook.");
  app.add_option(
      "--webhook-configuration", certificates.configuration,
      "Name of the operator's MutatingWebhookConfiguration and ValidatingWebhookConfiguration. With "
      "--webhook-cert-secret, the operator updates their caBundle. /readyz fails until the caBundle is up to date.");
  AddDuration(
      app, "--webhook-cert-validity", certificates.validity, "8760h",
      "Validity of the certificate in --webhook-cert-secret (8760h, 30m, 10s). The operator replaces the certificate "
      "after two thirds of this time.");
}

void AddServiceFlags(CLI::App& app, const std::string& name, ServiceOptions& flags, const std::string& help) {
  const std::string url = "--" + name + "-url";
  app.add_option(url, flags.url, help);
  app.add_option("--" + name + "-ca-file", flags.ca_file,
                 "PEM file with the CAs for the server of " + url +
                     ". The file is read again when it changes. Default: the system's CAs.");
  app.add_option("--" + name + "-token-file", flags.token_file,
                 "File with the bearer token for " + url + ". The file is read again when it changes.");
}

void AddServicesFlags(CLI::App& app, Options& options) {
  AddServiceFlags(
      app, "prometheus", options.prometheus,
      "Address of the Prometheus server for the checks of YurtAppDaemons: https://HOST[:PORT][/PREFIX] or http://. "
      "Empty: checks with a query cannot run.");
  AddServiceFlags(app, "cloud-events", options.cloud_events,
                  "Address to which an event (CloudEvents) is posted when a rollout begins, waits for an approval, "
                  "stops, is rolled back or is complete: https://HOST[:PORT][/PATH] or http://. Empty: none.");
  AddServiceFlags(app, "otlp-traces", options.otlp_traces,
                  "Address of an OpenTelemetry collector to which traces of rollouts are posted (OTLP/HTTP with JSON), "
                  "such as https://HOST:4318/v1/traces, or http://. Empty: none.");
}

void AddPrefetchFlags(CLI::App& app, Options& options) {
  app.add_option("--prefetch-image", options.daemons.prefetch_image,
                 "Image of the sleeping container in the pods that pull the images of an update (prefetch of a "
                 "YurtAppDaemon).")
      ->check([](const std::string& image) { return image.empty() ? "must name an image" : ""; })
      ->capture_default_str();
}

void AddLogFlags(CLI::App& app, Options& options) {
  app.add_option("--log-level", options.log_level, "Lowest level of log messages: debug, info, warn or error.")
      ->transform(CLI::CheckedTransformer(std::map<std::string, log::Level>{{"debug", log::Level::kDebug},
                                                                            {"info", log::Level::kInfo},
                                                                            {"warn", log::Level::kWarn},
                                                                            {"error", log::Level::kError}}));
  app.add_option("--log-format", options.log_format, "Format of log messages: text or json.")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, log::Format>{{"text", log::Format::kText}, {"json", log::Format::kJson}}));
}

// Parses `texts` into `options`. The message of an Error contains the flag.
Status Interpret(const Texts& texts, Options& options) {
  const auto at = [](const char* flag, const Error& error) {
    return Fail(error.reason, std::string(flag) + ": " + error.message);
  };
  auto chosen =
      ControllerList::Parse(texts.controllers, {kYurtAppDaemonController, kNodePoolController, kAutoscalerController});
  if (!chosen) return at("--controllers", chosen.error());
  options.controllers = *std::move(chosen);
  auto selectors = ParseAgents(texts.agents);
  if (!selectors) return at("--node-agents", selectors.error());
  options.nodepool.agents = *std::move(selectors);
  if (!texts.max_removals.empty()) options.daemons.max_removals = *ParseRemovalLimit(texts.max_removals);
  if (std::string fault = Contradiction(options); !fault.empty()) return Fail(Reason::kConfig, std::move(fault));
  return {};
}

}  // namespace

std::optional<Options> ParseOptions(int argc, char** argv, const std::string& version, int& exit_code) {
  Options options;
  Texts texts;
  CLI::App app("Keeps one workload per NodePool for every YurtAppDaemon.", "yurtappdaemon-operator");
  app.set_version_flag("--version", "yurtappdaemon-operator " + version);
  app.add_option("--kubeconfig", options.kubeconfig,
                 "Kubeconfig file. Default: $KUBECONFIG, then the pod's service account, then ~/.kube/config.");
  AddLeaderElectionFlags(app, options);
  app.add_option("--metrics-bind-address", options.metrics_bind_address, "Address of /metrics; 0: not served.")
      ->capture_default_str();
  app.add_option("--health-probe-bind-address", options.health_probe_bind_address,
                 "Address of /healthz and /readyz; 0: not served.")
      ->capture_default_str();
  app.add_option("--namespace", options.daemons.ns, "Namespace to watch. Default: all namespaces.");
  AddRequestFlags(app, options.client);
  AddControllerFlags(app, options, texts);
  AddServicesFlags(app, options);
  AddPrefetchFlags(app, options);
  AddWebhookFlags(app, options.webhook);
  AddLogFlags(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    exit_code = app.exit(success);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    exit_code = 2;
    return std::nullopt;
  }
  if (const Status interpreted = Interpret(texts, options); !interpreted) {
    std::cerr << interpreted.error().message << "\n";
    exit_code = 2;
    return std::nullopt;
  }
  return options;
}

}  // namespace yad
