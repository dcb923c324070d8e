#include "operator/yurtappdaemon/observe/lost_workloads.h"

#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "operator/yurtappdaemon/observe/ownership.h"
#include "operator/yurtappdaemon/observe/status_view.h"

namespace yad {

Result<std::vector<WorkloadRef>> FindLostWorkloads(Client& client, const Snapshot& snapshot, const Json& status,
                                                   std::set<std::string>& deleted, std::stop_token stop) {
  std::vector<WorkloadRef> found;
  std::map<std::string, std::string> pools;  // by the name of their workload
  for (const PoolStatusView& entry : StatusView(status).pools()) {
    const std::string_view pool = entry.name(), workload = entry.workload();
    if (!pool.empty() && !workload.empty() && FindPool(snapshot, pool) == nullptr) pools.emplace(workload, pool);
  }
  std::erase_if(deleted, [&](const std::string& name) { return !pools.contains(name); });
  if (pools.empty()) return found;
  for (const WorkloadRef& workload : snapshot.workloads) {
    const ObjectMeta& meta = workload.object->meta();
    if (pools.erase(meta.key.name) > 0 && !meta.deleting()) deleted.erase(meta.key.name);
  }
  const YurtAppDaemon& daemon = snapshot.daemon;
  const Projector project = ProjectorOf(daemon.kind);
  for (const auto& [name, pool] : pools) {
    if (deleted.contains(name)) continue;
    auto live = client.Get(TypeOf(daemon.kind), {daemon.meta.key.ns, name}, stop);
    if (!live && live.error().reason == Reason::kNotFound) continue;
    if (!live) return Fail(live.error());
    WorkloadRef workload = MakeWorkloadRef(std::make_shared<StoredObject>(*live, project));
    if (!ControlledBy(workload.object->meta(), daemon.meta.uid)) continue;
    if (workload.state().pool == pool) found.push_back(std::move(workload));
  }
  return found;
}

}  // namespace yad
