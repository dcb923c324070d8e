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

// Reads the DaemonSets with kPrefetchLabel of namespace `ns` ("": all), without their content, once a daemon needs
// them.
ReflectorOptions WatchingPrefetches(const std::string& ns);

// Sets the DaemonSets of the daemon in the snapshot if the daemon pulls images before updates, or if `previous`, its
// last status, shows that it did. If the daemon pulls images and the DaemonSets can't be read, sets prefetch_fault.
// Returns false while the first list is under way.
Result<bool> ReadPrefetches(Informer* daemon_sets, const Json& previous, Snapshot& snapshot);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_PREFETCHES_H_
