#include "operator/yurtappdaemon/apply/executor.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/base/parallel.h"
#include "operator/base/synchronized.h"
#include "operator/cluster/nodepool_type.h"
#include "operator/runtime/paged_list.h"
#include "operator/yurtappdaemon/apply/cache_checks.h"
#include "operator/yurtappdaemon/apply/check_job_writer.h"
#include "operator/yurtappdaemon/apply/service_writer.h"
#include "operator/yurtappdaemon/apply/workload_remover.h"
#include "operator/yurtappdaemon/observe/live_daemon.h"
#include "operator/yurtappdaemon/observe/ownership.h"
#include "operator/yurtappdaemon/observe/status_view.h"
#include "operator/yurtappdaemon/plan/merge_changes.h"

namespace yad {
namespace {

// After a reconcile has written more than this number of bytes of JSON, it returns freed memory to the system.
constexpr std::size_t kTrimAfter = 4u << 20;

bool WritesService(const PoolPlan& plan) { return plan.service && plan.service->action != ServiceAction::kNone; }

// Returns the names of the workloads in the status, by pool.
std::unordered_map<std::string, std::string> NamesIn(const Json& status) {
  std::unordered_map<std::string, std::string> names;
  for (const PoolStatusView& pool : StatusView(status).pools()) {
    if (!pool.workload().empty()) names.emplace(pool.name(), pool.workload());
  }
  return names;
}

// Returns the options for listing the workloads that the daemon controls or may adopt. The list uses the labels in
// spec.selector. It does not use the other labels of the template, because an override or another version of the
// operator may have set other values.
//
// An override of metadata may even change the labels of the selector, because a selector only has to match the pods.
// The list then selects only by kPoolNameLabel, which overrides can't change.
ListOptions ListingWorkloadsOf(const YurtAppDaemon& daemon) {
  ListOptions options{.ns = daemon.meta.key.ns, .label_selector = kPoolNameLabel, .limit = kPageLimit};
  const std::string overrides = DumpJson(daemon.overrides);
  if (overrides.find("metadata") != std::string::npos) return options;
  for (const auto& [key, value] : StringMapAt(daemon.selector, {"matchLabels"})) {
    if (key != kPoolNameLabel) options.label_selector += "," + key + "=" + value;
  }
  return options;
}

void ShortenErrors(PoolAttempt& attempt) {
  if (attempt.workload && !*attempt.workload) attempt.workload = Fail(ShortError(attempt.workload->error()));
  if (attempt.service && !*attempt.service) attempt.service = Fail(ShortError(attempt.service->error()));
}

}  // namespace

// The state that the parallel writes of one reconcile share.
struct PlanExecutor::Batch {
  const YurtAppDaemon& daemon;
  const Plan& plan;
  const WorkloadNames names;  // of the workloads in status
  LiveChecks& checks;
  const std::stop_token stop;
  std::atomic<std::size_t> bytes = 0;  // the size of all written workloads as encoded JSON
  // Two digests for each response that had all requested values: NormalizedDigestOf the response, and
  // RenderSpecFingerprint of the request. A later response with the same two digests also has all requested values.
  Synchronized<std::set<std::pair<std::uint64_t, std::uint64_t>>> as_requested{};
};

Status PlanExecutor::ConfirmOrphans(const YurtAppDaemon& daemon, const Plan& plan, std::stop_token stop) const {
  const ListOptions options = ListingWorkloadsOf(daemon);
  bool unseen = false;
  const auto read = ForEachListed(client_, TypeOf(daemon.kind), options, stop, [&](const JsonDocument& item) {
    const ObjectMeta meta = ParseMeta(item);
    if (meta.controller() == nullptr && !meta.deleting() && !plan.orphans.contains(meta.uid)) {
      unseen = true;
      stores_.WorkloadsOf(daemon.kind).Observe(StoredWorkload(daemon.kind, item));
    }
    return true;
  });
  if (!read) return Fail(read.error());
  if (unseen)
    return Fail(Reason::kConflict,
                "an earlier YurtAppDaemon " + daemon.meta.key.name + " left workloads that the cache did not show");
  return {};
}

Status PlanExecutor::ReadWorkloads(const YurtAppDaemon& daemon, std::stop_token stop) const {
  const ListOptions options = ListingWorkloadsOf(daemon);
  const auto read = ForEachListed(client_, TypeOf(daemon.kind), options, stop, [&](const JsonDocument& item) {
    if (ControlledBy(ParseMeta(item), daemon.meta.uid))
      stores_.WorkloadsOf(daemon.kind).Observe(StoredWorkload(daemon.kind, item));
    return true;
  });
  return read ? Status() : Fail(read.error());
}

Status PlanExecutor::ConfirmFailures(const Snapshot& snapshot, const Plan& plan, std::stop_token stop) const {
  std::set<std::string> failed;
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    if (plan.rollout->decision.pools[i].failed) failed.insert(plan.pools[i].pool);
  }
  YAD_TRY(const PoolsByName live, ReadPools(client_, options_.pool_type(), failed, /*metadata_only=*/false, stop));
  for (const PoolPlan& pool : plan.pools) {
    if (!failed.contains(pool.pool)) continue;
    const auto found = live.find(pool.pool);
    if (found == live.end()) return Fail(Reason::kUnknown, "pool " + pool.pool + " no longer exists");
    if (found->second.offline == pool.offline) continue;
    return Fail(Reason::kUnknown, "the cached NodePool " + pool.pool + " is outdated: the pool is " +
                                      (pool.offline ? "no longer Offline" : "Offline"));
  }
  YAD_TRY_VOID(ReadWorkloads(snapshot.daemon, stop));
  return ReadFailedJobs(client_, stores_.jobs, snapshot, plan, stop);
}

