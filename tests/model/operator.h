// The shipped Reconciler, run once over a State.
#ifndef TESTS_MODEL_OPERATOR_H_
#define TESTS_MODEL_OPERATOR_H_

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "operator/yurtappdaemon/reconciler.h"
#include "tests/model/server.h"

namespace yad::model {

// What one reconcile does to the server, write after write. A process may end after any of them.
struct Outcome {
  std::vector<Write> writes;
  std::string fault;  // what can be told without looking at the writes; "" for nothing
  bool operator==(const Outcome&) const = default;
};

// What somebody does to the server right after so many writes of a reconcile.
struct Interruption {
  std::size_t writes = 0;  // 0: never
  std::function<void(State&)> change;
};

// Not thread-safe: one per worker.
class Operator {
 public:
  Operator();
  ~Operator();
  // With nothing remembered.
  Outcome Reconcile(const State& state, const Seen& seen, const ObjectKey& daemon,
                    const Interruption& interruption = {});
  // With what is remembered of a reconcile of `before`, and with caches that show everything both times.
  std::vector<Write> ReconcileAfter(const State& before, const State& state, const ObjectKey& daemon);
  // Nothing remembered, an hour later: what is written then although nothing happened?
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

// What reconciles do, known from others: with the same caches and the same answers so far, the next request is the
// same. Thread-safe.
class Runs {
 public:
  Runs();
  ~Runs();
  Outcome Reconcile(Operator& op, const State& state, const Seen& seen, const ObjectKey& daemon,
                    const Interruption& interruption = {});
  std::size_t size() const { return size_; }  // different ones, as the operator can tell them apart

 private:
  struct Node;
  struct Tree;
  // nullopt: there is none that went like this one.
  static std::optional<Outcome> Retell(Server& server, const Tree& tree, const State& state, const Seen& seen,
                                       const Interruption& interruption);

  static constexpr std::size_t kShards = 64;
  struct Shard {
    std::mutex mutex;
    std::unordered_map<Fingerprint, std::unique_ptr<Tree>> trees;  // by what the caches show
  };
  std::array<Shard, kShards> shards_;
  std::atomic<std::size_t> size_{0};
};

// Whether the daemon of this name may be concerned by the object.
bool Concerns(const Content& content, const ObjectKey& daemon);

}  // namespace yad::model

#endif  // TESTS_MODEL_OPERATOR_H_
