#include "operator/yurtappdaemon/plan/removal_guard.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"
#include "operator/base/join.h"
#include "operator/base/number.h"

namespace yad {
namespace {

constexpr int kMostRemovals = 1'000'000;

std::set<std::string> PoolsOf(const std::vector<WorkloadRef>& workloads) {
  std::set<std::string> pools;
  for (const WorkloadRef& workload : workloads) pools.insert(workload.pool);
  return pools;
}

std::set<std::string> UidsOf(const std::vector<WorkloadRef>& workloads) {
  std::set<std::string> uids;
  for (const WorkloadRef& workload : workloads) uids.insert(workload.object->meta().uid);
  return uids;
}

// Returns the number of the daemon's pools that have workloads, including the pools whose workloads will be removed.
std::size_t PoolsWithWorkloads(const Plan& plan, const std::vector<WorkloadRef>& candidates) {
  const auto selected = std::count_if(plan.pools.begin(), plan.pools.end(),
                                      [](const PoolPlan& pool) { return pool.workload.has_value(); });
  return static_cast<std::size_t>(selected) + PoolsOf(candidates).size();
}

// The message contains the command before the names of the pools, so that a truncated message still has the command.
std::string Message(const YurtAppDaemon& daemon, const RemovalFacts& facts, const std::string& reason,
                    std::size_t pools_with_workloads, const PostponedRemovals& postponed) {
  const std::set<std::string> pools = PoolsOf(postponed.workloads);
  std::string text =
      "the operator does not remove the " + TypeOf(daemon.kind).kind + "s of " + Pluralize(pools.size(), "pool") + ": ";
  if (reason == kTooManyRemovals && pools.size() <= facts.limit->Of(pools_with_workloads)) {
    text += "an earlier approval of removals was withdrawn";
  } else if (reason == kTooManyRemovals) {
    text += "--max-removals=" + facts.limit->ToString();
    if (facts.limit->percent) {
      text += " of " + Pluralize(pools_with_workloads, "pool");
    }
    text += " allows " + std::to_string(facts.limit->Of(pools_with_workloads)) + " together";
  } else {
    const bool exist =
        std::all_of(postponed.workloads.begin(), postponed.workloads.end(),
                    [&](const WorkloadRef& workload) { return facts.recreated.contains(workload.object->meta().uid); });
    text += exist ? "these NodePools were created again after the deletion of their CRD; restore their labels"
                  : "these NodePools were deleted with their CRD; restore both";
  }
  text += ". To allow the removal (token " + postponed.token + "): kubectl annotate yad " + daemon.meta.key.name +
          " -n " + daemon.meta.key.ns + " --overwrite " + kAllowRemovalAnnotation + "=" + postponed.token + ". Pools: ";
  return text + NameSome({pools.begin(), pools.end()});
}

// Returns those of `workloads` whose removal is blocked, and the reason. The reason has no meaning if the list is
// empty. `allowed` is the token in the daemon's annotation.
//
// If a user withdraws an approval during the removals, the remaining removals may be within the limit. Removals that an
// earlier token allowed are blocked even in this case.
std::pair<std::vector<WorkloadRef>, std::string> BlockedWorkloads(const RemovalFacts& facts,
                                                                  std::size_t pools_with_workloads,
                                                                  const std::vector<WorkloadRef>& workloads,
                                                                  const std::string& allowed) {
  const auto is_withdrawn = [&](const WorkloadRef& workload) {
    const std::string& mark = workload.object->meta().Annotation(kRemovalAllowedAnnotation);
    return !mark.empty() && mark != allowed && !facts.lost.contains(workload.object->meta().uid);
  };
  if (facts.limit && (PoolsOf(workloads).size() > facts.limit->Of(pools_with_workloads) ||
                      std::any_of(workloads.begin(), workloads.end(), is_withdrawn))) {
    return {workloads, kTooManyRemovals};
  }
  std::vector<WorkloadRef> lost;
  for (const WorkloadRef& workload : workloads) {
    if (facts.lost.contains(workload.object->meta().uid)) lost.push_back(workload);
  }
  return {std::move(lost), kNodePoolCrdDeleted};
}

}  // namespace

Result<IntOrPercent> ParseRemovalLimit(const std::string& text) {
  const bool percent = text.ends_with('%');
  const auto value = ParseNumber<int>(std::string_view(text).substr(0, text.size() - (percent ? 1 : 0)));
  if (!value || *value < 0 || *value > (percent ? 100 : kMostRemovals)) {
    return Fail(Reason::kInvalid,
                "must be a number from 0 to 1000000, or a percentage from 0% to 100%; it is \"" + text + "\"");
  }
  return IntOrPercent{*value, percent};
}

std::vector<WorkloadRef> RemovedWorkloads(const Plan& plan) {
  std::vector<WorkloadRef> workloads;
  for (const Removal& removal : plan.removals) {
    if (!removal.kept) workloads.push_back(removal.workload);
  }
  return workloads;
}

std::string RemovalToken(const std::vector<WorkloadRef>& workloads) {
  std::uint64_t hash = Fnv1a64("");
  for (const std::string& uid : UidsOf(workloads)) hash = Fnv1a64(",", Fnv1a64(uid, hash));
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

void GuardRemovals(const YurtAppDaemon& daemon, const RemovalFacts& facts, Plan& plan) {
  const std::vector<WorkloadRef> candidates = RemovedWorkloads(plan);
  if (candidates.empty() || (!facts.limit && facts.lost.empty())) return;
  const std::size_t pools = PoolsWithWorkloads(plan, candidates);
  const std::string& allowed = daemon.meta.Annotation(kAllowRemovalAnnotation);

  // The token is for all blocked workloads, including those that were already annotated before a crash.
  const std::vector<WorkloadRef> all_blocked = BlockedWorkloads(facts, pools, candidates, allowed).first;
  const bool approved = !all_blocked.empty() && RemovalToken(all_blocked) == allowed;
  const std::set<std::string> approved_uids = approved ? UidsOf(all_blocked) : std::set<std::string>();
  std::vector<WorkloadRef> rest;  // workloads whose removal is not allowed by a token
  for (Removal& removal : plan.removals) {
    if (removal.kept) continue;
    const ObjectMeta& meta = removal.workload.object->meta();
    const std::string& mark = meta.Annotation(kRemovalAllowedAnnotation);
    if (approved ? approved_uids.contains(meta.uid) : !mark.empty() && mark == allowed) {
      // A cached annotation may be stale. With the mark, LiveChecks also reads the annotation from the server.
      removal.mark = allowed;
    } else {
      rest.push_back(removal.workload);
    }
  }
  if (approved) return;
  auto [blocked, reason] = BlockedWorkloads(facts, pools, rest, allowed);
  if (!facts.settled) {
    // If there is a limit, no removal starts before the set of removals is settled, because each removal may be the
    // first of many.
    plan.postponed.workloads = facts.limit ? std::move(rest) : std::move(blocked);
  } else if (!blocked.empty()) {
    plan.postponed.workloads = std::move(blocked);
    plan.postponed.reason = reason;
    plan.postponed.token = RemovalToken(plan.postponed.workloads);
    plan.postponed.message = Message(daemon, facts, reason, pools, plan.postponed);
  }
  const std::set<std::string> postponed = UidsOf(plan.postponed.workloads);
  std::erase_if(plan.removals, [&](const Removal& removal) {
    return !removal.kept && postponed.contains(removal.workload.object->meta().uid);
  });
}

}  // namespace yad
