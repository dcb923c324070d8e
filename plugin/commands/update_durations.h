// Finds out how long the last update of each pool took. Pure.
#ifndef PLUGIN_COMMANDS_UPDATE_DURATIONS_H_
#define PLUGIN_COMMANDS_UPDATE_DURATIONS_H_

#include <chrono>
#include <map>
#include <string>

#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Returns the durations by pool. Omits pools whose duration is unknown, and durations over progressDeadlineSeconds:
// such an update had failed, or the pool became unhealthy again later.
//
// An annotation of the workload contains the start of the update. For a Deployment, the update ends when the Deployment
// controller finds the new ReplicaSet available (condition Progressing). For a StatefulSet, it ends when the pool
// becomes healthy. A Soaking pool became healthy when its phase changed. A Ready pool became healthy minReadySeconds
// before its phase changed. If the daemon has checks, this time is unknown for Ready pools, because checks take any
// time.
std::map<std::string, std::chrono::seconds> MeasureDurations(const Snapshot& snapshot);

// Returns the median. `durations` is not empty.
std::chrono::seconds MedianOf(const std::map<std::string, std::chrono::seconds>& durations);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_UPDATE_DURATIONS_H_
