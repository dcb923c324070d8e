// Measures how long the capacity planner needs for 1,000 nodes and 1,000 pending pods. The target is 10 ms.
#include <benchmark/benchmark.h>

#include <random>
#include <string>

#include "operator/capacity/capacity_plan.h"
#include "tests/unit/capacity/snapshot.h"

namespace yad::bench {
namespace {

using testing::Snapshot;

// Returns labels like those of a real node.
StringMap NodeLabels(int i) {
  return {{"size", i % 2 == 0 ? "s" : "l"},
          {"kubernetes.io/hostname", "node-" + std::to_string(i)},
          {"kubernetes.io/arch", "amd64"},
          {"kubernetes.io/os", "linux"},
          {"beta.kubernetes.io/arch", "amd64"},
          {"beta.kubernetes.io/os", "linux"},
          {"node.kubernetes.io/instance-type", "edge-" + std::to_string(i % 7)},
          {"topology.kubernetes.io/zone", "zone-" + std::to_string(i % 5)}};
}

// Half of the nodes are leased, with three pods each. The other nodes are free. The pods have `shapes` different
// requirements.
Snapshot MakeSnapshot(int count, int shapes) {
  Snapshot snapshot(testing::Autoscaler({{"scaleUp", {{"maxPerCycle", 10000}}}}));
  std::mt19937 random(1);
  for (int i = 0; i < count; ++i) {
    const std::string name = "node-" + std::to_string(i);
    if (i % 2 == 0) {
      snapshot.Leased(name, LeasePhase::kInUse, 100, "", NodeLabels(i));
      for (int pod = 0; pod < 3; ++pod) snapshot.Running("r" + std::to_string(pod) + name, name);
    } else {
      snapshot.Free(name, std::to_string(2 + i % 7), NodeLabels(i));
    }
  }
  for (int i = 0; i < count; ++i) {
    const int shape = i % shapes;
    snapshot.Waiting("p" + std::to_string(i), std::to_string(500 + shape) + "m",
                     {{"topology.kubernetes.io/zone", "zone-" + std::to_string(shape % 6)}});
  }
  return snapshot;
}

void BM_PlanCapacity(benchmark::State& state) {
  const Snapshot snapshot = MakeSnapshot(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  std::size_t placed = 0;
  for (auto _ : state) placed = snapshot.Plan().expectations.size();
  state.counters["placed"] = static_cast<double>(placed);
}
BENCHMARK(BM_PlanCapacity)->Args({1000, 1})->Args({1000, 20})->Args({1000, 1000})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace yad::bench
