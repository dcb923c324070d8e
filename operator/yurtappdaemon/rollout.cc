#include "operator/yurtappdaemon/rollout.h"

#include <algorithm>

namespace yad {
namespace {

class Rollout {
 public:
  explicit Rollout(const RolloutInput& input) : in_(input), strategy_(input.strategy) {
    out_.pools.resize(in_.pools.size());
    open_.resize(strategy_.groups.size(), in_.back);
    held_by_partition_.resize(in_.pools.size());
    if (!in_.back) HoldPartition();
    CountSlots();
    CountFailures();
    std::vector<bool> has_pools(strategy_.groups.size());
    for (const RolloutPool& pool : in_.pools) has_pools[pool.group] = true;
    for (const bool has : has_pools) numbers_.push_back(out_.groups += has);
  }

  RolloutDecision Decide() {
    const bool exceeded = !in_.back && out_.failed > out_.failures_allowed;
    if (in_.paused) {
      out_.state = RolloutState::kPaused;
    } else if (exceeded) {
      out_.state = RolloutState::kBudgetExceeded;
      out_.roll_back = strategy_.rollback && in_.can_roll_back;
      // What the server refused may be accepted by now, and else nobody would ever know.
      Start(Step::kMove, [&](std::size_t i) { return in_.pools[i].refused && NeedsMove(in_.pools[i]); });
    } else if (in_.back) {
      GoBack();
    } else {
      GoOut();
    }
    if (!in_.paused) AdaptPools();

    const bool needs_approval = out_.state == RolloutState::kWaitingForApproval;
    for (std::size_t i = 0; i < in_.pools.size(); ++i) {
      const RolloutPool& pool = in_.pools[i];
      RolloutDecision::Pool& decided = out_.pools[i];
      decided.make_from_goal = open_[pool.group] && !held_by_partition_[i] && !in_.paused && !exceeded;
      if (!NeedsMove(pool) || decided.step == Step::kMove) continue;
      decided.held = in_.paused || held_by_partition_[i] || (needs_approval && !open_[pool.group]);
      decided.waits = !decided.held;
    }
    return std::move(out_);
  }

 private:
  struct Slots {
    std::size_t limit = 0;
    std::size_t used = 0;
    bool free() const { return used < limit; }
  };

  static bool NeedsMove(const RolloutPool& pool) {
    return pool.exists && !pool.excused && !pool.on_goal && !pool.unrenderable;
  }

  // Whoever's fault it is.
  static bool WasRefused(const RolloutPool& pool) { return pool.blocked || pool.refused; }

  bool FailedOnGoal(const RolloutPool& pool) const {
    if (pool.offline || pool.excused) return false;
    return pool.refused || pool.unrenderable || (pool.overdue && pool.moved_here && pool.on_goal);
  }

  // Counts for maxUnavailable.
  bool Unavailable(const RolloutPool& pool) const {
    if (pool.offline || pool.excused || (pool.healthy && pool.soaked)) return false;
    return in_.back || !FailedOnGoal(pool);
  }

  // The last ones of the whole order: groups, and names in them. Health has no part in it, else pools would come and
  // go.
  void HoldPartition() {
    std::vector<std::size_t> order(in_.pools.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return in_.pools[a].group < in_.pools[b].group; });
    const std::size_t held = std::min(strategy_.partition.Of(order.size()), order.size());
    for (std::size_t i = order.size() - held; i < order.size(); ++i) held_by_partition_[order[i]] = true;
  }

  void CountSlots() {
    std::size_t online = 0;
    std::vector<std::size_t> pools_in(strategy_.groups.size());
    group_slots_.resize(strategy_.groups.size());
    for (const RolloutPool& pool : in_.pools) {
      online += !pool.offline;
      ++pools_in[pool.group];
      if (!Unavailable(pool)) continue;
      ++slots_.used;
      ++group_slots_[pool.group].used;
    }
    slots_.limit = std::max<std::size_t>(strategy_.max_unavailable.Of(online), 1);
    for (std::size_t g = 0; g < group_slots_.size(); ++g) {
      const auto& own = strategy_.groups[g].max_unavailable;
      group_slots_[g].limit = own ? std::max<std::size_t>(own->Of(pools_in[g]), 1) : slots_.limit;
    }
  }

  void CountFailures() {
    out_.failures_allowed = strategy_.max_failures.Of(in_.pools.size());
    for (const RolloutPool& pool : in_.pools) out_.failed += FailedOnGoal(pool);
  }

