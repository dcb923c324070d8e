// Measures an admission call from the body of the request to the body of the response. It does not include the dry run,
// because the webhook has cached its result.
#include <benchmark/benchmark.h>

#include <functional>

#include "operator/json/json_document.h"
#include "tests/bench/micro/fixtures.h"
#include "tests/unit/webhook/admission.h"

namespace yad::bench {
namespace {

constexpr char kAllowed[] = "\"allowed\":true";

void Review(benchmark::State& state, const char* path, const AdmissionRequest& request, int pools) {
  testing::AdmissionWorld world;
  world.SetDaemons({});
  world.SetDeployments({});
  world.SetStatefulSets({});
  std::vector<Json> objects;
  for (int i = 0; i < pools; ++i) objects.push_back(Pool(i));
  world.SetPools(objects);
  const HttpsServer::Handler handler = MakeAdmissionHandler(world.client, world.stores(), world.clock);
  const HttpsCall call{"POST", std::string(path) + "?timeout=10s", "application/json",
                       DumpJson(testing::ReviewJson(request)), world.clock.Now()};
  if (handler(call).body.find(kAllowed) == std::string::npos) return state.SkipWithError("it is not allowed");
  world.TakeAsked();
  for (auto _ : state) {
    HttpsReply reply = handler(call);
    benchmark::DoNotOptimize(reply);
  }
  if (!world.TakeAsked().empty()) state.SkipWithError("the apiserver was asked again");
  state.counters["bytes"] = static_cast<double>(call.body.size());
}

void Mutate(benchmark::State& state) { Review(state, kMutatePath, testing::CreateRequest(GatewayDaemon()), 100); }
BENCHMARK(Mutate)->Unit(benchmark::kMicrosecond);

void ValidateNew(benchmark::State& state) {
  Review(state, kValidatePath, testing::CreateRequest(GatewayDaemon()), static_cast<int>(state.range(0)));
}
BENCHMARK(ValidateNew)->Arg(1)->Arg(100)->Arg(5000)->Unit(benchmark::kMicrosecond)->UseRealTime();

void ValidateNewImage(benchmark::State& state) {
  Review(state, kValidatePath, testing::UpdateRequest(GatewayDaemon(kNewImage), GatewayDaemon()), 100);
}
BENCHMARK(ValidateNewImage)->Unit(benchmark::kMicrosecond)->UseRealTime();

// Measures the validation of a daemon with one override for each pool.
void ValidateOverrides(benchmark::State& state, const std::function<Json(int)>& pools_of) {
  const int pools = static_cast<int>(state.range(0));
  Json daemon = GatewayDaemon();
  for (int i = 0; i < pools; ++i) {
    daemon["spec"]["overrides"].push_back(pools_of(i));
    daemon["spec"]["overrides"].back()["replicas"] = 2;
  }
  Review(state, kValidatePath, testing::CreateRequest(daemon), pools);
}

void ValidateAnOverrideForEachName(benchmark::State& state) {
  ValidateOverrides(state, [](int i) -> Json { return {{"pools", {PoolName(i)}}}; });
}
BENCHMARK(ValidateAnOverrideForEachName)->Arg(500)->Arg(5000)->Unit(benchmark::kMillisecond)->UseRealTime();

void ValidateAnOverrideForEachLabel(benchmark::State& state) {
  ValidateOverrides(state, [](int i) -> Json {
    return {{"nodepoolSelector", {{"matchLabels", {{"site", PoolName(i)}}}}}};
  });
}
BENCHMARK(ValidateAnOverrideForEachLabel)->Arg(500)->Arg(5000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace yad::bench
