// Measures one daemon that creates a workload in each of many pools, and then sets a new image in all of them. For
// comparison, a simple client and wrk send the same requests.
#include <memory>
#include <optional>

#include "operator/api/well_known.h"
#include "tests/bench/bench.h"
#include "tests/bench/load.h"
#include "tests/bench/measure.h"
#include "tests/bench/raw_watch.h"
#include "tests/support/eventually.h"

namespace yad::bench {
namespace {

using testing::Kube;

constexpr char kDaemon[] = "till";
constexpr char kApiserver[] = "kube-apiserver";

// The rate of writes, and the CPU time of each write in the client and in the apiserver.
struct Speed {
  double per_second = 0;
  double cpu_ms = 0;
  double server_ms = 0;
};
double Middle(const std::vector<Speed>& speeds, double Speed::*member) {
  std::vector<double> values;
  for (const Speed& speed : speeds) values.push_back(speed.*member);
  return Median(values);
}

// The results of all rounds for one kind of write.
struct Results {
  std::vector<Speed> ours;
  std::vector<Speed> bare;  // with Beast, before and after each run of the operator
  std::vector<double> wrk;
};

std::string Deployments(const Kube& kube, const std::string& name = "") {
  return ResourcePath(kDeploymentType, kube.ns(), name);
}

// Removes the server's defaults: all fields that are not in `shape`.
void Prune(Json& value, const Json& shape) {
  if (value.is_object() && shape.is_object()) {
    for (auto it = value.begin(); it != value.end();) {
      const auto in_shape = shape.find(it.key());
      if (in_shape == shape.end()) {
        it = value.erase(it);
      } else {
        Prune(*it, *in_shape);
        ++it;
      }
    }
  } else if (value.is_array() && shape.is_array() && value.size() == shape.size()) {
    for (std::size_t i = 0; i < value.size(); ++i) Prune(value[i], shape[i]);
  }
}

// Returns the body of the POST that created this workload, but with namespace `ns` and the name "@NAME@".
std::string PostBody(const Json& workload, const Json& daemon, const std::string& ns) {
  Json shape = testing::At(daemon, "/spec/workloadTemplate/deploymentTemplate");
  shape["spec"]["selector"] = testing::At(workload, "/spec/selector");
  for (const char* added : {"/metadata/labels", "/spec/nodeSelector"}) {
    const Json::json_pointer path(std::string("/spec/template") + added);
    if (workload.contains(path)) shape[path] = workload[path];
  }
  Json body = workload;
  Prune(body["spec"], shape["spec"]);
  Json& meta = body["metadata"];
  meta = {{"name", "@NAME@"},
          {"namespace", ns},
          {"labels", meta["labels"]},
          {"annotations", meta["annotations"]},
          {"ownerReferences", meta["ownerReferences"]}};
  body.erase("status");
  return body.dump();
}

std::string Replace(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Sends the requests without an operator. As in Ours, a watch is open, and its events are the basis of the rate.
Speed Bare(Cluster& cluster, const Kube& kube, const std::vector<HttpRequest>& requests) {
  const pid_t server = cluster.PidOf(kApiserver);
  const RawWatch watch(cluster.beast(), Deployments(kube));
  const double watch_cpu = watch.cpu_seconds();
  const double server_cpu = CpuSeconds(server);
  const Load load = SendAll(*cluster.NewBeast(), requests, kParallelWrites);
  watch.WaitForCount(requests.size());
  const auto count = static_cast<double>(requests.size());
  const double seconds = Seconds(watch.event(requests.size() - 1).at - watch.event(0).at);
  return {(count - 1) / seconds, (load.cpu_seconds - (watch.cpu_seconds() - watch_cpu)) * 1e3 / count,
          (CpuSeconds(server) - server_cpu) * 1e3 / count};
}

// Measures the operator. `change` makes a change that takes `count` writes.
template <typename Change>
Speed Ours(Cluster& cluster, const Kube& kube, pid_t pid, std::size_t count, Change change) {
  WaitUntilQuiet(pid);
  const RawWatch watch(cluster.beast(), Deployments(kube));
  const pid_t server = cluster.PidOf(kApiserver);
  const double cpu = CpuSeconds(pid);
  const double server_cpu = CpuSeconds(server);
  change();
  watch.WaitForCount(count);
  const double server_used = CpuSeconds(server) - server_cpu;
  WaitUntilQuiet(pid);  // includes the cost of its writes of status and Events
  const double seconds = Seconds(watch.event(count - 1).at - watch.event(0).at);
  if (watch.count() != count) throw testing::TestFailure("workloads were written twice");
  return {static_cast<double>(count - 1) / seconds, (CpuSeconds(pid) - cpu) * 1e3 / static_cast<double>(count),
          server_used * 1e3 / static_cast<double>(count)};
}

// One round of measurements with a certain number of pools.
class Round {
 public:
  // `strategy` may be null.
  Round(Cluster& cluster, std::size_t count, const std::string& group, int number, Json strategy)
      : cluster_(cluster),
        count_(count),
        group_(group),
        name_(group + "-" + std::to_string(number)),
        strategy_(std::move(strategy)) {}

  void Create(Results& results) {
    if (!body_) LearnBody();
    before_.emplace(cluster_.Namespace(name_ + "-before"));
    results.bare.push_back(Post(*before_));
    ours_.emplace(cluster_.Namespace(name_));
    operator_ = cluster_.Operator(name_);
    operator_->WaitUntilReady();
    results.ours.push_back(Ours(cluster_, *ours_, operator_->pid(), count_,
                                [&] { ours_->Create(kYurtAppDaemonType, WithStrategy(Daemon(kDaemon, {group_}))); }));
    after_.emplace(cluster_.Namespace(name_ + "-after"));
    results.bare.push_back(Post(*after_));
    wrk_.emplace(cluster_.Namespace(name_ + "-wrk"));
    WrkOptions wrk = Wrk("POST", Deployments(*wrk_), Replace(Body(*wrk_), "@NAME@", "bare-@N@"));
    results.wrk.push_back(RunWrk(wrk, cluster_.plane().dir()));
  }

  void Update(Results& results) {
    results.bare.push_back(Bare(cluster_, *before_, Puts(*before_)));
    results.ours.push_back(Ours(cluster_, *ours_, operator_->pid(), count_, [&] {
      const std::string path = "/spec/workloadTemplate/deploymentTemplate/spec/template/spec/containers/0/image";
      const Json patch = Json::array({{{"op", "replace"}, {"path", path}, {"value", kNewImage}}});
      ours_->JsonPatch(kYurtAppDaemonType, kDaemon, patch);
    }));
    results.bare.push_back(Bare(cluster_, *after_, Puts(*after_)));
    // Without resourceVersion, a PUT replaces any version.
    const std::string body =
        Replace(Replace(Body(*after_), "@NAME@", "bare-@N@"), kImage, "registry.example.com/shop/till:2.@ROUND@");
    WrkOptions wrk = Wrk("PUT", Deployments(*after_) + "/bare-@N@", body);
    wrk.names = static_cast<int>(count_);
    results.wrk.push_back(RunWrk(wrk, cluster_.plane().dir()));
  }

 private:
  Json WithStrategy(Json daemon) const {
    if (!strategy_.is_null()) daemon["spec"]["updateStrategy"] = strategy_;
    return daemon;
  }

  // Lets the operator create one workload, and makes the body of a POST from it.
  void LearnBody() {
    const std::string group = name_ + "-sample";
    const Kube kube = cluster_.Namespace(group);
    cluster_.AddPools(group, 1, group);
    const auto process = cluster_.Operator(kube.ns());
    const Json daemon = kube.Create(kYurtAppDaemonType, Daemon(kDaemon, {group}));
    std::vector<Json> made;
    testing::Eventually("the operator has created the sample",
                        [&] { return !(made = kube.List(kDeploymentType)).empty(); });
    body_ = PostBody(made[0], daemon, "@NAMESPACE@");
  }

  std::string Body(const Kube& kube) const { return Replace(*body_, "@NAMESPACE@", kube.ns()); }

  Speed Post(const Kube& kube) const {
    const std::string body = Body(kube);
    const auto make = [&](std::size_t i) {
      return Write("POST", Deployments(kube), Replace(body, "@NAME@", "bare-" + std::to_string(i)));
    };
    return Bare(cluster_, kube, Requests(count_, make));
  }

  // Returns the operator's requests for an update: each is the whole live workload with another image.
  std::vector<HttpRequest> Puts(const Kube& kube) const {
    std::vector<Json> objects = kube.List(kDeploymentType);
    return Requests(objects.size(), [&](std::size_t i) {
      Json& object = objects[i];
      object["metadata"].erase("managedFields");
      object["spec"]["template"]["spec"]["containers"][0]["image"] = kNewImage;
      return Write("PUT", Deployments(kube, testing::NameOf(object)), object.dump());
    });
  }

  WrkOptions Wrk(const std::string& method, const std::string& path, const std::string& body) const {
    WrkOptions options;
    options.server = cluster_.transport().server;
    options.token = cluster_.Token();
    options.method = method;
    options.path = path;
    options.body = body;
    options.connections = kParallelWrites;
    return options;
  }

  Cluster& cluster_;
  const std::size_t count_;
  const std::string group_;
  const std::string name_;
  const Json strategy_;
  std::optional<std::string> body_;
  std::optional<Kube> before_, ours_, after_, wrk_;
  std::unique_ptr<testing::OperatorProcess> operator_;
};

struct Kind {
  std::string scenario;
  std::string what;
  std::string bound;    // the name of the bound in the figures
  double cpu_limit;     // ms
  double server_limit;  // the apiserver's CPU, as a multiple of its CPU without an operator; 0: none
};

void AddFigures(Bench& bench, const Kind& kind, const Results& results) {
  std::vector<double> bare;
  for (const Speed& speed : results.bare) bare.push_back(speed.per_second);
  std::vector<Bound> bounds = {{kind.bound, Mean(bare)}};
  if (const double wrk = Median(results.wrk); wrk > 0) bounds.push_back({"wrk", wrk});
  const std::string rounds =
      results.ours.size() > 1 ? "median of " + std::to_string(results.ours.size()) + " rounds; " : "";
  bench.Add({kind.scenario, kind.what + ": rate", Middle(results.ours, &Speed::per_second), "/s", bounds,
             TargetKind::kShareOfBound, 0.9,
             rounds + "the bare rate is the mean of runs before and after" +
                 (bounds.size() < 2 ? "; wrk is not installed" : "")});
  bench.Add({kind.scenario,
             kind.what + ": CPU per workload",
             Middle(results.ours, &Speed::cpu_ms),
             "ms",
             {{kind.bound, Middle(results.bare, &Speed::cpu_ms)}},
             TargetKind::kAtMost,
             kind.cpu_limit,
             "includes writes of status and Events"});
  bench.Add(
      {kind.scenario,
       kind.what + ": the apiserver's CPU per workload",
       Middle(results.ours, &Speed::server_ms),
       "ms",
       {{kind.bound, Middle(results.bare, &Speed::server_ms)}},
       kind.server_limit > 0 ? TargetKind::kTimesBound : TargetKind::kNone,
       kind.server_limit,
       "CPU time of the apiserver until the last workload is written; in both runs the apiserver serves a watch of "
       "the benchmark, and in the operator's run also the operator's watch"});
}

// A strategy of the daemon, and its name in the figures. The default strategy has no `json`.
struct Strategy {
  std::string scenario;
  std::string name;
  Json json;
};

void CreateAndUpdate(Bench& bench, int count, int rounds, const Strategy& strategy) {
  Cluster cluster(/*audit=*/false);
  const std::string group = "g" + std::to_string(count);
  cluster.AddPools(group, count, group);
  Results created;
  Results updated;
  for (int i = 0; i < rounds; ++i) {
    bench.Say("  round " + std::to_string(i + 1) + " of " + std::to_string(rounds));
    Round round(cluster, static_cast<std::size_t>(count), group, i, strategy.json);
    round.Create(created);
    round.Update(updated);
  }
  const std::string workloads = Number(count) + " workloads";
  const std::string posts = "bare POSTs, Beast";
  const std::string puts = "bare PUTs of the whole object, Beast";
  const std::string scenario = strategy.scenario + "-" + std::to_string(count);
  const std::string suffix = strategy.name.empty() ? "" : ", " + strategy.name;
  const bool is_default = strategy.json.is_null();
  AddFigures(bench, {scenario, "create " + workloads + suffix, posts, 0.28, 0}, created);
  AddFigures(bench, {scenario, "new image in " + workloads + suffix, puts, 0.38, is_default ? 0.8 : 0}, updated);
  if (!is_default) return;
  const auto seconds = [&](const std::vector<Speed>& speeds) {
    return (count - 1) / Middle(speeds, &Speed::per_second);
  };
  bench.Add({scenario,
             "new image in " + workloads + ": time",
             seconds(updated.ours),
             "s",
             {{puts, seconds(updated.bare)}},
             TargetKind::kTimesBound,
             0.8,
             "from the event of the first workload to the event of the last workload"});
}

const Strategy kAll = {"writes", "", nullptr};

// Returns a strategy that updates all pools together, so that the server limits the rate.
Strategy Rolling() {
  return {"rolling", "RollingUpdate", {{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxUnavailable", "100%"}}}}};
}

// Returns the strategy of Rolling() with windows that are open all day.
Strategy Windows() {
  Strategy strategy = Rolling();
  strategy.scenario = "windows";
  strategy.name = "RollingUpdate with windows";
  Json& windows = strategy.json["rollingUpdate"]["windows"];
  for (const char* zone : {"UTC", "Asia/Shanghai"})
    windows.push_back({{"start", "00:00"}, {"duration", "24h"}, {"timeZone", zone}});
  return strategy;
}

}  // namespace

std::vector<Scenario> WriteScenarios() {
  return {{"writes-1000", [](Bench& bench) { CreateAndUpdate(bench, 1000, 3, kAll); }},
          {"rolling-1000", [](Bench& bench) { CreateAndUpdate(bench, 1000, 3, Rolling()); }},
          {"windows-1000", [](Bench& bench) { CreateAndUpdate(bench, 1000, 3, Windows()); }},
          {"writes-3000", [](Bench& bench) { CreateAndUpdate(bench, 3000, 1, kAll); }}};
}

}  // namespace yad::bench
