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
  // Uids of workloads whose pools were not deleted individually, but together with their CRD.
  std::set<std::string> lost;
  // True if no other pool has left for a while, so that all effects of one mistake are decided together.
  bool settled = true;
};

// Returns a name for exactly this set of workloads: 16 hexadecimal digits. The name depends on the workloads' uids, so
// a workload that is recreated for a pool changes the name.
std::string RemovalToken(const std::vector<WorkloadRef>& workloads);

// Checks plan.removals. Moves the removals that are blocked now to plan.held, and sets the mark of those that only an
// approval allows. Removals of duplicates are not checked.
void GuardRemovals(const YurtAppDaemon& daemon, const RemovalFacts& facts, Plan& plan);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_REMOVAL_GUARD_H_
