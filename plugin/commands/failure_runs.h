// Simulations in which updates fail at random. Pure.
#ifndef PLUGIN_COMMANDS_FAILURE_RUNS_H_
#define PLUGIN_COMMANDS_FAILURE_RUNS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "operator/yurtappdaemon/observe/snapshot.h"
#include "plugin/commands/simulation.h"

namespace yad {

struct FailureOptions {
  double rate = 0;  // the probability that the update of a pool fails, from 0 to 1
  int runs = 100;   // at least 1
  std::uint64_t seed = 1;
};

// Percentiles of the time from the start of a run to its last change.
struct RunTimes {
  std::chrono::seconds median{0};
  std::chrono::seconds p90{0};  // 90% of the runs end within this time
};

struct FailureRuns {
  FailureOptions options;
  struct End {
    std::string name;  // as EndOf returns it
    int runs = 0;
    RunTimes times;
  };
  std::vector<End> ends;               // the most frequent first
  RunTimes times;                      // of all runs
  std::map<std::size_t, int> reached;  // number of pools that receive the revision -> number of runs

  // Returns a quantile of the number of pools that receive the revision. For example, if ReachedQuantile(0.9) is 12,
  // the revision reaches at most 12 pools in 90% of the runs.
  std::size_t ReachedQuantile(double share) const;
};

// Simulates the rollout several times. In each run, the update of each pool fails with the probability `rate`: the pool
// does not become healthy on the revision of the spec. The same seed has the same result on every machine.
FailureRuns SimulateFailures(const Snapshot& snapshot, SimulationOptions simulation, const FailureOptions& options);

// The number of runs in which the revision reaches at least `from` and at most `to` pools.
struct ReachedRange {
  std::size_t from = 0, to = 0;
  int runs = 0;
};
// Returns the runs in at most `most` ranges of equal width.
std::vector<ReachedRange> RangesOf(const FailureRuns& runs, std::size_t most);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_FAILURE_RUNS_H_
