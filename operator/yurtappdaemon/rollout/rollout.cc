#include "operator/yurtappdaemon/rollout/rollout.h"

#include <algorithm>
#include <tuple>

namespace yad {
namespace {

class RolloutDecider {
 public:
  explicit RolloutDecider(const RolloutInput& input)
      : in_(input),
        strategy_(input.strategy),
        groups_(strategy_.groups.size()),
        pools_(input.pools.begin(), input.pools.end()) {
    out_.failures_allowed = strategy_.max_failures.Of(pools_.size());
    CountPools();
    if (!in_.target_is_current) {
      HoldPartition();
      FindOutage();
      OpenGroups();
    }
    CountFailures();
    const bool limits_failures = !in_.target_is_current || (in_.target_complete && !stopped_by_broken_pools_);
    const auto needs = [](const RolloutPool& pool) { return NeedsUpdate(pool) && !pool.held && !pool.pool_changed; };
    failures_take_slots_ = !limits_failures && std::any_of(pools_.begin(), pools_.end(), needs);
    CountSlots();
  }

  RolloutDecision Decide() {
    const bool failed = in_.revision_failed || out_.failed > out_.failures_allowed || out_.failed_group;
    const bool exceeded = !in_.target_is_current && !in_.all_updated && failed;
    if (in_.paused) {
      out_.state = RolloutState::kPaused;
    } else if (exceeded) {
      out_.state = RolloutState::kBudgetExceeded;
      out_.roll_back = strategy_.rollback && in_.has_current;
      if (!out_.outage()) AdaptAndRetry();
    } else if (out_.outage()) {
      out_.state = RolloutState::kOutage;
    } else if (in_.target_is_current) {
      RollBack();
    } else {
      RollOut();
    }
    for (Pool& pool : pools_) {
      Describe(exceeded, pool);
      out_.pools.push_back(pool.decided);
    }
    return std::move(out_);
  }

 private:
  struct Pool : RolloutPool {
    explicit Pool(const RolloutPool& input) : RolloutPool(input) {}

    bool held_by_partition = false;
    RolloutDecision::Pool decided;
  };
  struct Slots {
    std::size_t limit = 0;
    std::size_t used = 0;
    bool free() const { return used < limit; }
  };
  struct Group {
    std::size_t pools = 0;
    std::size_t number = 0;    // among the groups that have pools, from 1
    bool only_joining = true;  // all its workloads were created for joining pools
    bool open = false;         // its pools may be updated to the target now
    bool online_done = false;  // it is open, and its online pools are done
    Slots slots;
  };

  static bool NeedsUpdate(const RolloutPool& pool) {
    return pool.exists && !pool.creation_blocked && !pool.on_target && !pool.unrenderable;
  }

  // Returns whether a hold blocks the update of the pool to the target. If the pool has no workload, the hold applies
  // only if the workload can be created from currentRevision instead.
  bool IsHeld(const RolloutPool& pool) const {
    return pool.held && !pool.on_target && !pool.creation_blocked && (pool.exists || in_.has_current);
  }

  bool GatesAreClosed(const RolloutPool& pool) const { return in_.frozen || pool.outside_window; }

  // Returns whether a closed window or the freeze delays the update of the pool to the target. Gates do not delay a
  // rollback, which is an update to currentRevision. But two updates to currentRevision are not rollbacks:
  // - an update after a change of the pool itself
  // - an update after the rollout of the target was complete, for example of a pool whose update had failed
  bool GateDelays(const RolloutPool& pool) const {
    return GatesAreClosed(pool) && (!in_.target_is_current || in_.target_complete || HasChangedOnTarget(pool));
  }

  // Returns whether the pool's nodes must pull new images before its update. Stays true after they have pulled them.
  bool PullsImages(const RolloutPool& pool) const {
    return pool.images != NewImages::kNone && !in_.target_is_current && !pool.offline && !pool.label_names_target &&
           groups_[pool.group].number > 1 && NeedsUpdate(pool) && !WasRejected(pool);
  }
  bool AwaitsImages(const RolloutPool& pool) const { return PullsImages(pool) && pool.images != NewImages::kPulled; }

