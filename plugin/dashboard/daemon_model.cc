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

class GroupView {
 public:
  GroupView(const DaemonInput& input, const std::vector<PoolFacts>& pools, std::size_t index)
      : planned_(*input.planned),
        strategy_(planned_.snapshot.daemon.strategy.rolling),
        group_(strategy_.groups[index]),
        decision_(planned_.plan.rollout->decision),
        index_(index) {
    for (const PoolFacts& pool : pools) {
      if (pool.group == index) Count(pool);
    }
  }

  bool empty() const { return counts_.pools == 0; }
  const std::optional<WallTime>& soak_ends() const { return counts_.soak_ends; }

  Json ToJson(std::int64_t position) const {
    return {{"name", ShownName(group_)},
            {"position", position},
            {"pools", counts_.pools},
            {"updated", counts_.current},
            {"failed", counts_.failed},
            {"began", Began()},
            {"approval", Approval()},
            {"soakSeconds", strategy_.min_ready.count()},
            {"soakEnds", TimeOrNull(counts_.soak_ends)},
            {"maxUnavailable", group_.max_unavailable.value_or(strategy_.max_unavailable).ToString()},
            {"state", State()}};
  }

 private:
  void Count(const PoolFacts& pool) {
    const PoolPhase phase = ParsePoolPhase(pool.phase);
    ++counts_.pools;
    if (phase == PoolPhase::kFailed) ++counts_.failed;
    if (!pool.current) return;
    ++counts_.current;
    if (pool.done()) ++counts_.done;
    if (phase == PoolPhase::kPending || phase == PoolPhase::kUpdating) ++counts_.updating;
    if (phase == PoolPhase::kVerifying) ++counts_.soaking;
    if (phase != PoolPhase::kSoaking) return;
    ++counts_.soaking;
    const WallTime since = ParseTime(pool.since);
    if (since == WallTime()) return;
    const WallTime ends = since + strategy_.min_ready;
    if (!counts_.soak_ends || *counts_.soak_ends < ends) counts_.soak_ends = ends;
  }

  bool Done() const { return counts_.done == counts_.pools; }
  bool Began() const { return counts_.current > 0 || planned_.snapshot.begun.contains(group_.name); }
  bool WaitsForApproval() const {
    return decision_.state == RolloutState::kWaitingForApproval && decision_.group == index_;
  }

  const char* Approval() const {
    if (!group_.manual) return "NotRequired";
    if (WaitsForApproval()) return "Waiting";
    const Snapshot& snapshot = planned_.snapshot;
    const auto entries = ApprovalEntries(snapshot.daemon.meta.Annotation(kApproveAnnotation));
    const bool given =
        std::find(entries.begin(), entries.end(), snapshot.update->name + "/" + group_.name) != entries.end();
    return given || Began() || Done() ? "Given" : "Required";
  }

  const char* State() const {
    if (Done()) return "Done";
    if (WaitsForApproval()) return "WaitingForApproval";
    const bool stopped = decision_.state == RolloutState::kBudgetExceeded || planned_.plan.rollout->target.rolled_back;
    if (stopped) return counts_.current > 0 ? "Stopped" : "NotBegun";
    if (counts_.updating > 0) return "Updating";
    if (counts_.soaking > 0) return "Soaking";
    const bool present = decision_.state != RolloutState::kComplete && decision_.group == index_;
    return Began() || present ? "Waiting" : "NotBegun";
  }

  const PlannedSnapshot& planned_;
  const RollingUpdate& strategy_;
  const RolloutGroup& group_;
  const RolloutDecision& decision_;
  const std::size_t index_;
  struct {
    std::int64_t pools = 0, current = 0, done = 0, failed = 0, updating = 0, soaking = 0;
    std::optional<WallTime> soak_ends;
  } counts_;
};

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
  const std::vector<RolloutGroup>& all = input.planned->snapshot.daemon.strategy.rolling.groups;
  std::int64_t position = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const GroupView view(input, pools, i);
    if (view.empty() && all[i].name == kDefaultGroup) continue;
    groups.push_back(view.ToJson(position++));
    if (view.soak_ends() && (!next || *view.soak_ends() < *next)) next = view.soak_ends();
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
