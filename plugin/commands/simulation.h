// A rollout in virtual time, with the plans that the operator would make. Pure.
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
  std::chrono::seconds duration{120};  // from the write of a pool's workload until the workload is healthy
  std::map<std::string, std::chrono::seconds> durations;  // by pool; the other pools have `duration`
  bool failing = false;                                   // no workload becomes healthy on the revision of the spec
  std::set<std::string> failing_pools;                    // the same for the workloads of these pools
};

struct SimulatedPool {
  std::string name;
  std::string group;
  std::optional<WallTime> starts;              // the write that brings the pool to the revision of the spec
  std::optional<WallTime> healthy;             // on that revision, for the first time
  std::optional<WallTime> ends;                // healthy on that revision for minReadySeconds
  std::optional<WallTime> failed_at;           // from this time on, the pool counts for maxFailures
  std::optional<WallTime> goes_back;           // the write that brings the pool back to status.currentRevision
  bool offline = false;                        // updated, but not healthy before its site is online again
  WaitingFor waiting_for = WaitingFor::kNone;  // at the end
};

struct SimulatedEvent {
  WallTime at;
  std::string what;
};

struct Simulation {
  WallTime from;
  WallTime to;  // the last change
  RolloutState state = RolloutState::kComplete;
  bool rolled_back = false;
  bool finished = true;                // false: the simulation was too long
  std::vector<SimulatedPool> pools;    // in the order of the snapshot
  std::vector<SimulatedEvent> events;  // in the order of time
  std::vector<std::string> failures;   // pools whose workload can't be rendered, with the reason

  // Returns the number of pools that get the revision of the spec in the simulation.
  std::size_t reached() const;
};

// Simulates the rollout of `snapshot`, whose strategy is RollingUpdate. A workload that is unhealthy on another
// revision stays so, and an offline pool stays offline. Each approval is given at the moment at which it is needed.
Simulation Simulate(Snapshot snapshot, const SimulationOptions& options);

// Returns the state at the end: "RolledBack", "Unfinished", or the name of a RolloutState, such as "Complete".
std::string EndOf(const Simulation& simulation);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_SIMULATION_H_