  static bool WasRejected(const RolloutPool& pool) { return pool.update_blocked || pool.rejected; }

  // Returns whether an update of the pool is a retry, which starts after the updates of the other pools.
  static bool IsRetry(const RolloutPool& pool) { return WasRejected(pool) || pool.write_failed; }

  static bool HasChangedOnTarget(const RolloutPool& pool) { return pool.pool_changed && pool.label_names_target; }

  // Returns whether the pool is offline, and its update can't be the cause.
  static bool IsExemptOffline(const RolloutPool& pool) { return pool.offline && !pool.offline_after_update; }

  // Returns whether the partition or a hold blocks the update of the pool to the target.
  bool IsBlocked(const Pool& pool) const { return pool.held_by_partition || IsHeld(pool); }
  // Returns whether the pool may be updated to the target now: its group is open and approved, and nothing blocks it.
  bool MayReach(const Pool& pool) const { return groups_[pool.group].open && !IsBlocked(pool); }

  // Returns whether the pool's health is ignored. This is the case if all of these are true:
  // - The pool joined during the rollout. Perhaps it still pulls its first image.
  // - It has never been healthy.
  // - Its group also has pools that did not join during the rollout. These show whether the target works.
  bool IsExemptJoiner(const RolloutPool& pool) const {
    return pool.joining && !pool.been_healthy && !groups_[pool.group].only_joining;
  }

  // Returns whether failures of the pool no longer count, because the rollout is complete, or was complete once and
  // included this pool.
  bool IsPastRollout(const RolloutPool& pool) const {
    return in_.all_updated || (in_.was_complete && pool.on_target && pool.soaked && pool.verified);
  }

  // Returns whether this rollout updated the pool to the target, and the pool did not become healthy in time.
  bool IsOverdueOnTarget(const RolloutPool& pool) const {
    return pool.overdue && pool.updated && pool.on_target && !IsPastRollout(pool);
  }

  bool HasFailed(const Pool& pool) const {
    if (pool.check_failed) return true;  // also if the pool went offline later
    if (IsExemptOffline(pool) || pool.creation_blocked || IsExemptJoiner(pool)) return false;
    if (pool.rejected || pool.unrenderable) return MayReach(pool);
    // If a pool has soaked and is no longer on the target, the pool itself (for example its taints) has changed since
    // its update. It may be overdue because of this change, so it does not count as failed.
    const bool failed_on_target =
        pool.overdue && pool.updated && (pool.on_target || !pool.soaked) && !IsPastRollout(pool);
    return failed_on_target && !(pool.offline_after_update && out_.outage());
  }

  // Returns whether the pool counts for maxUnavailable.
  bool IsUnavailable(const Pool& pool) const {
    if (IsExemptOffline(pool) || pool.creation_blocked || IsExemptJoiner(pool)) return false;
    // In a rollback too, a held pool releases its slot at its deadline.
    if ((!failures_take_slots_ || pool.held) && HasFailed(pool)) return false;
    // Only an updated pool has to soak and pass its checks.
    if (pool.healthy && !pool.offline) return pool.updated && !(pool.soaked && pool.verified);
    // If a pool was unhealthy before its update, it takes a slot only if the update may start now. Otherwise, unhealthy
    // pools would take all slots and block the rollout.
    const bool broken_before = pool.overdue && !IsOverdueOnTarget(pool);
    if (!broken_before) return true;
    return NeedsUpdate(pool) && !pool.update_blocked && !pool.write_failed && MayReach(pool) && !GateDelays(pool) &&
           !AwaitsImages(pool);
  }

  void CountPools() {
    for (const Pool& pool : pools_) {
      Group& group = groups_[pool.group];
      ++group.pools;
      if (pool.exists && !pool.joining) group.only_joining = false;
    }
    for (Group& group : groups_) {
      group.number = out_.groups += group.pools > 0;
      group.open = in_.target_is_current;
    }
  }

