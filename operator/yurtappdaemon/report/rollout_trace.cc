#include "operator/yurtappdaemon/report/rollout_trace.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/notify/digest.h"
#include "operator/yurtappdaemon/observe/status_view.h"

namespace yad {
namespace {

// In the order of TraceStep.
constexpr const char* kStepNames[] = {"wait", "update", "soak", "check", ""};

const char* StepName(TraceStep step) { return kStepNames[static_cast<std::size_t>(step)]; }

// Returns nullopt if the phase does not change the step.
std::optional<TraceStep> StepOf(PoolPhase phase, bool on_update) {
  if (!on_update) return TraceStep::kWait;
  switch (phase) {
    case PoolPhase::kUpdating:
      return TraceStep::kUpdate;
    case PoolPhase::kSoaking:
      return TraceStep::kSoak;
    case PoolPhase::kVerifying:
      return TraceStep::kCheck;
    case PoolPhase::kReady:
    case PoolPhase::kFailed:
    case PoolPhase::kOffline:
      return TraceStep::kDone;
    default:
      return std::nullopt;
  }
}

// Returns the time at which the rollout in status began, for a process that started later. The result is too early if
// the rollout restores an older revision, and replaced an unfinished rollout.
WallTime BeganAt(const Json& status, const RolloutKey& rollout, const RevisionHistory::State& revisions, WallTime now) {
  const Json* complete = FindConditionIn(status, kCompleteCondition);
  WallTime began = complete == nullptr ? WallTime() : ParseTime(StringAt(*complete, {"lastTransitionTime"}));
  for (const ObjectPtr& revision : revisions.all) {
    if (revision->meta().key.name == rollout.revision)
      began = std::max(began, ParseTime(revision->meta().creation_timestamp));
  }
  return began == WallTime() ? now : std::min(began, now);
}

// Adds the spans of one rollout to `spans`.
class Spans {
 public:
  Spans(const Snapshot& snapshot, TraceMemory& memory, std::vector<Span>& spans)
      : snapshot_(snapshot), memory_(memory), spans_(spans) {
    const RolloutKey& rollout = memory.rollout;
    trace_ = Digest({rollout.uid, rollout.revision, std::to_string(rollout.number), "trace"});
  }

  // Records the steps of the pools in a status. `begins` is true if the rollout begins with this status.
  void MovePools(const StatusView& status, bool begins) {
    const std::vector<PoolStatusView> pools = status.pools();
    for (const PoolStatusView& pool : pools) {
      const auto step = StepOf(pool.phase(), pool.revision() == snapshot_.update->name);
      if (!step) continue;
      std::string name(pool.name());
      if (begins && *step == TraceStep::kDone) {
        // A pool that already has the revision does not go through steps.
        memory_.pools[std::move(name)] = {TraceStep::kDone, snapshot_.now};
      } else {
        Move(name, pool.phase(), *step, pool.last_transition(), std::string(pool.message()));
      }
    }
    if (!status.pools_truncated()) return;
    // A truncated list omits Ready pools first. So a pool that it omits counts as Ready.
    std::set<std::string_view> listed;
    for (const PoolStatusView& pool : pools) listed.insert(pool.name());
    for (const auto& [name, pool] : memory_.pools) {
      if (!listed.contains(name)) Move(name, PoolPhase::kReady, TraceStep::kDone, snapshot_.now, "");
    }
  }

  // Ends the groups before the group `current`.
  void EndGroups(std::size_t current) {
    for (auto group = memory_.groups.begin(); group != memory_.groups.end() && group->first < current;) {
      const std::string& name = snapshot_.daemon.strategy.rolling.groups[group->first].name;
      Add("group", RootId(), GroupId(name), group->second.begin, group->second.end, {{kGroup, name}});
      group = memory_.groups.erase(group);
    }
  }

  void EndRollout(const std::string& outcome, const std::string& error, WallTime end) {
    EndGroups(snapshot_.daemon.strategy.rolling.groups.size());
    Span& root = Add("rollout", "", RootId(), memory_.began, end, {{"yurtappdaemon.outcome", outcome}});
    root.error = error;
    memory_.open = false;
    memory_.pools.clear();
    memory_.groups.clear();
  }

 private:
  // Records that the pool has been in `step` since the time `since`, and adds the span of its previous step.
  void Move(const std::string& pool, PoolPhase phase, TraceStep step, WallTime since, const std::string& message) {
    const auto known = memory_.pools.find(pool);
    const TraceMemory::Pool before = known == memory_.pools.end() ? TraceMemory::Pool() : known->second;
    if (before.step == step || before.step == TraceStep::kDone) return;
    const bool back = step == TraceStep::kWait;  // the pool was updated to another revision
    if (back) step = TraceStep::kDone;
    since = std::max(since, memory_.began);
    const WallTime start = before.step == TraceStep::kWait ? memory_.began : before.since;
    if (start < since)
      Add(StepName(before.step), PoolId(pool), StepId(pool, before.step), start, since, {{kPool, pool}});
    memory_.pools[pool] = {step, since};
    ExtendGroup(pool, step == TraceStep::kDone ? start : since, since);
    if (step != TraceStep::kDone) return;
    Span& span = Add("pool", ParentOf(pool), PoolId(pool), memory_.began, since, {{kPool, pool}});
    span.attributes["yurtappdaemon.phase"] = ToString(phase);
    if (back) span.error = "the pool was updated to another revision before this update was complete";
    if (phase == PoolPhase::kFailed) span.error = message.empty() ? "Failed" : message;
  }

