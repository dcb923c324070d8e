// Parses the flags, creates all objects and runs the Manager.
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
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

ClientOptions MakeClientOptions(const Options& options) {
  ClientOptions client = options.client;
  client.user_agent = std::string(kName) + "/" + YAD_VERSION;
  client.observe = [](const std::string& method, int status, Duration) {
    metrics::GetCounter("rest_client_requests_total", "Requests to the apiserver, by method and HTTP status code.",
                        {{"method", method}, {"code", status == 0 ? "<error>" : std::to_string(status)}})
        .Increment();
  };
  client.on_warning = LogWarnings();
  return client;
}

WebhookOptions MakeWebhookOptions(const Options& options, const std::string& own_namespace) {
  WebhookOptions webhook = options.webhook;
  for (ObjectKey* key : {&webhook.certificates.secret, &webhook.certificates.service}) {
    if (!key->name.empty()) key->ns = own_namespace;
  }
  return webhook;
}

Status Serve(Manager& manager, StatusServer& server, const std::string& name) {
  YAD_TRY_VOID(server.Listen());
  if (server.port() != 0) manager.AddServer(name, [&server](std::stop_token stop) { return server.Run(stop); });
  return {};
}

StatusServer::Reply Readiness(const Manager& manager) {
  const std::string missing = manager.NotReady();
  return missing.empty() ? StatusServer::Reply{200, "ok\n"} : StatusServer::Reply{503, missing + "\n"};
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

std::optional<LeaderElectionOptions> MakeElectionOptions(const Options& options, const std::string& own_namespace) {
  if (!options.leader_elect) return std::nullopt;
  LeaderElectionOptions election = options.election;
  election.lease.name = kName;
  if (election.lease.ns.empty()) election.lease.ns = own_namespace;
  election.identity = Identity();
  return election;
}

ServiceOptions WithUserAgent(ServiceOptions service) {
  service.user_agent = std::string(kName) + "/" + YAD_VERSION;
  return service;
}

// The clients of servers other than the apiserver. A client is nullptr if its flag is not set.
struct Services {
  std::unique_ptr<PrometheusClient> prometheus;
  std::shared_ptr<Outbox> cloud_events;
  std::shared_ptr<Outbox> traces;
};

// Returns an outbox that posts its messages to the URL in `service`, or nullptr if there is no URL.
Result<std::shared_ptr<Outbox>> MakeOutbox(const std::string& name, const ServiceOptions& service,
                                           const std::string& content_type) {
  if (service.url.empty()) return nullptr;
  YAD_TRY(std::shared_ptr<Receiver> receiver, Receiver::Make(WithUserAgent(service), content_type));
  OutboxOptions options;
  options.receiver = name;
  return std::make_shared<Outbox>(options, [receiver](const std::string& message, std::stop_token stop) {
    return receiver->Post(message, std::move(stop));
  });
}

// Creates the clients of servers other than the apiserver. The message of an Error contains the flags.
Result<Services> MakeServices(const Options& options) {
  const auto at = [](const char* flags, const Error& error) {
    return Fail(error.reason, std::string(flags) + ": " + error.message);
  };
  Services services;
  if (!options.prometheus.url.empty()) {
    auto prometheus = PrometheusClient::Make(WithUserAgent(options.prometheus));
    if (!prometheus) return at("--prometheus-*", prometheus.error());
    services.prometheus = *std::move(prometheus);
  }
  auto events = MakeOutbox("cloud-events", options.cloud_events, kCloudEventContentType);
  if (!events) return at("--cloud-events-*", events.error());
  services.cloud_events = *std::move(events);
  auto traces = MakeOutbox("otlp-traces", options.otlp_traces, kOtlpContentType);
  if (!traces) return at("--otlp-traces-*", traces.error());
  services.traces = *std::move(traces);
  return services;
}

// Adds the outbox to the Manager as a server. Servers stop after the controllers, so the outbox also sends the messages
// of the last reconciles.
void RunOutbox(Manager& manager, const std::string& name, const std::shared_ptr<Outbox>& outbox) {
  manager.AddServer(name, [outbox](std::stop_token stop) -> Status {
    outbox->Run(std::move(stop));
    return {};
  });
}

// Returns listeners that add messages about rollouts to the outboxes, and adds the outboxes to the Manager.
RolloutListeners AddListeners(Manager& manager, const Services& services) {
  RolloutListeners listeners;
  if (const auto outbox = services.cloud_events; outbox != nullptr) {
    listeners.notices = [outbox](const CloudEvent& event) { outbox->Add(ToText(event)); };
    RunOutbox(manager, "cloud-events", outbox);
  }
  if (const auto outbox = services.traces; outbox != nullptr) {
    listeners.trace = [outbox](const std::vector<Span>& spans) {
      for (std::string& body : ToOtlp(spans, kName, YAD_VERSION)) outbox->Add(std::move(body));
    };
    RunOutbox(manager, "otlp-traces", outbox);
  }
  return listeners;
}

// Adds the controller yurtappdaemon, and the webhook if a certificate is configured.
Status AddProduct(Manager& manager, Client& client, EventRecorder& events, const Services& services,
                  const Options& options, const std::string& own_namespace) {
  YurtAppDaemonOptions daemons = options.daemons;
  daemons.freeze_ns = own_namespace;
  daemons.prometheus = services.prometheus.get();
  daemons.listeners = AddListeners(manager, services);
  const ReconcilerStores stores = AddYurtAppDaemonController(manager, client, events, daemons);
  if (options.webhook.certificates.directory.empty() && options.webhook.certificates.secret.name.empty()) return {};
  const AdmissionStores read = {stores.daemons, stores.pools, stores.deployments, stores.stateful_sets,
                                stores.revisions};
  WebhookOptions webhook = MakeWebhookOptions(options, own_namespace);
  webhook.prometheus = services.prometheus.get();
  return AddWebhook(manager, client, read, webhook);
}

void AddPools(Manager& manager, Client& client, EventRecorder& events, const Options& options) {
  switch (options.controllers.Choose(kNodePoolController)) {
    case Chosen::kYes:
      AddNodePoolController(manager, client, manager.leader_client(), events, options.nodepool);
      break;
    case Chosen::kByDefault:
      AddNodePoolControllerAuto(manager, client, events, options.nodepool);
      break;
    case Chosen::kNo:
      break;
  }
}

// The HTTP servers for --metrics-bind-address and --health-probe-bind-address.
class StatusServers {
 public:
  // `capacity` is null if the autoscaler does not run.
  StatusServers(const Options& options, const Manager& manager, std::shared_ptr<const CapacityReconciler> capacity)
      : metrics_({options.metrics_bind_address}), health_({options.health_probe_bind_address}) {
    metrics::GetGauge("yurtappdaemon_build_info", "Always 1. The label has the version of the operator.",
                      {{"version", YAD_VERSION}})
        .Set(1);
    metrics_.Handle("/metrics", [] {
      return StatusServer::Reply{200, metrics::Render(), "text/plain; version=0.0.4; charset=utf-8"};
    });
    health_.Handle("/healthz", [] { return StatusServer::Reply{200, "ok\n"}; });
    health_.Handle("/readyz", [&manager] { return Readiness(manager); });
    if (capacity == nullptr) return;
    health_.Handle("/debug/capacity", [capacity] {
      return StatusServer::Reply{200, capacity->Describe().dump(2) + "\n", "application/json"};
    });
  }

  // Returns false if an address can't be used. The log message contains the flag.
  bool Listen(Manager& manager) {
    for (auto& [server, flag] :
         {std::pair{&metrics_, "--metrics-bind-address"}, {&health_, "--health-probe-bind-address"}}) {
      if (const Status serving = Serve(manager, *server, flag); !serving) {
        log::Err("Cannot listen", {{"flag", flag}, {"error", serving.error()}});
        return false;
      }
    }
    return true;
  }

 private:
  StatusServer metrics_;
  StatusServer health_;
};

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
  const std::optional<Options> options = ParseOptions(argc, argv, YAD_VERSION, exit_code);
  if (!options) return exit_code;
  log::Configure(options->log_level, options->log_format);

  const auto config = LoadClusterConfig(options->kubeconfig);
  if (!config) {
    log::Err("Cannot find the cluster", {{"error", config.error()}});
    return kCannotStart;
  }
  const auto client = MakeClient(*config, MakeClientOptions(*options));
  if (!client) {
    log::Err("Cannot create a client for the apiserver", {{"cluster", config->source}, {"error", client.error()}});
    return kCannotStart;
  }
  const auto services = MakeServices(*options);
  if (!services) {
    log::Err("Cannot create a client for Prometheus, CloudEvents or OTLP", {{"error", services.error()}});
    return kCannotStart;
  }
  log::Info("Starting", {{"version", YAD_VERSION}, {"server", config->server}, {"config", config->source}});

  Manager manager(**client, MakeElectionOptions(*options, config->ns));
  EventRecorder& events = manager.AddEventRecorder({kName, Hostname()});
  if (options->controllers.Choose(kYurtAppDaemonController) != Chosen::kNo) {
    if (const Status added = AddProduct(manager, **client, events, *services, *options, config->ns); !added) {
      log::Err("Cannot serve the webhook", {{"error", added.error()}});
      return kCannotStart;
    }
  }
  AddPools(manager, **client, events, *options);
  std::shared_ptr<const CapacityReconciler> capacity;
  if (options->controllers.Choose(kAutoscalerController) == Chosen::kYes)
    capacity = AddCapacityController(manager, **client, events, options->capacity_resync);
  StatusServers servers(*options, manager, capacity);
  if (!servers.Listen(manager)) return kCannotStart;

  exit_on_signal.reset();
  return ExitCodeOf(manager.Run(stop.get_token()));
}

}  // namespace
}  // namespace yad

int main(int argc, char** argv) { return yad::Main(argc, argv); }
