// Measures how an operator with 10,000 workloads handles events.
#include <algorithm>
#include <thread>

#include "operator/api/well_known.h"
#include "tests/bench/bare_watch.h"
#include "tests/bench/load.h"
#include "tests/bench/raw_watch.h"
#include "tests/bench/world.h"
#include "tests/support/eventually.h"

namespace yad::bench {
namespace {

using testing::AuditedRequest;

WallTime Now() { return std::chrono::system_clock::now(); }

double Count(const std::vector<AuditedRequest>& requests, const std::string& verb, const std::string& resource = "") {
  return static_cast<double>(std::count_if(requests.begin(), requests.end(), [&](const AuditedRequest& request) {
    return request.verb == verb && (resource.empty() || request.resource == resource);
  }));
}

void Rest(Bench& bench) {
  World& world = TheWorld(bench);
  constexpr int kSeconds = 60;
  WaitUntilQuiet(world.op().pid(), std::chrono::seconds(2));
  const WallTime since = Now();
  const double cpu = CpuSeconds(world.op().pid());
  std::this_thread::sleep_for(std::chrono::seconds(kSeconds));
  const double used = CpuSeconds(world.op().pid()) - cpu;
  const auto requests = world.cluster().RequestsSince(since);
  bench.Add({"rest",
             "60 s at rest with 10,000 workloads: writes",
             static_cast<double>(CountWrites(requests)),
             "",
             {},
             TargetKind::kExactly,
             0,
             "counted in the audit log; watches that ended during this time: " + Number(Count(requests, "watch"))});
  bench.Add({"rest", "60 s at rest with 10,000 workloads: CPU", used, "s", {}, TargetKind::kAtMost, 0.05});
}

// Changes the node counts in the status of all NodePools. Keeps the list of nodes, so that the operator does not read
// the pods of nodes that left.
void Heartbeats(Bench& bench) {
  World& world = TheWorld(bench);
  const std::vector<Json> pools = world.kube().List(kNodePoolType);
  const auto beats = [&](int number) {
    return Requests(World::kPools, [&](std::size_t i) {
      const Json patch = {
          {"status", {{"readyNodeNum", 3}, {"unreadyNodeNum", number}, {"nodes", {"node-a", "node-b", "node-c"}}}}};
      const std::string name = testing::NameOf(pools[i]);
      return Write("PATCH", ResourcePath(kNodePoolType, "", name, "status"), patch.dump(), kMergePatch);
    });
  };
  const pid_t pid = world.op().pid();
  SendAll(world.cluster().beast(), beats(1), 4);  // the first heartbeat may change a status
  WaitUntilQuiet(pid, std::chrono::milliseconds(1500));
  const WallTime since = Now();
  const double cpu = CpuSeconds(pid);
  SendAll(world.cluster().beast(), beats(2), 4);
  WaitUntilQuiet(pid, std::chrono::milliseconds(1500));
  const double used = CpuSeconds(pid) - cpu;
  bench.Add({"heartbeats",
             "1,000 NodePool heartbeats: requests",
             static_cast<double>(world.cluster().RequestsSince(since).size()),
             "",
             {},
             TargetKind::kExactly,
             0,
             "10 daemons select each pool"});
  bench.Add({"heartbeats",
             "1,000 NodePool heartbeats: CPU per heartbeat",
             used * 1e6 / World::kPools,
             "µs",
             {BareWatch(world.cluster(), ResourcePath(kNodePoolType, ""), beats(3), 4)},
             TargetKind::kAtMost,
             45});
}

// Returns a copy of `sample` in namespace "others", with another controller as its owner.
Json OthersWorkload(const Json& sample) {
  Json other = sample;
  other.erase("status");
  Json& meta = other["metadata"];
  meta["namespace"] = "others";
  for (const char* key : {"uid", "resourceVersion", "creationTimestamp", "generation"}) meta.erase(key);
  meta["ownerReferences"] = {{{"apiVersion", "example.com/v1"},
                              {"kind", "Other"},
                              {"name", "other"},
                              {"uid", "00000000-0000-4000-8000-000000000000"},
                              {"controller", true}}};
  return other;
}

void Burst(Bench& bench) {
  World& world = TheWorld(bench);
  constexpr std::size_t kEvents = 2000;
  const pid_t pid = world.op().pid();
  const auto cpu_of = [&](const std::vector<HttpRequest>& requests) {
    WaitUntilQuiet(pid, std::chrono::milliseconds(1500));
    const double cpu = CpuSeconds(pid);
    SendAll(world.cluster().beast(), requests, kParallelWrites);
    WaitUntilQuiet(pid, std::chrono::milliseconds(1500));
    return (CpuSeconds(pid) - cpu) * 1e6 / static_cast<double>(requests.size());
  };
  const auto patch = [](int number) {
    const Json annotation = {{"example.com/inspected", std::to_string(number)}};
    return Json({{"metadata", {{"annotations", annotation}}}}).dump();
  };
  const double owned = cpu_of(Requests(kEvents, [&](std::size_t i) {
    return Write("PATCH", world.WorkloadPath(world.workloads()[i * 5]), patch(1), kMergePatch);
  }));
  // The operator also watches foreign workloads. Their events do not cause a reconcile.
  Json other = OthersWorkload(world.sample());
  const testing::Kube others = world.cluster().Namespace("others");
  const std::string collection = ResourcePath(kDeploymentType, others.ns());
  SendAll(world.cluster().beast(),
          Requests(kEvents,
                   [&](std::size_t i) {
                     other["metadata"]["name"] = "other-" + std::to_string(i);
                     return Write("POST", collection, other.dump());
                   }),
          kParallelWrites);
  const auto patches = [&](int number) {
    return Requests(kEvents, [&](std::size_t i) {
      return Write("PATCH", collection + "/other-" + std::to_string(i), patch(number), kMergePatch);
    });
  };
  const double others_cpu = cpu_of(patches(1));
  const Bound bare = BareWatch(world.cluster(), collection, patches(2), kParallelWrites);
  SendAll(world.cluster().beast(), {{.method = "DELETE", .path = collection, .headers = {}, .body = {}}}, 1);
  bench.Add({"burst",
             "2,000 watch events in a burst: CPU per event",
             others_cpu,
             "µs",
             {bare},
             TargetKind::kAtMost,
             50,
             "from decoding to the handler; the requests patch annotations of workloads that other controllers own"});
  bench.Add({"burst",
             "2,000 watch events in a burst, with reconciles: CPU per event",
             owned,
             "µs",
             {},
             TargetKind::kNone,
             0,
             "the requests patch annotations of workloads of 100 daemons, and the operator plans each daemon again"});
}

void PoolAdded(Bench& bench) {
  World& world = TheWorld(bench);
  WaitUntilQuiet(world.op().pid(), std::chrono::milliseconds(1500));
  std::vector<double> first_create_ms;
  double creates = 0, statuses = 0, events = 0, lists = 0, others = 0;
  constexpr int kRounds = 3;
  for (int i = 0; i < kRounds; ++i) {
    const RawWatch pools(world.cluster().beast(), ResourcePath(kNodePoolType, ""));
    const RawWatch workloads(world.cluster().beast(), world.WorkloadPath());
    const WallTime since = Now();
    world.cluster().AddPools("new-" + std::to_string(i), 1, World::kSharedGroup);
    workloads.WaitForCount(World::kDaemons);
    WaitUntilQuiet(world.op().pid(), std::chrono::milliseconds(2500));
    std::vector<AuditedRequest> requests = world.cluster().RequestsSince(since);
    std::string first;
    for (const AuditedRequest& request : requests) {
      if (request.verb != "create" || request.resource != kDeploymentType.resource) continue;
      if (first.empty() || request.received < first) first = request.received;
    }
    first_create_ms.push_back(
        std::chrono::duration<double, std::milli>(ParseTime(first) - pools.event(0).wall).count());
    const double made = Count(requests, "create", kDeploymentType.resource);
    if (workloads.count() != World::kDaemons) throw testing::TestFailure("other workloads were written too");
    creates += made;
    statuses += Count(requests, "patch", kYurtAppDaemonType.resource);
    events += Count(requests, "create", "events") + Count(requests, "patch", "events");
    lists += Count(requests, "list");
    others += static_cast<double>(requests.size()) - made - Count(requests, "patch", kYurtAppDaemonType.resource) -
              Count(requests, "create", "events") - Count(requests, "patch", "events") - Count(requests, "list");
  }
  const std::string note = "mean of " + std::to_string(kRounds) + " rounds, counted in the audit log";
  const std::string what = "1 pool added to 1,000, for 100 daemons: ";
  bench.Add({"pool-added", what + "creates", creates / kRounds, "", {}, TargetKind::kExactly, 100, note});
  bench.Add({"pool-added",
             what + "status writes",
             statuses / kRounds,
             "",
             {},
             TargetKind::kNone,
             0,
             note + "; in addition, Events: " + Number(events / kRounds) +
                 ", reads of one object: " + Number(others / kRounds)});
  bench.Add({"pool-added", what + "lists", lists / kRounds, "", {}, TargetKind::kExactly, 0, note});
  bench.Add({"pool-added",
             what + "until the first create",
             Median(first_create_ms),
             "ms",
             {},
             TargetKind::kAtMost,
             5,
             "from the event on a watch of the benchmark to the arrival of the create at the apiserver (from the audit "
             "log)"});
}

void Drift(Bench& bench) {
  World& world = TheWorld(bench);
  constexpr std::size_t kEdits = 200;
  const pid_t pid = world.op().pid();
  WaitUntilQuiet(pid, std::chrono::milliseconds(1500));
  const RawWatch watch(world.cluster().beast(), world.WorkloadPath());
  const std::string edit = R"({"spec":{"replicas":3}})";
  const WallTime since = Now();
  const double cpu = CpuSeconds(pid);
  std::vector<double> from_response;
  std::vector<double> from_event;
  std::vector<double> bare;
  for (std::size_t i = 0; i < kEdits; ++i) {
    // Each edit changes another workload, of another daemon than the previous edit, so that repairs do not wait for a
    // backoff.
    const std::string& name = world.workloads()[(i * 137) % world.workloads().size()];
    const Load sent =
        SendAll(world.cluster().beast(), {Write("PATCH", world.WorkloadPath(name), edit, kMergePatch)}, 1);
    const SteadyTime response_time = std::chrono::steady_clock::now();
    bare.push_back(sent.latencies_ms[0]);
    watch.WaitForCount(2 * i + 2);
    const SteadyTime repaired = watch.event(2 * i + 1).at;
    from_response.push_back(Seconds(repaired - response_time) * 1e3);
    from_event.push_back(Seconds(repaired - watch.event(2 * i).at) * 1e3);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  WaitUntilQuiet(pid, std::chrono::milliseconds(1500));
  const double used = CpuSeconds(pid) - cpu;
  const auto requests = world.cluster().RequestsSince(since);
  const double writes =
      Count(requests, "update", kDeploymentType.resource) + Count(requests, "patch", kDeploymentType.resource);
  const std::vector<Bound> one_write = {{"one bare PATCH", Median(bare)}};
  bench.Add({"drift", "workload edited by hand: from the event of the edit to the event of the repair, p50",
             Median(from_event), "ms", one_write});
  bench.Add({"drift",
             "workload edited by hand: from the event of the edit to the event of the repair, p99",
             Percentile(from_event, 0.99),
             "ms",
             {{"one bare PATCH, p99", Percentile(bare, 0.99)}},
             TargetKind::kAtMost,
             50,
             "200 edits, one after the other; from the response to the edit: p50 " + Number(Median(from_response)) +
                 ", p99 " + Number(Percentile(from_response, 0.99)) + " ms"});
  bench.Add({"drift",
             "workload edited by hand: writes of the workload per edit",
             writes / kEdits,
             "",
             {},
             TargetKind::kExactly,
             1,
             "in addition, for all edits together: status writes " +
                 Number(Count(requests, "patch", kYurtAppDaemonType.resource)) + ", Events " +
                 Number(Count(requests, "create", "events") + Count(requests, "patch", "events")) + ", reads " +
                 Number(Count(requests, "get"))});
  bench.Add({"drift", "workload edited by hand: CPU per edit", used * 1e3 / kEdits, "ms"});
}

}  // namespace

std::vector<Scenario> WorldScenarios() {
  return {{"rest", Rest}, {"heartbeats", Heartbeats}, {"burst", Burst}, {"pool-added", PoolAdded}, {"drift", Drift}};
}

}  // namespace yad::bench
