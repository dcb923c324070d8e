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

// The times that runs take until their last change.
struct RunTimes {
  std::chrono::seconds median{0};
  std::chrono::seconds p90{0};  // 90% of the runs have ended by this time
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
  std::map<std::size_t, int> reached;  // number of pools that get the revision -> number of runs

  // Returns a quantile of `reached`: in at least the part `share` (0 to 1) of the runs, the revision reaches no more
  // pools than the returned number.
  std::size_t ReachedIn(double share) const;
};

// The same seed gives the same result on every machine. In each run, the update of each pool fails independently of the
// others; a pool whose update fails does not become healthy on the revision of the spec.
FailureRuns SimulateFailures(const Snapshot& snapshot, SimulationOptions simulation, const FailureOptions& options);

// The number of runs in which `from` to `to` pools get the revision. RangesOf returns at most `most` ranges of equal
// width.
struct ReachedRange {
  std::size_t from = 0, to = 0;
  int runs = 0;
};
std::vector<ReachedRange> RangesOf(const FailureRuns& runs, std::size_t most);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_FAILURE_RUNS_H_
