#include "operator/yurtappdaemon/plan/services.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "operator/workload/service.h"

namespace yad {
namespace {

bool HasServiceTemplate(const RevisionPtr& revision) {
  return revision != nullptr && revision->content.service_template.is_object();
}

void PlanWrite(const YurtAppDaemon& daemon, const PoolPlan& pool, ServiceMemo& memo, ServicePlan& service) {
  if (service.live == nullptr || service.live->meta().deleting()) {
    service.action = ServiceAction::kCreate;  // fails while an old Service is being deleted, and is retried
    return;
  }
  const std::uint64_t key = Fnv1a64(pool.to.revision->name, service.live->digest());
  const auto known = memo.find(service.name);
  if (known != memo.end() && known->second == key) return;
  const Json live = service.live->Parse();
  const Json rendered = RenderService(pool.to.revision->content, pool.pool);
  if (MergeService(rendered, daemon, live) == live) {
    memo[service.name] = key;
    return;
  }
  service.action = IsAnotherService(rendered, live) ? ServiceAction::kUpdate : ServiceAction::kRepair;
}

// The Services and the workloads of one snapshot, by name and by pool.
struct ServiceIndex {
  explicit ServiceIndex(const Snapshot& snapshot) {
    for (const ServiceRef& service : snapshot.services) {
      by_name.emplace(service.object->meta().key.name, &service);
      if (!service.object->meta().deleting()) by_pool.emplace(service.pool, &service);
    }
    for (const WorkloadRef& workload : snapshot.workloads) {
      names[workload.pool].push_back(ServiceName(workload.object->meta().key.name));
    }
  }

  std::unordered_map<std::string_view, const ServiceRef*> by_name;
  std::unordered_map<std::string_view, const ServiceRef*> by_pool;
  // Names of the Services of the workloads, by pool.
  std::unordered_map<std::string_view, std::vector<std::string>> names;
};

std::string NameFor(const YurtAppDaemon& daemon, const PoolPlan& pool, const ServiceIndex& index) {
  if (!pool.workload) {
    const auto old = index.by_pool.find(pool.pool);
    // The caches might not show the workload yet. So if the pool has a Service, the name of that Service is used.
    if (old != index.by_pool.end()) return old->second->object->meta().key.name;
    return ServiceName(WorkloadName(daemon.meta.key.name, daemon.meta.uid, pool.pool, daemon.kind));
  }
  std::string name = ServiceName(pool.workload->object->meta().key.name);
  if (index.by_name.contains(name)) return name;
  // If the pool has two workloads, either may stay. So the Service of either workload is used.
  if (const auto names = index.names.find(pool.pool); names != index.names.end()) {
    for (const std::string& other : names->second) {
      if (index.by_name.contains(other)) return other;
    }
  }
  return name;
}

void PlanServiceRemovals(const Snapshot& snapshot, const ServiceIndex& index, Plan& plan) {
  std::unordered_map<std::string_view, std::size_t> selected;
  std::set<std::string_view> in_use;  // names of Services that stay, even if their label has another pool
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    selected.emplace(plan.pools[i].pool, i);
    if (plan.pools[i].service) in_use.insert(plan.pools[i].service->name);
  }
  std::set<std::string_view> postponed;
  for (const WorkloadRef& workload : plan.postponed.workloads) postponed.insert(workload.pool);
  for (const ServiceRef& service : snapshot.services) {
    const ObjectMeta& meta = service.object->meta();
    if (meta.deleting() || postponed.contains(service.pool) || in_use.contains(meta.key.name)) continue;
    const auto at = selected.find(service.pool);
    if (at == selected.end()) {
      plan.service_removals.push_back({service, std::nullopt});
      continue;
    }
    const PoolPlan& pool = plan.pools[at->second];
    // A Service is removed only if it is known which Service the pool needs. This is unknown if the pool has two
    // workloads, if its workload has an unknown revision, or if it has no workload and none is created now.
    const auto names = index.names.find(service.pool);
    const bool known = pool.to.revision != nullptr && (pool.workload || pool.action == WorkloadAction::kCreate) &&
                       (names == index.names.end() || names->second.size() <= 1);
    if (known) plan.service_removals.push_back({service, at->second});
  }
  std::sort(plan.service_removals.begin(), plan.service_removals.end(),
            [](const ServiceRemoval& a, const ServiceRemoval& b) {
              return a.service.object->meta().key < b.service.object->meta().key;
            });
}

}  // namespace

bool NeedsServices(const Snapshot& snapshot) {
  return std::any_of(snapshot.revisions.begin(), snapshot.revisions.end(), HasServiceTemplate);
}

void PlanServices(const Snapshot& snapshot, ServiceMemo& memo, Plan& plan) {
  if (snapshot.services.empty() && !NeedsServices(snapshot)) return memo.clear();
  const ServiceIndex index(snapshot);
  std::erase_if(memo, [&](const auto& entry) { return !index.by_name.contains(entry.first); });
  for (PoolPlan& pool : plan.pools) {
    if (!HasServiceTemplate(pool.to.revision) || (!pool.workload && pool.action != WorkloadAction::kCreate)) continue;
    ServicePlan service;
    service.name = NameFor(snapshot.daemon, pool, index);
    if (const auto live = index.by_name.find(service.name); live != index.by_name.end())
      service.live = live->second->object;
    PlanWrite(snapshot.daemon, pool, memo, service);
    pool.service = std::move(service);
  }
  PlanServiceRemovals(snapshot, index, plan);
}

Json ServiceToWrite(const YurtAppDaemon& daemon, const PoolPlan& plan, const Json* live) {
  const Json rendered = RenderService(plan.to.revision->content, plan.pool);
  return live == nullptr ? NewService(rendered, daemon, plan.service->name) : MergeService(rendered, daemon, *live);
}

bool WaitsForService(const PoolPlan& plan) {
  if (plan.action == WorkloadAction::kCreate) return plan.service->action == ServiceAction::kCreate;
  return plan.action == WorkloadAction::kUpdate && plan.from.revision != nullptr &&
         !SameService(plan.from.revision->content, plan.to.revision->content);
}

}  // namespace yad
