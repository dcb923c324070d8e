#include "operator/yurtappdaemon/daemon_events.h"

#include <set>
#include <string_view>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/base/log.h"
#include "operator/base/metrics.h"
#include "operator/yurtappdaemon/rollout_progress.h"

namespace yad {
namespace {

constexpr std::size_t kNamed = 8;

std::string NamePools(const std::vector<std::string>& pools) {
  std::string text = std::to_string(pools.size()) + (pools.size() == 1 ? " pool: " : " pools: ");
  for (std::size_t i = 0; i < pools.size() && i < kNamed; ++i) text += (i == 0 ? "" : ", ") + pools[i];
  if (pools.size() > kNamed) text += " and " + std::to_string(pools.size() - kNamed) + " more";
  return text;
}

void CountWrites(const char* operation, std::size_t count) {
  if (count == 0) return;
  metrics::GetCounter("yurtappdaemon_workload_writes_total",
                      "Writes of workloads that succeeded, by what they were for.", {{"operation", operation}})
      .Increment(static_cast<double>(count));
}

void CountServiceWrites(const char* operation, std::size_t count) {
  if (count == 0) return;
  metrics::GetCounter("yurtappdaemon_service_writes_total",
                      "Writes of pools' Services that succeeded, by what they were for.", {{"operation", operation}})
      .Increment(static_cast<double>(count));
}

constexpr char kRolloutStopped[] = "yurtappdaemon_rollout_stopped";

metrics::Labels LabelsOf(const ObjectKey& key) { return {{"namespace", key.ns}, {"name", key.name}}; }

// Returns the updated pools by the revision that they have now. A rollback does not lead to the revision of the spec.
std::map<std::string, std::vector<std::string>> MovedTo(const Applied& applied) {
  const std::set<std::string_view> moved(applied.moved.begin(), applied.moved.end());
  std::map<std::string, std::vector<std::string>> by_revision;
  for (const PoolResult& result : applied.pools) {
    if (moved.contains(result.plan->pool)) by_revision[result.plan->to.revision->name].push_back(result.plan->pool);
  }
  return by_revision;
}

}  // namespace

ObjectReference Regarding(const ObjectMeta& meta) {
  return {kYurtAppDaemonType.ApiVersion(), kYurtAppDaemonType.kind, meta.key, meta.uid, meta.resource_version};
}

void DaemonEvents::Tell(const Snapshot& snapshot, const Applied& applied, const std::vector<std::string>& fought,
                        Memory& memory) const {
  ReportWrites(snapshot.daemon, applied);
  ReportReverts(snapshot.daemon, applied, fought);
  ReportFailures(snapshot.daemon, applied, memory);
}

void DaemonEvents::ReportWrites(const YurtAppDaemon& daemon, const Applied& applied) const {
  const ObjectReference regarding = Regarding(daemon.meta);
  const std::string kind = TypeOf(daemon.kind).kind;
  const auto report = [&](const std::vector<std::string>& pools, const char* reason, const char* action,
                          const std::string& what, bool service = false) {
    service ? CountServiceWrites(action, pools.size()) : CountWrites(action, pools.size());
    if (pools.empty()) return;
    events_.Record(regarding, EventType::kNormal, reason, action, what + " in " + NamePools(pools));
    log::Info(
        service ? "Services written" : "Workloads written",
        {{"yurtappdaemon", daemon.meta.key.ToString()}, {"reason", reason}, {"pools", pools.size()}, {"what", what}});
  };
  report(applied.created, "WorkloadCreated", "Create", "created the " + kind);
  for (const auto& [revision, pools] : MovedTo(applied)) {
    report(pools, "WorkloadUpdated", "Update", "updated the " + kind + " to revision " + revision);
  }
  report(applied.repaired, "WorkloadRepaired", "Repair",
         "undid changes of the " + kind + " that the YurtAppDaemon did not ask for");
  report(applied.adopted, "WorkloadAdopted", "Adopt", "adopted the " + kind);
  report(applied.removed, "WorkloadRemoved", "Remove", "removed the " + kind);
  report(applied.services_created, "ServiceCreated", "Create", "created the Service", true);
  report(applied.services_updated, "ServiceUpdated", "Update", "updated the Service", true);
  report(applied.services_repaired, "ServiceRepaired", "Repair",
         "undid changes of the Service that the YurtAppDaemon did not ask for", true);
  report(applied.services_removed, "ServiceRemoved", "Remove", "removed the Service", true);
  report(applied.duplicates_removed, "DuplicateRemoved", "RemoveDuplicate", "removed a second " + kind);
}

void DaemonEvents::ReportReverts(const YurtAppDaemon& daemon, const Applied& applied,
                                 const std::vector<std::string>& fought) const {
  const auto warn = [&](const std::vector<std::string>& pools, const char* reason, const std::string& what) {
    if (pools.empty()) return;
    events_.Record(Regarding(daemon.meta), EventType::kWarning, reason, "Repair", NamePools(pools) + ": " + what);
    log::Warn("Workloads do not stay as written",
              {{"yurtappdaemon", daemon.meta.key.ToString()}, {"reason", reason}, {"pools", pools.size()}});
  };
  warn(fought, "RepairsSlowedDown",
       "somebody keeps changing what the template says of the " + TypeOf(daemon.kind).kind +
           " or its Service; it is repaired more and more seldom");
  std::vector<std::string> rewritten;
  std::string first_rewritten;
  for (const PoolResult& result : applied.pools) {
    if (result.not_kept.empty()) continue;
    rewritten.push_back(result.plan->pool);
    if (first_rewritten.empty()) first_rewritten = result.not_kept;
  }
  warn(rewritten, "ValueNotKept",
       "the apiserver or an admission webhook keeps another value than the template's at " + first_rewritten);
}

void DaemonEvents::ReportFailures(const YurtAppDaemon& daemon, const Applied& applied, Memory& memory) const {
  // Each failure has one event. After a restart, status shows the failures that have had theirs.
  if (const Json* pools = Find(daemon.status, {"pools"}); !memory.complete && pools != nullptr && pools->is_array()) {
    for (const Json& entry : *pools) memory.failed[StringAt(entry, {"name"})] = StringAt(entry, {"reason"});
  }
  memory.complete = true;
  std::map<std::string, std::string> failed;
  std::map<std::string, std::vector<const PoolResult*>> failures;
  for (const PoolResult& result : applied.pools) {
    if (result.failure_reason.empty()) continue;
    const auto it = memory.failed.find(result.plan->pool);
    if (it == memory.failed.end() || it->second != result.failure_reason)
      failures[result.failure_reason].push_back(&result);
    failed.emplace(result.plan->pool, result.failure_reason);
  }
  memory.failed = std::move(failed);
  for (const auto& [reason, results] : failures) {
    std::vector<std::string> names;
    for (const PoolResult* result : results) names.push_back(result->plan->pool);
    events_.Record(Regarding(daemon.meta), EventType::kWarning, reason, "Write",
                   NamePools(names) + ": " + results.front()->failure_message);
    log::Warn("Pools failed", {{"yurtappdaemon", daemon.meta.key.ToString()},
                               {"reason", reason},
                               {"pools", names.size()},
                               {"message", results.front()->failure_message}});
  }
}

void DaemonEvents::TellRollout(const YurtAppDaemon& daemon, const Json& previous, const Json& status,
                               Memory& memory) const {
  const Json* progressing = FindConditionIn(status, "Progressing");
  const Json now = progressing == nullptr ? Json() : *progressing;
  const std::string reason = StringAt(now, {"reason"});
  metrics::GetGauge(kRolloutStopped, "1: a RollingUpdate has stopped before its end, and a person has to look.",
                    LabelsOf(daemon.meta.key))
      .Set(StringAt(now, {"status"}) == "False" ? 1 : 0);
  const Json* last = FindConditionIn(previous, "Progressing");
  const std::string before = !memory.progress.empty() ? memory.progress
                             : last == nullptr        ? ""
                                                      : StringAt(*last, {"reason"});
  memory.progress = reason;
  if (reason == before || before.empty()) return;
  const bool warning = reason == kBudgetExceeded || reason == kRollingBack || reason == kRolledBack;
  if (!warning && reason != kRollingOut && reason != kWaitingForApproval && reason != kRolloutComplete) return;
  const std::string message = StringAt(now, {"message"});
  events_.Record(Regarding(daemon.meta), warning ? EventType::kWarning : EventType::kNormal, reason, "Rollout",
                 message);
  log::Info("Rollout", {{"yurtappdaemon", daemon.meta.key.ToString()}, {"reason", reason}, {"message", message}});
}

void DaemonEvents::Forget(const ObjectKey& daemon) { metrics::Remove(kRolloutStopped, LabelsOf(daemon)); }

}  // namespace yad
