#include "plugin/dashboard/daemon_model.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "operator/api/conditions.h"
#include "operator/api/update_strategy.h"
#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "plugin/dashboard/fleet_model.h"
#include "plugin/manifest/yaml.h"

namespace yad {
namespace {

constexpr std::size_t kMaxTemplate = 64 * 1024;

// Returns the name that the page uses for a group: "" for the group of the pools that no other group selects.
std::string ShownName(const RolloutGroup& group) { return group.name == kDefaultGroup ? "" : group.name; }

// The pools of a group, by their progress.
struct GroupCounts {
  std::int64_t pools = 0, current = 0, done = 0, failed = 0, updating = 0, soaking = 0;
  std::optional<WallTime> soak_ends;
};

GroupCounts CountGroup(const std::vector<PoolFacts>& pools, std::size_t group, std::chrono::seconds min_ready) {
  GroupCounts counts;
  for (const PoolFacts& pool : pools) {
    if (pool.group != group) continue;
    const PoolPhase phase = ParsePoolPhase(pool.phase);
    ++counts.pools;
    if (phase == PoolPhase::kFailed) ++counts.failed;
    if (!pool.current) continue;
    ++counts.current;
    if (pool.done()) ++counts.done;
    if (phase == PoolPhase::kPending || phase == PoolPhase::kUpdating) ++counts.updating;
    if (phase == PoolPhase::kVerifying || phase == PoolPhase::kSoaking) ++counts.soaking;
    const WallTime since = ParseTime(pool.since);
    if (phase != PoolPhase::kSoaking || since == WallTime()) continue;
    counts.soak_ends = std::max(counts.soak_ends, std::optional(since + min_ready));
  }
  return counts;
}

const char* ApprovalOf(const PlannedSnapshot& planned, const RolloutGroup& group, bool waits, bool begun) {
  if (!group.manual) return "NotRequired";
  if (waits) return "Waiting";
  const Snapshot& snapshot = planned.snapshot;
  const auto entries = ApprovalEntries(snapshot.daemon.meta.Annotation(kApproveAnnotation));
  const bool given =
      std::find(entries.begin(), entries.end(), snapshot.update->name + "/" + group.name) != entries.end();
  return given || begun ? "Given" : "Required";
}

Json GroupJson(const PlannedSnapshot& planned, std::size_t index, const GroupCounts& counts, std::int64_t position) {
  const RollingUpdate& strategy = planned.snapshot.daemon.strategy.rolling;
  const RolloutGroup& group = strategy.groups[index];
  const RolloutDecision& decision = planned.plan.rollout->decision;
  const bool done = counts.done == counts.pools;
  const bool began = counts.current > 0 || planned.snapshot.begun.contains(group.name);
  const bool waits = decision.state == RolloutState::kWaitingForApproval && decision.group == index;
  const bool stopped = decision.state == RolloutState::kBudgetExceeded || planned.plan.rollout->target.rolled_back;
  const bool present = decision.state != RolloutState::kComplete && decision.group == index;
  const char* state = done                  ? "Done"
                      : waits               ? "WaitingForApproval"
                      : stopped             ? (counts.current > 0 ? "Stopped" : "NotBegun")
                      : counts.updating > 0 ? "Updating"
                      : counts.soaking > 0  ? "Soaking"
                      : began || present    ? "Waiting"
                                            : "NotBegun";
  return {{"name", ShownName(group)},
          {"position", position},
          {"pools", counts.pools},
          {"updated", counts.current},
          {"failed", counts.failed},
          {"began", began},
          {"approval", ApprovalOf(planned, group, waits, began || done)},
          {"soakSeconds", strategy.min_ready.count()},
          {"soakEnds", TimeOrNull(counts.soak_ends)},
          {"maxUnavailable", group.max_unavailable.value_or(strategy.max_unavailable).ToString()},
          {"state", state}};
}

std::string TemplateText(const Json& daemon) {
  const Json* pods = Find(daemon, {"spec", "workloadTemplate", TemplateField(KindOf(daemon)), "spec", "template"});
  return pods == nullptr ? "" : Cut(ToYaml(*pods), kMaxTemplate);
}

std::string NumberOrPercent(const Json& daemon, std::string_view field, const std::string& fallback) {
  const Json* value = Find(daemon, {"spec", "updateStrategy", "rollingUpdate", field});
  if (value == nullptr || value->is_null()) return fallback;
  return value->is_string() ? value->get<std::string>() : value->dump();
}

// Returns the named groups, and the default group if it has pools. Sets `next` to the first time at which a soak ends.
Json Groups(const DaemonInput& input, const std::vector<PoolFacts>& pools, std::optional<WallTime>& next) {
  Json groups = Json::array();
  if (input.planned == nullptr || !input.planned->plan.rollout) return groups;
  const RollingUpdate& strategy = input.planned->snapshot.daemon.strategy.rolling;
  std::int64_t position = 0;
  for (std::size_t i = 0; i < strategy.groups.size(); ++i) {
    const GroupCounts counts = CountGroup(pools, i, strategy.min_ready);
    if (counts.pools == 0 && strategy.groups[i].name == kDefaultGroup) continue;
    groups.push_back(GroupJson(*input.planned, i, counts, position++));
    if (counts.soak_ends && (!next || *counts.soak_ends < *next)) next = counts.soak_ends;
  }
  return groups;
}

std::optional<WallTime> NextChange(const DaemonInput& input, const std::optional<WallTime>& soak_ends) {
  std::optional<WallTime> next;
  const auto at = [&](const std::optional<WallTime>& time) {
    if (time && *time > input.now && (!next || *time < *next)) next = time;
  };
  at(soak_ends);
  if (input.planned == nullptr) return next;
  at(input.planned->plan.wake);
  if (const auto& rollout = input.planned->plan.rollout; rollout && rollout->next_window)
    at(rollout->next_window->opens);
  if (input.planned->snapshot.freeze) at(input.planned->snapshot.freeze->until);
  return next;
}

Json TimelineJson(const std::vector<TimelineEntry>& entries) {
  Json timeline = Json::array();
  for (const TimelineEntry& entry : entries) timeline.push_back({{"at", TimeOrNull(entry.at)}, {"what", entry.what}});
  return timeline;
}

Json MakeHead(const DaemonInput& input, const std::vector<PoolFacts>& pools) {
  Json head = FleetEntry(input.object);
  std::optional<WallTime> soak_ends;
  head["strategy"] = StringAt(input.object, {"spec", "updateStrategy", "type"}, "All");
  head["conditions"] = ListAt(input.object, {"status", "conditions"});
  head["groups"] = Groups(input, pools, soak_ends);
  head["maxUnavailable"] = NumberOrPercent(input.object, "maxUnavailable", "1");
  head["maxFailures"] = NumberOrPercent(input.object, "maxFailures", "0");
  head["nextChange"] = TimeOrNull(NextChange(input, soak_ends));
  head["template"] = TemplateText(input.object);
  head["undoTo"] = input.undo_to;
  head["timeline"] = TimelineJson(input.timeline);
  head["warnings"] = input.warnings;
  if (head["removalsBlocked"] != "") head["warnings"].push_back(head["removalsBlocked"]);
  return head;
}

std::string GroupName(const DaemonInput& input, const PoolFacts& pool) {
  if (input.planned == nullptr || !pool.group) return "";
  return ShownName(input.planned->snapshot.daemon.strategy.rolling.groups[*pool.group]);
}

// Adds an item to the JSON of a list that has no closing bracket yet.
void AppendItem(std::string& list, const std::string& item) {
  if (list.size() > 1) list += ',';
  list += item;
}

}  // namespace

ShownDaemonPtr MakeShownDaemon(const DaemonInput& input, const std::vector<PoolFacts>& pools,
                               const ShownDaemon* before) {
  auto state = std::make_shared<ShownDaemon>();
  state->head = DumpJson(MakeHead(input, pools));
  using PoolPtr = std::shared_ptr<const ShownDaemon::Pool>;
  std::unordered_map<std::string_view, const PoolPtr*> known;
  if (before != nullptr) {
    for (const PoolPtr& pool : before->pools) known.emplace(pool->facts.name, &pool);
  }
  state->pools.reserve(pools.size());
  for (const PoolFacts& pool : pools) {
    std::string group = GroupName(input, pool);
    const auto found = known.find(pool.name);
    if (found != known.end() && (*found->second)->group == group && (*found->second)->facts == pool) {
      state->pools.push_back(*found->second);
    } else {
      std::string json = DumpJson(ToJson(pool, group));
      state->pools.push_back(
          std::make_shared<const ShownDaemon::Pool>(ShownDaemon::Pool{pool, std::move(group), std::move(json)}));
    }
  }
  return state;
}

std::string PoolsChange(const ShownDaemon* before, const ShownDaemon& after) {
  const bool same_order = before != nullptr &&
                          std::equal(before->pools.begin(), before->pools.end(), after.pools.begin(), after.pools.end(),
                                     [](const auto& a, const auto& b) { return a->facts.name == b->facts.name; });
  std::string pools = "[", order = "[";
  for (std::size_t i = 0; i < after.pools.size(); ++i) {
    const ShownDaemon::Pool& pool = *after.pools[i];
    if (!same_order) AppendItem(order, DumpJson(Json(pool.facts.name)));
    const bool same = same_order && (before->pools[i] == after.pools[i] || before->pools[i]->json == pool.json);
    if (!same) AppendItem(pools, pool.json);
  }
  if (same_order) return pools == "[" ? "" : "{\"reset\":false,\"pools\":" + pools + "]}";
  return "{\"reset\":true,\"order\":" + order + "],\"pools\":" + pools + "]}";
}

}  // namespace yad
