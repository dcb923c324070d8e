#include "plugin/commands/simulation.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/observe/freeze.h"
#include "operator/yurtappdaemon/observe/pool_health.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "operator/yurtappdaemon/observe/status_view.h"
#include "operator/yurtappdaemon/plan/plan.h"
#include "operator/yurtappdaemon/rollout/update_record.h"
#include "plugin/commands/cluster_snapshot.h"

namespace yad {
namespace {

using std::chrono::seconds;

constexpr int kMaxPlans = 50'000;

// In the order of RolloutState.
constexpr std::array<const char*, 8> kStateNames{
    "Complete", "RollingOut",   "WaitingForApproval",    "WaitingForWindow",
    "Frozen",   "SitesOffline", "FailureBudgetExceeded", "Paused"};
static_assert(kStateNames.size() == static_cast<std::size_t>(RolloutState::kPaused) + 1);

// Returns the status that the workload's controller writes when all replicas are updated and available.
Json HealthyStatus(const Json& workload) {
  const std::int64_t replicas = IntAt(workload, {"spec", "replicas"}, 1);
  Json status = {{"observedGeneration", IntAt(workload, {"metadata", "generation"})},
                 {"replicas", replicas},
                 {"readyReplicas", replicas},
                 {"availableReplicas", replicas},
                 {"updatedReplicas", replicas},
                 {"conditions", Json::array({{{"type", "Available"}, {"status", "True"}}})}};
  // In a StatefulSet, both revisions are equal after an update.
  status["currentRevision"] = status["updateRevision"] = "simulated";
  return status;
}

class Simulator {
 public:
  Simulator(Snapshot snapshot, const SimulationOptions& options)
      : snapshot_(std::move(snapshot)), strategy_(snapshot_.daemon.strategy.rolling), options_(options) {
    result_.from = result_.to = snapshot_.now;
    // The simulation assumes that all checks pass, and that images are pulled immediately.
    RestoreRollout(snapshot_, health_);
    const PoolGroups groups = GroupsOf(snapshot_);
    for (std::size_t i = 0; i < snapshot_.pools.size(); ++i) {
      const PoolRef& pool = snapshot_.pools[i];
      SimulatedPool& simulated = result_.pools.emplace_back();
      simulated.name = pool.pool().name;
      simulated.group = strategy_.groups[groups.of_pool[i]].name;
      simulated.offline = pool.pool().offline;
    }
  }

  Simulation Run() {
    int plans = 0;
    for (bool first = true; plans < kMaxPlans; ++plans) {
      const Plan plan = MakePlan(snapshot_, memo_);
      const RolloutDecision& decision = plan.rollout->decision;
      result_.rolled_back |= plan.rollout->target.rolled_back;
      if (decision.roll_back) {
        MarkFailed();
        continue;
      }
      if (decision.state == RolloutState::kWaitingForApproval) {
        Approve(strategy_.groups[decision.group].name);
        continue;
      }
      if (std::exchange(first, false)) {
        FindPoolsOnUpdate(plan);
        ContinueUpdates(plan);
      }
      Record(plan);
      Write(plan);
      const auto next = NextChange(plan);
      if (!next) break;
      snapshot_.now = *next;
      if (snapshot_.freeze && !InForce(*snapshot_.freeze, snapshot_.now)) {
        snapshot_.freeze.reset();
        Happens("the freeze ends");
      }
      Heal();
    }
    result_.finished = plans < kMaxPlans;
    return std::move(result_);
  }

 private:
  void Happens(std::string what) {
    result_.to = snapshot_.now;
    result_.events.push_back({snapshot_.now, std::move(what)});
  }

  bool Fails(const std::string& pool) const { return options_.failing || options_.failing_pools.contains(pool); }

  seconds DurationOf(const std::string& pool) const {
    const auto found = options_.durations.find(pool);
    return found == options_.durations.end() ? options_.duration : found->second;
  }

  // Sets the time at which the revision of the spec failed. Before a rollback, the operator stores this time in the
  // ControllerRevision.
  void MarkFailed() {
    auto failed = std::make_shared<Revision>(*snapshot_.update);
    failed->failed_at = FormatTime(snapshot_.now);
    std::replace(snapshot_.revisions.begin(), snapshot_.revisions.end(), snapshot_.update, RevisionPtr(failed));
    snapshot_.update = std::move(failed);
    result_.rolled_back = true;
    Happens("the revision has failed, and its pools are rolled back to " + snapshot_.current->name);
  }

