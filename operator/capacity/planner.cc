#include "operator/capacity/planner.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/capacity/fit.h"

namespace yad {
namespace {

constexpr std::string_view kTransientTaints[] = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable",
                                                 "node.kubernetes.io/network-unavailable"};

// A node on which this plan may place pods.
struct Seat {
  const Node* node = nullptr;
  NodeShape shape;
  Resources room;
  int work = 0;  // number of pods, without those that belong to the node itself
  // Only for leased nodes.
  NodeLease lease;
  const Pod* expected = nullptr;  // the pod that the lease must name
  bool undone = false;
  bool counted = false;  // as a node of a standby
  // Only for free nodes.
  bool evicts = false;  // the pool adds a NoExecute taint, which evicts running pods
  bool taken = false;
  std::vector<const Pod*> placed;  // pods that this plan places here

  bool joins() const { return lease.phase == LeasePhase::kJoining || lease.phase == LeasePhase::kReserved; }
  bool leaves() const { return undone || lease.phase == LeasePhase::kReleasing; }
  bool idles() const { return !leaves() && work == 0 && expected == nullptr && placed.empty(); }
  // A joining node was Ready before its lease. The node may be not Ready for a moment, until its agents have observed
  // the pool.
  bool usable() const {
    return !leaves() && !node->unschedulable && !node->meta.deleting() && (node->ready() || joins());
  }
};

// Orders seats by size, the smallest first.
bool Smaller(const Seat* a, const Seat* b) {
  const auto rank = [](const Seat* seat) {
    const Resources& size = seat->node->allocatable;
    return std::tie(size.milli_cpu, size.memory, size.ephemeral_storage, seat->node->meta.key.name);
  };
  return rank(a) < rank(b);
}

// Seats in the order in which they are tried. Free resources only decrease, so a shape that does not fit once never
// fits.
using Seats = std::vector<Seat*>;

// The demands of all pods of one shape.
struct Ask {
  const Placement* placement = nullptr;
  Resources requests;
  StringMap requirements;
  std::size_t unbound = 0, bound = 0, fresh = 0, free = 0, renewed = 0;  // number of seats that were tried, by list
  CapacityPlan::Lease* missing = nullptr;
};

class Planner {
 public:
  explicit Planner(const CapacityInput& input)
      : input_(input),
        spec_(input.autoscaler),
        drains_(input.pool_gone || spec_.mode == CapacityMode::kDrain),
        acts_(!input.stopped && (drains_ || spec_.mode == CapacityMode::kAuto)) {}

  CapacityPlan Run() {
    SurveyNodes();
    SurveyPods();
    RebuildExpectations();
    GiveUpOnWhatDidNotJoin();
    MatchPods();
    LimitLeases();
    FillStandby();
    Release();
    ChangePhases();
    Finish();
    return std::move(plan_);
  }

 private:
  void SurveyNodes() {
    for (const Node* node : input_.nodes) {
      if (node->meta.annotations.contains(kQuarantineAnnotation) && node->pool().empty() &&
          spec_.inventory.Matches(node->meta.labels)) {
        ++plan_.quarantined;
      }
      const std::string& annotation = node->meta.Annotation(kLeaseAnnotation);
      NodeLease lease;
      if (!annotation.empty()) {
        auto parsed = ParseLease(annotation);
        // If the lease and the node's label name different pools, a user has moved the node on purpose.
        if (!parsed || parsed->pool != spec_.node_pool || node->pool() != spec_.node_pool) continue;
        lease = *std::move(parsed);
      } else if (!IsFree(*node, spec_)) {
        continue;
      }
      Seat& seat = seats_.emplace_back();
      seat.node = node;
      seat.lease = std::move(lease);
      seat.room = node->allocatable;
      seat.shape = {&node->meta.key.name, node->meta.labels, node->taints};
      if (annotation.empty()) {
        AddPool(seat);
        free_.push_back(&seat);
      } else {
        if (seat.joins()) std::erase_if(seat.shape.taints, IsTransient);
        leased_.push_back(&seat);
      }
      by_node_.emplace(node->meta.key.name, &seat);
    }
    std::sort(free_.begin(), free_.end(), Smaller);
    std::sort(leased_.begin(), leased_.end(), Smaller);
  }

