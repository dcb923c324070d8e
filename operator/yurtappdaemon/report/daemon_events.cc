#include "operator/yurtappdaemon/report/daemon_events.h"

#include <set>
#include <string_view>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/base/join.h"
#include "operator/base/log.h"
#include "operator/base/metrics.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"
#include "operator/yurtappdaemon/observe/regarding.h"
#include "operator/yurtappdaemon/observe/status_view.h"
#include "operator/yurtappdaemon/report/rollout_progress.h"

namespace yad {
namespace {

constexpr std::size_t kNamedPools = 8;

std::string NamePools(const std::vector<std::string>& pools) {
  return Pluralize(pools.size(), "pool") + ": " + NameSome(pools, kNamedPools);
}

metrics::Counter& WritesOf(bool service, const char* operation) {
  if (service)
    return metrics::GetCounter("yurtappdaemon_service_writes_total",
                               "Successful writes of pools' Services, by operation.", {{"operation", operation}});
  return metrics::GetCounter("yurtappdaemon_workload_writes_total", "Successful writes of workloads, by operation.",
                             {{"operation", operation}});
}

constexpr char kRolloutStopped[] = "yurtappdaemon_rollout_stopped";

// Returns the names of the updated pools, by the name of their new revision. In a rollback, the new revision is not the
// revision of the spec.
std::map<std::string, std::vector<std::string>> UpdatedTo(const Outcome& outcome) {
  const std::set<std::string_view> updated(outcome.updated.begin(), outcome.updated.end());
  std::map<std::string, std::vector<std::string>> by_revision;
  for (const PoolOutcome& result : outcome.pools) {
    if (updated.contains(result.plan->pool)) by_revision[result.plan->to.revision->name].push_back(result.plan->pool);
  }
  return by_revision;
}

// Returns the reason of the pool's failed write or check, or "" if no write and no check has failed.
std::string FailureReason(const PoolOutcome& result) {
  if (!result.failure_reason.empty()) return result.failure_reason;
  const auto& check = result.plan->health.check;
  return result.plan->checks.verifying && check && !check->failure.empty() ? kCheckFailed : "";
}

void ReportWrites(EventSink& events, const YurtAppDaemon& daemon, const Outcome& outcome) {
  const ObjectReference regarding = Regarding(daemon.meta);
  const std::string kind = TypeOf(daemon.kind).kind;
  const auto report = [&](const std::vector<std::string>& pools, const char* reason, const char* action,
                          const std::string& what, bool service = false) {
    if (pools.empty()) return;
    WritesOf(service, action).Increment(static_cast<double>(pools.size()));
    events.Record(regarding, EventType::kNormal, reason, action, what + " in " + NamePools(pools));
    log::Info(
        service ? "Services written" : "Workloads written",
        {{"yurtappdaemon", daemon.meta.key.ToString()}, {"reason", reason}, {"pools", pools.size()}, {"what", what}});
  };
  report(outcome.created, "WorkloadCreated", "Create", "created the " + kind);
  for (const auto& [revision, pools] : UpdatedTo(outcome)) {
    report(pools, "WorkloadUpdated", "Update", "updated the " + kind + " to revision " + revision);
  }
  report(outcome.scaled, "WorkloadScaled", "Scale", "scaled the " + kind + " (its other changes wait)");
  report(outcome.repaired, "WorkloadRepaired", "Repair",
         "restored fields of the " + kind + " that another client had changed");
  report(outcome.adopted, "WorkloadAdopted", "Adopt", "adopted the " + kind);
  report(outcome.removed, "WorkloadRemoved", "Remove", "removed the " + kind);
  report(outcome.services_created, "ServiceCreated", "Create", "created the Service", true);
  report(outcome.services_updated, "ServiceUpdated", "Update", "updated the Service", true);
  report(outcome.services_repaired, "ServiceRepaired", "Repair",
         "restored fields of the Service that another client had changed", true);
  report(outcome.services_removed, "ServiceRemoved", "Remove", "removed the Service", true);
  report(outcome.duplicates_removed, "DuplicateRemoved", "RemoveDuplicate", "removed a second " + kind);
}

// Reports the pools whose workloads another client, the apiserver or a webhook has changed.
void ReportReverts(EventSink& events, const YurtAppDaemon& daemon, const Outcome& outcome,
                   const std::vector<std::string>& contested) {
  const auto warn = [&](const std::vector<std::string>& pools, const char* reason, const std::string& what) {
    if (pools.empty()) return;
    events.Record(Regarding(daemon.meta), EventType::kWarning, reason, "Repair", NamePools(pools) + ": " + what);
    log::Warn("Another client or the apiserver changes written workloads",
              {{"yurtappdaemon", daemon.meta.key.ToString()}, {"reason", reason}, {"pools", pools.size()}});
  };
  warn(contested, "RepairsSlowedDown",
       "another client keeps changing template fields of the " + TypeOf(daemon.kind).kind +
           " or its Service; the operator backs off and repairs them less often");
  std::vector<std::string> rewritten;
  std::string first_rewritten;
  for (const PoolOutcome& result : outcome.pools) {
    if (result.not_kept.empty()) continue;
    rewritten.push_back(result.plan->pool);
    if (first_rewritten.empty()) first_rewritten = result.not_kept;
  }
  warn(rewritten, "ValueNotKept",
       "the apiserver or an admission webhook has replaced the value of the template at " + first_rewritten);
}

void ReportFailures(EventSink& events, const YurtAppDaemon& daemon, const Outcome& outcome, EventMemory& memory) {
  // Each failure causes only one Event. After a restart, the failures that an earlier process has reported are read
  // from status.
  if (!memory.complete) {
    for (const PoolStatusView& pool : StatusView(daemon.status).pools())
      memory.failed[std::string(pool.name())] = pool.reason();
  }
  memory.complete = true;
  std::map<std::string, std::string> failed;
  std::map<std::string, std::vector<const PoolOutcome*>> failures;
  for (const PoolOutcome& result : outcome.pools) {
    const std::string reason = FailureReason(result);
    if (reason.empty()) continue;
    const auto it = memory.failed.find(result.plan->pool);
    if (it == memory.failed.end() || it->second != reason) failures[reason].push_back(&result);
    failed.emplace(result.plan->pool, reason);
  }
  memory.failed = std::move(failed);
  for (const auto& [reason, results] : failures) {
    std::vector<std::string> names;
    for (const PoolOutcome* result : results) names.push_back(result->plan->pool);
    const bool is_check = results.front()->failure_reason.empty();
    const std::string& message = is_check ? results.front()->plan->checks.message : results.front()->failure_message;
    events.Record(Regarding(daemon.meta), EventType::kWarning, reason, is_check ? "Verify" : "Write",
                  NamePools(names) + ": " + message);
    log::Warn("Pools failed", {{"yurtappdaemon", daemon.meta.key.ToString()},
                               {"reason", reason},
                               {"pools", names.size()},
                               {"message", message}});
  }
}

// Reports the failures of checks with dryRun.
void ReportTolerated(EventSink& events, const YurtAppDaemon& daemon, const Outcome& outcome) {
  std::map<std::string, std::vector<std::string>> pools;
  for (const PoolOutcome& result : outcome.pools) {
    for (const std::string& failure : result.plan->checks.tolerated) pools[failure].push_back(result.plan->pool);
  }
  for (const auto& [failure, names] : pools) {
    events.Record(Regarding(daemon.meta), EventType::kWarning, "CheckFailureTolerated", "Verify",
                  NamePools(names) + ": " + failure);
  }
}

}  // namespace

void ReportOutcome(EventSink& events, const Snapshot& snapshot, const Outcome& outcome,
                   const std::vector<std::string>& contested, EventMemory& memory) {
  ReportWrites(events, snapshot.daemon, outcome);
  ReportReverts(events, snapshot.daemon, outcome, contested);
  ReportFailures(events, snapshot.daemon, outcome, memory);
  ReportTolerated(events, snapshot.daemon, outcome);
}

void ReportRollout(EventSink& events, const YurtAppDaemon& daemon, const Json& previous, const Json& status,
                   EventMemory& memory) {
  const Json* progressing = FindConditionIn(status, kProgressingCondition);
  const Json now = progressing == nullptr ? Json() : *progressing;
  const std::string reason = StringAt(now, {"reason"});
  ShowStopped(daemon.meta.key, StringAt(now, {"status"}) == "False");
  const Json* last = FindConditionIn(previous, kProgressingCondition);
  const std::string before = !memory.progress.empty() ? memory.progress
                             : last == nullptr        ? ""
                                                      : StringAt(*last, {"reason"});
  memory.progress = reason;
  if (reason == before || before.empty()) return;
  const bool warning = reason == kBudgetExceeded || reason == kRollingBack || reason == kRolledBack ||
                       reason == kChecksUnavailable || reason == kDaemonSetsUnreadable;
  const bool gate = reason == kWaitingForApproval || reason == kWaitingForWindow || reason == kFrozen;
  if (!warning && !gate && reason != kRollingOut && reason != kRolloutComplete) return;
  const std::string message = StringAt(now, {"message"});
  events.Record(Regarding(daemon.meta), warning ? EventType::kWarning : EventType::kNormal, reason, "Rollout", message);
  log::Info("Rollout", {{"yurtappdaemon", daemon.meta.key.ToString()}, {"reason", reason}, {"message", message}});
}

void ShowStopped(const ObjectKey& daemon, bool stopped) {
  metrics::GetGauge(kRolloutStopped,
                    "1: a RollingUpdate has stopped, and does not continue without a user; 0: it has not.",
                    DaemonLabels(daemon))
      .Set(stopped ? 1 : 0);
}

void ForgetStopped(const ObjectKey& daemon) { metrics::Remove(kRolloutStopped, DaemonLabels(daemon)); }

}  // namespace yad