  // Marks the pools that the partition keeps on the old revision: the last pools, by group and then by name. A change
  // of a pool's health does not change the order.
  void HoldPartition() {
    std::vector<Pool*> order;
    for (Pool& pool : pools_) order.push_back(&pool);
    std::stable_sort(order.begin(), order.end(), [](const Pool* a, const Pool* b) { return a->group < b->group; });
    const std::size_t held = std::min(strategy_.partition.Of(order.size()), order.size());
    for (std::size_t i = order.size() - held; i < order.size(); ++i) order[i]->held_by_partition = true;
  }

  // Counts the pools that went offline after their update, and those that went offline without an update.
  void FindOutage() {
    WallTime since = WallTime::max();
    for (const Pool& pool : pools_) {
      if (!pool.offline_after_update || IsExemptJoiner(pool)) continue;
      ++out_.offline_after_update;
      since = std::min(since, pool.updated_at);
    }
    if (out_.offline_after_update == 0) return;
    for (const Pool& pool : pools_) {
      const bool is_control = pool.exists && !pool.offline_after_update && !pool.updated && pool.created_at < since;
      out_.control_offline += is_control && pool.offline && pool.offline_since >= since;
    }
  }

  // Returns whether `failed` exceeds the group's own maxFailures.
  bool ExceedsGroup(std::size_t group, std::size_t failed) const {
    const auto& limit = strategy_.groups[group].max_failures;
    return limit && failed > limit->Of(groups_[group].pools);
  }

  // Opens the groups in their order. The first unfinished group is the last group that opens. A group that lacks its
  // approval does not open, and neither do the groups after it.
  void OpenGroups() {
    std::size_t failed = 0;
    for (std::size_t g = 0; g < strategy_.groups.size(); ++g) {
      std::size_t pools = 0, done = 0, failed_in_group = 0;
      bool needed = false;
      const bool may_open = !strategy_.groups[g].manual || in_.approved.contains(strategy_.groups[g].name);
      groups_[g].open = true;
      for (const Pool& pool : pools_) {
        if (pool.group != g) continue;
        const bool has_failed = HasFailed(pool);
        failed_in_group += has_failed;
        if (IsBlocked(pool)) continue;
        ++pools;
        done += IsDone(pool);
        failed += has_failed;
        needed = needed || NeedsUpdate(pool) || (!pool.exists && !pool.creation_blocked);
      }
      if (pools == 0) continue;
      out_.group = g;
      out_.group_number = groups_[g].number;
      awaits_approval_ = needed && !may_open;
      groups_[g].open = !awaits_approval_;
      at_work_ = done < pools || failed > out_.failures_allowed || ExceedsGroup(g, failed_in_group);
      if (awaits_approval_ || at_work_) return;
    }
  }

  void CountFailures() {
    std::vector<std::size_t> failed_by_group(strategy_.groups.size()), broken_by_group(strategy_.groups.size());
    std::size_t broken = 0;  // failed pools whose update the server accepted
    for (Pool& pool : pools_) {
      pool.decided.failed = HasFailed(pool);
      out_.failed += pool.decided.failed;
      failed_by_group[pool.group] += pool.decided.failed;
      const bool is_broken = pool.decided.failed && !pool.rejected && !pool.unrenderable;
      broken += is_broken;
      broken_by_group[pool.group] += is_broken;
    }
    stopped_by_broken_pools_ = broken > out_.failures_allowed;
    for (std::size_t g = 0; g < strategy_.groups.size(); ++g) {
      if (ExceedsGroup(g, failed_by_group[g]) && !out_.failed_group) out_.failed_group = g;
      stopped_by_broken_pools_ |= ExceedsGroup(g, broken_by_group[g]);
    }
  }

  void CountSlots() {
    std::size_t online = 0;
    for (const Pool& pool : pools_) {
      online += !pool.offline;
      if (!IsUnavailable(pool)) continue;
      ++slots_.used;
      ++groups_[pool.group].slots.used;
    }
    slots_.limit = std::max<std::size_t>(strategy_.max_unavailable.Of(online), 1);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const auto& own = strategy_.groups[g].max_unavailable;
      groups_[g].slots.limit = own ? std::max<std::size_t>(own->Of(groups_[g].pools), 1) : slots_.limit;
    }
  }