  static bool IsTransient(const NodeTaint& taint) {
    return std::find(std::begin(kTransientTaints), std::end(kTransientTaints), taint.key) != std::end(kTransientTaints);
  }

  // Changes the shape of a free node to its shape after a lease.
  void AddPool(Seat& seat) const {
    NodeShape& shape = seat.shape;
    shape.labels[kNodePoolLabel] = spec_.node_pool;
    shape.labels.insert(input_.pool.labels.begin(), input_.pool.labels.end());
    for (const NodeTaint& taint : input_.pool.taints) {
      const auto same = [&](const NodeTaint& t) { return SameTaint(t, taint); };
      if (std::any_of(shape.taints.begin(), shape.taints.end(), same)) continue;
      shape.taints.push_back(taint);
      seat.evicts = seat.evicts || taint.effect == "NoExecute";
    }
  }

  void SurveyPods() {
    for (const Pod* pod : input_.pods) {
      if (pod->terminal) continue;
      if (!pod->node.empty()) {
        const auto found = by_node_.find(pod->node);
        if (found == by_node_.end()) continue;
        found->second->room.Subtract(pod->requests);
        if (!pod->of_node) ++found->second->work;
        continue;
      }
      // A pod of a DaemonSet can only run on the node that its affinity names, so another node does not help.
      if (pod->of_node || !pod->waits() || pod->placement == nullptr) continue;
      const auto aim = pod->placement->node_selector.find(kNodePoolLabel);
      if (aim == pod->placement->node_selector.end() || aim->second != spec_.node_pool) continue;
      waiting_.push_back(pod);
    }
    std::sort(waiting_.begin(), waiting_.end(), [](const Pod* a, const Pod* b) {
      const auto rank = [](const Pod* pod) {
        return std::tuple<std::int64_t, std::int64_t, WallTime, const ObjectKey&>(
            -static_cast<std::int64_t>(pod->placement->constraints()), -pod->priority, pod->created, pod->key);
      };
      return rank(a) < rank(b);
    });
    for (const Pod* pod : waiting_) {
      by_uid_.emplace(pod->uid, pod);
      by_name_.emplace(pod->key.ToString(), pod);
    }
  }

  void RebuildExpectations() {
    for (Seat* seat : leased_) {
      if (seat->lease.for_pod.empty() || seat->leaves()) continue;
      const auto waits = by_uid_.find(seat->lease.for_pod);
      if (waits == by_uid_.end()) continue;
      const Pod* pod = waits->second;
      if (expected_.contains(pod) || gave_up_.contains(pod)) continue;
      if (!Fits(*pod->placement, pod->requests, *seat)) {
        // The node's own pods (of DaemonSets) use the room, and would use it on another node too.
        if (seat->work == 0 && seat->placed.empty()) GiveUp(*pod);
      } else if (HasWaitedFor(*seat)) {
        GiveUp(*pod);
      } else {
        Place(pod, *seat);
      }
    }
  }

  // Returns whether the node has been Ready for the expected pod for join_timeout.
  bool HasWaitedFor(const Seat& seat) {
    if (!seat.node->ready()) return false;
    const WallTime since = std::max(seat.lease.since, seat.node->ready_since);
    if (input_.now - since < spec_.join_timeout) {
      Wake(since + spec_.join_timeout);
      return false;
    }
    return true;
  }

  // No longer expects the pod. Until the retry, the pod waits without a node, and other pods may use the node.
  void GiveUp(const Pod& pod) {
    FallShort(RequirementsOf(pod), &pod, shortage_reason::kUnschedulable, input_.now + spec_.retry_after);
    gave_up_.insert(&pod);
  }

  void GiveUpOnWhatDidNotJoin() {
    for (Seat* seat : leased_) {
      if (!seat->joins() || seat->work > 0 || seat->node->ready()) continue;
      WallTime since = seat->lease.since;
      if (seat->lease.phase == LeasePhase::kReserved) since = std::max(since, seat->node->ready_since);
      if (input_.now - since < spec_.join_timeout) {
        Wake(since + spec_.join_timeout);
        continue;
      }
      if (!acts_) continue;
      seat->undone = true;
      if (const Pod* pod = seat->expected) {
        FailToJoin(RequirementsOf(*pod));
        for (const Pod* placed : seat->placed) expected_.erase(placed);
        seat->expected = nullptr;
        seat->placed.clear();
        continue;
      }
      const auto standby = std::find_if(spec_.standby.begin(), spec_.standby.end(),
                                        [&](const Standby& entry) { return entry.Matches(seat->node->meta.labels); });
      if (standby == spec_.standby.end() || !seat->lease.for_pod.empty()) continue;
      FailToJoin(standby->node_selector);
    }
  }

