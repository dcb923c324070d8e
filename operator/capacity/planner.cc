#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/capacity/capacity_plan.h"
#include "operator/capacity/fit.h"
#include "operator/capacity/releases.h"
#include "operator/capacity/shortage_record.h"
#include "operator/capacity/survey.h"

namespace yad {
namespace {

// Returns the node selector of the pod, except for the label of the pool.
StringMap RequirementsOf(const Pod& pod) {
  StringMap requirements = pod.placement->node_selector;
  requirements.erase(kNodePoolLabel);
  return requirements;
}

// Returns whether the node has a condition taint, such as disk-pressure, that the pod does not tolerate.
bool HasConditionTaint(const Placement& placement, const NodeShape& node) {
  return std::any_of(node.taints.begin(), node.taints.end(), [&](const NodeTaint& taint) {
    return taint.key.starts_with("node.kubernetes.io/") && taint.effect != "PreferNoSchedule" &&
           !Tolerates(placement.tolerations, taint);
  });
}

// A group of pods with equal placements and requests.
struct PodShape {
  const Pod* pod = nullptr;  // one pod of the group
  StringMap requirements;
  // Indices in the planner's lists of nodes. The next search for the group begins at the index, because the nodes
  // before it do not fit or are taken.
  std::size_t unbound = 0, bound = 0, newly_leased = 0, free = 0;
  CapacityPlan::Lease* missing = nullptr;  // the lease in `missing_` for the pods of the group
};

class Planner {
 public:
  explicit Planner(const CapacityInput& input)
      : input_(input),
        spec_(input.autoscaler),
        survey_(MakeSurvey(input)),
        shortages_(input.autoscaler, input.now, survey_.waiting) {}

  CapacityPlan Run() {
    plan_.quarantined = survey_.quarantined;
    RebuildExpectations();
    EndLateJoins();
    MatchPods();
    LimitLeases();
    AddLeases();
    FillStandby();
    PlanReleases(input_, survey_.leased, plan_);
    Finish();
    return std::move(plan_);
  }

 private:
  void RebuildExpectations() {
    std::unordered_map<std::string_view, const Pod*> by_uid;
    for (const Pod* pod : survey_.waiting) by_uid.emplace(pod->uid, pod);
    for (CandidateNode* candidate : survey_.leased) {
      if (candidate->lease.for_pod.empty() || !candidate->usable()) continue;
      const auto waits = by_uid.find(candidate->lease.for_pod);
      if (waits == by_uid.end()) continue;
      const Pod* pod = waits->second;
      if (expected_.contains(pod) || gave_up_.contains(pod)) continue;
      if (!Fits(*pod, *candidate)) {
        // If no other pods use the node, the pod does not even fit on an empty node, so the planner gives up. It keeps
        // trying if the node has a condition taint, because other nodes might not have the condition. Pods of
        // DaemonSets do not count here, because they run on every node.
        const bool empty = candidate->pods == 0 && candidate->placed.empty();
        if (empty && !HasConditionTaint(*pod->placement, candidate->shape)) GiveUp(*pod);
      } else if (HasWaitedFor(*candidate)) {
        GiveUp(*pod);
      } else {
        Place(pod, *candidate);
      }
    }
  }

  // Returns whether the node has been Ready and reserved for its pod for join_timeout. If a Ready node has not waited
  // that long, the plan wakes when join_timeout has passed.
  bool HasWaitedFor(const CandidateNode& candidate) {
    if (!candidate.node->ready()) return false;
    const WallTime since = candidate.LastChange(input_.now, spec_.join_timeout);
    if (input_.now - since < spec_.join_timeout) {
      plan_.WakeAt(since + spec_.join_timeout);
      return false;
    }
    return true;
  }

  // Records that the pod is Unschedulable: no node is reserved for it until the retry. If an earlier plan has already
  // recorded this, the retry time stays.
  void GiveUp(const Pod& pod) {
    const Shortage* known = shortages_.BackoffOf(pod);
    const WallTime retry_at = known == nullptr ? input_.now + spec_.retry_after : known->retry_at;
    shortages_.Add(RequirementsOf(pod), &pod, shortage_reason::kUnschedulable, retry_at);
    gave_up_.insert(&pod);
  }

