// Measures the caches for 10,000 workloads: their memory, and the time from the start until they are filled.
#include <algorithm>
#include <memory>

#include "operator/api/well_known.h"
#include "operator/base/parallel.h"
#include "tests/bench/load.h"
#include "tests/bench/measure.h"
#include "tests/bench/world.h"
#include "tests/support/eventually.h"

namespace yad::bench {
namespace {

// Searches both ends of `list` without parsing it. A list's metadata is at its front, but at its end for custom
// resources.
std::string ContinueToken(const std::string& list) {
  constexpr std::size_t kEdge = 1500;
  const std::string key = "\"continue\":\"";
  const auto in = [&](const std::string& part) {
    const auto at = part.find(key);
    return at == std::string::npos ? ""
                                   : part.substr(at + key.size(), part.find('"', at + key.size()) - at - key.size());
  };
  const std::string token = in(list.substr(0, kEdge));
  return token.empty() && list.size() > kEdge ? in(list.substr(list.size() - kEdge)) : token;
}

// Returns the paths and queries of all lists that the operator reads at its start.
std::vector<std::string> AllThatIsRead() {
  const std::string pool_name = std::string("labelSelector=") + "apps.openyurt.io%2Fpool-name&";
  return {
      ResourcePath(kDeploymentType, "") + "?" + pool_name, ResourcePath(kStatefulSetType, "") + "?" + pool_name,
      ResourcePath(kControllerRevisionType, "") + "?labelSelector=apps.openyurt.io%2Fyurtappdaemon-revision%3Dtrue&",
      ResourcePath(kNodePoolType, "") + "?", ResourcePath(kYurtAppDaemonType, "") + "?"};
}

void FetchPages(HttpTransport& transport, const std::string& collection) {
  std::string token;
  do {
    HttpRequest request{.method = "GET", .path = collection + "limit=500", .headers = {}, .body = {}};
    if (!token.empty()) request.path += "&continue=" + token;
    const auto page = transport.Send(request, {});
    token.clear();
    if (!page || page->status != 200) return;  // the figure then is far too small
    token = ContinueToken(page->body);
  } while (!token.empty());
}

struct Fetched {
  std::vector<double> seconds;
  std::vector<double> cpu_seconds;
};

// Fetches all lists in parallel, without parsing them.
void FetchAll(HttpTransport& transport, Fetched& fetched) {
  const std::vector<std::string> collections = AllThatIsRead();
  const SteadyTime begin = std::chrono::steady_clock::now();
  const double cpu = OwnCpuSeconds();
  ParallelFor(collections.size(), collections.size(), [&](std::size_t i) { FetchPages(transport, collections[i]); });
  fetched.seconds.push_back(SecondsSince(begin));
  fetched.cpu_seconds.push_back(OwnCpuSeconds() - cpu);
}

void Start(Bench& bench) {
  World& world = TheWorld(bench);
  world.StopOperator();
  Fetched pages;
  const auto fetch = [&] { FetchAll(*world.cluster().NewBeast(), pages); };
  fetch();
  std::vector<World::Start> starts;
  WallTime since = std::chrono::system_clock::now();
  for (int i = 0; i < 3; ++i) {
    if (i == 1) since = std::chrono::system_clock::now();  // without the first start, which may write a status
    starts.push_back(world.Restart());
    if (i < 2) world.StopOperator();
    fetch();
  }
  std::sort(starts.begin(), starts.end(),
            [](const World::Start& a, const World::Start& b) { return a.ready_seconds < b.ready_seconds; });
  const World::Start& start = starts[1];
  const auto requests = world.cluster().RequestsSince(since);
  const std::string note = "median of 3 starts; the raw pages are fetched before and after each start";
  const std::vector<Bound> bounds = {{"raw pages, Beast", Median(pages.seconds)}};
  bench.Add({"start", "start with 10,000 workloads: until ready", start.ready_seconds, "s", bounds,
             TargetKind::kTimesBound, 1.5, note});
  bench.Add({"start", "start with 10,000 workloads: until the operator is idle", start.settled_seconds, "s", bounds,
             TargetKind::kNone, 0, "each daemon was reconciled once"});
  bench.Add({"start",
             "start with 10,000 workloads: CPU",
             start.cpu_seconds,
             "s",
             {{"raw pages, Beast", Median(pages.cpu_seconds)}},
             TargetKind::kAtMost,
             0.5,
             "until the operator is idle"});
  bench.Add({"start",
             "start with 10,000 workloads: writes",
             static_cast<double>(CountWrites(requests)),
             "",
             {},
             TargetKind::kExactly,
             0});
  bench.Add({"memory",
             "resident memory at 10,000 workloads",
             start.memory.resident_mb,
             "MB",
             {},
             TargetKind::kAtMost,
             37,
             "after a start; workloads of " + Number(world.workload_bytes() / 1000) +
                 " KB of JSON, 1,000 pools, 100 daemons"});
  bench.Add({"memory",
             "peak memory during a start with 10,000 workloads",
             start.memory.peak_mb,
             "MB",
             {{"resident after the start", start.memory.resident_mb}},
             TargetKind::kNone,
             0,
             "the process returns the difference to the kernel"});
  bench.AddMemoryPoint(World::kWorkloads, start.memory.resident_mb);
}

// Creates copies of a workload, as if they belonged to other daemons.
void Fill(World& world, int from, int to) {
  const std::string ns = "fill-" + std::to_string(from);
  world.cluster().Namespace(ns);
  Json body = world.sample();
  Json& meta = body["metadata"];
  meta["namespace"] = ns;
  for (const char* key : {"uid", "resourceVersion", "creationTimestamp", "generation"}) meta.erase(key);
  SendAll(world.cluster().beast(),
          Requests(static_cast<std::size_t>(to - from),
                   [&](std::size_t i) {
                     const auto number = static_cast<std::size_t>(from) + i;
                     const std::string uid = std::to_string(100000000000ULL + number / 100);
                     meta["name"] = world.workloads()[i % world.workloads().size()] + "-" + std::to_string(number);
                     meta["ownerReferences"][0]["uid"] = "00000000-0000-4000-8000-" + uid;
                     return Write("POST", ResourcePath(kDeploymentType, ns), body.dump());
                   }),
          kParallelWrites);
}

void FurtherWorkloads(Bench& bench) {
  World& world = TheWorld(bench);
  world.StopOperator();
  const int last = bench.options().lengthy ? 50000 : 20000;
  const double before = world.Restart().memory.resident_mb;
  double after = before;
  world.StopOperator();
  for (int from = World::kWorkloads; from < last; from += 10000) {
    Fill(world, from, from + 10000);
    const World::Start start = world.Restart();
    after = start.memory.resident_mb;
    bench.AddMemoryPoint(from + 10000, after);
    bench.Add({"memory-more",
               "resident memory at " + Number(from + 10000) + " workloads",
               after,
               "MB",
               {},
               TargetKind::kNone,
               0,
               "ready after " + Number(start.ready_seconds) + " s, CPU " + Number(start.cpu_seconds) + " s, peak " +
                   Number(start.memory.peak_mb) + " MB"});
    world.StopOperator();
  }
  bench.Add({"memory-more",
             "memory per additional workload",
             (after - before) * 1024 / (last - World::kWorkloads),
             "KB",
             {},
             TargetKind::kAtMost,
             3,
             "from 10,000 to " + Number(last) + " workloads"});
}

}  // namespace

std::vector<Scenario> StartScenarios() { return {{"start", Start}}; }
std::vector<Scenario> MemoryScenarios() {
  return {{"memory-more", FurtherWorkloads}, {"", [](Bench&) { EndWorld(); }}};
}

}  // namespace yad::bench