  // Records the failure, so that later pods and standbys of this shape in the same plan do not try again.
  void FailToJoin(const StringMap& requirements) {
    const Shortage* known = Failed(requirements, nullptr);
    const bool again = known != nullptr && known->reason == shortage_reason::kJoinTimeout;
    const WallTime retry_at = again ? known->retry_at : input_.now + spec_.retry_after;
    FallShort(requirements, nullptr, shortage_reason::kJoinTimeout, retry_at);
    failed_shapes_.emplace(requirements, retry_at);
  }

  void MatchPods() {
    Seats unbound, bound;
    for (Seat* seat : leased_) {
      if (seat->usable()) (seat->expected == nullptr ? unbound : bound).push_back(seat);
    }
    for (const Pod* pod : waiting_) {
      if (expected_.contains(pod) || gave_up_.contains(pod)) continue;
      if (input_.now - pod->created < spec_.pending) {
        Wake(pod->created + spec_.pending);
        continue;
      }
      if (const Shortage* known = BacksOff(*pod)) {
        FallShort(known->requirements, pod, known->reason, known->retry_at);
        continue;
      }
      Ask& ask = AskOf(*pod);
      Seat* seat = Find(ask, unbound, ask.unbound);
      if (seat == nullptr) seat = Find(ask, bound, ask.bound);
      if (seat == nullptr) seat = FindOrLease(ask, *pod);
      if (seat != nullptr) Place(pod, *seat);
    }
  }

  Ask& AskOf(const Pod& pod) {
    auto& same = asks_by_digest_[pod.placement->digest ^ static_cast<std::uint64_t>(pod.requests.milli_cpu) ^
                                 (static_cast<std::uint64_t>(pod.requests.memory) << 16)];
    for (Ask* ask : same) {
      if (ask->requests == pod.requests && *ask->placement == *pod.placement) return *ask;
    }
    Ask& ask = asks_.emplace_back();
    ask.placement = pod.placement.get();
    ask.requests = pod.requests;
    ask.requirements = RequirementsOf(pod);
    same.push_back(&ask);
    return ask;
  }

  bool Fits(const Placement& placement, const Resources& requests, const Seat& seat) const {
    if (spec_.one_node_per_pod && (seat.work > 0 || !seat.placed.empty())) return false;
    if (seat.evicts && seat.work > 0) return false;
    return requests.FitsIn(seat.room) && MayRunOn(placement, seat.shape);
  }

  Seat* Find(const Ask& ask, const Seats& seats, std::size_t& at) const {
    for (; at < seats.size(); ++at) {
      if (!seats[at]->taken && Fits(*ask.placement, ask.requests, *seats[at])) return seats[at];
    }
    return nullptr;
  }

  void Place(const Pod* pod, Seat& seat) {
    seat.room.Subtract(pod->requests);
    seat.placed.push_back(pod);
    if (seat.expected == nullptr) seat.expected = pod;
    expected_.emplace(pod, &seat);
  }