  // Ends the leases of nodes that did not join in time.
  void EndLateJoins() {
    for (CandidateNode* candidate : survey_.leased) {
      if (!candidate->joins() || candidate->pods > 0 || candidate->node->ready()) continue;
      const bool reserved = candidate->lease.phase == LeasePhase::kReserved;
      const WallTime since = reserved ? candidate->LastChange(input_.now, spec_.join_timeout) : candidate->lease.since;
      if (input_.now - since < spec_.join_timeout) {
        plan_.WakeAt(since + spec_.join_timeout);
        continue;
      }
      if (!input_.acts_on(candidate->node)) continue;
      candidate->timed_out = true;
      if (const Pod* pod = candidate->expected) {
        shortages_.AddJoinTimeout(RequirementsOf(*pod));
        RemovePods(*candidate);
        continue;
      }
      const auto standby = std::find_if(spec_.standby.begin(), spec_.standby.end(), [&](const Standby& entry) {
        return entry.Matches(candidate->node->meta.labels);
      });
      if (standby == spec_.standby.end() || !candidate->lease.for_pod.empty()) continue;
      shortages_.AddJoinTimeout(standby->node_selector);
    }
  }

  void MatchPods() {
    CandidateNodes unbound, bound;
    for (CandidateNode* candidate : survey_.leased) {
      if (candidate->usable()) (candidate->expected == nullptr ? unbound : bound).push_back(candidate);
    }
    for (const Pod* pod : survey_.waiting) {
      if (expected_.contains(pod) || gave_up_.contains(pod)) continue;
      if (input_.now - pod->created < spec_.pending) {
        plan_.WakeAt(pod->created + spec_.pending);
        continue;
      }
      if (const Shortage* known = shortages_.BackoffOf(*pod)) {
        shortages_.Add(known->requirements, pod, known->reason, known->retry_at);
        continue;
      }
      PodShape& shape = ShapeOf(*pod);
      CandidateNode* candidate = Find(shape, unbound, shape.unbound);
      if (candidate == nullptr) candidate = Find(shape, bound, shape.bound);
      if (candidate == nullptr) candidate = FindOrLease(shape, *pod);
      if (candidate != nullptr) Place(pod, *candidate);
    }
  }

  PodShape& ShapeOf(const Pod& pod) {
    auto& same = shapes_by_digest_[pod.placement->digest ^ static_cast<std::uint64_t>(pod.requests.milli_cpu) ^
                                   (static_cast<std::uint64_t>(pod.requests.memory) << 16)];
    for (PodShape* shape : same) {
      if (shape->pod->requests == pod.requests && *shape->pod->placement == *pod.placement) return *shape;
    }
    PodShape& shape = shapes_.emplace_back();
    shape.pod = &pod;
    shape.requirements = RequirementsOf(pod);
    same.push_back(&shape);
    return shape;
  }

  bool Fits(const Pod& pod, const CandidateNode& candidate) const {
    if (spec_.one_node_per_pod && (candidate.pods > 0 || !candidate.placed.empty())) return false;
    if (candidate.evicts && candidate.pods > 0) return false;
    return pod.requests.FitsIn(candidate.room) && MayRunOn(*pod.placement, candidate.shape);
  }

  // Returns the first node, from index `at` on, that fits and is not taken, or nullptr. If `failed` is not nullptr, the
  // node must also have become available after this failure.
  CandidateNode* Find(const PodShape& shape, const CandidateNodes& candidates, std::size_t& at,
                      const Shortage* failed = nullptr) const {
    for (; at < candidates.size(); ++at) {
      CandidateNode& node = *candidates[at];
      const bool tries = !node.taken && (failed == nullptr || shortages_.IsNewSince(node, *failed));
      if (tries && Fits(*shape.pod, node)) return &node;
    }
    return nullptr;
  }

  void Place(const Pod* pod, CandidateNode& candidate) {
    candidate.room.Subtract(pod->requests);
    candidate.placed.push_back(pod);
    if (candidate.expected == nullptr) candidate.expected = pod;
    expected_.emplace(pod, &candidate);
  }

