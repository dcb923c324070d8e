// Measures the CPU of the apiserver for an update of a workload, for different kinds of requests.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>

#include "operator/api/well_known.h"
#include "tests/bench/bench.h"
#include "tests/bench/load.h"
#include "tests/bench/measure.h"
#include "tests/bench/raw_watch.h"
#include "tests/support/eventually.h"

namespace yad::bench {
namespace {

constexpr int kWorkloads = 1000;
constexpr int kRounds = 9;
constexpr char kMetadataOnly[] = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
constexpr char kProtobuf[] = "application/vnd.kubernetes.protobuf";

// A kind of request that sets a new image. `make` receives the whole live workload, and replaces the image in it.
struct Way {
  std::string name;
  HttpRequest (*make)(const std::string& path, Json workload);
  std::size_t writers = kParallelWrites;
  bool metadata_only = false;  // the response contains only the metadata
  bool protobuf = false;       // the body and the response are protobuf; `make` is unused
};

HttpRequest PutWithAll(const std::string& path, Json workload) { return Write("PUT", path, workload.dump()); }

HttpRequest Put(const std::string& path, Json workload) {
  workload["metadata"].erase("managedFields");
  return Write("PUT", path, workload.dump());
}

HttpRequest PutWithoutStatus(const std::string& path, Json workload) {
  workload.erase("status");
  return Put(path, std::move(workload));
}

HttpRequest PutNotValidated(const std::string& path, Json workload) {
  return Put(path + "?fieldValidation=Ignore", std::move(workload));
}

// A merge patch replaces whole lists, so it needs the whole container.
HttpRequest MergePatch(const std::string& path, Json workload) {
  const Json& meta = workload["metadata"];
  const Json pods = {{"spec", {{"containers", testing::At(workload, "/spec/template/spec/containers")}}}};
  const Json patch = {{"metadata", {{"uid", meta["uid"]}, {"resourceVersion", meta["resourceVersion"]}}},
                      {"spec", {{"template", pods}}}};
  return Write("PATCH", path, patch.dump(), kMergePatch);
}

const std::vector<Way>& Ways() {
  static const std::vector<Way> ways = {
      {"PUT of the whole object", Put},
      {"PUT, managedFields sent", PutWithAll},
      {"PUT, status not sent", PutWithoutStatus},
      {"PUT, fieldValidation=Ignore", PutNotValidated},
      {"PUT, only metadata as the response", Put, kParallelWrites, true},
      {"merge patch", MergePatch},
      {"merge patch, only metadata as the response", MergePatch, kParallelWrites, true},
      {"PUT in protobuf", nullptr, kParallelWrites, false, true},
      {"PUT, 8 writers", Put, 8},
      {"PUT, 32 writers", Put, 32},
      {"merge patch, 8 writers", MergePatch, 8},
      {"merge patch, 32 writers", MergePatch, 32},
  };
  return ways;
}

class Server {
 public:
  explicit Server(Cluster& cluster) : cluster_(cluster), kube_(cluster.Namespace("server")) {
    cluster_.AddPools("pool", kWorkloads, "shops");
    const RawWatch watch(cluster_.beast(), Path());
    const auto process = cluster_.Operator(kube_.ns());
    kube_.Create(kYurtAppDaemonType, Daemon("till", {"shops"}));
    watch.WaitForCount(kWorkloads);
    WaitUntilQuiet(process->pid());
    process->Stop();
    std::vector<HttpRequest> patches;
    for (const Json& workload : kube_.List(kDeploymentType)) {
      names_.push_back(testing::NameOf(workload));
      const std::string path = ResourcePath(kDeploymentType, kube_.ns(), names_.back(), "status");
      patches.push_back(Write("PATCH", path, HealthyPatch(workload).dump(), kMergePatch));
    }
    SendAll(cluster_.beast(), patches, kParallelWrites);
  }