  // Starts `step` in the pools that `wanted` accepts, while slots are free. Pools that are already offline or
  // unavailable come first, because they do not need an additional slot.
  template <typename Wanted>
  void Start(Step step, const Wanted& wanted) {
    for (const bool unavailable : {true, false}) {
      for (Pool& pool : pools_) {
        if (pool.held || (step == Step::kRerender ? GatesAreClosed(pool) : GateDelays(pool) || AwaitsImages(pool)))
          continue;
        const bool takes_none = pool.offline || IsUnavailable(pool);
        if (takes_none != unavailable || pool.decided.step != Step::kNone || !wanted(pool)) continue;
        if (!takes_none) {
          Slots& of_group = groups_[pool.group].slots;
          if (!slots_.free() || !of_group.free()) continue;
          ++slots_.used;
          ++of_group.used;
        }
        pool.decided.step = step;
      }
    }
  }

  // Starts the updates that are needed because a pool itself has changed, for example its taints. Groups and the
  // partition do not block these updates. Omits pools that are updated to the target now. Then retries failed updates.
  void AdaptAndRetry() {
    Start(Step::kUpdate, [](const Pool& pool) { return HasChangedOnTarget(pool) && !IsRetry(pool); });
    Start(Step::kRerender, [](const Pool& pool) { return pool.pool_changed && !pool.label_names_target; });
    RetryFailed();
  }

  // Sets out_.waiting to the pools that the rollout waits for: the unfinished pools that take a slot and that `counts`
  // accepts. If there are none, it waits for all other pools that take a slot.
  template <typename Counts>
  void SetWaiting(const Counts& counts) {
    std::vector<std::string_view> others;
    for (const Pool& pool : pools_) {
      if (IsExemptOffline(pool) || !(IsUnavailable(pool) || IsExemptJoiner(pool) || pool.decided.step == Step::kUpdate))
        continue;
      (counts(pool) && !IsDone(pool) ? out_.waiting : others).push_back(pool.name);
    }
    if (out_.waiting.empty()) out_.waiting = std::move(others);
  }

  // Returns whether the rollout no longer waits for the pool.
  bool IsDone(const Pool& pool) const {
    if (IsExemptOffline(pool) || pool.creation_blocked || pool.update_blocked || IsHeld(pool) || HasFailed(pool))
      return true;
    // The failure of a joining pool does not count, so no group waits for this pool either.
    if (!pool.on_target) return pool.deletion_late || (IsExemptJoiner(pool) && (pool.rejected || pool.unrenderable));
    if (pool.offline_after_update) return IsExemptJoiner(pool) && pool.overdue;
    if (in_.target_is_current && pool.soaked) return true;  // A rollback does not depend on the pool's later health.
    return pool.overdue ||
           (pool.healthy && ((pool.soaked && pool.verified) || !(pool.updated || in_.target_is_current)));
  }

  void RollBack() {
    Start(Step::kUpdate, [](const Pool& pool) { return NeedsUpdate(pool) && !IsRetry(pool); });
    AdaptAndRetry();
    for (const Pool& pool : pools_) {
      if (IsHeld(pool)) continue;
      if (WasRejected(pool) && NeedsUpdate(pool)) out_.rejected.push_back(pool.name);
      const bool done = IsDone(pool);
      out_.back += done && pool.on_target;
      if (!done) out_.state = RolloutState::kProgressing;
    }
    if (out_.state != RolloutState::kProgressing) return;
    if (OnlyGatesAreLeft()) {
      out_.state = GateState();
    } else {
      SetWaiting([](const Pool&) { return true; });
    }
  }

  void RollOut() {
    for (std::size_t g = 0; g < strategy_.groups.size(); ++g) {
      if (groups_[g].open) StartGroup(g);
    }
    if (awaits_approval_) {
      out_.state = RolloutState::kWaitingForApproval;
    } else if (OnlyGatesAreLeft()) {
      out_.state = GateState();
    } else if (at_work_) {
      out_.state = RolloutState::kProgressing;
      SetWaiting([&](const Pool& pool) { return pool.group == out_.group && !pool.held_by_partition; });
    }
    AdaptAndRetry();
    ChoosePrefetches();
  }

