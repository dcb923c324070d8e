// Measures the computations of one reconcile for different numbers of pools.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "operator/json/json_document.h"
#include "operator/yurtappdaemon/observe/daemon_projection.h"
#include "operator/yurtappdaemon/plan/plan.h"
#include "operator/yurtappdaemon/report/status.h"
#include "tests/bench/micro/fixtures.h"
#include "tests/unit/yurtappdaemon/world.h"

namespace yad::bench {
namespace {

void PerPool(benchmark::State& state) {
  state.counters["per_pool"] = benchmark::Counter(
      static_cast<double>(state.range(0)), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.SetComplexityN(state.range(0));
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(100)->Arg(1000)->Arg(10'000)->Unit(benchmark::kMicrosecond)->Complexity(benchmark::oN);
}

std::int64_t Writes(const Plan& plan) {
  return std::count_if(plan.pools.begin(), plan.pools.end(),
                       [](const PoolPlan& pool) { return pool.action != WorkloadAction::kNone; });
}

// Measures MakePlan with the memo of an earlier plan. Fails unless the plan has `writes` writes.
void Planning(benchmark::State& state, const Snapshot& snapshot, std::int64_t writes) {
  PlanMemo memo;
  if (Writes(MakePlan(snapshot, memo)) != writes) return state.SkipWithError("the plan is another");
  for (auto _ : state) {
    Plan plan = MakePlan(snapshot, memo);
    benchmark::DoNotOptimize(plan);
  }
  PerPool(state);
}

void PlanNothingChanged(benchmark::State& state) { Planning(state, AtRest(static_cast<int>(state.range(0))), 0); }
BENCHMARK(PlanNothingChanged)->Apply(Sizes);

// Measures the first plan after a start of the operator, when the memo is empty.
void PlanNothingRemembered(benchmark::State& state) {
  const Snapshot& snapshot = AtRest(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    PlanMemo memo;
    Plan plan = MakePlan(snapshot, memo);
    benchmark::DoNotOptimize(plan);
  }
  PerPool(state);
}
BENCHMARK(PlanNothingRemembered)->Apply(Sizes);

void PlanNewRevision(benchmark::State& state) {
  Planning(state, WithNewRevision(static_cast<int>(state.range(0))), state.range(0));
}
BENCHMARK(PlanNewRevision)->Apply(Sizes);

// Measures the rendering of the POST body for one workload.
void CreateBody(benchmark::State& state) {
  Snapshot snapshot = AtRest(1);
  snapshot.workloads.clear();
  PlanMemo memo;
  const Plan plan = MakePlan(snapshot, memo);
  for (auto _ : state) {
    std::string body = DumpJson(*NewWorkload(snapshot.daemon, plan.pools.front()));
    benchmark::DoNotOptimize(body);
  }
}
BENCHMARK(CreateBody);

// Measures a plan of a rollout that updates one of many pools. The operator makes this plan for each event of a pool.
void PlanRollingUpdate(benchmark::State& state) {
  Snapshot snapshot = WithNewRevision(static_cast<int>(state.range(0)));
  snapshot.daemon.strategy.type = UpdateStrategyType::kRollingUpdate;
  snapshot.now = FakeClock().WallNow();
  Planning(state, snapshot, 1);
}
BENCHMARK(PlanRollingUpdate)->Apply(Sizes);

void ComputeStatus(benchmark::State& state) {
  const Snapshot& snapshot = AtRest(static_cast<int>(state.range(0)));
  PlanMemo memo;
  const Plan plan = MakePlan(snapshot, memo);
  std::vector<PoolOutcome> results;
  for (const PoolPlan& pool : plan.pools) results.push_back({&pool, pool.workload, false, "", "", ""});
  const Json previous = BuildStatus({snapshot, results, {}, Json(), 0, plan.postponed, plan.rollout});
  for (auto _ : state) {
    const Json status = BuildStatus({snapshot, results, {}, previous, 0, plan.postponed, plan.rollout});
    Json patch = DaemonStatusPatch(previous, status, snapshot.daemon.meta.uid);
    benchmark::DoNotOptimize(patch);
  }
  PerPool(state);
}
BENCHMARK(ComputeStatus)->Apply(Sizes);

// Measures PoolSelection::Selects for all pools.
void Selecting(benchmark::State& state, const Json& daemon) {
  const Snapshot& snapshot = AtRest(static_cast<int>(state.range(0)));
  const PoolSelection selection = ParseYurtAppDaemon(daemon)->pools;
  for (auto _ : state) {
    auto selected = std::count_if(snapshot.pools.begin(), snapshot.pools.end(),
                                  [&](const PoolRef& pool) { return selection.Selects(pool.pool()); });
    benchmark::DoNotOptimize(selected);
  }
  PerPool(state);
}

// The daemon selects half of the pools by name, and excludes a tenth.
void SelectNamedPools(benchmark::State& state) {
  Json daemon = GatewayDaemon();
  daemon["spec"].erase("nodepoolSelector");
  for (int i = 0; i < state.range(0); i += 2) daemon["spec"]["nodePools"]["names"].push_back(PoolName(i));
  for (int i = 0; i < state.range(0); i += 10) daemon["spec"]["nodePools"]["exclude"].push_back(PoolName(i));
  Selecting(state, daemon);
}
BENCHMARK(SelectNamedPools)->Apply(Sizes);

void SelectPoolsByLabel(benchmark::State& state) {
  Json daemon = GatewayDaemon();
  daemon["spec"]["nodepoolSelector"] = R"({"matchLabels": {"tier": "edge"}})"_json;
  Selecting(state, daemon);
}
BENCHMARK(SelectPoolsByLabel)->Apply(Sizes);

// A reconciler whose caches contain the objects of AtRest(pools). The server accepts writes of status.
class Resting {
 public:
  explicit Resting(int pools) {
    const Snapshot& snapshot = AtRest(pools);
    for (Store* store : {&deployments_, &stateful_sets_, &revisions_}) AddIndexes(*store);
    std::vector<ObjectPtr> pool_objects, workload_objects;
    for (const PoolRef& pool : snapshot.pools) pool_objects.push_back(pool.object);
    for (const WorkloadRef& workload : snapshot.workloads) workload_objects.push_back(workload.object);
    daemon_ = GatewayDaemon();
    daemons_.Replace({std::make_shared<StoredObject>(daemon_, ProjectDaemon)}, "5");
    pools_.Replace(std::move(pool_objects), "5");
    deployments_.Replace(std::move(workload_objects), "5");
    stateful_sets_.Replace({}, "5");
    const Revision& update = *snapshot.update;
    Json revision = MakeControllerRevision(snapshot.daemon, update.content, update.hash, update.number);
    revision["metadata"]["resourceVersion"] = "5";
    revisions_.Replace({std::make_shared<StoredObject>(std::move(revision), ProjectRevision)}, "5");
    transport_->OnSend([this](const HttpRequest& request) -> Result<HttpResponse> {
      if (request.method == "PATCH") {
        daemon_.merge_patch(*ParseJson(request.body));
        daemon_["metadata"]["resourceVersion"] = std::to_string(++version_);
      } else if (testing::PathOf(request).ends_with("/controllerrevisions")) {  // OpenYurt has no revisions
        return testing::JsonResponse({{"metadata", {{"resourceVersion", "5"}}}, {"items", Json::array()}});
      }
      return testing::JsonResponse(daemon_);
    });
  }

  bool Reconcile() {
    const auto result = reconciler_.Reconcile({testing::kNs, "web"}, {});
    return result && result->next == ReconcileResult::Next::kDone;
  }
  std::size_t requests() const { return transport_->requests().size(); }

 private:
  Store daemons_, pools_, deployments_, stateful_sets_, revisions_;
  Json daemon_;
  int version_ = 5'000'000;
  std::shared_ptr<testing::FakeTransport> transport_ = std::make_shared<testing::FakeTransport>();
  Client client_{transport_, {}};
  testing::RecordingEvents events_;
  FakeClock clock_;
  Reconciler reconciler_{client_, ReconcilerStores{daemons_, pools_, deployments_, stateful_sets_, revisions_}, events_,
                         clock_, Reconciler::Options{}};
};

// Measures a whole reconcile, which includes the snapshot, the plan and the status.
void ReconcileNothingChanged(benchmark::State& state) {
  Resting resting(static_cast<int>(state.range(0)));
  if (!resting.Reconcile() || !resting.Reconcile()) return state.SkipWithError("it does not come to rest");
  const std::size_t requests = resting.requests();
  for (auto _ : state) {
    bool done = resting.Reconcile();
    benchmark::DoNotOptimize(done);
  }
  if (resting.requests() != requests) state.SkipWithError("it is not at rest");
  PerPool(state);
}
BENCHMARK(ReconcileNothingChanged)->Apply(Sizes);

}  // namespace
}  // namespace yad::bench
