#include "plugin/commands/timeline.h"

#include <algorithm>
#include <string_view>

#include "plugin/view/table.h"
#include "plugin/view/text.h"

namespace yad {
namespace {

std::string_view NameOf(RolloutState state) {
  switch (state) {
    case RolloutState::kComplete:
      return "Complete";
    case RolloutState::kMoving:
      return "Moving";
    case RolloutState::kWaitingForApproval:
      return "WaitingForApproval";
    case RolloutState::kWaitingForWindow:
      return "WaitingForWindow";
    case RolloutState::kFrozen:
      return "Frozen";
    case RolloutState::kOutage:
      return "SitesOffline";
    case RolloutState::kBudgetExceeded:
      return "FailureBudgetExceeded";
    case RolloutState::kPaused:
      return "Paused";
  }
  return "";
}

std::string EndOf(const Simulation& simulation) {
  if (!simulation.finished) return "Unfinished";
  return simulation.rolled_back ? "RolledBack" : std::string(NameOf(simulation.state));
}

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

std::string Headline(const Timeline& it) {
  const Simulation& simulation = it.simulation;
  return "Rollout of yurtappdaemon \"" + it.daemon + "\" to " + it.revision + ", simulated from " +
         FormatTime(simulation.from) + ", if " +
         (it.options.failing ? "every update fails"
                             : "the update of a pool takes " + HumanDuration(it.options.duration));
}

std::string LastLine(const Timeline& it) {
  const Simulation& simulation = it.simulation;
  return EndOf(simulation) + " after " + HumanDuration(simulation.to - simulation.from) + ": " +
         std::to_string(simulation.reached()) + " of " + std::to_string(simulation.pools.size()) + " pools get " +
         it.revision;
}

}  // namespace

std::vector<std::string> DescribeTimeline(const Timeline& timeline) {
  const Simulation& simulation = timeline.simulation;
  std::vector<std::string> lines{Headline(timeline), ""};
  Table pools({"GROUP", "POOL", "STARTS", "ENDS", "RESULT"});
  for (const SimulatedPool& pool : simulation.pools) {
    pools.Add({pool.group, pool.name, After(pool.starts, simulation), After(pool.ends, simulation), ResultOf(pool)});
  }
  Table events({"TIME", "AFTER", "EVENT"});
  for (const SimulatedEvent& event : simulation.events)
    events.Add({FormatTime(event.at), After(event.at, simulation), event.what});
  for (const Table* table : {&events, &pools}) {
    if (table->empty()) continue;
    for (std::string& line : table->Lines()) lines.push_back(std::move(line));
    lines.emplace_back();
  }
  lines.push_back(LastLine(timeline));
  for (const std::string& failure : simulation.failures) lines.push_back(failure);
  return lines;
}

Json ToJson(const Timeline& timeline) {
  const Simulation& simulation = timeline.simulation;
  Json json = {
      {"name", timeline.daemon},         {"revision", timeline.revision}, {"from", FormatTime(simulation.from)},
      {"to", FormatTime(simulation.to)}, {"end", EndOf(simulation)},      {"poolsReached", simulation.reached()},
      {"events", Json::array()},         {"pools", Json::array()}};
  for (const SimulatedEvent& event : simulation.events)
    json["events"].push_back({{"time", FormatTime(event.at)}, {"event", event.what}});
  for (const SimulatedPool& pool : simulation.pools) {
    Json entry = {{"name", pool.name}, {"group", pool.group}, {"result", ResultOf(pool)}};
    if (pool.starts) entry["starts"] = FormatTime(*pool.starts);
    if (pool.ends) entry["ends"] = FormatTime(*pool.ends);
    if (pool.failed_at) entry["failed"] = FormatTime(*pool.failed_at);
    if (pool.goes_back) entry["goesBack"] = FormatTime(*pool.goes_back);
    json["pools"].push_back(std::move(entry));
  }
  if (!simulation.failures.empty()) json["failures"] = simulation.failures;
  return json;
}

}  // namespace yad
