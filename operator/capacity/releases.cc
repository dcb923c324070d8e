#include "operator/capacity/releases.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

namespace yad {
namespace {

using Cause = CapacityPlan::Release::Cause;

class Releases {
 public:
  Releases(const CapacityInput& input, const CandidateNodes& leased, CapacityPlan& plan)
      : input_(input), autoscaler_(input.autoscaler), leased_(leased), plan_(plan) {}

  void Release() {
    std::vector<std::pair<Cause, const CandidateNode*>> leaving;
    int staying = 0;
    for (const CandidateNode* candidate : leased_) {
      if (candidate->timed_out) {
        plan_.releases.push_back({candidate->node, candidate->lease, false, Cause::kNotJoined});
      } else if (candidate->lease.phase == LeasePhase::kReleasing) {
        if (candidate->pods == 0) plan_.releases.push_back({candidate->node, candidate->lease, true, Cause::kIdle});
      } else {
        ++staying;
        if (!input_.acts_on(candidate->node) || !candidate->idles()) continue;
        if (const auto cause = CauseOf(*candidate)) leaving.emplace_back(*cause, candidate);
      }
    }
    std::sort(leaving.begin(), leaving.end(), [](const auto& a, const auto& b) {
      const auto rank = [](const auto& entry) {
        return std::tuple(entry.first != Cause::kNotReady, entry.second->lease.since,
                          entry.second->node->meta.key.name);
      };
      return rank(a) < rank(b);
    });
    for (const auto& [cause, candidate] : leaving) {
      if (static_cast<int>(released_.size()) >= autoscaler_.max_releases) break;
      if (!input_.drains() && staying <= autoscaler_.min_nodes) break;
      --staying;
      released_.insert(candidate);
      plan_.releases.push_back({candidate->node, candidate->lease, false, cause});
    }
    std::sort(plan_.releases.begin(), plan_.releases.end(),
              [](const auto& a, const auto& b) { return a.node->meta.key.name < b.node->meta.key.name; });
  }

  void ChangePhases() {
    plan_.leased = static_cast<int>(leased_.size());
    for (const CandidateNode* candidate : leased_) {
      const LeasePhase phase = candidate->lease.phase;
      NodeLease after = candidate->lease;
      const bool back = phase == LeasePhase::kReleasing && candidate->pods > 0;
      const bool leaves = !back && (candidate->leaves() || released_.contains(candidate));
      if (!leaves) {
        after.phase = PhaseOf(*candidate);
        after.for_pod = candidate->expected == nullptr ? "" : candidate->expected->uid;
        const bool joins_on = after.phase == LeasePhase::kJoining && phase == LeasePhase::kJoining;
        if (after != candidate->lease && !joins_on) after.since = input_.now;
        // If the clock was set back, `since` may be in the future. It is then set to the current time. Otherwise, the
        // node would stay joining or idle for too long.
        after.since = std::min(after.since, input_.now);
        if (after != candidate->lease && (input_.acts_on(candidate->node) || back)) {
          const bool same_pod = after.for_pod == candidate->lease.for_pod;
          plan_.changes.push_back({candidate->node, candidate->lease, after, same_pod ? nullptr : candidate->expected});
        }
      }
      Count(leaves, after.phase);
      if (after.phase == LeasePhase::kIdle && phase != LeasePhase::kIdle) plan_.WakeAt(input_.now + autoscaler_.idle);
    }
    std::sort(plan_.changes.begin(), plan_.changes.end(),
              [](const auto& a, const auto& b) { return a.node->meta.key.name < b.node->meta.key.name; });
  }

 private:
  // Returns why the idle node may be released now, or nullopt if it must not be released now. If it may be released
  // later, sets the wake time of the plan.
  std::optional<Cause> CauseOf(const CandidateNode& candidate) {
    const auto since = [&](WallTime then, std::chrono::seconds wait) {
      if (input_.now - then < wait) plan_.WakeAt(then + wait);
      return input_.now - then >= wait;
    };
    if (input_.drains()) return Cause::kDraining;
    // In other phases, lease.since is not the time at which the node became idle.
    if (candidate.lease.phase != LeasePhase::kIdle) return std::nullopt;
    if (!candidate.node->ready() &&
        since(candidate.LastChange(input_.now, autoscaler_.unhealthy), autoscaler_.unhealthy))
      return Cause::kNotReady;
    if (!candidate.counted && since(candidate.lease.since, autoscaler_.idle)) return Cause::kIdle;
    return std::nullopt;
  }

  static LeasePhase PhaseOf(const CandidateNode& candidate) {
    if (candidate.pods > 0) return LeasePhase::kInUse;
    if (candidate.lease.phase == LeasePhase::kJoining && !candidate.node->ready()) return LeasePhase::kJoining;
    return candidate.expected == nullptr ? LeasePhase::kIdle : LeasePhase::kReserved;
  }

  void Count(bool leaves, LeasePhase phase) {
    if (leaves) {
      ++plan_.releasing;
    } else if (phase == LeasePhase::kInUse) {
      ++plan_.in_use;
    } else if (phase == LeasePhase::kIdle) {
      ++plan_.idle;
    } else {
      ++plan_.joining;
    }
  }

  const CapacityInput& input_;
  const NodePoolAutoscaler& autoscaler_;
  const CandidateNodes& leased_;
  CapacityPlan& plan_;
  std::unordered_set<const CandidateNode*> released_;
};

}  // namespace

void PlanReleases(const CapacityInput& input, const CandidateNodes& leased, CapacityPlan& plan) {
  Releases releases(input, leased, plan);
  releases.Release();
  releases.ChangePhases();
}

std::string QuarantineReason(const NodePoolAutoscaler& autoscaler, const Node& node, const NodeLease& lease,
                             WallTime now) {
  // If ready_since is far in the future, a wrong clock has set it. It is then unknown how long the Node has not been
  // Ready, so the Node counts as unhealthy.
  const bool unhealthy =
      node.ready_since > now + autoscaler.unhealthy || now - node.ready_since >= autoscaler.unhealthy;
  if (!node.ready() && lease.for_pod.empty() && unhealthy) return FormatTime(now) + " not Ready";
  return autoscaler.quarantine ? FormatTime(now) + " reclaimPolicy Quarantine" : "";
}

}  // namespace yad
