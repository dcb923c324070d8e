// Finds out how long the last update of each pool took. Pure.
#ifndef PLUGIN_COMMANDS_UPDATE_DURATIONS_H_
#define PLUGIN_COMMANDS_UPDATE_DURATIONS_H_

#include <chrono>
#include <map>
#include <string>

#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Returns the duration of each pool's last update, from its start until the pool was healthy. Omits a pool if the
// duration is unknown or longer than progressDeadlineSeconds. In that case the update had failed, or the pool became
// unhealthy again later.
//
// The start comes from an annotation of the workload. The end is
// - for a Deployment: the time in condition Progressing at which its controller found the new ReplicaSet available;
// - for a StatefulSet in a pool with phase Soaking: the last change of the phase;
// - for a StatefulSet in a pool with phase Ready: minReadySeconds before the last change of the phase. The end is
//   unknown if the daemon has checks, because checks take any time.
std::map<std::string, std::chrono::seconds> MeasureDurations(const Snapshot& snapshot);

// Returns the median. `durations` is not empty.
std::chrono::seconds MedianOf(const std::map<std::string, std::chrono::seconds>& durations);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_UPDATE_DURATIONS_H_
