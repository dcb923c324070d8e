#include "operator/yurtappdaemon/services.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "operator/api/well_known.h"
#include "operator/workload/service.h"

namespace yad {
namespace {

const RevisionContent* ContentWithService(const Target& target) {
  const bool has = target.revision != nullptr && target.revision->content.service_template.is_object();
  return has ? &target.revision->content : nullptr;
}

std::uint64_t MemoKey(const StoredObject& live, const PoolPlan& pool) {
  return Fnv1a64(pool.to.revision->name, live.digest());
}

void PlanWrite(const YurtAppDaemon& daemon, const PoolPlan& pool, ServiceMemo& memo, ServicePlan& service) {
  if (service.live == nullptr || service.live->meta().deleting()) {
    service.write = ServiceWrite::kCreate;  // While an old one goes, the answer is a conflict: tried again.
    return;
  }
  const std::uint64_t key = MemoKey(*service.live, pool);
  const auto known = memo.find(service.name);
  if (known != memo.end() && known->second == key) return;
  const Json live = service.live->Parse();
  const Json rendered = RenderService(pool.to.revision->content, pool.pool);
  if (MergeService(rendered, daemon, live) == live) {
    memo[service.name] = key;
    return;
  }
  service.write = IsAnotherService(rendered, live) ? ServiceWrite::kUpdate : ServiceWrite::kRepair;
}

}  // namespace

bool NeedsServices(const Snapshot& snapshot) {
  return std::any_of(snapshot.revisions.begin(), snapshot.revisions.end(),
                     [](const RevisionPtr& r) { return r->content.service_template.is_object(); });
}

void PlanServices(const Snapshot& snapshot, ServiceMemo& memo, Plan& plan) {
  if (snapshot.services.empty() && !NeedsServices(snapshot)) return memo.clear();
  const YurtAppDaemon& daemon = snapshot.daemon;
  std::unordered_map<std::string_view, const ServiceRef*> by_name, by_pool;
  for (const ServiceRef& service : snapshot.services) {
    by_name.emplace(service.object->meta().key.name, &service);
    if (!service.object->meta().deleting()) by_pool.emplace(service.pool, &service);
  }
  std::erase_if(memo, [&](const auto& entry) { return !by_name.contains(entry.first); });

  std::unordered_map<std::string_view, std::vector<std::string>> names;  // that the workloads of a pool stand for
  for (const WorkloadRef& workload : snapshot.workloads) {
    names[workload.pool].push_back(ServiceName(workload.object->meta().key.name));
  }

  std::unordered_map<std::string_view, std::size_t> selected;
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    PoolPlan& pool = plan.pools[i];
    selected.emplace(pool.pool, i);
    if (ContentWithService(pool.to) == nullptr || (!pool.workload && pool.write != Write::kCreate)) continue;
    ServicePlan service;
    const auto old = by_pool.find(pool.pool);
    if (pool.workload) {
      service.name = ServiceName(pool.workload->object->meta().key.name);
      // Which of two workloads stays is not settled yet: the Service of either will do.
      for (const std::string& name : names[pool.pool]) {
        if (!by_name.contains(service.name) && by_name.contains(name)) service.name = name;
      }
    } else if (old != by_pool.end()) {
      // Its workload may only be out of sight: what it is called is seen when it is back.
      service.name = old->second->object->meta().key.name;
    } else {
      service.name = ServiceName(WorkloadName(daemon.meta.key.name, daemon.meta.uid, pool.pool, daemon.kind));
    }
    if (const auto live = by_name.find(service.name); live != by_name.end()) service.live = live->second->object;
    PlanWrite(daemon, pool, memo, service);
    pool.service = std::move(service);
  }

  std::set<std::string_view> claimed;  // whatever their labels say by now
  for (const PoolPlan& pool : plan.pools) {
    if (pool.service) claimed.insert(pool.service->name);
  }
  std::set<std::string_view> held;
  for (const WorkloadRef& workload : plan.held.workloads) held.insert(workload.pool);
  for (const ServiceRef& service : snapshot.services) {
    const ObjectMeta& meta = service.object->meta();
    if (meta.deleting() || held.contains(service.pool) || claimed.contains(meta.key.name)) continue;
    const auto at = selected.find(service.pool);
    if (at == selected.end()) {
      plan.service_removals.push_back({service, std::nullopt});
      continue;
    }
    const PoolPlan& pool = plan.pools[at->second];
    // Nothing says what is to be there as long as there is no workload, or one of which nobody knows what made it, or
    // two.
    const bool known = pool.to.revision != nullptr && (pool.workload || pool.write == Write::kCreate) &&
                       names[service.pool].size() <= 1;
    if (known) {
      plan.service_removals.push_back({service, at->second});
    }
  }
  std::sort(plan.service_removals.begin(), plan.service_removals.end(),
            [](const ServiceRemoval& a, const ServiceRemoval& b) {
              return a.service.object->meta().key < b.service.object->meta().key;
            });
}

Json ServiceToWrite(const YurtAppDaemon& daemon, const PoolPlan& plan, const Json* live) {
  const Json rendered = RenderService(plan.to.revision->content, plan.pool);
  return live == nullptr ? NewService(rendered, daemon, plan.service->name) : MergeService(rendered, daemon, *live);
}

bool WaitsForService(const PoolPlan& plan) {
  if (plan.write == Write::kCreate) return true;
  return plan.write == Write::kMove && plan.from.revision != nullptr &&
         !SameService(plan.from.revision->content, plan.to.revision->content);
}

}  // namespace yad