void PlanExecutor::RemoveServices(const Batch& batch, const std::set<std::string>& staying, Outcome& outcome) const {
  const YurtAppDaemon& daemon = batch.daemon;
  const std::vector<ServiceRemoval>& removals = batch.plan.service_removals;
  std::vector<Status> removed(removals.size());
  ParallelFor(removals.size(), options_.parallel_writes, [&](std::size_t i) {
    const ServiceRef& service = removals[i].service;
    removed[i] = DaemonIsAsPlanned(stores_, daemon.meta);
    if (!removed[i]) return;
    if (!removals[i].pool) {
      removed[i] = staying.contains(service.pool) ? Fail(Reason::kConflict, "the workload still exists")
                                                  : batch.checks.MayRemove(service.pool, "");
      if (removed[i]) removed[i] = RemoveService(client_, daemon, service, nullptr, batch.stop);
      return;
    }
    const PoolOutcome& result = outcome.pools[*removals[i].pool];
    const bool written = result.workload && !result.outstanding;
    removed[i] = written ? RemoveService(client_, daemon, service, result.workload->object.get(), batch.stop)
                         : Fail(Reason::kConflict, "the workload has not been written yet");
  });
  for (std::size_t i = 0; i < removals.size(); ++i) {
    const bool waits = removals[i].pool && batch.plan.pools[*removals[i].pool].deferred;
    if (removed[i]) {
      outcome.services_removed.push_back(removals[i].service.pool);
    } else if (removed[i].error().reason != Reason::kNotFound && !outcome.retry && !waits) {
      outcome.retry = removed[i].error();
    }
  }
}

Result<PlanExecutor::WorkloadNames> PlanExecutor::Confirm(const YurtAppDaemon& daemon, const Plan& plan,
                                                          const std::vector<std::size_t>& writes,
                                                          std::stop_token stop) const {
  YAD_TRY(const auto live, ConfirmDaemon(client_, daemon.meta, stop));
  const bool needs_names = std::any_of(writes.begin(), writes.end(), [&](std::size_t i) {
    return plan.pools[i].action == WorkloadAction::kCreate || plan.pools[i].action == WorkloadAction::kAdopt;
  });
  if (!needs_names) return WorkloadNames();
  WorkloadNames names;
  if (live.resource_version == daemon.meta.resource_version) {
    names = NamesIn(daemon.status);
  } else {
    YAD_TRY(const auto newer, client_.Get(kYurtAppDaemonType, daemon.meta.key, stop));
    names = NamesIn(newer.value("status", Json()));
  }
  if (names.empty()) YAD_TRY_VOID(ConfirmOrphans(daemon, plan, stop));
  return names;
}

Status PlanExecutor::MayWrite(const PoolPlan& pool, const Batch& batch) const {
  if (batch.stop.stop_requested()) return Fail(Reason::kCancelled, "the reconcile was stopped");
  YAD_TRY_VOID(DaemonIsAsPlanned(stores_, batch.daemon.meta));
  if (!UpdatesWorkload(pool)) return {};
  return GatesAreAsPlanned(stores_, batch.daemon, batch.plan, pool, clock_.WallNow());
}

Result<WrittenWorkload> PlanExecutor::WriteWorkload(const PoolPlan& pool, const Batch& batch) const {
  if (pool.action == WorkloadAction::kCreate) {
    const auto name = batch.names.find(pool.pool);
    return CreateWorkload(client_, batch.daemon, pool, name == batch.names.end() ? "" : name->second, batch.stop);
  }
  if (ChangesRenderInputs(pool)) YAD_TRY_VOID(batch.checks.InputsAreAsPlanned(pool));
  return UpdateWorkload(client_, batch.daemon, pool, batch.stop);
}