  void Approve(const std::string& group) {
    std::string& approvals = snapshot_.daemon.meta.annotations[kApproveAnnotation];
    approvals += (approvals.empty() ? "" : ",") + snapshot_.update->name + "/" + group;
    Happens("group " + group + " needs an approval");
  }

  // Finds the pools that have the revision of the spec at the start, unless its rollout is complete.
  void FindPoolsOnUpdate(const Plan& plan) {
    const Target& target = plan.rollout->target;
    if (target.is_current && !target.rolled_back) return;
    for (std::size_t i = 0; i < plan.pools.size(); ++i) {
      const PoolPlan& pool = plan.pools[i];
      // If both revisions render the same workload for a pool, the pool keeps the current revision, and the rollout
      // does not update it.
      const bool moved = !snapshot_.current || !IsOfRevision(pool.from, snapshot_.current);
      result_.pools[i].had = pool.workload && pool.on_update && moved;
    }
  }

  // Handles updates that are in progress at the start. They take as long as an update that starts now.
  void ContinueUpdates(const Plan& plan) {
    for (const PoolPlan& pool : plan.pools) {
      const bool updating = pool.workload && pool.on_update && !pool.offline && !pool.overdue &&
                            pool.health.state == PoolHealth::State::kUnhealthy;
      if (updating && !Fails(pool.pool)) heals_at_[pool.pool] = snapshot_.now + DurationOf(pool.pool);
    }
  }

  // Records what has changed since the previous plan.
  void Record(const Plan& plan) {
    const RolloutDecision& decision = plan.rollout->decision;
    const RolloutState before = std::exchange(result_.state, decision.state);
    for (std::size_t i = 0; i < plan.pools.size(); ++i) {
      const PoolPlan& planned = plan.pools[i];
      SimulatedPool& pool = result_.pools[i];
      pool.waiting_for = planned.waiting_for;
      pool.on_update = planned.workload && planned.on_update;
      const bool healthy = planned.on_update && planned.health.state == PoolHealth::State::kHealthy;
      if (pool.starts && !pool.healthy && healthy) pool.healthy = snapshot_.now;
      const bool done = planned.on_update && planned.health.soaked && planned.action == WorkloadAction::kNone;
      if (pool.starts && !pool.ends && !pool.goes_back && done) pool.ends = result_.to = snapshot_.now;
      if (decision.pools[i].failed && !pool.failed_at) {
        pool.failed_at = snapshot_.now;
        Happens("the update of pool " + pool.name + " fails");
      }
    }
    if (before == decision.state) return;
    if (decision.state == RolloutState::kComplete) result_.to = snapshot_.now;
    if (decision.state == RolloutState::kWaitingForWindow && plan.rollout->next_window) {
      const WindowState& window = *plan.rollout->next_window;
      Happens(
          "the rollout waits for the next update window" +
          (window.opens ? ", which opens at " + FormatTime(*window.opens) + " (" + window.opens_locally + ")" : ""));
    }
    if (decision.state == RolloutState::kFrozen) Happens("the rollout waits for the end of the freeze");
    if (decision.state == RolloutState::kBudgetExceeded)
      Happens("the rollout stops, because too many pools have failed");
  }

  void Write(const Plan& plan) {
    HealthRecord health;
    health.reserve(plan.pools.size());
    for (std::size_t i = 0; i < plan.pools.size(); ++i) {
      const PoolPlan& pool = plan.pools[i];
      PoolHealth& record = health.emplace(pool.pool, pool.health).first->second;
      if (pool.action == WorkloadAction::kNone || pool.deferred) continue;
      // A write that does not change the revision does not restart pods.
      const bool begins = pool.to.revision != nullptr && record.revision != pool.to.revision->name;
      if (!WriteWorkload(pool, begins)) continue;
      if (!begins) continue;
      if (!pool.offline) {
        record = PoolHealth{};
        record.revision = pool.to.revision->name;
        record.since = snapshot_.now;
      }
      Begins(plan, i);
    }
    snapshot_.begun = plan.rollout->begun;
    health_ = std::move(health);
  }

