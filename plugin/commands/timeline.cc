#include "plugin/commands/timeline.h"

#include <algorithm>
#include <cmath>

#include "operator/base/join.h"
#include "plugin/view/table.h"
#include "plugin/view/text.h"

namespace yad {
namespace {

std::string DurationsText(const Timeline& it) {
  const SimulationOptions& options = it.options;
  const std::string usual = HumanDuration(options.duration);
  if (it.duration_given) return "the update of a pool takes " + usual;
  if (options.durations.empty())
    return "the update of a pool takes " + usual + " (the default, because no pool has a record of its last update)";
  const auto [shortest, longest] =
      std::minmax_element(options.durations.begin(), options.durations.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::string range = shortest->second == longest->second
                                ? HumanDuration(longest->second)
                                : HumanDuration(shortest->second) + " to " + HumanDuration(longest->second);
  const auto recorded = static_cast<std::size_t>(
      std::count_if(it.simulation.pools.begin(), it.simulation.pools.end(),
                    [&](const SimulatedPool& pool) { return options.durations.contains(pool.name); }));
  const std::size_t others = it.simulation.pools.size() - recorded;
  return "the update of a pool takes as long as its last update (" + range + ")" +
         (others == 0 ? "" : ", or " + usual + " (the median) in " + Pluralize(others, "pool") + " without a record");
}

Json TimesJson(const RunTimes& times) {
  return {{"medianSeconds", times.median.count()}, {"p90Seconds", times.p90.count()}};
}

Json FailuresJson(const FailureRuns& runs) {
  Json json = {
      {"rate", runs.options.rate},
      {"runs", runs.options.runs},
      {"seed", runs.options.seed},
      {"time", TimesJson(runs.times)},
      {"ends", Json::array()},
      {"poolsReached",
       {{"median", runs.ReachedQuantile(0.5)}, {"p90", runs.ReachedQuantile(0.9)}, {"counts", Json::array()}}}};
  for (const FailureRuns::End& end : runs.ends) {
    Json entry = TimesJson(end.times);
    entry["end"] = end.name;
    entry["runs"] = end.runs;
    json["ends"].push_back(std::move(entry));
  }
  for (const auto& [pools, count] : runs.reached)
    json["poolsReached"]["counts"].push_back({{"pools", pools}, {"runs", count}});
  return json;
}

Json DurationsJson(const Timeline& it) {
  const char* source = it.duration_given ? "Flag" : it.options.durations.empty() ? "Default" : "Recorded";
  return {{"source", source}, {"seconds", it.options.duration.count()}, {"recordedPools", it.options.durations.size()}};
}

void AddFailures(const FailureRuns& runs, std::vector<std::string>& lines) {
  lines.insert(lines.end(), {"", FailuresLine(runs)});
  Table ends({"END", "RUNS", "MEDIAN", "90%"});
  for (const FailureRuns::End& end : runs.ends) {
    ends.Add(
        {end.name, ShareOf(end.runs, runs), "+" + HumanDuration(end.times.median), "+" + HumanDuration(end.times.p90)});
  }
  Table reached({"POOLS", "RUNS"});
  for (const ReachedRange& range : RangesOf(runs, kMaxRanges)) {
    const std::string pools =
        std::to_string(range.from) + (range.to == range.from ? "" : "-" + std::to_string(range.to));
    reached.Add({pools, ShareOf(range.runs, runs)});
  }
  ends.AppendTo(lines);
  reached.AppendTo(lines);
  lines.insert(lines.end(), {"", ReachedLine(runs)});
}

}  // namespace

std::string ResultOf(const SimulatedPool& pool) {
  if (pool.goes_back) return "RolledBack";
  if (pool.failed_at) return "Failed";
  if (pool.ends) return "Updated";
  if (pool.starts) return pool.offline ? "Offline" : "Updating";
  if (pool.waiting_for != WaitingFor::kNone) return "WaitingFor" + std::string(ToString(pool.waiting_for));
  return "Unchanged";
}

std::string After(const std::optional<WallTime>& time, const Simulation& simulation) {
  return time ? "+" + HumanDuration(*time - simulation.from) : "<none>";
}

std::string ShareOf(int runs, const FailureRuns& all) {
  const double percent = 100.0 * runs / all.options.runs;
  if (runs > 0 && percent < 1) return "<1%";
  if (runs < all.options.runs && percent > 99) return ">99%";
  return std::to_string(std::lround(percent)) + "%";
}

std::string Headline(const Timeline& timeline) {
  return "Rollout of yurtappdaemon \"" + timeline.daemon + "\" to " + timeline.revision + ", simulated from " +
         FormatTime(timeline.simulation.from) + ", if " +
         (timeline.options.failing ? "every update fails" : DurationsText(timeline));
}

std::string LastLine(const Timeline& timeline) {
  const Simulation& simulation = timeline.simulation;
  const std::size_t pools = simulation.pools.size();
  if (simulation.idle()) {
    if (pools == 0) return "Nothing to roll out: no NodePool is selected";
    return "Nothing to roll out: " + (pools == 1 ? "the pool has " : "all " + std::to_string(pools) + " pools have ") +
           timeline.revision;
  }
  return EndOf(simulation) + " after " + HumanDuration(simulation.to - simulation.from) + ": " +
         std::to_string(simulation.reached()) + " of " + std::to_string(pools) + " pools get " + timeline.revision;
}

std::string FailuresLine(const FailureRuns& runs) {
  std::string rate = std::to_string(100 * runs.options.rate);
  rate.erase(rate.find_last_not_of('0') + 1);
  if (rate.ends_with('.')) rate.pop_back();
  return std::to_string(runs.options.runs) + " runs in which each update fails with a probability of " + rate +
         "% (seed " + std::to_string(runs.options.seed) + "): half of them end within " +
         HumanDuration(runs.times.median) + ", and 90% within " + HumanDuration(runs.times.p90);
}

std::string ReachedLine(const FailureRuns& runs) {
  return "The revision reaches at most " + Pluralize(runs.ReachedQuantile(0.5), "pool") +
         " in half of the runs, and at most " + Pluralize(runs.ReachedQuantile(0.9), "pool") + " in 90% of them";
}

std::vector<std::string> DescribeTimeline(const Timeline& timeline) {
  const Simulation& simulation = timeline.simulation;
  std::vector<std::string> lines{Headline(timeline)};
  Table pools({"GROUP", "POOL", "STARTS", "ENDS", "RESULT"});
  for (const SimulatedPool& pool : simulation.pools) {
    pools.Add({pool.group, pool.name, After(pool.starts, simulation), After(pool.ends, simulation), ResultOf(pool)});
  }
  Table events({"TIME", "AFTER", "EVENT"});
  for (const SimulatedEvent& event : simulation.events)
    events.Add({FormatTime(event.at), After(event.at, simulation), event.what});
  events.AppendTo(lines);
  pools.AppendTo(lines);
  lines.insert(lines.end(), {"", LastLine(timeline)});
  lines.insert(lines.end(), simulation.failures.begin(), simulation.failures.end());
  if (timeline.failures) AddFailures(*timeline.failures, lines);
  return lines;
}

Json ToJson(const Timeline& timeline) {
  const Simulation& simulation = timeline.simulation;
  Json json = {
      {"name", timeline.daemon},         {"revision", timeline.revision}, {"from", FormatTime(simulation.from)},
      {"to", FormatTime(simulation.to)}, {"end", EndOf(simulation)},      {"poolsReached", simulation.reached()},
      {"events", Json::array()},         {"pools", Json::array()},        {"durations", DurationsJson(timeline)}};
  for (const SimulatedEvent& event : simulation.events)
    json["events"].push_back({{"time", FormatTime(event.at)}, {"event", event.what}});
  for (const SimulatedPool& pool : simulation.pools) {
    Json entry = {{"name", pool.name}, {"group", pool.group}, {"result", ResultOf(pool)}};
    if (const auto took = timeline.options.durations.find(pool.name); took != timeline.options.durations.end())
      entry["lastUpdateSeconds"] = took->second.count();
    if (pool.starts) entry["starts"] = FormatTime(*pool.starts);
    if (pool.healthy) entry["healthy"] = FormatTime(*pool.healthy);
    if (pool.ends) entry["ends"] = FormatTime(*pool.ends);
    if (pool.failed_at) entry["failed"] = FormatTime(*pool.failed_at);
    if (pool.goes_back) entry["goesBack"] = FormatTime(*pool.goes_back);
    json["pools"].push_back(std::move(entry));
  }
  if (!simulation.failures.empty()) json["failures"] = simulation.failures;
  if (timeline.failures) json["failureRuns"] = FailuresJson(*timeline.failures);
  return json;
}

}  // namespace yad
