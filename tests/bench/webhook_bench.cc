// Measures admission calls as the apiserver makes them. The bound is an echo server in its own process, with the same
// server class, TLS and body.
#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>

#include "operator/api/well_known.h"
#include "operator/runtime/signals.h"
#include "tests/bench/beast_transport.h"
#include "tests/bench/bench.h"
#include "tests/bench/echo.h"
#include "tests/bench/load.h"
#include "tests/bench/measure.h"
#include "tests/support/eventually.h"
#include "tests/support/webhook_setup.h"
#include "webhook/admission/admission_handler.h"
#include "webhook/server/https_server.h"

namespace yad::bench {
namespace {

constexpr std::size_t kCalls = 10000;

// The measured values of one server under load.
struct Served {
  double per_second = 0;
  double p50_ms = 0;
  double p99_ms = 0;
  double cpu_us = 0;
};

Served Serve(HttpTransport& client, const HttpRequest& request, pid_t pid, std::size_t connections) {
  SendRepeatedly(client, request, 200, connections);  // opens connections and fills caches
  const double cpu = CpuSeconds(pid);
  const Load load = SendRepeatedly(client, request, kCalls, connections);
  const auto calls = static_cast<double>(kCalls);
  return {calls / load.seconds, Median(load.latencies_ms), Percentile(load.latencies_ms, 0.99),
          (CpuSeconds(pid) - cpu) * 1e6 / calls};
}

HttpRequest Review(const std::string& path, const Json& daemon) {
  const Json kind = {{"group", kYurtAppDaemonType.group}, {"version", "v1alpha1"}, {"kind", kYurtAppDaemonType.kind}};
  const Json resource = {{"group", kYurtAppDaemonType.group}, {"version", "v1alpha1"}, {"resource", "yurtappdaemons"}};
  const Json review = {{"apiVersion", "admission.k8s.io/v1"},
                       {"kind", "AdmissionReview"},
                       {"request",
                        {{"uid", "705ab4f5-6393-11e8-b7cc-42010a800002"},
                         {"kind", kind},
                         {"resource", resource},
                         {"requestKind", kind},
                         {"requestResource", resource},
                         {"name", testing::NameOf(daemon)},
                         {"namespace", "webhook"},
                         {"operation", "CREATE"},
                         {"userInfo", {{"username", "admin"}, {"groups", {"system:authenticated"}}}},
                         {"object", daemon},
                         {"oldObject", nullptr},
                         {"dryRun", false},
                         {"options", {{"kind", "CreateOptions"}, {"apiVersion", "meta.k8s.io/v1"}}}}}};
  return Write("POST", path + std::string("?timeout=10s"), review.dump());
}

double Middle(const std::vector<Served>& rounds, double Served::*member) {
  std::vector<double> values;
  for (const Served& round : rounds) values.push_back(round.*member);
  return Median(values);
}

// Adds the figures of the webhook (`ours`). Their bounds are the values of the echo server (`bare`).
void AddFigures(Bench& bench, const std::string& verb, std::size_t connections, std::size_t body_bytes,
                const std::vector<Served>& ours, const std::vector<Served>& bare) {
  const std::string what =
      "webhook, " + verb + ", " + std::to_string(connections) + (connections == 1 ? " connection" : " connections");
  bench.Add({"webhook",
             what + ": rate",
             Middle(ours, &Served::per_second),
             "/s",
             {{"TLS echo server", Middle(bare, &Served::per_second)}},
             TargetKind::kShareOfBound,
             0.7,
             "median of 3 rounds of " + Number(kCalls) +
                 " calls; a round of the echo server precedes each round; body of " +
                 Number(static_cast<double>(body_bytes) / 1000) + " KB"});
  bench.Add({"webhook",
             what + ": p99",
             Middle(ours, &Served::p99_ms),
             "ms",
             {{"its own p50", Middle(ours, &Served::p50_ms)}, {"TLS echo server, p99", Middle(bare, &Served::p99_ms)}},
             TargetKind::kTimesBound,
             5});
  bench.Add({"webhook",
             what + ": CPU per call",
             Middle(ours, &Served::cpu_us),
             "µs",
             {{"TLS echo server", Middle(bare, &Served::cpu_us)}},
             TargetKind::kAtMost,
             verb == "validate" ? 90.0 : 60.0});
}

void Webhook(Bench& bench) {
  Cluster cluster(/*audit=*/false);
  const testing::Kube kube = cluster.Namespace("webhook");
  cluster.AddPools("pool", 20, "shops");
  const testing::WebhookSetup setup(kube, cluster.plane().dir());
  const auto process = cluster.Operator(kube.ns(), setup.flags());
  process->WaitUntilReady();

  const int echo_port = testing::FreePort();
  testing::Process echo({std::filesystem::read_symlink("/proc/self/exe"), "--echo=" + std::to_string(echo_port),
                         "--echo-certificates=" + cluster.plane().dir() + "/webhook-" + kube.ns()});
  const auto client_of = [&](int port) {
    TransportOptions options;
    options.server = "https://localhost:" + std::to_string(port);
    options.tls.ca_pem = setup.ca_pem();
    return MakeBareTransport(options);
  };
  // The input of the validating webhook is the output of the mutating webhook.
  Json daemon = Daemon("till", {"shops"});
  daemon["apiVersion"] = kYurtAppDaemonType.ApiVersion();
  daemon["kind"] = kYurtAppDaemonType.kind;
  daemon["metadata"]["namespace"] = kube.ns();
  daemon["metadata"]["uid"] = "4c7d8ce9-1b3f-4f0c-8c35-6c1f0e1ad0e1";
  const HttpRequest mutate = Review(kMutatePath, daemon);
  const HttpRequest validate = Review(kValidatePath, daemon);
  testing::Eventually("the echo server listens", [&] {
    const auto response = client_of(echo_port)->Send(validate, {});
    return response && response->body == validate.body;
  });
  const auto response = client_of(setup.port())->Send(validate, {});
  if (!response || response->body.find("\"allowed\":true") == std::string::npos) {
    throw testing::TestFailure("the webhook rejects: " + (response ? response->body : response.error().ToString()));
  }

  for (const auto& [verb, request] : {std::pair{"validate", validate}, {"mutate", mutate}}) {
    for (const std::size_t connections : {1, 16}) {
      const auto echo_client = client_of(echo_port);
      const auto client = client_of(setup.port());
      std::vector<Served> ours, bare;
      for (int i = 0; i < 3; ++i) {
        bare.push_back(Serve(*echo_client, request, echo.pid(), connections));
        ours.push_back(Serve(*client, request, process->pid(), connections));
      }
      AddFigures(bench, verb, connections, request.body.size(), ours, bare);
    }
  }
}

}  // namespace

int ServeEcho(int port, const std::string& certificates) {
  auto certificate = std::make_shared<ServingCertificate>();
  const Status loaded =
      certificate->Load(testing::ReadFile(certificates + "/tls.crt"), testing::ReadFile(certificates + "/tls.key"));
  HttpsServerOptions options;
  options.bind = "127.0.0.1:" + std::to_string(port);
  HttpsServer server(options, certificate, [](const HttpsCall& call) {
    return HttpsReply{200, "application/json", call.body};
  });
  const Status listening = loaded ? server.Listen() : loaded;
  if (!listening) {
    std::cerr << listening.error().ToString() << "\n";
    return 1;
  }
  std::stop_source stop;
  StopOnSignals(stop);
  return server.Run(stop.get_token()) ? 0 : 1;
}

std::vector<Scenario> WebhookScenarios() { return {{"webhook", Webhook}}; }

}  // namespace yad::bench