  // Records that the pool's pods are replaced.
  void Begins(const Plan& plan, std::size_t i) {
    SimulatedPool& pool = result_.pools[i];
    const bool to_update = plan.pools[i].to.revision->name == snapshot_.update->name;
    result_.to = snapshot_.now;
    if (to_update && !pool.starts) {
      pool.starts = snapshot_.now;
      const bool first = std::none_of(result_.pools.begin(), result_.pools.end(), [&](const SimulatedPool& other) {
        return &other != &pool && other.group == pool.group && other.starts;
      });
      if (first) Happens("group " + pool.group + " begins");
    } else if (!to_update && (pool.starts || pool.had)) {
      pool.goes_back = snapshot_.now;
    }
    const bool heals = !pool.offline && !(to_update && Fails(pool.name));
    if (heals) {
      heals_at_[pool.name] = snapshot_.now + DurationOf(pool.name);
    } else {
      heals_at_.erase(pool.name);
    }
  }

  // Stores the workload that the operator would write. If `begins` is true, the write replaces the pods, so the
  // workload is not healthy yet. Returns false if the workload can't be rendered.
  bool WriteWorkload(const PoolPlan& pool, bool begins) {
    const YurtAppDaemon& daemon = snapshot_.daemon;
    auto written =
        pool.workload ? MergedWorkload(daemon, pool, pool.workload->object->Parse()) : NewWorkload(daemon, pool);
    if (!written) {
      const std::string text = "pool " + pool.pool + ": " + written.error().message;
      if (std::find(result_.failures.begin(), result_.failures.end(), text) == result_.failures.end())
        result_.failures.push_back(text);
      return false;
    }
    Json& metadata = (*written)["metadata"];
    metadata["generation"] = IntAt(*written, {"metadata", "generation"}) + 1;
    if (!pool.workload) {
      metadata["uid"] = "simulated-" + pool.pool;
      metadata["creationTimestamp"] = FormatTime(snapshot_.now);
    }
    if (!begins && pool.health.state == PoolHealth::State::kHealthy) (*written)["status"] = HealthyStatus(*written);
    Put(*std::move(written));
    return true;
  }

  void Put(Json workload) {
    workload["metadata"]["resourceVersion"] = "simulated-" + std::to_string(++versions_);
    WorkloadRef ref = MakeWorkloadRef(std::make_shared<StoredObject>(workload, ProjectorOf(snapshot_.daemon.kind)));
    const auto same = [&](const WorkloadRef& other) { return other.object->meta().uid == ref.object->meta().uid; };
    std::erase_if(snapshot_.orphans, same);
    const auto found = std::find_if(snapshot_.workloads.begin(), snapshot_.workloads.end(), same);
    if (found != snapshot_.workloads.end()) {
      *found = std::move(ref);
    } else {
      snapshot_.workloads.push_back(std::move(ref));
    }
  }

  // Makes workloads healthy whose time in heals_at_ has passed.
  void Heal() {
    for (auto heal = heals_at_.begin(); heal != heals_at_.end();) {
      if (heal->second > snapshot_.now) {
        ++heal;
        continue;
      }
      for (const WorkloadRef& workload : snapshot_.workloads) {
        if (workload.pool != heal->first) continue;
        Json healthy = workload.object->Parse();
        healthy["status"] = HealthyStatus(healthy);
        Put(std::move(healthy));
        break;
      }
      heal = heals_at_.erase(heal);
    }
  }

  // Returns the next time at which the plan may change; nullopt if it no longer changes. Offline pools stay offline, so
  // an outage does not end: no window starts an update, and the deadlines of the offline pools are paused.
  std::optional<WallTime> NextChange(const Plan& plan) const {
    std::optional<WallTime> next;
    const auto at = [&](WallTime then) {
      if (then > snapshot_.now && (!next || then < *next)) next = then;
    };
    for (const auto& [pool, then] : heals_at_) at(then);
    for (const auto& [pool, health] : health_) {
      if (health.state == PoolHealth::State::kHealthy && !health.soaked) at(health.since + strategy_.min_ready);
      const bool late =
          health.state == PoolHealth::State::kUnhealthy || health.state == PoolHealth::State::kOfflineAfterUpdate;
      if (late && !health.deadline_paused) at(health.OverdueAt(strategy_.progress_deadline));
    }
    if (plan.rollout->next_window && plan.rollout->next_window->opens && !plan.rollout->decision.outage())
      at(*plan.rollout->next_window->opens);
    if (snapshot_.freeze && snapshot_.freeze->until) at(*snapshot_.freeze->until);
    return next;
  }

