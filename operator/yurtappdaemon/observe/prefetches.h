// Reads the DaemonSets that pull the images of a daemon's updates.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_PREFETCHES_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_PREFETCHES_H_

#include <string>

#include "operator/runtime/informer.h"
#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// The type of the condition about the pull of images. A daemon has the condition only while it pulls images before
// updates, or still has DaemonSets that pull images.
inline constexpr char kPrefetchUnavailable[] = "PrefetchUnavailable";

// Returns the options of the watch of DaemonSets with kPrefetchLabel. `ns` is their namespace, or "" for all
// namespaces. The watch starts when a daemon needs it. The cache does not keep the content of the DaemonSets.
ReflectorOptions WatchingPrefetches(const std::string& ns);

// Sets the daemon's DaemonSets in the snapshot if the daemon pulls images before updates. Also sets them if `previous`,
// its last status, shows that it did. If the daemon pulls images and the DaemonSets can't be read, sets prefetch_fault.
// Returns false while the first list is under way.
Result<bool> ReadPrefetches(Informer* daemon_sets, const Json& previous, Snapshot& snapshot);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_PREFETCHES_H_
