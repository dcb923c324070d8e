// Simulates a rollout in virtual time, with the planner of the operator. Pure.
#ifndef PLUGIN_COMMANDS_SIMULATION_H_
#define PLUGIN_COMMANDS_SIMULATION_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/rollout/rollout.h"

namespace yad {

struct SimulationOptions {
  std::chrono::seconds duration{120};                     // from a write of a workload until it is healthy
  std::map<std::string, std::chrono::seconds> durations;  // by pool; the other pools have `duration`
  bool failing = false;                                   // no pool becomes healthy on the spec's revision
  std::set<std::string> failing_pools;                    // pools that do not become healthy on the spec's revision
};

struct SimulatedPool {
  std::string name;
  std::string group;
  bool had = false;                   // at the start, the pool has the spec's revision, and its rollout is not complete
  std::optional<WallTime> starts;     // the write that updates the pool to the spec's revision
  std::optional<WallTime> healthy;    // the first time that the pool is healthy on that revision
  std::optional<WallTime> ends;       // the pool has been healthy on it for minReadySeconds
  std::optional<WallTime> failed_at;  // when the pool begins to count for maxFailures
  std::optional<WallTime> goes_back;  // the write that restores status.currentRevision
  bool offline = false;               // its site is offline, so it does not become healthy
  WaitingFor waiting_for = WaitingFor::kNone;  // at the end
  bool on_update = false;                      // at the end, the pool has the spec's revision
};

struct SimulatedEvent {
  WallTime at;
  std::string what;
};

struct Simulation {
  WallTime from;
  WallTime to;  // time of the last change
  RolloutState state = RolloutState::kComplete;
  bool rolled_back = false;
  bool finished = true;                // false: the simulation stopped because it was too long
  std::vector<SimulatedPool> pools;    // in the order of the snapshot
  std::vector<SimulatedEvent> events;  // in the order of time
  std::vector<std::string> failures;   // pools whose workload can't be rendered, with the reason

  // Returns the number of pools that receive the revision of the spec, or have it at the start.
  std::size_t reached() const;
  // Returns whether there is nothing to roll out: all pools have the revision of the spec from the beginning.
  bool idle() const;
};

// Simulates the rollout of `snapshot`, whose updateStrategy must be RollingUpdate. The simulation assumes that
// - users approve each group as soon as it waits for approval;
// - offline pools stay offline;
// - a workload that is unhealthy on an old revision stays unhealthy until its update.
Simulation Simulate(Snapshot snapshot, const SimulationOptions& options);

// Returns the state at the end: "RolledBack", "Unfinished", or the name of a RolloutState. The name "Complete" means
// that the operator sets condition Complete to True. If pools are held, in the partition, or all offline, the operator
// sets the condition to False. The result is then the reason of the condition, such as "PoolsHeld".
std::string EndOf(const Simulation& simulation);

// Returns the duration of each pool's last update, from its start until the pool was healthy. Omits a pool if the
// duration is unknown. Also omits a pool if the duration is longer than progressDeadlineSeconds, because the update had
// failed, or the pool became unhealthy again later.
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

#endif  // PLUGIN_COMMANDS_SIMULATION_H_
