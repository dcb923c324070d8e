// Blocks removals of workloads that are probably mistakes: many together, or of pools that were deleted together with
// their CRD. Pure. The reasons are in docs/decisions/0010-mass-removal.md.
#ifndef OPERATOR_YURTAPPDAEMON_PLAN_REMOVAL_GUARD_H_
#define OPERATOR_YURTAPPDAEMON_PLAN_REMOVAL_GUARD_H_

#include <cstdint>
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
  // The maximum number of pools of one daemon whose workloads may be removed together. A percentage is of the pools
  // with workloads.
  std::optional<IntOrPercent> limit;
  // Uids of the workloads whose pools were deleted together with their CRD.
  std::set<std::string> lost;
  std::set<std::string> recreated;  // uids of workloads whose pools are younger than they are
  // False: the set of removals has changed a moment ago, so a mistake may cause further removals.
  bool settled = true;
};

// Returns a token of 16 hexadecimal digits for exactly these workloads. A recreated workload has another uid, so the
// token changes.
std::string RemovalToken(const std::vector<WorkloadRef>& workloads);

// Moves the blocked removals from plan.removals to plan.postponed. Sets the mark of those that an approval has allowed.
// Ignores duplicates.
void GuardRemovals(const YurtAppDaemon& daemon, const RemovalFacts& facts, Plan& plan);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_REMOVAL_GUARD_H_
