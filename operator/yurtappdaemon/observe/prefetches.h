// Reads the DaemonSets that pull the images of a daemon's updates.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_PREFETCHES_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_PREFETCHES_H_

#include <string>

#include "operator/runtime/informer.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// The type of the condition about the pull of images before updates. A daemon has it only if its spec has `prefetch`,
// or while DaemonSets of an earlier `prefetch` exist.
inline constexpr char kPrefetchUnavailable[] = "PrefetchUnavailable";

// Returns the options of the watch of DaemonSets with label kPrefetchLabel in namespace `ns`; "" means all namespaces.
// The watch starts on demand. The cache keeps the metadata and the state of each DaemonSet, but not its spec.
ReflectorOptions WatchingPrefetches(const std::string& ns);

// Reads the DaemonSets that pull the daemon's images from the cache into Snapshot::prefetches. Does nothing if the spec
// has no `prefetch`, and the daemon also had none according to `previous`, its last status. Returns false while the
// first list is in progress.
//
// If the spec has `prefetch`, but the DaemonSets can't be read, sets Snapshot::prefetch_error.
Result<bool> ReadPrefetches(Informer* daemon_sets, const Json& previous, Snapshot& snapshot);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_PREFETCHES_H_
