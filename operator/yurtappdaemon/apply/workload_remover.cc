#include "operator/yurtappdaemon/apply/workload_remover.h"

#include <utility>

#include "operator/api/well_known.h"
#include "operator/base/parallel.h"
#include "operator/yurtappdaemon/apply/workload_writer.h"
#include "operator/yurtappdaemon/observe/ownership.h"

namespace yad {

Status MarkRemovals(Client& client, Store& workloads, const YurtAppDaemon& daemon, std::vector<Removal>& removals,
                    std::size_t parallel_writes, std::stop_token stop) {
  std::vector<Removal*> unmarked;
  for (Removal& removal : removals) {
    const std::string& mark = removal.workload.object->meta().Annotation(kRemovalAllowedAnnotation);
    if (!removal.mark.empty() && mark != removal.mark) unmarked.push_back(&removal);
  }
  std::vector<Status> marked(unmarked.size());
  ParallelFor(unmarked.size(), parallel_writes, [&](std::size_t i) {
    const ObjectMeta& meta = unmarked[i]->workload.object->meta();
    const Json patch = {
        {"metadata",
         {{"uid", meta.uid},
          {"labels", {{kPoolNameLabel, unmarked[i]->workload.pool}}},  // The store holds only labelled workloads.
          {"annotations", {{kRemovalAllowedAnnotation, unmarked[i]->mark}}}}}};
    auto response = client.Patch(TypeOf(daemon.kind), meta.key, PatchType::kMerge, patch, {}, stop);
    if (response) {
      const auto object = StoredWorkload(daemon.kind, *response);
      workloads.Observe(object);
      unmarked[i]->workload = MakeWorkloadRef(object);
    } else if (response.error().reason != Reason::kNotFound) {
      marked[i] = Fail(response.error());
    }
  });
  for (Status& status : marked) {
    if (!status) return std::move(status);
  }
  return {};
}

Status RemoveWorkload(Client& client, const YurtAppDaemon& daemon, const Removal& removal, LiveChecks& checks,
                      std::stop_token stop) {
  const ResourceType& type = TypeOf(daemon.kind);
  if (removal.kept) {
    // This removal deletes a duplicate, and keeps another workload of the pool. The kept workload is read from the
    // server, because the caches may lag. It may have been deleted already, and the pool would lose both workloads. Or
    // it may have become unavailable, so that only the duplicate serves.
    const ObjectMeta& kept = removal.kept->object->meta();
    const auto live = client.Get(type, kept.key, stop);
    if (!live)
      return Fail(Reason::kConflict, "the other workload of the pool could not be read: " + live.error().message);
    const WorkloadRef now = MakeWorkloadRef(StoredWorkload(daemon.kind, *live));
    const ObjectMeta& meta = now.object->meta();
    if (meta.uid != kept.uid || meta.deleting() || !ControlledBy(meta, daemon.meta.uid))
      return Fail(Reason::kConflict, kept.key.ToString() + " was deleted or replaced after it was read");
    // The caches show only workloads with this label. If the kept workload has lost it, the next plan would create
    // another workload.
    if (meta.Label(kPoolNameLabel) != removal.kept->pool)
      return Fail(Reason::kConflict, kept.key.ToString() + " has lost label " + kPoolNameLabel);
    if (!now.state().available()) return Fail(Reason::kConflict, kept.key.ToString() + " is no longer available");
  } else if (const Status left = checks.MayRemove(removal.workload.pool, removal.mark); !left) {
    return left;
  }
  const ObjectMeta& meta = removal.workload.object->meta();
  // Fails if another controller has adopted the workload.
  const DeleteOptions options{.uid = meta.uid, .resource_version = meta.resource_version, .skips_rate_limit = true};
  return client.Delete(type, meta.key, options, stop);
}

}  // namespace yad
