// Parses the flags, creates all objects and runs the Manager.
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/conditions.h"
#include "operator/base/log.h"
#include "operator/base/log_pace.h"
#include "operator/base/metrics.h"
#include "operator/base/synchronized.h"
#include "operator/capacity/wiring.h"
#include "operator/client/auth/config.h"
#include "operator/client/transport/tls_client.h"
#include "operator/nodepool/auto_switch.h"
#include "operator/nodepool/wiring.h"
#include "operator/notify/cloud_event.h"
#include "operator/notify/outbox.h"
#include "operator/notify/receiver.h"
#include "operator/notify/span.h"
#include "operator/options.h"
#include "operator/prometheus/client.h"
#include "operator/runtime/manager.h"
#include "operator/runtime/signals.h"
#include "operator/runtime/status_server.h"
#include "operator/yurtappdaemon/wiring.h"
#include "webhook/wiring.h"

namespace yad {
namespace {

constexpr char kName[] = "yurtappdaemon-operator";

enum ExitCode { kOk = 0, kCannotStart = 1, kUsage = 2, kLeaseLost = 3, kStopTimedOut = 4 };

std::string Hostname() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

// Returns the identity for leader election, in the form of client-go: the host name, which users recognize, and a
// unique suffix.
std::string Identity() {
  std::random_device random;
  char suffix[17];
  std::snprintf(suffix, sizeof suffix, "%08x%08x", random(), random());
  return Hostname() + "_" + suffix;
}

// Returns a function that logs the warnings of the apiserver. A policy such as Pod Security may send a warning with
// each write of a workload.
std::function<void(const std::string&)> LogWarnings() {
  const auto pace = std::make_shared<Synchronized<LogPace>>();
  return [pace](const std::string& text) {
    const SteadyTime now = Clock::Real().Now();
    const auto omitted = pace->With([&](LogPace& warnings) { return warnings.Admit(text, now); });
    if (!omitted) return;
    if (*omitted > 0) log::Warn("some warnings of the apiserver were not logged", {{"count", *omitted}});
    log::Warn("the apiserver warns", {{"warning", Cut(text, kMaxMessage)}});
  };
}

// Sets the options that have no flag. `own_namespace` is the namespace of the pod, or of the kubeconfig's context.
void Complete(Options& options, const std::string& own_namespace) {
  const std::string user_agent = std::string(kName) + "/" + YAD_VERSION;
  for (ServiceOptions* service : {&options.prometheus, &options.cloud_events, &options.otlp_traces})
    service->user_agent = user_agent;
  options.client.user_agent = user_agent;
  options.client.observe = [](const std::string& method, int status, Duration) {
    metrics::GetCounter("rest_client_requests_total", "Requests to the apiserver, by method and HTTP status code.",
                        {{"method", method}, {"code", status == 0 ? "<error>" : std::to_string(status)}})
        .Increment();
  };
  options.client.on_warning = LogWarnings();
  options.daemons.freeze_ns = own_namespace;
  CertificateOptions& certificates = options.webhook.certificates;
  for (ObjectKey* key : {&certificates.secret, &certificates.service}) {
    if (!key->name.empty()) key->ns = own_namespace;
  }
  options.election.lease.name = kName;
  if (options.election.lease.ns.empty()) options.election.lease.ns = own_namespace;
  options.election.identity = Identity();
}

// Tunes the allocator for a process whose threads are mostly idle.
void TuneAllocator() {
  // More arenas would keep more freed memory.
  mallopt(M_ARENA_MAX, 2);
  // Large blocks, such as bodies of responses, are returned to the system when they are freed. Otherwise, the allocator
  // would raise its threshold after the first large block, and then keep large blocks.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  // Turns off the fastbins, the lists of small freed chunks. Otherwise, each large allocation would first go through
  // all of these chunks (malloc_consolidate).
  mallopt(M_MXFAST, 0);
}

// Adds an outbox to the Manager, which posts its messages to the URL in `service`. Returns nullptr if there is no URL.
// The message of an Error contains the flags.
Result<std::shared_ptr<Outbox>> AddOutbox(Manager& manager, const std::string& name, const ServiceOptions& service,
                                          const std::string& content_type) {
  if (service.url.empty()) return nullptr;
  auto made = Receiver::Make(service, content_type);
  if (!made) return Fail(made.error().reason, "--" + name + "-*: " + made.error().message);
  OutboxOptions options;
  options.receiver = name;
  const std::shared_ptr<Receiver> receiver = *std::move(made);
  const auto outbox = std::make_shared<Outbox>(options, [receiver](const std::string& message, std::stop_token stop) {
    return receiver->Post(message, std::move(stop));
  });
  // Servers stop after the controllers, so the outbox also sends the messages of the last reconciles.
  manager.AddServer(name, [outbox](std::stop_token stop) -> Status {
    outbox->Run(std::move(stop));
    return {};
  });
  return outbox;
}

// The clients of servers other than the apiserver. A client is nullptr if its flag is not set.
struct Services {
  std::unique_ptr<PrometheusClient> prometheus;
  RolloutListeners listeners;  // send messages about rollouts
};

// Creates the clients of servers other than the apiserver. The message of an Error contains the flags.
Result<Services> AddServices(Manager& manager, const Options& options) {
  Services services;
  if (!options.prometheus.url.empty()) {
    auto prometheus = PrometheusClient::Make(options.prometheus);
    if (!prometheus) return Fail(prometheus.error().reason, "--prometheus-*: " + prometheus.error().message);
    services.prometheus = *std::move(prometheus);
  }
  YAD_TRY(const auto events, AddOutbox(manager, "cloud-events", options.cloud_events, kCloudEventContentType));
  if (events != nullptr) services.listeners.notices = [events](const CloudEvent& event) { events->Add(ToText(event)); };
  YAD_TRY(const auto traces, AddOutbox(manager, "otlp-traces", options.otlp_traces, kOtlpContentType));
  if (traces != nullptr) {
    services.listeners.trace = [traces](const std::vector<Span>& spans) {
      for (std::string& body : ToOtlp(spans, kName, YAD_VERSION)) traces->Add(std::move(body));
    };
  }
  return services;
}

// Adds the controller yurtappdaemon, and the webhook if a certificate is configured.
Status AddProduct(Manager& manager, Client& client, EventRecorder& events, const Services& services,
                  const Options& options) {
  YurtAppDaemonOptions daemons = options.daemons;
  daemons.prometheus = services.prometheus.get();
  daemons.listeners = services.listeners;
  const ReconcilerStores stores = AddYurtAppDaemonController(manager, client, events, daemons);
  WebhookOptions webhook = options.webhook;
  if (webhook.certificates.directory.empty() && webhook.certificates.secret.name.empty()) return {};
  webhook.prometheus = services.prometheus.get();
  const AdmissionStores read = {stores.daemons, stores.pools, stores.deployments, stores.stateful_sets,
                                stores.revisions};
  return AddWebhook(manager, client, read, webhook);
}

void AddPools(Manager& manager, Client& client, EventRecorder& events, const Options& options) {
  const Chosen chosen = options.controllers.Choose(kNodePoolController);
  if (chosen == Chosen::kYes) AddNodePoolController(manager, client, manager.leader_client(), events, options.nodepool);
  if (chosen == Chosen::kByDefault) AddNodePoolControllerAuto(manager, client, events, options.nodepool);
}

// Adds an HTTP server to the Manager. Returns false if the address can't be used. The log message contains `flag`.
bool AddStatusServer(Manager& manager, const std::string& flag, const std::string& address,
                     const std::map<std::string, StatusServer::Handler>& handlers) {
  const auto server = std::make_shared<StatusServer>(StatusServerOptions{address});
  for (const auto& [path, handler] : handlers) server->Handle(path, handler);
  if (const Status listening = server->Listen(); !listening) {
    log::Err("Cannot listen", {{"flag", flag}, {"error", listening.error()}});
    return false;
  }
  if (server->port() != 0) manager.AddServer(flag, [server](std::stop_token stop) { return server->Run(stop); });
  return true;
}

// Adds the servers for --metrics-bind-address and --health-probe-bind-address. `capacity` is null if the autoscaler
// does not run.
bool AddStatusServers(Manager& manager, const Options& options,
                      const std::shared_ptr<const CapacityReconciler>& capacity) {
  using Reply = StatusServer::Reply;
  metrics::GetGauge("yurtappdaemon_build_info", "Always 1. The label has the version of the operator.",
                    {{"version", YAD_VERSION}})
      .Set(1);
  std::map<std::string, StatusServer::Handler> health;
  health["/healthz"] = [] { return Reply{200, "ok\n"}; };
  health["/readyz"] = [&manager] {
    const std::string missing = manager.NotReady();
    return missing.empty() ? Reply{200, "ok\n"} : Reply{503, missing + "\n"};
  };
  if (capacity != nullptr) {
    health["/debug/capacity"] = [capacity] {
      return Reply{200, capacity->Describe().dump(2) + "\n", "application/json"};
    };
  }
  const auto render = [] { return Reply{200, metrics::Render(), "text/plain; version=0.0.4; charset=utf-8"}; };
  return AddStatusServer(manager, "--metrics-bind-address", options.metrics_bind_address, {{"/metrics", render}}) &&
         AddStatusServer(manager, "--health-probe-bind-address", options.health_probe_bind_address, health);
}

int ExitCodeOf(RunOutcome outcome) {
  switch (outcome) {
    case RunOutcome::kStopped:
      log::Info("Stopped");
      return kOk;
    case RunOutcome::kLeaseLost:
      log::Err("Lost the lease: another replica may lead now");
      _exit(kLeaseLost);
    case RunOutcome::kStopTimedOut:
      log::Err("Some threads did not stop in time; the process exits");
      _exit(kStopTimedOut);
    case RunOutcome::kFailed:
      break;
  }
  return kCannotStart;
}

int Main(int argc, char** argv) {
  KeepOpenSslUntilTheEnd();
  std::stop_source stop;
  StopOnSignals(stop);
  // Until the Manager runs, a signal terminates the process immediately, even if the main thread is waiting.
  auto exit_on_signal = std::make_optional<std::stop_callback<void (*)()>>(stop.get_token(), [] { _exit(kOk); });
  TuneAllocator();
  int exit_code = kOk;
  std::optional<Options> options = ParseOptions(argc, argv, YAD_VERSION, exit_code);
  if (!options) return exit_code;
  log::Configure(options->log_level, options->log_format);

  const auto config = LoadClusterConfig(options->kubeconfig);
  if (!config) {
    log::Err("Cannot find the cluster", {{"error", config.error()}});
    return kCannotStart;
  }
  Complete(*options, config->ns);
  const auto client = MakeClient(*config, options->client);
  if (!client) {
    log::Err("Cannot create a client for the apiserver", {{"cluster", config->source}, {"error", client.error()}});
    return kCannotStart;
  }
  Result<Services> services;  // outlives the Manager
  Manager manager(**client, options->leader_elect ? std::optional(options->election) : std::nullopt);
  services = AddServices(manager, *options);
  if (!services) {
    log::Err("Cannot create a client for Prometheus, CloudEvents or OTLP", {{"error", services.error()}});
    return kCannotStart;
  }
  log::Info("Starting", {{"version", YAD_VERSION}, {"server", config->server}, {"config", config->source}});

  EventRecorder& events = manager.AddEventRecorder({kName, Hostname()});
  if (options->controllers.Choose(kYurtAppDaemonController) != Chosen::kNo) {
    if (const Status added = AddProduct(manager, **client, events, *services, *options); !added) {
      log::Err("Cannot serve the webhook", {{"error", added.error()}});
      return kCannotStart;
    }
  }
  AddPools(manager, **client, events, *options);
  std::shared_ptr<const CapacityReconciler> capacity;
  if (options->controllers.Choose(kAutoscalerController) == Chosen::kYes)
    capacity = AddCapacityController(manager, **client, events, options->capacity_resync);
  if (!AddStatusServers(manager, *options, capacity)) return kCannotStart;

  exit_on_signal.reset();
  return ExitCodeOf(manager.Run(stop.get_token()));
}

}  // namespace
}  // namespace yad

int main(int argc, char** argv) { return yad::Main(argc, argv); }