  // Chooses the pools whose nodes pull the new images, after the first group. These are the next `ahead` pools: those
  // of open groups, ordered by the opening of their window and then by the order of updates, and then those of the
  // other groups. Pools of open groups whose timeout is over are chosen in addition.
  void ChoosePrefetches() {
    if (!strategy_.prefetch || in_.frozen || out_.group_number < 2) return;
    std::vector<Pool*> next;
    for (Pool& pool : pools_) {
      if (PullsImages(pool) && !IsBlocked(pool) && pool.decided.step != Step::kUpdate) next.push_back(&pool);
      out_.without_images += AwaitsImages(pool) && MayReach(pool) && !GateDelays(pool);
    }
    const auto rank = [&](const Pool& pool) {
      return std::tuple(groups_[pool.group].open ? 0 : pool.group,
                        pool.outside_window ? pool.window_opens : WallTime::min(), pool.group, !IsUnavailable(pool));
    };
    std::stable_sort(next.begin(), next.end(), [&](const Pool* a, const Pool* b) { return rank(*a) < rank(*b); });
    for (std::size_t chosen = 0; Pool* const pool : next) {
      const bool in_addition = pool->images == NewImages::kLate && groups_[pool->group].open;
      pool->decided.prefetch = in_addition || chosen++ < strategy_.prefetch->ahead;
    }
  }

  RolloutState GateState() const { return in_.frozen ? RolloutState::kFrozen : RolloutState::kWaitingForWindow; }

  // Returns whether the open groups wait only for windows or for the end of the freeze: at least one pool waits, every
  // other pool is done, and no update starts now.
  bool OnlyGatesAreLeft() {
    bool others = false;
    for (const Pool& pool : pools_) {
      if (!MayReach(pool)) continue;
      const bool delayed = NeedsUpdate(pool) && GateDelays(pool) && !WasRejected(pool);
      out_.delayed += delayed;
      others = others || (!delayed && !IsDone(pool)) || pool.decided.step == Step::kUpdate;
    }
    return out_.delayed > 0 && !others;
  }

  void StartGroup(std::size_t group) {
    const auto wanted = [&](const Pool& pool) {
      return pool.group == group && !pool.held_by_partition && NeedsUpdate(pool);
    };
    bool needed = false;
    bool online_done = true;
    for (const Pool& pool : pools_) {
      if (pool.group != group || IsBlocked(pool)) continue;
      // A group begins with its first write that no gate delays. Until then, a user may withdraw its approval.
      const bool created = !pool.exists && !pool.creation_blocked;
      const bool closed = GateDelays(pool) || AwaitsImages(pool);
      needed = needed || ((wanted(pool) || created) && (!closed || (created && !in_.has_current)));
      if (!IsExemptOffline(pool) && !IsDone(pool)) online_done = false;
    }
    groups_[group].online_done = online_done;
    if (strategy_.groups[group].manual && needed) out_.begun.insert(strategy_.groups[group].name);
    // Offline pools are updated last, after the online pools of their group have shown that the revision works.
    Start(Step::kUpdate,
          [&](const Pool& pool) { return wanted(pool) && !IsRetry(pool) && (online_done || !pool.offline); });
  }

  // Returns whether the failed update of the pool may be retried. A pool that has changed after it was updated to the
  // target is always retried. Otherwise, after too many failures, only rejected updates of online pools are retried,
  // and only if the other failures alone would not stop the rollout. The retry shows whether the cause of the
  // rejections is gone.
  bool MayRetry(const Pool& pool) const {
    if (HasChangedOnTarget(pool)) return true;
    if (!MayReach(pool)) return false;
    if (out_.state == RolloutState::kBudgetExceeded) return pool.rejected && !pool.offline && !stopped_by_broken_pools_;
    return in_.target_is_current || !IsExemptOffline(pool) || groups_[pool.group].online_done;
  }