  void RemovePods(CandidateNode& candidate) {
    for (const Pod* pod : candidate.placed) expected_.erase(pod);
    candidate.placed.clear();
    candidate.expected = nullptr;
  }

  // Returns a node that this plan has already leased, or leases a free node. Returns nullptr if no node fits.
  CandidateNode* FindOrLease(PodShape& shape, const Pod& pod) {
    for (; shape.newly_leased < newly_leased_.size(); ++shape.newly_leased) {
      if (Fits(*shape.pod, *newly_leased_[shape.newly_leased])) return newly_leased_[shape.newly_leased];
    }
    if (const char* reason = WhyNoLease()) {
      shortages_.Add(shape.requirements, &pod, reason, {});
      return nullptr;
    }
    const Shortage* failed = shortages_.FailureOf(shape.requirements, shape.pod);
    if (CandidateNode* candidate = Find(shape, survey_.free, shape.free, failed)) {
      candidate->taken = true;
      newly_leased_.push_back(candidate);
      leased_for_.emplace(candidate, &shape);
      return candidate;
    }
    if (failed != nullptr) {
      shortages_.Add(shape.requirements, &pod, failed->reason, failed->retry_at);
      return nullptr;
    }
    shortages_.Add(shape.requirements, &pod, shortage_reason::kNoCapacity, input_.now + spec_.retry_after);
    if (shape.missing == nullptr || spec_.one_node_per_pod) {
      shape.missing = &missing_.emplace_back();
      shape.missing->requirements = shape.requirements;
    }
    shape.missing->pods.push_back(&pod);
    return nullptr;
  }

  // Returns the reason why nodes can't be leased now; nullptr if they can.
  const char* WhyNoLease() const {
    if (input_.drains()) return shortage_reason::kDraining;
    if (input_.stopped) return shortage_reason::kStopped;
    if (spec_.mode == CapacityMode::kManual) return shortage_reason::kManual;
    const std::size_t nodes = survey_.leased.size() + newly_leased_.size();
    const bool full = spec_.max_nodes > 0 && nodes >= static_cast<std::size_t>(spec_.max_nodes);
    return full ? shortage_reason::kMaxNodes : nullptr;
  }