  // Those that are unavailable already first: they take no further slot. Then by name.
  template <typename Wanted>
  void Start(Step step, const Wanted& wanted) {
    for (const bool disturbed : {true, false}) {
      for (std::size_t i = 0; i < in_.pools.size(); ++i) {
        const RolloutPool& pool = in_.pools[i];
        const bool takes_none = pool.offline || Unavailable(pool);
        if (takes_none != disturbed || out_.pools[i].step != Step::kNone || !wanted(i)) continue;
        if (!takes_none) {
          Slots& of_group = group_slots_[pool.group];
          if (!slots_.free() || !of_group.free()) continue;
          ++slots_.used;
          ++of_group.used;
        }
        out_.pools[i].step = step;
      }
    }
  }

  // Pools that have changed themselves: no group, no partition. What goes to the goal is adapted by that.
  void AdaptPools() {
    Start(Step::kMove, [&](std::size_t i) { return in_.pools[i].pool_changed && in_.pools[i].moved_here; });
    Start(Step::kAdapt, [&](std::size_t i) { return in_.pools[i].pool_changed && !in_.pools[i].moved_here; });
  }

  // The pools that have to come along before it goes on: of those that count, else those that take the slots elsewhere.
  template <typename Counts>
  void NoteWaiting(const Counts& counts) {
    std::vector<std::string_view> elsewhere;
    for (std::size_t i = 0; i < in_.pools.size(); ++i) {
      const RolloutPool& pool = in_.pools[i];
      if (pool.offline || !(Unavailable(pool) || out_.pools[i].step == Step::kMove)) continue;
      (counts(i) && !IsDone(pool) ? out_.waiting : elsewhere).push_back(pool.name);
    }
    if (out_.waiting.empty()) out_.waiting = std::move(elsewhere);
  }

  // Nobody waits for it any longer.
  bool IsDone(const RolloutPool& pool) const {
    return pool.offline || pool.excused || pool.blocked || FailedOnGoal(pool) ||
           (pool.on_goal && (pool.overdue || (pool.healthy && pool.soaked)));
  }

  void GoBack() {
    Start(Step::kMove, [&](std::size_t i) { return NeedsMove(in_.pools[i]) && !WasRefused(in_.pools[i]); });
    TryRefused();
    out_.group_pools = in_.pools.size();
    for (const RolloutPool& pool : in_.pools) {
      const bool done = IsDone(pool);
      out_.group_done += done;
      if (!done) out_.state = RolloutState::kMoving;
    }
    if (out_.state == RolloutState::kMoving) NoteWaiting([](std::size_t) { return true; });
  }

  void GoOut() {
    for (std::size_t g = 0; g < strategy_.groups.size(); ++g) {
      if (!Enter(g)) break;
    }
    TryRefused();
  }

  // After all others, so that what will be refused again takes no slot from them.
  void TryRefused() {
    Start(Step::kMove, [&](std::size_t i) {
      const RolloutPool& pool = in_.pools[i];
      return WasRefused(pool) && NeedsMove(pool) && open_[pool.group] && !held_by_partition_[i];
    });
  }

  // Returns whether the group is done, so that the next one may begin.
  bool Enter(std::size_t group) {
    const auto of_group = [&](std::size_t i) { return in_.pools[i].group == group && !held_by_partition_[i]; };
    std::size_t pools = 0, done = 0;
    bool needed = false;
    for (std::size_t i = 0; i < in_.pools.size(); ++i) {
      if (!of_group(i)) continue;
      const RolloutPool& pool = in_.pools[i];
      const bool is_done = IsDone(pool);
      ++pools;
      done += is_done;
      needed = needed || NeedsMove(pool) || !pool.exists;
    }
    if (pools == 0) return true;
    out_.group = group;
    out_.group_number = numbers_[group];
    out_.group_pools = pools;
    out_.group_done = done;
    const RolloutGroup& spec = strategy_.groups[group];
    if (spec.manual && needed && !in_.approved.contains(spec.name)) {
      out_.state = RolloutState::kWaitingForApproval;
      return false;
    }
    if (spec.manual && needed) out_.begun.insert(spec.name);
    open_[group] = true;
    Start(Step::kMove,
          [&](std::size_t i) { return of_group(i) && NeedsMove(in_.pools[i]) && !WasRefused(in_.pools[i]); });
    if (done == pools) return true;
    out_.state = RolloutState::kMoving;
    NoteWaiting(of_group);
    return false;
  }

  const RolloutInput& in_;
  const RollingUpdate& strategy_;
  RolloutDecision out_;
  Slots slots_;
  std::vector<Slots> group_slots_;
  std::vector<bool> open_;            // groups that the goal may reach now
  std::vector<std::size_t> numbers_;  // groups: their place among those that have pools, from 1
  std::vector<bool> held_by_partition_;
};

}  // namespace

RolloutDecision DecideRollout(const RolloutInput& input) { return Rollout(input).Decide(); }

}  // namespace yad