  Snapshot snapshot_;
  const RollingUpdate& strategy_;  // of the snapshot
  const SimulationOptions options_;
  Simulation result_;
  PlanMemo memo_;
  HealthRecord health_;
  std::map<std::string, WallTime> heals_at_;  // by pool
  std::int64_t versions_ = 0;
};

// Returns the time at which the Deployment controller found the newest ReplicaSet available; WallTime() if it is
// unknown.
WallTime AvailableSince(const Json& deployment) {
  const Json* progressing = FindCondition(deployment, "Progressing");
  if (progressing == nullptr || StringAt(*progressing, {"reason"}) != "NewReplicaSetAvailable") return {};
  return ParseTime(StringAt(*progressing, {"lastUpdateTime"}));
}

// Returns the time at which the pool became healthy; WallTime() if it is unknown.
// - A Soaking pool became healthy when it entered this phase.
// - A Ready pool became healthy minReadySeconds before it entered this phase. If the daemon has checks, the time is
//   unknown, because the checks also ran in between.
WallTime HealthySince(const PoolStatusView& entry, const RollingUpdate& strategy) {
  if (entry.last_transition() == WallTime()) return {};
  if (entry.phase() == PoolPhase::kSoaking) return entry.last_transition();
  if (entry.phase() == PoolPhase::kReady && strategy.checks.empty())
    return entry.last_transition() - strategy.min_ready;
  return {};
}

}  // namespace

std::string EndOf(const Simulation& simulation) {
  if (!simulation.finished) return "Unfinished";
  if (simulation.rolled_back) return "RolledBack";
  if (simulation.state == RolloutState::kComplete && !simulation.idle()) {
    // Condition Complete is then False, with these reasons.
    const auto waits = [&](WaitingFor reason) {
      return std::any_of(simulation.pools.begin(), simulation.pools.end(),
                         [&](const SimulatedPool& pool) { return pool.waiting_for == reason; });
    };
    if (waits(WaitingFor::kHold)) return "PoolsHeld";
    if (waits(WaitingFor::kPartition)) return "PartitionReached";
    const bool offline = !simulation.pools.empty() && std::all_of(simulation.pools.begin(), simulation.pools.end(),
                                                                  std::mem_fn(&SimulatedPool::offline));
    if (offline) return "AllPoolsOffline";
  }
  return kStateNames[static_cast<std::size_t>(simulation.state)];
}

bool Simulation::idle() const {
  return finished && !rolled_back && state == RolloutState::kComplete && from == to && failures.empty() &&
         std::all_of(pools.begin(), pools.end(),
                     [](const SimulatedPool& pool) { return pool.on_update && !pool.starts; });
}

std::size_t Simulation::reached() const {
  return static_cast<std::size_t>(
      std::count_if(pools.begin(), pools.end(), [](const SimulatedPool& pool) { return pool.starts || pool.had; }));
}

Simulation Simulate(Snapshot snapshot, const SimulationOptions& options) {
  return Simulator(std::move(snapshot), options).Run();
}

std::map<std::string, seconds> MeasureDurations(const Snapshot& snapshot) {
  const RollingUpdate& strategy = snapshot.daemon.strategy.rolling;
  const StatusView status(snapshot.daemon.status);
  const PoolStatusIndex entries(status);
  std::map<std::string, seconds> durations;
  for (const WorkloadRef& workload : snapshot.workloads) {
    const auto record = UpdateRecordOf(workload.object->meta());
    if (!record || record->at == WallTime()) continue;
    WallTime end;
    if (snapshot.daemon.kind == WorkloadKind::kDeployment) {
      end = AvailableSince(workload.object->Parse());
    } else if (const PoolStatusView* entry = entries.Find(workload.pool)) {
      end = HealthySince(*entry, strategy);
    }
    const auto took = std::chrono::duration_cast<seconds>(end - record->at);
    // Counts a duration of 0 as one second, because times in objects have a precision of one second.
    if (took >= seconds(0) && took <= strategy.progress_deadline) durations[workload.pool] = std::max(took, seconds(1));
  }
  return durations;
}

seconds MedianOf(const std::map<std::string, seconds>& durations) {
  std::vector<seconds> sorted;
  for (const auto& [pool, duration] : durations) sorted.push_back(duration);
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

}  // namespace yad
