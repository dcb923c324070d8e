#include "plugin/dashboard/pool_model.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "operator/yurtappdaemon/observe/status_view.h"
#include "operator/yurtappdaemon/plan/outcome.h"
#include "operator/yurtappdaemon/report/pool_view.h"
#include "plugin/commands/cluster_snapshot.h"
#include "plugin/dashboard/fleet_model.h"

namespace yad {
namespace {

constexpr std::size_t kMaxLabels = 20;

Json LabelsOf(const NodePool& pool) {
  Json labels = Json::object();
  for (const auto& [key, value] : pool.labels) {
    if (labels.size() == kMaxLabels) break;
    labels[key] = value;
  }
  return labels;
}

void TakeStatus(const PoolStatusView& entry, PoolFacts& pool) {
  pool.phase = entry.phase_text();
  pool.revision = entry.revision();
  pool.reason = entry.reason();
  pool.message = entry.message();
  pool.waiting_for = entry.waiting_for();
  pool.since = entry.last_transition_text();
  pool.replicas = entry.replicas();
  pool.ready_replicas = entry.ready_replicas();
  pool.misplaced = entry.misplaced_replicas();
  pool.workload = entry.workload();
  pool.check = entry.check();
}

// Returns the plan without its next write to the workload. A view of this plan shows the pool as it is now. `update` is
// the name of the revision of the spec.
PoolPlan WithoutWrite(PoolPlan plan, const std::string& update) {
  if (plan.action == WorkloadAction::kUpdate) {
    plan.to = plan.from;
    plan.on_update = plan.from.revision != nullptr && plan.from.revision->name == update;
  }
  plan.action = WorkloadAction::kNone;
  return plan;
}

void Derive(const PlannedSnapshot& planned, std::size_t index, const StatusInput& input, const PoolStatusIndex& old,
            PoolFacts& pool) {
  const PoolPlan plan = WithoutWrite(planned.plan.pools[index], planned.snapshot.update->name);
  PoolOutcome outcome;
  outcome.plan = &plan;
  outcome.workload = plan.workload;
  outcome.failure_reason = plan.failure_reason;
  outcome.failure_message = plan.failure_message;
  const PoolView view = MakeView(outcome, input, old);
  pool.derived = true;
  pool.phase = ToString(view.phase);
  pool.revision = view.revision;
  pool.reason = view.reason;
  pool.message = view.message;
  pool.waiting_for = StringAt(view.details, {"waitingFor"});
  if (view.workload == nullptr) return;
  pool.workload = view.workload->object->meta().key.name;
  pool.replicas = view.workload->state().replicas;
  pool.ready_replicas = view.workload->state().ready_replicas;
}

// Returns whether the pool's workload already matches the revision `update`. The workload may have an earlier revision,
// if both revisions render the same workload for this pool.
bool NeedsNoWriteInPool(const PlannedSnapshot& planned, std::size_t index, const std::string& update) {
  const PoolPlan& plan = planned.plan.pools[index];
  return planned.snapshot.update->name == update && plan.on_update && plan.action == WorkloadAction::kNone;
}

}  // namespace

std::unique_ptr<const PlannedSnapshot> PlanForDisplay(Snapshot snapshot, PlanMemo& memo) {
  auto planned = std::make_unique<PlannedSnapshot>();
  planned->snapshot = std::move(snapshot);
  Snapshot& it = planned->snapshot;
  RestoreRollout(it, planned->health);
  planned->plan = MakePlan(it, memo);
  if (it.daemon.strategy.type == UpdateStrategyType::kRollingUpdate) planned->groups = GroupsOf(it).of_pool;
  return planned;
}

bool PoolFacts::done() const {
  switch (ParsePoolPhase(phase)) {
    case PoolPhase::kReady:
    case PoolPhase::kUnhealthy:
    case PoolPhase::kOffline:
      return current;
    default:
      return false;
  }
}

std::vector<PoolFacts> DisplayedPools(const Json& daemon, const PlannedSnapshot* planned) {
  const Json* found = Find(daemon, {"status"});
  const Json status = found == nullptr ? Json() : *found;
  const std::string update = StringAt(status, {"updateRevision"});
  std::map<std::string, PoolFacts> pools;
  for (const PoolStatusView& entry : StatusView(status).pools()) {
    PoolFacts& pool = pools[std::string(entry.name())];
    TakeStatus(entry, pool);
  }
  if (planned != nullptr) {
    const PoolStatusIndex old{StatusView(status)};
    const StatusInput input{planned->snapshot, {}, {}, nullptr, 0, planned->plan.postponed, planned->plan.rollout};
    for (std::size_t i = 0; i < planned->snapshot.pools.size(); ++i) {
      const NodePool& node_pool = planned->snapshot.pools[i].pool();
      const auto [it, unlisted] = pools.try_emplace(node_pool.name);
      if (unlisted) Derive(*planned, i, input, old, it->second);
      it->second.labels = LabelsOf(node_pool);
      it->second.current = NeedsNoWriteInPool(*planned, i, update);
      if (!planned->groups.empty()) it->second.group = planned->groups[i];
      const WindowState& window = planned->plan.pools[i].gate.window;
      if (it->second.waiting_for == ToString(WaitingFor::kWindow)) it->second.opens = window.opens;
    }
  }
  std::vector<PoolFacts> sorted;
  sorted.reserve(pools.size());
  for (auto& [name, pool] : pools) {
    pool.name = name;
    pool.current = pool.current || (!update.empty() && pool.revision == update);
    sorted.push_back(std::move(pool));
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const PoolFacts& a, const PoolFacts& b) {
    return a.group.value_or(SIZE_MAX) < b.group.value_or(SIZE_MAX);
  });
  return sorted;
}

Json ToJson(const PoolFacts& pool, const std::string& group) {
  return {{"name", pool.name},
          {"group", group},
          {"labels", pool.labels},
          {"phase", pool.phase},
          {"revision", pool.revision},
          {"current", pool.current},
          {"reason", pool.reason},
          {"message", pool.message},
          {"waitingFor", pool.waiting_for},
          {"opens", TimeOrNull(pool.opens)},
          {"since", TimeOrNull(pool.since)},
          {"replicas", pool.replicas},
          {"readyReplicas", pool.ready_replicas},
          {"misplaced", pool.misplaced},
          {"workload", pool.workload},
          {"check", pool.check},
          {"derived", pool.derived}};
}

}  // namespace yad
