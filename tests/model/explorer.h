// Visits and checks every state that the cluster can reach within some bounds.
#ifndef TESTS_MODEL_EXPLORER_H_
#define TESTS_MODEL_EXPLORER_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tests/model/environment.h"
#include "tests/model/operator.h"
#include "tests/model/state.h"

namespace yad::model {

struct Figures {
  std::size_t states = 0;
  std::size_t transitions = 0;      // steps between states, including those to known states
  std::size_t reconciles = 0;       // calls of Reconciler::Reconcile with different input
  std::size_t resting_states = 0;   // states in which no more changes happen
  std::vector<std::size_t> levels;  // levels[n]: the number of states that need n moves of users
};

// A breadth-first search over the states of a small cluster, by the number of moves of users. It covers:
// - stale caches: each cache may be up to `lag` events behind
// - crashes: the process may exit after any write, and always exits after a reconcile
// - restarts: the next process remembers nothing, and its caches may be older than those before
// - moves of users between two reconciles and, with Bounds::meanwhile, between two writes of a reconcile
class Explorer {
 public:
  explicit Explorer(const Bounds& bounds);
  ~Explorer();

  // Returns nullopt if there is no violation. Otherwise, returns the steps to the violation with the fewest moves of
  // users.
  std::optional<std::string> Run(int threads);
  const Figures& figures() const { return figures_; }

 private:
  struct Node {
    std::uint32_t parent = 0;
    Move move;
  };
  struct Found {
    std::uint32_t node = 0;
    std::vector<std::uint32_t> packed;
  };
  struct Worker;

  // Adds the state unless it is known.
  void Visit(Worker& worker, State& state, std::uint32_t parent, const Move& move, std::vector<Found>& found);
  void Expand(Worker& worker, const Found& from, std::vector<Found>& found);
  void VisitUserMoves(Worker& worker, const Found& from, std::vector<Found>& found);
  void Resume(Worker& worker, const State& state, State interrupted, Move move, const Found& from,
              std::vector<Found>& found);
  // Lets the caches show all events, and lets all controllers finish. Then the cluster must match the specs, and the
  // operator must not write again.
  void CheckRecovery(Worker& worker, State state, std::uint32_t node);
  // Returns a violation if the operator misses the opening of a gate: the gate opens before the next reconcile (in
  // `again`; nullopt: never), and a reconcile at the opening would write a workload.
  std::string FaultOfSleep(Worker& worker, State state, std::optional<std::chrono::seconds> again);
  void Fail(std::uint32_t node, const std::optional<Move>& last, const std::string& fault);
  std::string HistoryUntil(std::uint32_t node, const std::optional<Move>& last, const std::string& fault) const;
  // Splits the work among threads.
  template <typename Step>
  std::vector<Found> ForEach(const std::vector<Found>& from, Step step);

  struct Shard {
    std::mutex mutex;
    std::unordered_set<Fingerprint> known;
  };
  static constexpr std::size_t kShards = 64;

  const Bounds bounds_;
  Runs runs_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::array<Shard, kShards> visited_, recovered_;
  mutable std::mutex nodes_mutex_;
  std::vector<Node> nodes_;
  std::atomic<std::size_t> transitions_{0}, resting_{0};
  std::atomic<bool> failed_{false};
  std::string story_;
  Figures figures_;
};

}  // namespace yad::model

#endif  // TESTS_MODEL_EXPLORER_H_
