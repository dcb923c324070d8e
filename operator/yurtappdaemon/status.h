// The status that a daemon should show. Pure.
#ifndef OPERATOR_YURTAPPDAEMON_STATUS_H_
#define OPERATOR_YURTAPPDAEMON_STATUS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/api/field_error.h"
#include "operator/base/clock.h"
#include "operator/yurtappdaemon/diagnosis.h"
#include "operator/yurtappdaemon/plan.h"
#include "operator/yurtappdaemon/pool_view.h"
#include "operator/yurtappdaemon/snapshot.h"
#include "operator/yurtappdaemon/status_lists.h"

namespace yad {

// By pool, without zeros.
using MisplacedCounts = std::map<std::string, std::int64_t, std::less<>>;

struct StatusInput {
  const Snapshot& snapshot;
  const std::vector<PoolResult>& pools;
  const std::vector<WorkloadRef>& leaving;  // workloads of pools that are no longer selected, being removed
  // What status said last: times are carried over from it. The daemon's own, but for what an old CRD dropped.
  const Json& previous;
  std::int64_t collision_count = 0;
  const HeldRemovals& held;  // workloads of such pools that stay for now
  const std::optional<Rollout>& rollout;
  const Diagnoses* diagnoses = nullptr;        // of pools that are not healthy; null: no pool was examined
  const MisplacedCounts* misplaced = nullptr;  // null: misplaced pods are not counted
};

// What status is to say. Not to outlive the input that it was built from.
struct DaemonStatus {
  Json fields;
  std::optional<StatusLists> lists;  // none: they are among the fields, or stay

  Json ToJson() const;
  bool IsShownBy(const Json& status) const;
  // The merge patch that turns `before` into this, top-level fields of status only; null where they are equal.
  Json PatchFrom(const Json& before, const std::string& uid) const;
};

// Everything of status. Times are carried over from the old status where nothing changed, so an unchanged world gives
// an equal status.
DaemonStatus BuildStatus(const StatusInput& input);

// The old status, with conditions that say that the spec is not acted upon, and why. What runs stays as it is.
Json BuildBlockedStatus(const ObjectMeta& meta, const Json& object, const std::string& reason, const Error& error,
                        WallTime now);
// Whether status says so already.
bool SaysBlocked(const Json& status, const std::string& reason, const Error& error);

// The groups that had begun with `revision`, as status remembers them.
std::set<std::string> BegunGroups(const Json& status, const std::string& revision);

// Whether status names the token of what is blocked.
bool SaysRemovalBlocked(const Json& status, const std::string& token);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_STATUS_H_