  struct Cost {
    double apiserver_ms = 0;  // of CPU, for each update
    double etcd_ms = 0;
    double per_second = 0;
  };
  // Sets a new image in each workload. As with an operator, a watch is open.
  Cost NewImage(const Way& way) {
    const std::vector<HttpRequest> requests = way.protobuf ? InProtobuf() : InJson(way);
    std::swap(from_, to_);
    const RawWatch watch(cluster_.beast(), Path());
    const double apiserver = CpuSeconds(cluster_.PidOf("kube-apiserver"));
    const double etcd = CpuSeconds(cluster_.PidOf("etcd"));
    SendAll(cluster_.beast(), requests, way.writers);
    watch.WaitForCount(requests.size());
    const auto count = static_cast<double>(requests.size());
    Cost cost;
    cost.apiserver_ms = (CpuSeconds(cluster_.PidOf("kube-apiserver")) - apiserver) * 1e3 / count;
    cost.etcd_ms = (CpuSeconds(cluster_.PidOf("etcd")) - etcd) * 1e3 / count;
    cost.per_second = (count - 1) / Seconds(watch.event(requests.size() - 1).at - watch.event(0).at);
    return cost;
  }

 private:
  std::string Path(const std::string& name = "") const { return ResourcePath(kDeploymentType, kube_.ns(), name); }

  std::vector<HttpRequest> InJson(const Way& way) const {
    std::vector<HttpRequest> requests;
    const auto list = cluster_.beast().Send({.method = "GET", .path = Path(), .headers = {}, .body = {}}, {});
    if (!list || list->status != 200) throw testing::TestFailure("the workloads cannot be listed");
    Json all = Json::parse(list->body);
    for (Json& workload : all["items"]) {
      workload["apiVersion"] = kDeploymentType.ApiVersion();
      workload["kind"] = kDeploymentType.kind;
      workload["spec"]["template"]["spec"]["containers"][0]["image"] = to_;
      const std::string path = Path(testing::NameOf(workload));
      requests.push_back(way.make(path, std::move(workload)));
      if (way.metadata_only) requests.back().headers["Accept"] = kMetadataOnly;
    }
    return requests;
  }

  // Replaces only the bytes of the image, because both images have the same length.
  std::vector<HttpRequest> InProtobuf() const {
    std::vector<HttpRequest> requests;
    for (const std::string& name : names_) {
      const HttpRequest get{.method = "GET", .path = Path(name), .headers = {{"Accept", kProtobuf}}, .body = {}};
      auto response = cluster_.beast().Send(get, {});
      const auto at = response ? response->body.find(from_) : std::string::npos;
      if (at == std::string::npos) throw testing::TestFailure("a workload has another image");
      response->body.replace(at, from_.size(), to_);
      requests.push_back(Write("PUT", Path(name), std::move(response->body), kProtobuf));
      requests.back().headers["Accept"] = kProtobuf;
    }
    return requests;
  }

  Cluster& cluster_;
  const testing::Kube kube_;
  std::vector<std::string> names_;
  std::string from_ = kImage;
  std::string to_ = kNewImage;
};

void ServerCost(Bench& bench) {
  Cluster cluster(/*audit=*/false);
  Server server(cluster);
  const std::vector<Way>& ways = Ways();
  std::vector<std::vector<double>> cpu(ways.size()), etcd(ways.size()), rates(ways.size());
  server.NewImage(ways[0]);  // warms up the server
  std::mt19937 random(1);
  for (int round = 0; round < kRounds; ++round) {
    bench.Say("  round " + std::to_string(round + 1) + " of " + std::to_string(kRounds));
    // A random order, so that the server's work on earlier requests affects all kinds equally.
    std::vector<std::size_t> order(ways.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      const Server::Cost cost = server.NewImage(ways[i]);
      cpu[i].push_back(cost.apiserver_ms);
      etcd[i].push_back(cost.etcd_ms);
      rates[i].push_back(cost.per_second);
    }
  }
  for (std::size_t i = 0; i < ways.size(); ++i) {
    std::vector<Bound> bounds;
    if (i > 0) bounds.push_back({ways[0].name, Median(cpu[0])});
    bench.Add({"server", "apiserver's CPU for a new image: " + ways[i].name, Median(cpu[i]), "ms", bounds,
               TargetKind::kNone, 0,
               "median of " + std::to_string(kRounds) + " rounds of " + Number(kWorkloads) + " updates; " +
                   Number(std::round(Median(rates[i]))) + " updates/s; etcd's CPU: " + Number(Median(etcd[i])) +
                   " ms per update"});
  }
}

}  // namespace

std::vector<Scenario> ServerScenarios() { return {{"server", ServerCost}}; }

}  // namespace yad::bench
