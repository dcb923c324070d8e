// The changes to the cluster by users and by Kubernetes' controllers. The operator's changes are in operator.h.
#ifndef TESTS_MODEL_ENVIRONMENT_H_
#define TESTS_MODEL_ENVIRONMENT_H_

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/model/operator.h"
#include "tests/model/state.h"

namespace yad::model {

struct Move {
  enum Type : std::uint8_t {
    // The operator reconciles daemon `a` with caches that show `seen`, and crashes after write number `writes`.
    kReconcile,
    // Moves of Kubernetes' controllers and of time. Their number has no limit.
    kWorkloadsBecomeHealthy,
    kGarbageCollection,
    kTimePasses,  // to the next of kInstants; only in worlds with gates
    // Moves of users. Bounds::moves limits their number.
    kPoolRemoved,      // a: pool
    kPoolAdded,        // a: pool
    kPoolRelabelled,   // a: pool
    kNewTemplate,      // a: daemon, b: revision
    kPauseFlipped,     // a: daemon
    kDaemonDeleted,    // a: daemon
    kDaemonOrphaned,   // a: daemon; deleted with --cascade=orphan
    kDaemonCreated,    // a: daemon
    kWorkloadDeleted,  // a: index among the live workloads
    kLabelStripped,    // a: index among the live workloads; no informer shows the workload after this
    kWorkloadEdited,   // a: index among the live workloads
    // a: daemon, b: pool; another program creates a workload with the operator's name for this pool
    kForeignCreated,
    kSecondWorkload,  // a: daemon, b: pool; OpenYurt's controller sometimes creates two workloads for a pool
    kServiceDeleted,  // a: index among the live Services
    kServiceEdited,   // a: index among the live Services
    kHoldFlipped,     // a: pool; its site begins or ends a hold
    kSiteFlipped,     // a: pool; its nodes go offline or online
    kFreezeFlipped,   // b: whether a new freeze has an end
  };
  Type type = kReconcile;
  std::uint8_t a = 0, b = 0, writes = 0;
  Seen seen{};
  // A user's move during a kReconcile, right after write number `meanwhile_after`; 0: none.
  std::uint8_t meanwhile_after = 0;
  Type meanwhile = kReconcile;
  std::uint8_t meanwhile_a = 0, meanwhile_b = 0;

  Move Meanwhile() const {
    Move move;
    move.type = meanwhile;
    move.a = meanwhile_a;
    move.b = meanwhile_b;
    return move;
  }
};

struct Bounds {
  int pools = 2;
  int daemons = 1;
  int revisions = 3;
  int moves = 3;  // the maximum number of moves of users
  int lag = 1;    // each cache is at most this many events behind
  std::vector<Move::Type> kinds;
  bool meanwhile = false;  // users also make moves between two writes of a reconcile
  bool services =
      false;           // template 1 has a Service template with port 1, and template 2 a Service template with port 2
  bool gates = false;  // the strategy is RollingUpdate with update windows, and time passes
};

// Not thread-safe: one per worker.
class Environment {
 public:
  explicit Environment(const Bounds& bounds) : bounds_(bounds) {}

  State Start() const;  // new pools and daemons, before the first reconcile
  std::vector<Move> UserMoves(const State& state) const;
  // Applies a move, but not a kReconcile. Returns false if nothing changes.
  bool Apply(State& state, const Move& move);
  std::string Describe(const State& state, const Move& move) const;
  // Runs Kubernetes' own controllers until they do not make more changes.
  void Settle(State& state);

  static ObjectKey DaemonKey(int daemon);

 private:
  const Content& Edited(const Content& content, int edit, const std::function<void(Json&)>& change);
  // The following functions return false if nothing changes.
  bool Edit(State& state, const Move& move, const Content& content, const std::function<void(Json&)>& change);
  bool EditSpec(State& state, const Move& move, const Content& content, const std::function<void(Json&)>& change);
  bool ApplyToPool(State& state, const Move& move);
  bool ApplyToDaemon(State& state, const Move& move);
  bool ApplyToWorkload(State& state, const Move& move);
  bool ApplyToService(State& state, const Move& move);
  bool FlipFreeze(State& state, const Move& move);
  bool CollectGarbage(State& state);
  bool MakeHealthy(State& state);
  bool PassTime(State& state) const;
  std::string FreeUid(const State& state, int daemon) const;

  const Bounds& bounds_;
  std::unordered_map<std::uint64_t, const Content*> edited_;
};

}  // namespace yad::model

#endif  // TESTS_MODEL_ENVIRONMENT_H_
