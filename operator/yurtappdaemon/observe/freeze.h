// The freeze of the fleet: ConfigMap yurtappdaemon-freeze in the operator's namespace, with `reason` and `until`.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_FREEZE_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_FREEZE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/runtime/informer.h"
#include "operator/yurtappdaemon/observe/denial.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// The maximum length of a freeze's reason in bytes. A longer reason is truncated.
inline constexpr std::size_t kMaxFreezeReason = 256;

// The content of the ConfigMap. An invalid `until` counts as absent, and the reason says so.
struct FreezeProjection : Projection {
  Freeze freeze;
};
std::unique_ptr<const Projection> ProjectFreeze(const Json& config_map);

// Returns whether the freeze has not expired at `now`.
bool InForce(const Freeze& freeze, WallTime now);

// Returns the freeze among the objects of WatchingFreeze that is in force at `now`, or nullopt if there is none.
std::optional<Freeze> FreezeAmong(const std::vector<ObjectPtr>& config_maps, WallTime now);

// Watches only ConfigMap yurtappdaemon-freeze of namespace `ns`. Readiness does not wait for the first list.
ReflectorOptions WatchingFreeze(const std::string& ns);

// Returns the freeze that is in force now, or nullopt. Without the right to read the ConfigMap, as with an older chart,
// there is no freeze. Fails with kNotSynced if the freeze is not known yet.
Result<std::optional<Freeze>> ReadFreeze(const Informer& config_maps, Denial& denial, Clock& clock);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_FREEZE_H_
