// Runs the operator's Reconciler once over a State.
#ifndef TESTS_MODEL_OPERATOR_H_
#define TESTS_MODEL_OPERATOR_H_

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "operator/yurtappdaemon/reconciler.h"
#include "tests/model/server.h"

namespace yad::model {

// The writes of one reconcile, in their order. A process may exit after any of them.
struct Outcome {
  std::vector<Write> writes;
  std::string fault;  // any violation except a wrong write; "": none
  // The time until the next reconcile, if the operator requests one. nullopt: it waits for an event.
  std::optional<std::chrono::seconds> again = std::nullopt;
  bool operator==(const Outcome&) const = default;
};

// A change by another client right after the first `writes` writes of a reconcile.
struct Interruption {
  std::size_t writes = 0;  // 0: never
  std::function<void(State&)> change;
};

// Not thread-safe: one per worker.
class Operator {
 public:
  Operator();
  ~Operator();
  // Reconciles in a new process.
  Outcome Reconcile(const State& state, const Seen& seen, const ObjectKey& daemon,
                    const Interruption& interruption = {});
  // Reconciles `before` and then `state` in the same process, with up-to-date caches. Returns the writes of the second
  // reconcile.
  std::vector<Write> ReconcileAfter(const State& before, const State& state, const ObjectKey& daemon);
  // Reconciles in a new process an hour later. Returns the writes.
  std::vector<Write> ReconcileLater(const State& state, const ObjectKey& daemon);
  Server& server() { return *server_; }

 private:
  class Steps;
  struct Stores;
  Result<ReconcileResult> RunOnce(Reconciler& reconciler, const State& state, const Seen& seen, const ObjectKey& daemon,
                                  const Interruption& interruption = {});
  std::unique_ptr<Reconciler> NewReconciler();

  Objects objects_;
  std::shared_ptr<Server> server_;
  std::unique_ptr<Steps> clock_;
  std::unique_ptr<EventSink> events_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Stores> stores_;
};

// Remembers the results of reconciles, so that each result is computed once. A reconcile is deterministic: the contents
// of the caches and the previous responses determine its next request. Thread-safe.
class Runs {
 public:
  Runs();
  ~Runs();
  Outcome Reconcile(Operator& op, const State& state, const Seen& seen, const ObjectKey& daemon,
                    const Interruption& interruption = {});
  std::size_t size() const { return size_; }  // number of different reconciles

 private:
  struct Node;
  struct Tree;
  // Returns the outcome of a known reconcile with the same responses, or nullopt.
  static std::optional<Outcome> Replay(Server& server, const Tree& tree, const State& state, const Seen& seen,
                                       const Interruption& interruption);

  static constexpr std::size_t kShards = 64;
  struct Shard {
    std::mutex mutex;
    std::unordered_map<Fingerprint, std::unique_ptr<Tree>> trees;  // by the contents of the caches
  };
  std::array<Shard, kShards> shards_;
  std::atomic<std::size_t> size_{0};
};

// Returns true if the object may affect the reconcile of this daemon.
bool Concerns(const Content& content, const ObjectKey& daemon);

}  // namespace yad::model

#endif  // TESTS_MODEL_OPERATOR_H_