std::optional<MergeChanges> PlanExecutor::NotKeptBy(const StoredObject& written, const PoolPlan& pool,
                                                    Batch& batch) const {
  // Most responses differ only in the name of the pool, and have equal digests. One comparison is enough for all of
  // them. The response for a pool with overrides may differ in any field, so it is always compared.
  const std::optional<std::pair<std::uint64_t, std::uint64_t>> digests =
      pool.to.inputs.overrides.empty()
          ? std::optional(std::pair(NormalizedDigestOf(written, pool.pool), RenderSpecFingerprint(pool.to)))
          : std::nullopt;
  if (digests && batch.as_requested.With([&](const auto& known) { return known.contains(*digests); }))
    return std::nullopt;
  const Json live = written.Parse();
  PoolPlan now = pool;
  now.from = now.to;
  now.action = WorkloadAction::kRepair;  // For kAdopt, the merge would not compare the pod template.
  if (NeedsNoWrite(batch.daemon, now, live)) {
    if (digests) batch.as_requested.With([&](auto& known) { known.insert(*digests); });
    return std::nullopt;
  }
  auto again = MergedWorkload(batch.daemon, now, live);
  // A write that keeps the live pod template does not send the rendered template, so its response does not show whether
  // the server would keep that template. So the templates are not compared. The next plan repairs the template.
  if (again && KeepsPodTemplate(pool)) KeepPodTemplate(live, *again);
  if (!again || *again == live) return std::nullopt;
  return ChangesOfMerge(live, *again);
}

PoolAttempt PlanExecutor::WritePool(const PoolPlan& pool, Batch& batch) const {
  PoolAttempt attempt;
  // The revision may be unknown if an earlier daemon of this name left the workload. The operator then adopts the
  // workload unchanged.
  const std::size_t bytes =
      pool.to.revision != nullptr ? RenderedBytes(pool.to.revision->content) : pool.workload->object->unpacked_bytes();
  const ByteBudget::Lease lease = budget_.Take(bytes, batch.stop);
  // When the operator stops, Take returns without reserving memory. This check then returns before the workload is
  // rendered, which would exceed the budget.
  if (const Status may = MayWrite(pool, batch); !may) {
    if (pool.action == WorkloadAction::kNone) {
      attempt.service = Fail(may.error());
    } else {
      attempt.workload = Fail(may.error());
    }
    return attempt;
  }
  batch.bytes += bytes;
  const bool service_last = pool.action == WorkloadAction::kCreate && WritesService(pool) && !WaitsForService(pool);
  if (WritesService(pool) && !service_last)
    attempt.service = WriteService(client_, stores_.services, batch.daemon, pool, batch.stop);
  const bool blocked = attempt.service && !*attempt.service && WaitsForService(pool);
  if (pool.action == WorkloadAction::kNone || blocked) return attempt;
  attempt.workload = WriteWorkload(pool, batch);
  if (!*attempt.workload) return attempt;
  const WrittenWorkload& written = **attempt.workload;
  stores_.WorkloadsOf(batch.daemon.kind).Observe(written.object);
  // The pool had a workload that the caches did not show, perhaps of another revision than the Service in the plan. So
  // the next plan decides about the workload and the Service.
  if (written.reclaimed) return attempt;
  if (service_last) attempt.service = WriteService(client_, stores_.services, batch.daemon, pool, batch.stop);
  // The response may differ from the request, because a mutating webhook or the server has changed values. The PlanMemo
  // records these values, because the server would also change them in the next write.
  attempt.not_kept = NotKeptBy(*written.object, pool, batch);
  return attempt;
}

Outcome PlanExecutor::Apply(const YurtAppDaemon& daemon, const Plan& plan, PlanMemo& memo, std::stop_token stop) const {
  Outcome outcome = OutcomeWithoutWrites(plan);
  const std::vector<std::size_t> writes = PoolsToWrite(plan);
  if (writes.empty() && plan.removals.empty() && plan.service_removals.empty()) return outcome;
  auto names = Confirm(daemon, plan, writes, stop);
  if (!names) {
    outcome.rejected = names.error();
    return outcome;
  }
  LiveChecks checks(client_, clock_, options_.pool_type(), daemon, plan, options_.parallel_writes, stop);
  std::vector<Removal> removals = plan.removals;
  const Status marked =
      MarkRemovals(client_, stores_.WorkloadsOf(daemon.kind), daemon, removals, options_.parallel_writes, stop);
  Batch batch{daemon, plan, *std::move(names), checks, stop};
  std::vector<PoolAttempt> attempts(writes.size());
  std::vector<Status> removed(removals.size());
  ParallelFor(writes.size() + removals.size(), options_.parallel_writes, [&](std::size_t task) {
    if (task < writes.size()) {
      attempts[task] = WritePool(plan.pools[writes[task]], batch);
      ShortenErrors(attempts[task]);
      return;
    }
    const Removal& removal = removals[task - writes.size()];
    const bool unmarked = !removal.mark.empty() && !marked;
    removed[task - writes.size()] = unmarked ? marked : RemoveWorkload(client_, daemon, removal, checks, stop);
  });
  // glibc keeps the memory of freed Json trees instead of returning it to the system. After large writes, the freed
  // memory is several times the memory in use.
  if (batch.bytes > kTrimAfter) malloc_trim(0);
  CollectWrites(writes, attempts, memo, outcome);
  RemoveServices(batch, CollectRemovals(removals, removed, memo, outcome), outcome);
  return outcome;
}

}  // namespace yad