  static constexpr char kPool[] = "yurtappdaemon.pool";
  static constexpr char kGroup[] = "yurtappdaemon.group";

  std::string Id(std::initializer_list<std::string_view> parts) const {
    std::string text;
    for (const std::string_view part : parts) text.append(part).append("|");
    return Digest({trace_, text}, 16);
  }
  std::string RootId() const { return Id({"rollout"}); }
  std::string GroupId(const std::string& group) const { return Id({"group", group}); }
  std::string PoolId(const std::string& pool) const { return Id({"pool", pool}); }
  std::string StepId(const std::string& pool, TraceStep step) const { return Id({"step", pool, StepName(step)}); }

  // Returns the index of the pool's group. Returns nullopt if the strategy has no groups, or if the pool is not
  // selected.
  std::optional<std::size_t> GroupOf(const std::string& pool) {
    const PoolRef* const selected = FindPool(snapshot_, pool);
    const UpdateStrategy& strategy = snapshot_.daemon.strategy;
    if (selected == nullptr || strategy.type != UpdateStrategyType::kRollingUpdate) return std::nullopt;
    if (groups_.empty()) groups_ = GroupsOf(snapshot_).of_pool;
    const std::size_t group = groups_[static_cast<std::size_t>(selected - snapshot_.pools.data())];
    return group < strategy.rolling.groups.size() ? std::optional(group) : std::nullopt;
  }
  std::string ParentOf(const std::string& pool) {
    const auto group = GroupOf(pool);
    return group ? GroupId(snapshot_.daemon.strategy.rolling.groups[*group].name) : RootId();
  }
  void ExtendGroup(const std::string& pool, WallTime begin, WallTime end) {
    const auto index = GroupOf(pool);
    if (!index) return;
    auto& group = memory_.groups.try_emplace(*index, TraceMemory::Group{begin, end}).first->second;
    group.begin = std::min(group.begin, begin);
    group.end = std::max(group.end, end);
  }
  Span& Add(const std::string& name, const std::string& parent, const std::string& id, WallTime start, WallTime end,
            std::map<std::string, std::string> attributes) {
    const ObjectKey& key = snapshot_.daemon.meta.key;
    attributes["k8s.namespace.name"] = key.ns;
    attributes["yurtappdaemon.name"] = key.name;
    attributes["yurtappdaemon.revision"] = memory_.rollout.revision;
    return spans_.emplace_back(Span{trace_, id, parent, name, start, end, std::move(attributes), ""});
  }

  const Snapshot& snapshot_;
  TraceMemory& memory_;
  std::string trace_;
  std::vector<std::size_t> groups_;  // by the index of a selected pool; empty: not known yet
  std::vector<Span>& spans_;
};

// Fills `memory` from the status, after a change of the leader. The earlier process has already reported these steps.
void Resume(const Snapshot& snapshot, const RevisionHistory::State& revisions, const Json& status,
            TraceMemory& memory) {
  const StatusView view(status);
  memory.rollout = RolloutKeyOf(snapshot, revisions, status);
  // The rollout is open until it has ended. A pool that joins later does not open it again.
  memory.open = view.is_ours() && memory.rollout.revision == snapshot.update->name &&
                view.current_revision() != memory.rollout.revision && !HasEnded(ShownStageOf(status).stage);
  if (!memory.open) return;
  memory.began = BeganAt(status, memory.rollout, revisions, snapshot.now);
  for (const PoolStatusView& pool : view.pools()) {
    const auto step = StepOf(pool.phase(), pool.revision() == snapshot.update->name);
    if (step && *step != TraceStep::kWait) memory.pools[std::string(pool.name())] = {*step, pool.last_transition()};
  }
}

}  // namespace

void ReportSpans(const std::function<void(const std::vector<Span>&)>& send, const Snapshot& snapshot,
                 const RevisionHistory::State& revisions, const std::optional<Rollout>& rollout, const Json& previous,
                 const Json& now, TraceMemory& memory) {
  if (!std::exchange(memory.begun, true)) Resume(snapshot, revisions, previous, memory);
  const ShownStage shown = ShownStageOf(now);
  const RolloutKey key = RolloutKeyOf(snapshot, revisions, now);
  std::vector<Span> ended;
  const bool begins = key != memory.rollout;
  if (begins) {
    if (memory.open) Spans(snapshot, memory, ended).EndRollout("Superseded", "", snapshot.now);
    memory.open = StatusView(previous).is_ours() || !HasEnded(shown.stage);
    memory.rollout = key;
    memory.began = snapshot.now;
  }
  if (memory.open) {
    Spans spans(snapshot, memory, ended);
    spans.MovePools(StatusView(now), begins);
    if (HasEnded(shown.stage)) {
      spans.EndRollout(shown.reason, shown.stage == RolloutStage::kRollbackComplete ? shown.message : "", snapshot.now);
    } else if (rollout && !rollout->target.is_current) {
      spans.EndGroups(rollout->decision.group);
    }
  }
  if (!ended.empty()) send(ended);
}

}  // namespace yad
