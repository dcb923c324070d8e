// Decides whether the workloads of pools that are no longer selected may be removed. A removal of many workloads
// together, or of pools that were deleted together with their CRD, may be a mistake. Pure. The reasons are in
// docs/decisions/0010-mass-removal.md.
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
  // The maximum number of pools of one daemon whose workloads may be removed together. A percentage refers to the
  // number of the daemon's pools that have workloads.
  std::optional<IntOrPercent> limit;
  // Uids of the workloads whose pools were deleted together with their CRD.
  std::set<std::string> lost;
  // True if the removals have stayed the same for a while. All effects of one mistake are then decided together.
  bool settled = true;
};

// Returns a token for exactly this set of workloads, with 16 hexadecimal digits. It depends on the uids of the
// workloads, so it changes if one of them is recreated.
std::string RemovalToken(const std::vector<WorkloadRef>& workloads);

// Checks plan.removals. Moves the blocked removals to plan.held. Sets the mark of those removals that an approval has
// allowed. Removals of duplicates are not checked.
void GuardRemovals(const YurtAppDaemon& daemon, const RemovalFacts& facts, Plan& plan);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_REMOVAL_GUARD_H_
