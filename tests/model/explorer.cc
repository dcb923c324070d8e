#include "tests/model/explorer.h"

#include <algorithm>
#include <memory>
#include <thread>

#include "tests/model/gates.h"
#include "tests/model/invariants.h"
#include "tests/model/symmetry.h"

namespace yad::model {
namespace {

constexpr int kRoundsToRest = 20;
constexpr int kWakes = 200;  // the maximum number of rounds in CheckRecovery with gates

void Apply(State& state, const Write& write) { state[write.kind].Change(*write.after); }

// Returns all views that the caches may have of the state. Events of other daemons do not cause another view.
std::vector<Seen> ViewsOf(const State& state, const ObjectKey& daemon) {
  std::vector<Seen> views{{}};
  for (std::size_t k = 0; k < kKinds; ++k) {
    const Cells& events = state.tables[k].events;
    std::vector<Seen> more;
    for (Seen seen : views) {
      for (std::size_t i = 0; i <= events.size(); ++i) {
        if (i < events.size() && !Concerns(events[i].content(), daemon)) continue;
        seen[k] = static_cast<std::uint8_t>(i);
        more.push_back(seen);
      }
    }
    views = std::move(more);
  }
  return views;
}

std::string Describe(const Write& write) {
  const std::string verb = write.before == nullptr ? "creates " : write.after->gone ? "deletes " : "updates ";
  const Content& object = write.after->gone ? *write.before : *write.after;
  std::string text = verb + TypeOf(write.kind).kind + " " + object.key.name;
  if (write.kind == kWorkload && !write.after->gone) text += " (revision " + object.label + ")";
  if (write.kind == kDaemon) text += " (status)";
  return text;
}

}  // namespace

struct Explorer::Worker {
  // If there are gates, pools keep their names, because a rollout updates them in the order of names.
  explicit Worker(const Bounds& bounds) : environment(bounds), symmetry(bounds.gates ? 0 : bounds.pools) {}
  Environment environment;
  Symmetry symmetry;
  Operator op;

