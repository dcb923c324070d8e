// Finds out how long the last update of each pool took. Pure.
#ifndef PLUGIN_COMMANDS_UPDATE_DURATIONS_H_
#define PLUGIN_COMMANDS_UPDATE_DURATIONS_H_

#include <chrono>
#include <map>
#include <string>

#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Returns the durations by pool. Omits pools whose duration is unknown. Also omits durations over
// progressDeadlineSeconds: such an update had failed, or the pool became unhealthy again later.
//
// An annotation of the workload contains the start of the update. The end of the update is
// - for a Deployment: the time at which the Deployment controller finds the new ReplicaSet available (condition
//   Progressing);
// - for a StatefulSet in a Soaking pool: the time of the last change of the phase;
// - for a StatefulSet in a Ready pool: minReadySeconds before the last change of the phase. It is unknown if the daemon
//   has checks, because checks take any time.
std::map<std::string, std::chrono::seconds> MeasureDurations(const Snapshot& snapshot);

// Returns the median. `durations` is not empty.
std::chrono::seconds MedianOf(const std::map<std::string, std::chrono::seconds>& durations);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_UPDATE_DURATIONS_H_
