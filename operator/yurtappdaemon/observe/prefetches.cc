#include "operator/yurtappdaemon/observe/prefetches.h"

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/observe/forbidden_reads.h"
#include "operator/yurtappdaemon/observe/ownership.h"

namespace yad {

ReflectorOptions WatchingPrefetches(const std::string& ns) {
  return {.type = kDaemonSetType,
          .ns = ns,
          .label_selector = kPrefetchLabel,
          .project = ProjectPrefetch,
          .projected = {{"metadata", {{"generation"}, {"annotations"}}},
                        {"status", {{"observedGeneration"}, {"desiredNumberScheduled"}, {"numberReady"}}}},
          .keeps_content = [](const ObjectMeta&) { return false; },
          .on_demand = true};
}

Result<bool> ReadPrefetches(Informer* daemon_sets, const Json& previous, Snapshot& snapshot) {
  const bool wanted = snapshot.daemon.strategy.rolling.prefetch.has_value();
  if (daemon_sets == nullptr || !(wanted || FindConditionIn(previous, kPrefetchUnavailable) != nullptr)) return true;
  daemon_sets->Demand();
  if (!daemon_sets->synced()) {
    const std::string error = daemon_sets->last_error();
    if (error.empty()) return false;
    if (wanted) snapshot.prefetch_error = DescribeUnreadable("the DaemonSets", error, "prefetch.enabled");
    return true;
  }
  YAD_TRY(const auto owned, ControlledObjects(daemon_sets->store(), snapshot.daemon.meta));
  for (const ObjectPtr& object : owned) snapshot.prefetches.emplace(object->meta().key.name, PrefetchRef{object});
  return true;
}

}  // namespace yad