  // Retries failed updates. The caller has started the other updates, so an update that fails again does not take a
  // slot from them. Each turn begins with another pool, so that an update that always fails does not take every slot.
  void RetryFailed() {
    const auto wanted = [&](const Pool& pool) { return IsRetry(pool) && NeedsUpdate(pool) && MayRetry(pool); };
    std::vector<const Pool*> retries;
    for (const Pool& pool : pools_) {
      if (wanted(pool)) retries.push_back(&pool);
    }
    if (retries.empty()) return;
    const Pool* const first = retries[in_.turn % retries.size()];
    Start(Step::kUpdate, [&](const Pool& pool) { return &pool >= first && wanted(pool); });
    Start(Step::kUpdate, wanted);
  }

  void Describe(bool exceeded, Pool& pool) {
    RolloutDecision::Pool& decided = pool.decided;
    decided.group = pool.group;
    const bool delayed = GateDelays(pool);
    decided.excused = IsExemptJoiner(pool) && MayReach(pool);
    decided.make_from_target = MayReach(pool) && !in_.paused && !exceeded && !delayed;
    const bool held = pool.exists && IsHeld(pool);
    // The pool has no workload. The workload is created from currentRevision, and its update to the target then waits.
    if (!pool.exists && IsHeld(pool) && !in_.paused && !pool.held_by_partition) out_.held.push_back(pool.name);
    if (!(NeedsUpdate(pool) || held) || decided.step == Step::kUpdate) return;
    const bool gates_left = out_.state == RolloutState::kWaitingForWindow || out_.state == RolloutState::kFrozen;
    decided.waits_for_user = in_.paused || pool.held_by_partition || held || gates_left ||
                             (groups_[pool.group].open ? delayed : awaits_approval_);
    decided.waits = !decided.waits_for_user && !exceeded;
    decided.waiting_for = ReasonToWait(pool, exceeded);
    if (decided.waiting_for == WaitingFor::kHold) out_.held.push_back(pool.name);
  }

  // Returns the reason why a pool that needs an update is not updated now.
  WaitingFor ReasonToWait(const Pool& pool, bool exceeded) const {
    const bool delayed = GateDelays(pool);
    const bool held = pool.exists && IsHeld(pool);
    const bool retries = WasRejected(pool) || (pool.write_failed && !in_.paused && !delayed);
    // RestoreHealth recognizes a failed update by its empty waitingFor, so it stays empty even during a pause.
    if (retries && !pool.held_by_partition && !held) return WaitingFor::kNone;
    if (in_.paused) return WaitingFor::kPause;
    if (pool.held_by_partition) return WaitingFor::kPartition;
    if (held) return WaitingFor::kHold;
    if (exceeded) return WaitingFor::kPause;
    if (!groups_[pool.group].open)
      return awaits_approval_ && pool.group == out_.group ? WaitingFor::kApproval : WaitingFor::kGroup;
    if (delayed) return in_.frozen ? WaitingFor::kFreeze : WaitingFor::kWindow;
    if (AwaitsImages(pool)) return WaitingFor::kPrefetch;
    return pool.offline ? WaitingFor::kGroup : WaitingFor::kSlot;
  }

  const RolloutInput& in_;
  const RollingUpdate& strategy_;
  RolloutDecision out_;
  // True if failed pools count for maxUnavailable: in a rollback, because maxFailures does not stop it, and after a
  // rollout in which more pools have failed than maxFailures allows.
  bool failures_take_slots_ = false;
  bool awaits_approval_ = false;          // the current group needs an approval
  bool at_work_ = false;                  // the current group is not done
  bool stopped_by_broken_pools_ = false;  // too many pools have failed, even if rejected updates do not count
  Slots slots_;
  std::vector<Group> groups_;  // in the order of RollingUpdate::groups
  std::vector<Pool> pools_;    // in the order of RolloutInput::pools
};

}  // namespace

RolloutDecision DecideRollout(const RolloutInput& input) { return RolloutDecider(input).Decide(); }

}  // namespace yad