  Interruption InterruptionOf(const Move& move) {
    return {move.meanwhile_after, [this, move](State& state) { environment.Apply(state, move.Meanwhile()); }};
  }
};

Explorer::Explorer(const Bounds& bounds) : bounds_(bounds) {}

Explorer::~Explorer() = default;

void Explorer::Visit(Worker& worker, State& state, std::uint32_t parent, const Move& move, std::vector<Found>& found) {
  state.Canonicalize(static_cast<std::size_t>(bounds_.lag));
  worker.symmetry.Canonicalize(state);
  ++transitions_;
  const Fingerprint print = state.fingerprint();
  {
    Shard& shard = visited_[print.b % kShards];
    std::lock_guard lock(shard.mutex);
    if (!shard.known.insert(print).second) return;
  }
  Found next{0, state.Pack()};
  {
    std::lock_guard lock(nodes_mutex_);
    next.node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({parent, move});
  }
  found.push_back(std::move(next));
}

// Visits the states after one step of the operator or of Kubernetes' controllers.
void Explorer::Expand(Worker& worker, const Found& from, std::vector<Found>& found) {
  const State state = State::Unpack(from.packed);
  CheckRecovery(worker, state, from.node);
  for (const Move::Type type : {Move::kWorkloadsBecomeHealthy, Move::kGarbageCollection, Move::kTimePasses}) {
    Move move;
    move.type = type;
    State next = state;
    if (worker.environment.Apply(next, move)) Visit(worker, next, from.node, move, found);
  }
  for (int d = 0; d < bounds_.daemons; ++d) {
    const ObjectKey daemon = Environment::DaemonKey(d);
    std::vector<Outcome> done;
    for (const Seen& seen : ViewsOf(state, daemon)) {
      Move move;
      move.a = static_cast<std::uint8_t>(d);
      move.seen = seen;
      const Outcome run = runs_.Reconcile(worker.op, state, seen, daemon);
      const bool is_new = std::find(done.begin(), done.end(), run) == done.end();
      if (is_new) done.push_back(run);
      State now = state;
      for (std::size_t i = 0; i < run.writes.size(); ++i) {
        move.writes = static_cast<std::uint8_t>(i + 1);
        if (const std::string fault = FaultOfWrite(now, seen, SeesAll(state), daemon, run.writes[i]); !fault.empty())
          return Fail(from.node, move, fault);
        Apply(now, run.writes[i]);
        if (!is_new) continue;
        State next = now;
        Visit(worker, next, from.node, move, found);
      }
      if (!run.fault.empty()) return Fail(from.node, move, run.fault);
    }
  }
}

void Explorer::VisitUserMoves(Worker& worker, const Found& from, std::vector<Found>& found) {
  const State state = State::Unpack(from.packed);
  for (const Move& move : worker.environment.UserMoves(state)) {
    State next = state;
    if (worker.environment.Apply(next, move)) Visit(worker, next, from.node, move, found);
  }
  if (!bounds_.meanwhile) return;
  for (int d = 0; d < bounds_.daemons; ++d) {
    const ObjectKey daemon = Environment::DaemonKey(d);
    for (const Seen& seen : ViewsOf(state, daemon)) {
      const Outcome undisturbed = runs_.Reconcile(worker.op, state, seen, daemon);
      State now = state;
      for (std::size_t i = 1; i < undisturbed.writes.size(); ++i) {
        Apply(now, undisturbed.writes[i - 1]);
        Move move;
        move.a = static_cast<std::uint8_t>(d);
        move.seen = seen;
        move.meanwhile_after = static_cast<std::uint8_t>(i);
        for (const Move& user_move : worker.environment.UserMoves(now)) {
          move.meanwhile = user_move.type;
          move.meanwhile_a = user_move.a;
          move.meanwhile_b = user_move.b;
          Resume(worker, state, now, move, from, found);
        }
      }
    }
  }
}

// Repeats the reconcile of `state`, with a user's move in the middle. `interrupted` is the state right before this
// move.
void Explorer::Resume(Worker& worker, const State& state, State interrupted, Move move, const Found& from,
                      std::vector<Found>& found) {
  if (!worker.environment.Apply(interrupted, move.Meanwhile())) return;
  const ObjectKey daemon = Environment::DaemonKey(move.a);
  const Outcome run = runs_.Reconcile(worker.op, state, move.seen, daemon, worker.InterruptionOf(move));
  for (std::size_t i = move.meanwhile_after; i < run.writes.size(); ++i) {
    move.writes = static_cast<std::uint8_t>(i + 1);
    if (const std::string fault = FaultOfWrite(interrupted, move.seen, SeesAll(state), daemon, run.writes[i]);
        !fault.empty())
      return Fail(from.node, move, fault);
    Apply(interrupted, run.writes[i]);
    State next = interrupted;
    Visit(worker, next, from.node, move, found);
  }
  if (!run.fault.empty()) Fail(from.node, move, run.fault);
}

std::string Explorer::FaultOfSleep(Worker& worker, State state, std::optional<std::chrono::seconds> again) {
  const std::uint32_t now = state.clock;
  for (const std::uint32_t opening : kOpenings) {
    if (opening <= now || (again && opening >= now + again->count())) continue;
    state.clock = opening;
    for (int d = 0; d < bounds_.daemons; ++d) {
      for (const Write& write : runs_.Reconcile(worker.op, state, SeesAll(state), Environment::DaemonKey(d)).writes) {
        if (write.kind != kWorkload) continue;
        return "at rest " + std::to_string(now) +
               " s after the start, it requests no reconcile for the time at which it " + Describe(write) + ": " +
               std::to_string(opening) + " s";
      }
    }
  }
  return "";
}

void Explorer::CheckRecovery(Worker& worker, State state, std::uint32_t node) {
  state.Canonicalize(0);
  // the state at the last reconcile of each daemon
  std::vector<std::optional<State>> before(static_cast<std::size_t>(bounds_.daemons));
  const int rounds = bounds_.gates ? kWakes : kRoundsToRest;
  for (int round = 0; round < rounds; ++round) {
    worker.environment.Settle(state);
    {
      State canonical = state;
      worker.symmetry.Canonicalize(canonical);
      const Fingerprint print = canonical.fingerprint();
      Shard& shard = recovered_[print.b % kShards];
      std::lock_guard lock(shard.mutex);
      // This state comes to rest, or another thread is checking it.
      if (!shard.known.insert(print).second) return;
    }
    bool written = false;
    std::optional<std::chrono::seconds> again;
    for (int d = 0; d < bounds_.daemons; ++d) {
      const ObjectKey daemon = Environment::DaemonKey(d);
      const Outcome run = runs_.Reconcile(worker.op, state, SeesAll(state), daemon);
      std::optional<State>& last = before[static_cast<std::size_t>(d)];
      if (last && worker.op.ReconcileAfter(*last, state, daemon) != run.writes)
        return Fail(node, std::nullopt, "the operator's writes depend on its memory");
      State now = state;
      for (const Write& write : run.writes) {
        if (const std::string fault = FaultOfWrite(now, SeesAll(state), SeesAll(state), daemon, write); !fault.empty())
          return Fail(node, std::nullopt, "then, with current caches, the operator " + Describe(write) + ": " + fault);
        Apply(now, write);
      }
      if (run.again) again = again ? std::min(*again, *run.again) : *run.again;
      last = state;
      state = now;
      state.Canonicalize(0);
      written = written || !run.writes.empty();
    }
    if (written) continue;
    if (bounds_.gates) {
      if (const std::string fault = FaultOfSleep(worker, state, again); !fault.empty())
        return Fail(node, std::nullopt, fault);
      if (again && state.clock < kEnd) {
        state.clock += std::max<std::uint32_t>(static_cast<std::uint32_t>(again->count()), 1);
        continue;
      }
    }
    ++resting_;
    if (const std::string fault = FaultAtRest(state); !fault.empty()) return Fail(node, std::nullopt, fault);
    for (int d = 0; d < bounds_.daemons; ++d) {
      const std::vector<Write> later = worker.op.ReconcileLater(state, Environment::DaemonKey(d));
      if (!later.empty())
        return Fail(node, std::nullopt,
                    "an hour later, although nothing has changed, the operator " + Describe(later.front()));
    }
    return;
  }
  Fail(node, std::nullopt, "the operator does not stop writing");
}

void Explorer::Fail(std::uint32_t node, const std::optional<Move>& last, const std::string& fault) {
  std::string story = HistoryUntil(node, last, fault);
  std::lock_guard lock(nodes_mutex_);
  if (failed_.exchange(true)) return;
  story_ = std::move(story);
}

std::string Explorer::HistoryUntil(std::uint32_t node, const std::optional<Move>& last,
                                   const std::string& fault) const {
  std::vector<Move> moves;
  if (last) moves.push_back(*last);
  {
    std::lock_guard lock(nodes_mutex_);
    for (; node != 0; node = nodes_[node].parent) moves.push_back(nodes_[node].move);
  }
  std::reverse(moves.begin(), moves.end());

  Worker worker(bounds_);
  auto& [environment, symmetry, op] = worker;
  State state = environment.Start();
  state.Canonicalize(static_cast<std::size_t>(bounds_.lag));
  symmetry.Canonicalize(state);
  std::string story;
  int step = 0;
  const auto line = [&](const std::string& text) { story += std::to_string(++step) + ". " + text + "\n"; };
  for (const Move& move : moves) {
    std::string text = environment.Describe(state, move);
    if (move.type == Move::kReconcile) {
      const Outcome run = op.Reconcile(state, move.seen, Environment::DaemonKey(move.a), worker.InterruptionOf(move));
      const std::size_t count = std::min<std::size_t>(move.writes, run.writes.size());
      for (std::size_t i = 0; i < count; ++i) {
        text += "\n     " + model::Describe(run.writes[i]);
        Apply(state, run.writes[i]);
        if (i + 1 != move.meanwhile_after) continue;
        text += "\n     meanwhile " + environment.Describe(state, move.Meanwhile());
        environment.Apply(state, move.Meanwhile());
      }
      text += count < run.writes.size() ? "\n     and ends there" : "\n     and has finished";
    } else {
      environment.Apply(state, move);
    }
    state.Canonicalize(static_cast<std::size_t>(bounds_.lag));
    const std::string renamed = symmetry.Canonicalize(state);
    if (!renamed.empty()) text += "\n     (from here on the pools are called " + renamed + ")";
    line(text);
  }
  story += "=> " + fault + "\n";
  return story;
}

template <typename Step>
std::vector<Explorer::Found> Explorer::ForEach(const std::vector<Found>& from, Step step) {
  constexpr std::size_t kAtOnce = 16;
  std::vector<std::vector<Found>> found(workers_.size());
  std::atomic<std::size_t> next{0};
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < workers_.size(); ++t) {
      threads.emplace_back([&, t] {
        while (!failed_) {
          const std::size_t begin = next.fetch_add(kAtOnce);
          if (begin >= from.size()) return;
          for (std::size_t i = begin; i < std::min(begin + kAtOnce, from.size()) && !failed_; ++i) {
            step(*workers_[t], from[i], found[t]);
          }
        }
      });
    }
  }
  std::vector<Found> all;
  for (std::vector<Found>& part : found) {
    all.insert(all.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
  }
  return all;
}

std::optional<std::string> Explorer::Run(int threads) {
  for (int t = 0; t < threads; ++t) workers_.push_back(std::make_unique<Worker>(bounds_));
  std::vector<Found> begun;
  State start = workers_[0]->environment.Start();
  Visit(*workers_[0], start, 0, {}, begun);
  for (int level = 0; level <= bounds_.moves && !failed_; ++level) {
    std::vector<Found> all;
    while (!begun.empty() && !failed_) {
      std::vector<Found> next =
          ForEach(begun, [this](Worker& w, const Found& from, std::vector<Found>& f) { Expand(w, from, f); });
      all.insert(all.end(), std::make_move_iterator(begun.begin()), std::make_move_iterator(begun.end()));
      begun = std::move(next);
    }
    figures_.levels.push_back(all.size());
    if (level < bounds_.moves)
      begun = ForEach(all, [this](Worker& w, const Found& from, std::vector<Found>& f) { VisitUserMoves(w, from, f); });
  }
  figures_.states = nodes_.size();
  figures_.transitions = transitions_;
  figures_.reconciles = runs_.size();
  figures_.resting_states = resting_;
  if (failed_) return story_;
  return std::nullopt;
}

}  // namespace yad::model
