#include "tests/model/operator.h"

#include <algorithm>
#include <shared_mutex>

#include "operator/api/well_known.h"
#include "tests/model/gates.h"
#include "tests/support/fake_clock.h"

namespace yad::model {
namespace {

constexpr int kAtOnce = 5;

// Returns the requested time until the next reconcile. nullopt: it waits for an event.
std::optional<std::chrono::seconds> NextOf(const Result<ReconcileResult>& result) {
  using Next = ReconcileResult::Next;
  if (!result || result->next == Next::kNow || result->next == Next::kBackoff) return std::chrono::seconds(0);
  if (result->next == Next::kDone) return std::nullopt;
  return std::chrono::ceil<std::chrono::seconds>(result->after);
}

class NoEvents : public EventSink {
 public:
  void Record(const ObjectReference&, EventType, const std::string&, const std::string&, const std::string&) override {}
};

}  // namespace

// The clock of the reconciles. The wall time is written into objects, so it follows State::clock. The steady time
// advances by at least a minute before each reconcile.
class Operator::Steps : public FakeClock {
 public:
  SteadyTime Now() const override { return steady_; }
  WallTime WallNow() const override { return wall_ + std::chrono::seconds(clock_seconds_); }
  // Begins a reconcile `clock` seconds after the start.
  void Step(std::uint32_t clock) {
    const std::chrono::seconds passed(clock > clock_seconds_ ? clock - clock_seconds_ : 0);
    steady_ += std::max<Duration>(passed, std::chrono::minutes(1));
    clock_seconds_ = clock;
  }
  void Later(Duration duration) { wall_ += std::chrono::duration_cast<WallTime::duration>(duration); }

 private:
  SteadyTime steady_{std::chrono::hours(1000)};
  WallTime wall_{kStart};
  std::uint32_t clock_seconds_ = 0;
};

struct Operator::Stores {
  explicit Stores(Client& client)
      : services(client, OnDemand(kServiceType)), freeze(client, OnDemand(kConfigMapType)) {}
  static ReflectorOptions OnDemand(const ResourceType& type) {
    ReflectorOptions options;
    options.type = type;
    options.on_demand = true;
    return options;
  }
  Store& Of(std::size_t kind) {
    return kind == kService ? services.store() : kind == kFreeze ? freeze.store() : of[kind];
  }

