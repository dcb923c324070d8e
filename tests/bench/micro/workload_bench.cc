// Measures pure functions on one object: parsing, rendering, merging, hashing and selectors.
#include <benchmark/benchmark.h>

#include "operator/json/json_document.h"
#include "operator/workload/merge.h"
#include "operator/workload/render.h"
#include "tests/bench/micro/fixtures.h"

namespace yad::bench {
namespace {

void Parse(benchmark::State& state, const Json& object) {
  const std::string text = DumpJson(object);
  for (auto _ : state) {
    Result<Json> parsed = ParseJson(text);
    benchmark::DoNotOptimize(parsed);
  }
  state.counters["bytes"] = static_cast<double>(text.size());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

Json OneDeployment() {
  const Json daemon = GatewayDaemon();
  return ServedDeployment(daemon, testing::MakeRevision(daemon), 1);
}

void ParseDeployment(benchmark::State& state) { Parse(state, OneDeployment()); }
BENCHMARK(ParseDeployment);

void ParseDeploymentWithManagedFields(benchmark::State& state) { Parse(state, WithManagedFields(OneDeployment())); }
BENCHMARK(ParseDeploymentWithManagedFields);

void ReadMeta(benchmark::State& state) {
  const Json object = OneDeployment();
  for (auto _ : state) {
    ObjectMeta meta = ParseMeta(object);
    benchmark::DoNotOptimize(meta);
  }
}
BENCHMARK(ReadMeta);

void Rendering(benchmark::State& state, const Json& daemon) {
  const RevisionPtr revision = testing::MakeRevision(daemon);
  const NodePool pool = ParseNodePool(Pool(0));
  for (auto _ : state) {
    const RenderInputs inputs = InputsFor(revision->content, pool);
    Result<Json> rendered = Render(revision->content, inputs, pool.name, revision->label);
    if (!rendered) return state.SkipWithError("it does not render");
    benchmark::DoNotOptimize(rendered);
  }
}

void RenderDeployment(benchmark::State& state) { Rendering(state, GatewayDaemon()); }
BENCHMARK(RenderDeployment);

void RenderDeploymentWithThreeOverrides(benchmark::State& state) { Rendering(state, GatewayDaemonWithOverrides()); }
BENCHMARK(RenderDeploymentWithThreeOverrides);

Json RenderedWith(const std::string& image) {
  const RevisionPtr revision = testing::MakeRevision(GatewayDaemon(image));
  const NodePool pool = ParseNodePool(Pool(1));
  return *Render(revision->content, InputsFor(revision->content, pool), pool.name, revision->label);
}

void Merge(benchmark::State& state, const std::string& image, bool changes) {
  const Json live = OneDeployment();
  const Json last = RenderedWith(kImage);
  const Json now = RenderedWith(image);
  if ((ThreeWayMerge(last, now, live) != live) != changes) return state.SkipWithError("the merge is another");
  for (auto _ : state) {
    Json merged = ThreeWayMerge(last, now, live);
    bool same = merged == live;
    benchmark::DoNotOptimize(same);
  }
}

void MergeNothingToDo(benchmark::State& state) { Merge(state, kImage, false); }
BENCHMARK(MergeNothingToDo);

void MergeNewImage(benchmark::State& state) { Merge(state, kNewImage, true); }
BENCHMARK(MergeNewImage);

// Measures the computation of the revision's name.
void HashRevision(benchmark::State& state) {
  const YurtAppDaemon daemon = *ParseYurtAppDaemon(GatewayDaemon());
  for (auto _ : state) {
    const RevisionContent content = ContentOf(daemon);
    std::string hash = RevisionHash(content, 0);
    benchmark::DoNotOptimize(hash);
  }
}
BENCHMARK(HashRevision);

void ParseDaemon(benchmark::State& state) {
  const Json object = GatewayDaemon();
  for (auto _ : state) {
    auto daemon = ParseYurtAppDaemon(object);
    benchmark::DoNotOptimize(daemon);
  }
}
BENCHMARK(ParseDaemon);

void MatchSelector(benchmark::State& state) {
  const auto selector = LabelSelector::Parse(R"({"matchLabels": {"tier": "edge"},
    "matchExpressions": [{"key": "region", "operator": "In", "values": ["region-1", "region-2", "region-3"]},
                         {"key": "retired", "operator": "DoesNotExist"}]})"_json,
                                             "selector");
  const NodePool pool = ParseNodePool(Pool(3));
  for (auto _ : state) {
    bool matches = selector->Matches(pool.labels);
    benchmark::DoNotOptimize(matches);
  }
}
BENCHMARK(MatchSelector);

}  // namespace
}  // namespace yad::bench
