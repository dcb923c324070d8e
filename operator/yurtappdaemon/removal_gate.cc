#include "operator/yurtappdaemon/removal_gate.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "operator/base/log.h"
#include "operator/base/metrics.h"
#include "operator/cluster/nodepool_type.h"
#include "operator/yurtappdaemon/observe/regarding.h"
#include "operator/yurtappdaemon/report/status.h"

namespace yad {
namespace {

// Removals are decided only after they have stayed the same for this time, so that all removals of one mistake are
// decided together. For example, the apiserver deletes the pools of a deleted CRD one by one.
constexpr Duration kRemovalsSettle = std::chrono::seconds(5);
constexpr char kMetric[] = "yurtappdaemon_blocked_removals";

// Finds the workloads whose pools were deleted together with the CRD of NodePools. Sets facts.lost and facts.recreated.
Status FindPoolsDeletedWithCrd(Client& client, const Store& pools, const std::vector<WorkloadRef>& to_remove,
                               RemovalFacts& facts, std::stop_token stop) {
  std::vector<const ObjectMeta*> may_be_lost;
  for (const WorkloadRef& removed : to_remove) {
    const ObjectMeta& workload = removed.object->meta();
    const auto pool = pools.Get({"", removed.pool});
    if (!pool && pool.error().reason != Reason::kNotFound) return Fail(pool.error());
    // Ignores pools that are older than their workload, because they were not deleted. A younger pool was created
    // again, perhaps without the labels that a user had set. Timestamps can be compared as strings (see
    // DeletedPoolsBefore).
    if (pool && (*pool)->meta().creation_timestamp <= workload.creation_timestamp) continue;
    may_be_lost.push_back(&workload);
    if (pool) facts.recreated.insert(workload.uid);
  }
  if (may_be_lost.empty()) return {};
  YAD_TRY(const auto crd, ReadNodePoolCrd(client, stop));
  for (const ObjectMeta* meta : may_be_lost) {
    if (crd.DeletedPoolsBefore(meta->creation_timestamp)) facts.lost.insert(meta->uid);
  }
  return {};
}

}  // namespace

Status RemovalGate::BlockRemovals(const YurtAppDaemon& daemon, Plan& plan, Memory& memory, std::stop_token stop) const {
  const std::vector<WorkloadRef> to_remove = RemovedWorkloads(plan);
  if (to_remove.empty()) {
    memory.token.clear();
    return {};
  }
  RemovalFacts facts{limit_, {}, {}};
  YAD_TRY_VOID(FindPoolsDeletedWithCrd(client_, pools_, to_remove, facts, stop));
  const SteadyTime now = clock_.Now();
  if (std::string token = RemovalToken(to_remove); token != memory.token) {
    memory.token = std::move(token);
    memory.since = now;
  }
  facts.settled = now - memory.since >= kRemovalsSettle;
  GuardRemovals(daemon, facts, plan);
  return {};
}

Duration RemovalGate::UntilSettled(const Memory& memory) const {
  return std::max<Duration>(memory.since + kRemovalsSettle - clock_.Now(), std::chrono::milliseconds(1));
}

void RemovalGate::Report(const YurtAppDaemon& daemon, const PostponedRemovals& postponed, const Json& before,
                         Memory& memory) const {
  if (postponed.undecided()) return;
  metrics::GetGauge(kMetric, "Workloads of a YurtAppDaemon whose removal is blocked until a user allows it.",
                    DaemonLabels(daemon.meta.key))
      .Set(static_cast<double>(postponed.workloads.size()));
  if (postponed.blocked() && memory.reported_token != postponed.token &&
      !ShowsRemovalBlocked(before, postponed.token)) {
    events_.Record(Regarding(daemon.meta), EventType::kWarning, "RemovalBlocked", "Remove", postponed.message);
    log::Warn("Removals are blocked", {{"yurtappdaemon", daemon.meta.key.ToString()},
                                       {"reason", postponed.reason},
                                       {"workloads", postponed.workloads.size()},
                                       {"token", postponed.token}});
  }
  memory.reported_token = postponed.token;
}

void RemovalGate::Forget(const ObjectKey& key) { metrics::Remove(kMetric, DaemonLabels(key)); }

}  // namespace yad
