// Reads the freeze, which stops the start of updates for all YurtAppDaemons. A user creates it as ConfigMap
// yurtappdaemon-freeze in the operator's namespace, with the optional keys `reason` and `until` (its end).
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_FREEZE_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_FREEZE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/runtime/informer.h"
#include "operator/yurtappdaemon/observe/forbidden_reads.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// The maximum length of a freeze's reason in bytes. A longer reason is truncated.
inline constexpr std::size_t kMaxFreezeReason = 256;

// The parsed content of ConfigMap yurtappdaemon-freeze. If `until` is invalid, it is ignored, and the reason contains a
// note about it.
struct FreezeProjection : Projection {
  Freeze freeze;
};
std::unique_ptr<const Projection> ProjectFreeze(const Json& config_map);

// Returns whether the freeze has not expired at `now`.
bool InForce(const Freeze& freeze, WallTime now);

// Returns the freeze that is in force at `now`, or nullopt if there is none. `config_maps` are the objects of the watch
// that WatchingFreeze describes.
std::optional<Freeze> FreezeAmong(const std::vector<ObjectPtr>& config_maps, WallTime now);

// Returns the options of a watch that contains only ConfigMap yurtappdaemon-freeze in namespace `ns`. The operator's
// readiness does not wait for its first list.
ReflectorOptions WatchingFreeze(const std::string& ns);

// Returns the freeze that is in force now. Returns nullopt if there is none, or if the operator lacks the permission to
// read the ConfigMap, as with an older Helm chart. Fails with kNotSynced before the first list.
Result<std::optional<Freeze>> ReadFreeze(const Informer& config_maps, ForbiddenReads& forbidden_reads, Clock& clock);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_FREEZE_H_
