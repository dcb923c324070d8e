// The duration of the last update of each pool. Pure.
#ifndef PLUGIN_COMMANDS_UPDATE_DURATIONS_H_
#define PLUGIN_COMMANDS_UPDATE_DURATIONS_H_

#include <chrono>
#include <map>
#include <string>

#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {

// Returns the durations by pool. Omits pools whose last update left no times.
//
// An update starts at the time in its record, which is an annotation of the workload. For a Deployment, the update ends
// when the Deployment controller finds the new ReplicaSet available (condition Progressing). For a StatefulSet, the
// update ends when the pool becomes healthy. This is the time at which the pool began to soak. For a Ready pool, it is
// the time at which the pool became Ready, minus minReadySeconds. A Ready pool of a daemon with checks has no such
// time, because the checks have no known length. A duration over progressDeadlineSeconds does not count: that update
// had failed, or the pool was unhealthy again later.
std::map<std::string, std::chrono::seconds> LearnDurations(const Snapshot& snapshot);

// Returns the median. `durations` is not empty.
std::chrono::seconds MedianOf(const std::map<std::string, std::chrono::seconds>& durations);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_UPDATE_DURATIONS_H_
