// Formats the result of `kubectl yad simulate`. Pure.
#ifndef PLUGIN_COMMANDS_TIMELINE_H_
#define PLUGIN_COMMANDS_TIMELINE_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "plugin/commands/failure_runs.h"
#include "plugin/commands/simulation.h"

namespace yad {

struct Timeline {
  std::string daemon;    // its name
  std::string revision;  // of the spec
  SimulationOptions options;
  bool duration_given = false;  // options.duration comes from --duration
  Simulation simulation;
  std::optional<FailureRuns> failures;  // with --failure-rate
};

std::vector<std::string> DescribeTimeline(const Timeline& timeline);
Json ToJson(const Timeline& timeline);

// Returns one HTML document without scripts and references to other files. Text from the cluster is escaped.
std::string TimelinePage(const Timeline& timeline);

// Single lines and cells of the output.
std::string Headline(const Timeline& timeline);
std::string LastLine(const Timeline& timeline);
std::string FailuresLine(const FailureRuns& runs);
std::string ReachedLine(const FailureRuns& runs);
std::string ResultOf(const SimulatedPool& pool);        // "Updated"
std::string ShareOf(int runs, const FailureRuns& all);  // "12%"
// Returns the time from the start of the simulation to `time`, such as "+5m"; "<none>" for nullopt.
std::string After(const std::optional<WallTime>& time, const Simulation& simulation);

// A timeline shows at most this many ranges of RangesOf.
inline constexpr std::size_t kMaxRanges = 10;

}  // namespace yad

#endif  // PLUGIN_COMMANDS_TIMELINE_H_