  // Reduces the new leases to max_leases. Shares the limit evenly between the groups of pods, beginning with the group
  // that has the oldest pod.
  void LimitLeases() {
    const auto limit = static_cast<std::size_t>(spec_.max_leases);
    if (newly_leased_.size() <= limit) return;
    std::map<const PodShape*, std::deque<CandidateNode*>> by_shape;
    for (CandidateNode* candidate : newly_leased_) by_shape[leased_for_.at(candidate)].push_back(candidate);
    const auto oldest = [](const std::deque<CandidateNode*>& candidates) {
      std::tuple<WallTime, ObjectKey> first{WallTime::max(), {}};
      for (const CandidateNode* candidate : candidates) {
        for (const Pod* pod : candidate->placed) first = std::min(first, std::tuple{pod->created, pod->key});
      }
      return first;
    };
    std::vector<std::pair<std::tuple<WallTime, ObjectKey>, std::deque<CandidateNode*>>> turns;
    turns.reserve(by_shape.size());
    for (auto& [shape, candidates] : by_shape) turns.emplace_back(oldest(candidates), std::move(candidates));
    std::sort(turns.begin(), turns.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    CandidateNodes kept;
    for (std::size_t turn = 0; kept.size() < limit; turn = (turn + 1) % turns.size()) {
      auto& candidates = turns[turn].second;
      if (candidates.empty()) continue;
      kept.push_back(candidates.front());
      candidates.pop_front();
    }
    for (auto& [first, candidates] : turns) {
      for (CandidateNode* candidate : candidates) {
        RemovePods(*candidate);
        candidate->taken = false;
      }
    }
    newly_leased_ = std::move(kept);
  }

  void AddLeases() {
    for (CandidateNode* candidate : newly_leased_) {
      plan_.leases.push_back({candidate->node, candidate->placed, "", leased_for_.at(candidate)->requirements});
    }
    plan_.leases.insert(plan_.leases.end(), missing_.begin(), missing_.end());
  }

  void FillStandby() {
    for (const Standby& entry : spec_.standby) {
      CandidateNodes idle, joining;
      for (CandidateNode* candidate : survey_.leased) {
        if (!candidate->idles() || candidate->counted || !candidate->usable()) continue;
        if (!entry.Matches(candidate->node->meta.labels)) continue;
        (candidate->node->ready() ? idle : joining).push_back(candidate);
      }
      // Sorts the nodes that became idle last to the front. They count for the standby, so the plan releases the nodes
      // that have been idle longest.
      std::sort(idle.begin(), idle.end(), [](const CandidateNode* a, const CandidateNode* b) {
        return std::tie(b->lease.since, a->node->meta.key.name) < std::tie(a->lease.since, b->node->meta.key.name);
      });
      const int have = std::min(entry.count, static_cast<int>(idle.size()));
      for (int i = 0; i < have; ++i) idle[static_cast<std::size_t>(i)]->counted = true;
      plan_.standby.push_back({entry.name, entry.count, have});
      // Joining nodes fill the rest of this entry of spec.standby. The remaining joining nodes count for the next
      // entries.
      const int coming = std::min(entry.count - have, static_cast<int>(joining.size()));
      for (int i = 0; i < coming; ++i) joining[static_cast<std::size_t>(i)]->counted = true;
      if (!input_.drains()) LeaseStandby(entry, entry.count - have - coming);
    }
  }

  void LeaseStandby(const Standby& entry, int missing) {
    for (; missing > 0; --missing) {
      if (const char* reason = WhyNoLease()) {
        shortages_.Add(entry.node_selector, nullptr, reason, {});
        return;
      }
      if (newly_leased_.size() >= static_cast<std::size_t>(spec_.max_leases)) return;
      const Shortage* failed = shortages_.FailureOf(entry.node_selector, nullptr);
      const auto found = std::find_if(survey_.free.begin(), survey_.free.end(), [&](const CandidateNode* free) {
        return !free->taken && free->pods == 0 && entry.Matches(free->shape.labels) &&
               (failed == nullptr || shortages_.IsNewSince(*free, *failed));
      });
      if (found == survey_.free.end()) {
        if (failed != nullptr) {
          shortages_.Add(entry.node_selector, nullptr, failed->reason, failed->retry_at);
        } else {
          shortages_.Add(entry.node_selector, nullptr, shortage_reason::kNoCapacity, input_.now + spec_.retry_after);
          plan_.leases.push_back({nullptr, {}, entry.name, entry.node_selector});
        }
        return;
      }
      (*found)->taken = true;
      newly_leased_.push_back(*found);
      plan_.leases.push_back({(*found)->node, {}, entry.name, entry.node_selector});
    }
  }

  void Finish() {
    for (const auto& [pod, candidate] : expected_) {
      plan_.expectations.emplace(pod->key.ToString(), candidate->node->meta.key.name);
    }
    plan_.shortages = shortages_.Take();
    for (const Shortage& shortage : plan_.shortages) {
      if (shortage.retry_at > input_.now) plan_.WakeAt(shortage.retry_at);
    }
  }

  const CapacityInput& input_;
  const NodePoolAutoscaler& spec_;
  Survey survey_;
  ShortageRecord shortages_;
  CapacityPlan plan_;
  std::unordered_map<const Pod*, CandidateNode*> expected_;
  std::unordered_set<const Pod*> gave_up_;
  std::deque<PodShape> shapes_;
  std::unordered_map<std::uint64_t, std::vector<PodShape*>> shapes_by_digest_;
  CandidateNodes newly_leased_;  // free nodes that this plan leases
  std::unordered_map<const CandidateNode*, const PodShape*> leased_for_;
  std::deque<CapacityPlan::Lease> missing_;
};

}  // namespace

CapacityPlan PlanCapacity(const CapacityInput& input) { return Planner(input).Run(); }

}  // namespace yad
