// Whether the workloads of pools that are selected no longer may be removed: many at once, or pools that went together
// with their CRD, may be somebody's mistake. Pure. docs/decisions/0010-mass-removal.md says why it is done so.
#ifndef OPERATOR_YURTAPPDAEMON_REMOVAL_GUARD_H_
#define OPERATOR_YURTAPPDAEMON_REMOVAL_GUARD_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "operator/base/error.h"
#include "operator/yurtappdaemon/plan.h"

namespace yad {

// Of how many pools of one daemon the workloads may be removed together.
struct RemovalLimit {
  std::int64_t value = 0;
  bool percent = false;  // of the daemon's pools that have workloads, rounded up

  std::int64_t Of(std::int64_t pools) const;
  std::string ToString() const;  // as ParseRemovalLimit reads it
};
// "20", "10%", "0"; nothing else.
Result<RemovalLimit> ParseRemovalLimit(const std::string& text);

// Reasons of condition RemovalBlocked.
inline constexpr char kTooManyRemovals[] = "TooManyRemovals";
inline constexpr char kNodePoolCrdDeleted[] = "NodePoolCRDDeleted";

struct RemovalFacts {
  std::optional<RemovalLimit> limit;
  // Uids of workloads whose pools did not go by themselves: their CRD was deleted.
  std::set<std::string> lost;
  // No further pool has left for a while, so that what one mistake does is judged together.
  bool settled = true;
};

// A name for exactly these workloads, whatever their order: 16 hexadecimal digits. By their uids, so that a workload
// made anew for a pool has another.
std::string RemovalToken(const std::vector<WorkloadRef>& workloads);

// Of plan.removals (duplicates stay in any case), moves to plan.held what may not go now, and marks what may go only
// because somebody allowed it.
void GuardRemovals(const YurtAppDaemon& daemon, const RemovalFacts& facts, Plan& plan);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REMOVAL_GUARD_H_
