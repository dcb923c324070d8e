// Reads the DaemonSets that pull the images of a daemon's updates.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_PREFETCHES_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_PREFETCHES_H_

#include <string>

#include "operator/runtime/informer.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// The type of the condition about the pull of images before updates. A daemon has it only if its spec has `prefetch`,
// or while DaemonSets of an earlier `prefetch` are left.
inline constexpr char kPrefetchUnavailable[] = "PrefetchUnavailable";

// Returns the options of the watch of DaemonSets with kPrefetchLabel in `ns`; "" means all namespaces. The watch starts
// on demand, and the cache keeps no content.
ReflectorOptions WatchingPrefetches(const std::string& ns);

// Sets Snapshot::prefetches if the daemon has prefetch, or had it according to `previous`, its last status. Returns
// false while the first list is under way.
//
// If the daemon has prefetch, but the DaemonSets can't be read, sets prefetch_fault.
Result<bool> ReadPrefetches(Informer* daemon_sets, const Json& previous, Snapshot& snapshot);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_PREFETCHES_H_