  // Returns a node that this plan has already leased, or leases a free one. Returns nullptr if none fits.
  Seat* FindOrLease(Ask& ask, const Pod& pod) {
    for (; ask.fresh < fresh_.size(); ++ask.fresh) {
      if (Fits(*ask.placement, ask.requests, *fresh_[ask.fresh])) return fresh_[ask.fresh];
    }
    if (const char* held = HeldBack()) {
      FallShort(ask.requirements, &pod, held, {});
      return nullptr;
    }
    const Shortage* failed = Failed(ask.requirements, &ask);
    Seat* seat = nullptr;
    if (failed == nullptr) {
      seat = Find(ask, free_, ask.free);
    } else {
      for (; ask.renewed < free_.size() && seat == nullptr; ++ask.renewed) {
        Seat* free = free_[ask.renewed];
        if (!free->taken && IsNewSince(*free, *failed) && Fits(*ask.placement, ask.requests, *free)) seat = free;
      }
    }
    if (seat != nullptr) {
      seat->taken = true;
      fresh_.push_back(seat);
      fresh_asks_.emplace(seat, &ask);
      return seat;
    }
    if (failed != nullptr) {
      FallShort(ask.requirements, &pod, failed->reason, failed->retry_at);
      return nullptr;
    }
    FallShort(ask.requirements, &pod, shortage_reason::kNoCapacity, input_.now + spec_.retry_after);
    if (ask.missing == nullptr || spec_.one_node_per_pod) {
      ask.missing = &missing_.emplace_back();
      ask.missing->requirements = ask.requirements;
    }
    ask.missing->pods.push_back(&pod);
    return nullptr;
  }

  // Returns the reason why no node can be leased now; nullptr if leases are possible.
  const char* HeldBack() const {
    if (drains_) return shortage_reason::kDraining;
    if (input_.stopped) return shortage_reason::kStopped;
    if (spec_.mode == CapacityMode::kManual) return shortage_reason::kManual;
    const bool full =
        spec_.max_nodes > 0 && leased_.size() + fresh_.size() >= static_cast<std::size_t>(spec_.max_nodes);
    return full ? shortage_reason::kMaxNodes : nullptr;
  }

