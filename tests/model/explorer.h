// Visits every state that can be reached within some bounds, and checks each.
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
  std::size_t transitions = 0;      // steps from one state to another, including steps to known states
  std::size_t reconciles = 0;       // different inputs of Reconciler::Reconcile
  std::size_t resting_states = 0;   // different states in which everything came to rest
  std::vector<std::size_t> levels;  // the number of states, by the number of moves of people that lead to them
};

// Visits the states breadth first by the number of people's moves, so that each state has as many moves left as
// possible. The operator's cache of each type may be of any age within the lag. Its process ends after any of its
// writes, or after the whole reconcile. The next process remembers nothing, and its caches may be older again. People
// move at any time; if the bounds allow it, also between two writes of a reconcile.
class Explorer {
 public:
  explicit Explorer(const Bounds& bounds);
  ~Explorer();

  // Returns the steps that lead to a fault with the fewest moves of people; nullopt: there is no fault.
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
  void MovePeople(Worker& worker, const Found& from, std::vector<Found>& found);
  void GoOn(Worker& worker, const State& state, State interrupted, Move move, const Found& from,
            std::vector<Found>& found);
  // Lets the caches catch up, and all controllers finish. Checks that the result matches the specs, and that the
  // operator then writes nothing more.
  void CheckRecovery(Worker& worker, State state, std::uint32_t node);
  // Checks that the operator, which is at rest until `again`, misses no opening of a gate.
  std::string FaultOfSleep(Worker& worker, State state, std::optional<std::chrono::seconds> again);
  void Fail(std::uint32_t node, const std::optional<Move>& last, const std::string& fault);
  std::string Tell(std::uint32_t node, const std::optional<Move>& last, const std::string& fault) const;
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
