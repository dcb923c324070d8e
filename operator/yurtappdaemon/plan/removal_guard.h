// Blocks removals of workloads that are probably a mistake: many workloads are removed together, or their pools were
// deleted together with the CRD of NodePools. Pure. The reasons are in docs/decisions/0010-mass-removal.md.
#ifndef OPERATOR_YURTAPPDAEMON_PLAN_REMOVAL_GUARD_H_
#define OPERATOR_YURTAPPDAEMON_PLAN_REMOVAL_GUARD_H_

#include <optional>
#include <set>
#include <string>

#include "operator/api/update_strategy.h"
#include "operator/base/error.h"
#include "operator/yurtappdaemon/plan/plan.h"

namespace yad {

// Parses a number ("20", "0") or a percentage ("10%"). Nothing else is valid.
Result<IntOrPercent> ParseRemovalLimit(const std::string& text);

// Reasons of condition RemovalBlocked.
inline constexpr char kTooManyRemovals[] = "TooManyRemovals";
inline constexpr char kNodePoolCrdDeleted[] = "NodePoolCRDDeleted";

struct RemovalFacts {
  // The maximum number of pools of one daemon whose workloads may be removed together; nullopt: no limit. A percentage
  // refers to the pools of the daemon that have workloads.
  std::optional<IntOrPercent> limit;
  // Uids of the workloads whose pools were deleted together with their CRD.
  std::set<std::string> lost;
  std::set<std::string> recreated;  // uids of workloads that are older than their pool, which was created again
  // False if the set of removals has changed recently, so a mistake may still add further removals.
  bool settled = true;
};

// Returns the workloads that the plan removes, except duplicates, whose removal is never blocked.
std::vector<WorkloadRef> RemovedWorkloads(const Plan& plan);

// Returns a token of 16 hexadecimal digits for exactly these workloads. A recreated workload has another uid, so the
// token changes.
std::string RemovalToken(const std::vector<WorkloadRef>& workloads);

// Moves the blocked removals from plan.removals to plan.postponed. If a user has approved them, sets Removal::mark
// instead.
void GuardRemovals(const YurtAppDaemon& daemon, const RemovalFacts& facts, Plan& plan);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_REMOVAL_GUARD_H_