  // Reduces the leases to the limit of one cycle. Shapes take turns, with one node each. The shape of the oldest pod
  // comes first.
  void LimitLeases() {
    const auto limit = static_cast<std::size_t>(spec_.max_leases);
    if (fresh_.size() > limit) {
      std::map<const Ask*, std::deque<Seat*>> by_ask;
      for (Seat* seat : fresh_) by_ask[fresh_asks_.at(seat)].push_back(seat);
      const auto oldest = [](const std::deque<Seat*>& seats) {
        std::tuple<WallTime, ObjectKey> first{WallTime::max(), {}};
        for (const Seat* seat : seats) {
          for (const Pod* pod : seat->placed) first = std::min(first, std::tuple{pod->created, pod->key});
        }
        return first;
      };
      std::vector<std::pair<std::tuple<WallTime, ObjectKey>, std::deque<Seat*>>> turns;
      for (auto& [ask, seats] : by_ask) turns.emplace_back(oldest(seats), std::move(seats));
      std::sort(turns.begin(), turns.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      Seats kept;
      for (std::size_t turn = 0; kept.size() < limit; turn = (turn + 1) % turns.size()) {
        auto& seats = turns[turn].second;
        if (seats.empty()) continue;
        kept.push_back(seats.front());
        seats.pop_front();
      }
      for (auto& [first, seats] : turns) {
        for (Seat* seat : seats) {
          for (const Pod* pod : seat->placed) expected_.erase(pod);
          seat->placed.clear();
          seat->expected = nullptr;
          seat->taken = false;
        }
      }
      fresh_ = std::move(kept);
    }
    for (Seat* seat : fresh_)
      plan_.leases.push_back({seat->node, seat->placed, "", fresh_asks_.at(seat)->requirements});
    plan_.leases.insert(plan_.leases.end(), missing_.begin(), missing_.end());
  }

  void FillStandby() {
    for (const Standby& entry : spec_.standby) {
      Seats idle;
      int coming = 0;
      for (Seat* seat : leased_) {
        if (!seat->idles() || seat->counted || !seat->usable() || !entry.Matches(seat->node->meta.labels)) continue;
        if (seat->node->ready()) {
          idle.push_back(seat);
        } else {
          ++coming;
          seat->counted = true;
        }
      }
      // The nodes that became idle last are counted first, so that those that have been idle longest are released.
      std::sort(idle.begin(), idle.end(), [](const Seat* a, const Seat* b) {
        return std::tie(b->lease.since, a->node->meta.key.name) < std::tie(a->lease.since, b->node->meta.key.name);
      });
      const int have = std::min(entry.count, static_cast<int>(idle.size()));
      for (int i = 0; i < have; ++i) idle[static_cast<std::size_t>(i)]->counted = true;
      plan_.standby.push_back({entry.name, entry.count, have});
      if (!drains_) LeaseStandby(entry, entry.count - have - coming);
    }
  }

  void LeaseStandby(const Standby& entry, int missing) {
    for (; missing > 0; --missing) {
      if (const char* held = HeldBack()) {
        FallShort(entry.node_selector, nullptr, held, {});
        return;
      }
      if (fresh_.size() >= static_cast<std::size_t>(spec_.max_leases)) return;
      const Shortage* failed = Failed(entry.node_selector, nullptr);
      const auto seat = std::find_if(free_.begin(), free_.end(), [&](const Seat* free) {
        return !free->taken && free->work == 0 && entry.Matches(free->shape.labels) &&
               (failed == nullptr || IsNewSince(*free, *failed));
      });
      if (seat == free_.end()) {
        if (failed != nullptr) {
          FallShort(entry.node_selector, nullptr, failed->reason, failed->retry_at);
        } else {
          FallShort(entry.node_selector, nullptr, shortage_reason::kNoCapacity, input_.now + spec_.retry_after);
          plan_.leases.push_back({nullptr, {}, entry.name, entry.node_selector});
        }
        return;
      }
      (*seat)->taken = true;
      fresh_.push_back(*seat);
      plan_.leases.push_back({(*seat)->node, {}, entry.name, entry.node_selector});
    }
  }

  void Release() {
    using Cause = CapacityPlan::Release::Cause;
    std::vector<std::pair<Cause, Seat*>> leaving;
    int staying = 0;
    for (Seat* seat : leased_) {
      if (seat->undone) {
        plan_.releases.push_back({seat->node, seat->lease, false, Cause::kNotJoined});
      } else if (seat->lease.phase == LeasePhase::kReleasing) {
        if (seat->work == 0 && !input_.stopped) plan_.releases.push_back({seat->node, seat->lease, true, Cause::kIdle});
      } else {
        ++staying;
        if (acts_ && seat->idles()) ConsiderRelease(*seat, leaving);
      }
    }
    std::sort(leaving.begin(), leaving.end(), [](const auto& a, const auto& b) {
      const auto rank = [](const auto& entry) {
        return std::tuple(entry.first != Cause::kNotReady, entry.second->lease.since,
                          entry.second->node->meta.key.name);
      };
      return rank(a) < rank(b);
    });
    for (const auto& [cause, seat] : leaving) {
      if (static_cast<int>(released_.size()) >= spec_.max_releases) break;
      if (!drains_ && staying <= spec_.min_nodes) break;
      --staying;
      released_.insert(seat);
      plan_.releases.push_back({seat->node, seat->lease, false, cause});
    }
    std::sort(plan_.releases.begin(), plan_.releases.end(),
              [](const auto& a, const auto& b) { return a.node->meta.key.name < b.node->meta.key.name; });
  }

  void ConsiderRelease(Seat& seat, std::vector<std::pair<CapacityPlan::Release::Cause, Seat*>>& leaving) {
    using Cause = CapacityPlan::Release::Cause;
    const auto since = [&](WallTime then, std::chrono::seconds wait) {
      if (input_.now - then < wait) Wake(then + wait);
      return input_.now - then >= wait;
    };
    if (drains_) {
      leaving.emplace_back(Cause::kDraining, &seat);
    } else if (seat.lease.phase != LeasePhase::kIdle) {
      return;  // the start of its idle time is not recorded yet
    } else if (!seat.node->ready() && since(std::max(seat.lease.since, seat.node->ready_since), spec_.unhealthy)) {
      leaving.emplace_back(Cause::kNotReady, &seat);
    } else if (!seat.counted && since(seat.lease.since, spec_.idle)) {
      leaving.emplace_back(Cause::kIdle, &seat);
    }
  }

  void ChangePhases() {
    plan_.leased = static_cast<int>(leased_.size());
    for (Seat* seat : leased_) {
      NodeLease after = seat->lease;
      const bool back = seat->lease.phase == LeasePhase::kReleasing && seat->work > 0;
      const bool leaves = !back && (seat->leaves() || released_.contains(seat));
      if (!leaves) {
        after.phase = PhaseOf(*seat);
        after.for_pod = seat->expected == nullptr ? "" : seat->expected->uid;
        const bool joins_on = after.phase == LeasePhase::kJoining && seat->lease.phase == LeasePhase::kJoining;
        if (after != seat->lease && !joins_on) after.since = input_.now;
        if (after != seat->lease && (acts_ || (back && !input_.stopped))) {
          plan_.changes.push_back(
              {seat->node, seat->lease, after, after.for_pod == seat->lease.for_pod ? nullptr : seat->expected});
        }
      }
      if (leaves) {
        ++plan_.releasing;
      } else if (after.phase == LeasePhase::kInUse) {
        ++plan_.in_use;
      } else if (after.phase == LeasePhase::kIdle) {
        ++plan_.idle;
      } else {
        ++plan_.joining;
      }
      if (after.phase == LeasePhase::kIdle && seat->lease.phase != LeasePhase::kIdle) Wake(input_.now + spec_.idle);
    }
    std::sort(plan_.changes.begin(), plan_.changes.end(),
              [](const auto& a, const auto& b) { return a.node->meta.key.name < b.node->meta.key.name; });
  }

  static LeasePhase PhaseOf(const Seat& seat) {
    if (seat.work > 0) return LeasePhase::kInUse;
    if (seat.lease.phase == LeasePhase::kJoining && !seat.node->ready()) return LeasePhase::kJoining;
    return seat.expected == nullptr ? LeasePhase::kIdle : LeasePhase::kReserved;
  }

  void Finish() {
    for (const auto& [pod, seat] : expected_)
      plan_.expectations.emplace(pod->key.ToString(), seat->node->meta.key.name);
    // A shape whose node did not join waits for its retry, even if other pods request the same shape before.
    for (const Shortage& known : spec_.shortages) {
      if (known.reason != shortage_reason::kJoinTimeout || known.retry_at <= input_.now) continue;
      const auto [entry, made] = shortages_.try_emplace({known.requirements, known.reason, known.retry_at}, known);
      if (made) entry->second.pods.clear();
    }
    for (auto& [key, shortage] : shortages_) {
      std::sort(shortage.pods.begin(), shortage.pods.end());
      if (shortage.retry_at > input_.now) Wake(shortage.retry_at);
      plan_.shortages.push_back(std::move(shortage));
    }
  }

  // ---- memory of earlier plans, from status

  const Shortage* BacksOff(const Pod& pod) const {
    for (const Shortage& known : spec_.shortages) {
      if (known.reason == shortage_reason::kUnschedulable && known.retry_at > input_.now &&
          std::binary_search(known.pods.begin(), known.pods.end(), pod.key.ToString())) {
        return &known;
      }
    }
    return nullptr;
  }

  // Returns the failure of this shape that waits for its retry; nullptr if there is none. `ask` is null for a standby.
  const Shortage* Failed(const StringMap& requirements, const Ask* ask) {
    const auto now = failed_shapes_.find(requirements);
    if (now != failed_shapes_.end()) return &shortages_.at({requirements, shortage_reason::kJoinTimeout, now->second});
    for (const Shortage& known : spec_.shortages) {
      if (known.reason != shortage_reason::kUnschedulable && known.retry_at > input_.now &&
          known.requirements == requirements && (ask == nullptr ? BindsStandby(known) : Binds(known, *ask))) {
        return &known;
      }
    }
    return nullptr;
  }

  static bool BindsStandby(const Shortage& known) {
    return known.reason != shortage_reason::kNoCapacity || known.pods.empty();
  }

  // Returns whether the failure applies to the pods of `ask`. If some pods found no room, that does not apply to pods
  // with smaller requests or another placement, as long as one of the former pods waits.
  bool Binds(const Shortage& known, const Ask& ask) const {
    if (known.reason != shortage_reason::kNoCapacity) return true;
    bool anybody = false;
    for (const std::string& name : known.pods) {
      const auto waits = by_name_.find(name);
      if (waits == by_name_.end()) continue;
      const Pod& pod = *waits->second;
      if (*pod.placement == *ask.placement && pod.requests.FitsIn(ask.requests)) return true;
      anybody = true;
    }
    return !anybody;
  }

  bool IsNewSince(const Seat& seat, const Shortage& failed) const {
    WallTime since = ParseTime(seat.node->meta.creation_timestamp);
    // A node that did not join may be Ready again, but that does not make it a new node.
    if (failed.reason == shortage_reason::kNoCapacity) since = std::max(since, seat.node->ready_since);
    return since > failed.retry_at - spec_.retry_after;
  }

  void FallShort(const StringMap& requirements, const Pod* pod, const std::string& reason, WallTime retry_at) {
    const auto [entry, made] = shortages_.try_emplace({requirements, reason, retry_at});
    Shortage& shortage = entry->second;
    if (made) {
      shortage.requirements = requirements;
      shortage.reason = reason;
      shortage.retry_at = retry_at;
      shortage.since = input_.now;
      for (const Shortage& known : spec_.shortages) {
        if (known.requirements == requirements && known.reason == reason) shortage.since = known.since;
      }
    }
    if (pod != nullptr) shortage.pods.push_back(pod->key.ToString());
  }

  void Wake(WallTime then) { plan_.wake = plan_.wake ? std::min(*plan_.wake, then) : then; }

  const CapacityInput& input_;
  const NodePoolAutoscaler& spec_;
  const bool drains_;
  const bool acts_;  // false: the plan must not change nodes
  CapacityPlan plan_;
  std::deque<Seat> seats_;
  std::unordered_map<std::string_view, Seat*> by_node_;
  Seats leased_, free_;
  std::vector<const Pod*> waiting_;  // in the order in which they get nodes
  std::unordered_map<std::string_view, const Pod*> by_uid_;
  std::unordered_map<std::string, const Pod*> by_name_;  // namespace/name
  std::unordered_map<const Pod*, Seat*> expected_;
  std::unordered_set<const Pod*> gave_up_;
  std::map<StringMap, WallTime> failed_shapes_;  // retry times of shapes that have failed in this plan
  std::deque<Ask> asks_;
  std::unordered_map<std::uint64_t, std::vector<Ask*>> asks_by_digest_;
  Seats fresh_;  // free nodes that this plan leases
  std::unordered_map<const Seat*, const Ask*> fresh_asks_;
  std::deque<CapacityPlan::Lease> missing_;
  std::unordered_set<const Seat*> released_;
  std::map<std::tuple<StringMap, std::string, WallTime>, Shortage> shortages_;
};

}  // namespace

StringMap RequirementsOf(const Pod& pod) {
  StringMap requirements = pod.placement->node_selector;
  requirements.erase(kNodePoolLabel);
  return requirements;
}

bool IsFree(const Node& node, const NodePoolAutoscaler& autoscaler) {
  return node.pool().empty() && !node.meta.annotations.contains(kLeaseAnnotation) &&
         !node.meta.annotations.contains(kQuarantineAnnotation) && node.ready() && !node.unschedulable &&
         !node.meta.deleting() && autoscaler.inventory.Matches(node.meta.labels);
}

CapacityPlan PlanCapacity(const CapacityInput& input) { return Planner(input).Run(); }

std::string QuarantineReason(const NodePoolAutoscaler& autoscaler, const Node& node, const NodeLease& lease,
                             WallTime now) {
  if (!node.ready() && lease.for_pod.empty() && now - node.ready_since >= autoscaler.unhealthy)
    return FormatTime(now) + " not Ready";
  return autoscaler.quarantine ? FormatTime(now) + " reclaimPolicy Quarantine" : "";
}

Json ToJson(const CapacityPlan& plan) {
  Json json{{"leases", Json::array()},
            {"releases", Json::array()},
            {"expectations", plan.expectations},
            {"shortages", Json::array()}};
  for (const CapacityPlan::Lease& lease : plan.leases) {
    Json entry{{"node", nullptr}, {"for", "standby"}};
    if (!lease.pods.empty()) {
      entry["for"] = Json::array();
      for (const Pod* pod : lease.pods) entry["for"].push_back(pod->key.ToString());
    }
    if (lease.node != nullptr) {
      entry["node"] = lease.node->meta.key.name;
    } else {
      entry["requirements"] = lease.requirements;
    }
    json["leases"].push_back(std::move(entry));
  }
  for (const CapacityPlan::Release& release : plan.releases) json["releases"].push_back(release.node->meta.key.name);
  for (const Shortage& shortage : plan.shortages) json["shortages"].push_back(ToJson(shortage));
  return json;
}

}  // namespace yad