  std::array<Store, kKinds> of;
  Store stateful_sets;
  Informer services, freeze;  // never run
};

Operator::Operator()
    : server_(std::make_shared<Server>(objects_)),
      clock_(std::make_unique<Steps>()),
      events_(std::make_unique<NoEvents>()),
      client_(std::make_unique<Client>(server_, ClientOptions{})),
      stores_(std::make_unique<Stores>(*client_)) {
  AddIndexes(stores_->stateful_sets);
  stores_->stateful_sets.Replace({}, "1");
}

Operator::~Operator() = default;

std::unique_ptr<Reconciler> Operator::NewReconciler() {
  return std::make_unique<Reconciler>(
      *client_,
      ReconcilerStores{stores_->of[kDaemon], stores_->of[kPool], stores_->of[kWorkload], stores_->stateful_sets,
                       stores_->of[kRevision], &stores_->services, &stores_->freeze},
      *events_, *clock_, Reconciler::Options{.apply = {.parallel_writes = 1}});
}

Result<ReconcileResult> Operator::RunOnce(Reconciler& reconciler, const State& state, const Seen& seen,
                                          const ObjectKey& daemon, const Interruption& interruption) {
  for (std::size_t k = 0; k < kKinds; ++k) {
    const Table& table = state.tables[k];
    std::vector<ObjectPtr> objects;
    for (const Cell& cell : table.At(seen[k])) {
      if (k == kWorkload && !cell.content().labelled) continue;  // the informer's selector
      objects.push_back(objects_.Stored(Shown{cell}));
    }
    stores_->Of(k) = Store();
    AddIndexes(stores_->Of(k));
    stores_->Of(k).Replace(std::move(objects), "0");  // so that every later write is newer
  }
  server_->Start(state, seen);
  server_->Interrupt(interruption.writes, interruption.change);
  clock_->Step(state.clock);
  // The reconcile of a deleted daemon removes its metrics. Only in this test, another thread may use them at the same
  // time.
  static std::shared_mutex metrics;
  const Content* cached = state[kDaemon].Find(KeyHash(kDaemon, daemon), seen[kDaemon]);
  std::shared_lock uses(metrics, std::defer_lock);
  std::unique_lock removes(metrics, std::defer_lock);
  if (cached == nullptr || cached->deleting) {
    removes.lock();
  } else {
    uses.lock();
  }
  // Before its first update, a new process reads live objects into its caches, and then requests another reconcile.
  Result<ReconcileResult> result = reconciler.Reconcile(daemon, {});
  for (int again = 0; again < kAtOnce && result && result->next == ReconcileResult::Next::kNow; ++again)
    result = reconciler.Reconcile(daemon, {});
  return result;
}

Outcome Operator::Reconcile(const State& state, const Seen& seen, const ObjectKey& daemon,
                            const Interruption& interruption) {
  Outcome run;
  run.again = NextOf(RunOnce(*NewReconciler(), state, seen, daemon, interruption));
  run.writes = server_->writes();
  run.fault = server_->rejected();
  return run;
}

std::vector<Write> Operator::ReconcileAfter(const State& before, const State& state, const ObjectKey& daemon) {
  const std::unique_ptr<Reconciler> reconciler = NewReconciler();
  static_cast<void>(RunOnce(*reconciler, before, SeesAll(before), daemon));
  static_cast<void>(RunOnce(*reconciler, state, SeesAll(state), daemon));
  return server_->writes();
}

std::vector<Write> Operator::ReconcileLater(const State& state, const ObjectKey& daemon) {
  clock_->Later(std::chrono::hours(1));
  static_cast<void>(RunOnce(*NewReconciler(), state, SeesAll(state), daemon));
  clock_->Later(-std::chrono::hours(1));
  return server_->writes();
}

bool Concerns(const Content& content, const ObjectKey& daemon) {
  switch (content.kind) {
    case kDaemon:
      return content.key == daemon;
    case kPool:
    case kFreeze:
      return true;
    default:
      return content.owner.empty() || content.key.name.starts_with(daemon.name + "-");
  }
}

// A request, and for each known response the node with the next request.
struct Runs::Node {
  const Request* request = nullptr;  // nullptr: the reconcile ends here
  Outcome end;                       // without the writes
  std::unordered_map<std::uint64_t, Node> next;
};

struct Runs::Tree {
  std::shared_mutex mutex;
  std::optional<Node> root;
};

Runs::Runs() = default;
Runs::~Runs() = default;

std::optional<Outcome> Runs::Replay(Server& server, const Tree& tree, const State& state, const Seen& seen,
                                    const Interruption& interruption) {
  if (!tree.root) return std::nullopt;
  server.Start(state, seen);
  server.Interrupt(interruption.writes, interruption.change);
  const Node* node = &*tree.root;
  while (node->request != nullptr) {
    const auto next = node->next.find(server.Serve(*node->request));
    if (next == node->next.end()) return std::nullopt;
    node = &next->second;
  }
  return Outcome{server.writes(), node->end.fault, node->end.again};
}

Outcome Runs::Reconcile(Operator& op, const State& state, const Seen& seen, const ObjectKey& daemon,
                        const Interruption& interruption) {
  Fingerprint print{Fnv1a64(daemon.name), 0};
  print.Add(state.clock);
  for (std::size_t k = 0; k < kKinds; ++k) {
    const Table& table = state.tables[k];
    print.Add(k);
    for (const Cell& cell : table.At(seen[k])) {
      if (!Concerns(cell.content(), daemon)) continue;
      print.Add(Shown{cell}.print());
    }
  }
  Shard& shard = shards_[print.b % kShards];
  Tree* tree = nullptr;
  {
    std::lock_guard lock(shard.mutex);
    std::unique_ptr<Tree>& slot = shard.trees[print];
    if (slot == nullptr) slot = std::make_unique<Tree>();
    tree = slot.get();
  }
  {
    std::shared_lock lock(tree->mutex);
    if (auto known = Replay(op.server(), *tree, state, seen, interruption)) return *std::move(known);
  }
  Outcome run = op.Reconcile(state, seen, daemon, interruption);
  std::lock_guard lock(tree->mutex);
  if (!tree->root) tree->root.emplace();
  Node* node = &*tree->root;
  for (const Server::Step& step : op.server().steps()) {
    if (node->request == nullptr) node->request = step.request;
    // Caches have no order, so the requests of two runs may differ. This run is not stored.
    if (node->request != step.request) return run;
    node = &node->next[step.answer];
  }
  if (node->request == nullptr && node->next.empty()) {
    node->end = {{}, run.fault, run.again};
    ++size_;
  }
  return run;
}

}  // namespace yad::model
