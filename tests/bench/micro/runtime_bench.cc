// Measures the controller runtime: the queue, the store, and an event from the bytes of the watch to the handler.
#include <benchmark/benchmark.h>
#include <time.h>

#include <vector>

#include "operator/api/well_known.h"
#include "operator/json/list_text.h"
#include "operator/runtime/informer.h"
#include "operator/runtime/work_queue.h"
#include "tests/bench/micro/fixtures.h"
#include "tests/support/fake_transport.h"

namespace yad::bench {
namespace {

// Each thread takes a key, finishes it, and adds it again. So the queue always has keys for all threads.
void QueueAddGetDone(benchmark::State& state) {
  static WorkQueue& queue = *[] {
    auto* filled = new WorkQueue;
    for (int i = 0; i < 1000; ++i) filled->Add({"ns", PoolName(i)});
    return filled;
  }();
  for (auto _ : state) {
    const std::optional<Request> taken = queue.Get({});
    queue.Done(*taken);
    queue.Add(*taken);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(QueueAddGetDone)->Threads(1)->Threads(4)->UseRealTime();

// Measures a list as the reflector reads it: it parses and reduces pages of 500 objects, and then puts all objects into
// the store together. bytes_per_object is the memory of the filled store.
void StoreList(benchmark::State& state) {
  constexpr int kPage = 500;
  const int count = static_cast<int>(state.range(0));
  std::vector<std::string> pages;
  for (int first = 0; first < count; first += kPage) pages.push_back(DeploymentPage(first, kPage));
  std::size_t held = 0;
  for (auto _ : state) {
    const std::size_t before = AllocatedBytes();
    Store store;
    {
      std::vector<ObjectPtr> objects;
      for (const std::string& text : pages) {
        const ListText page = ListText::Split(text, kDeploymentType).value();
        for (std::size_t i = 0; i < page.size(); ++i) {
          objects.push_back(std::make_shared<StoredObject>(page.Item(i)->TreeOfObject(), ProjectDeployment));
        }
      }
      std::vector<Store::Change> changes = store.Replace(std::move(objects), "2000000");
      benchmark::DoNotOptimize(changes);
    }
    held = AllocatedBytes() - before;
  }
  state.counters["bytes_per_object"] = static_cast<double>(held) / count;
  state.counters["per_object"] =
      benchmark::Counter(count, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(StoreList)->Arg(1000)->Arg(10'000)->Unit(benchmark::kMillisecond);

// Measures an event after its parsing: reduces the object, and puts it into a store with 1,000 objects.
void StoreApplyEvent(benchmark::State& state) {
  const Snapshot& snapshot = AtRest(1000);
  Store store;
  std::vector<ObjectPtr> objects;
  for (const WorkloadRef& workload : snapshot.workloads) objects.push_back(workload.object);
  store.Replace(std::move(objects), "1000");
  const Json object = WithManagedFields(snapshot.workloads[1].object->Parse());
  long version = 3'000'000;
  for (auto _ : state) {
    state.PauseTiming();
    Json event = object;
    event["metadata"]["resourceVersion"] = std::to_string(++version);
    state.ResumeTiming();
    auto change = store.Apply(std::make_shared<StoredObject>(std::move(event), ProjectDeployment));
    benchmark::DoNotOptimize(change);
  }
}
BENCHMARK(StoreApplyEvent);

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Sends 2,000 events of 1,000 Deployments in pieces of 64 KiB, without a pause. Measures the CPU time of the informer's
// thread from the first event to the last.
void WatchBytesToHandler(benchmark::State& state) {
  constexpr int kObjects = 1000;
  constexpr int kEvents = 2000;
  constexpr std::size_t kPiece = 64 * 1024;
  const std::string list = DeploymentPage(0, kObjects);
  const Json daemon = GatewayDaemon();
  const RevisionPtr revision = testing::MakeRevision(daemon);
  std::string bytes;
  for (int i = 0; i < kEvents; ++i) {
    Json object = WithManagedFields(ServedDeployment(daemon, revision, i % kObjects));
    object["metadata"]["annotations"]["example.org/checked"] = std::to_string(i);
    object["metadata"]["resourceVersion"] = std::to_string(3'000'000 + i);
    bytes += DumpJson({{"type", "MODIFIED"}, {"object", std::move(object)}}) + "\n";
  }
  for (auto _ : state) {
    auto transport = std::make_shared<testing::FakeTransport>([&](const HttpRequest&) -> Result<HttpResponse> {
      return HttpResponse{200, {}, list};
    });
    transport->OnOpen([&](const HttpRequest&) -> Result<std::shared_ptr<testing::FakeStream>> {
      auto stream = std::make_shared<testing::FakeStream>();
      for (std::size_t at = 0; at < bytes.size(); at += kPiece) stream->Push(bytes.substr(at, kPiece));
      return stream;
    });
    Client client(transport, {});
    ReflectorOptions options;
    options.type = kDeploymentType;
    options.project = ProjectDeployment;
    options.projected = kProjectedOfWorkloads;
    Informer informer(client, options);
    std::stop_source stop;
    int events = 0;
    double begin = 0, end = 0;
    informer.AddHandler([&](const Event& event) {
      if (event.before == nullptr) return;
      if (++events == 1) begin = ThreadSeconds();
      if (events < kEvents) return;
      end = ThreadSeconds();
      stop.request_stop();
    });
    if (!informer.Run(stop.get_token()) || events != kEvents) return state.SkipWithError("events are missing");
    state.SetIterationTime(end - begin);
  }
  state.counters["bytes"] = static_cast<double>(bytes.size()) / kEvents;
  state.counters["per_event"] =
      benchmark::Counter(kEvents - 1, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(WatchBytesToHandler)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace yad::bench
