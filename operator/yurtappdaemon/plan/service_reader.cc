#include "operator/yurtappdaemon/plan/service_reader.h"

#include <algorithm>

#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/observe/ownership.h"
#include "operator/yurtappdaemon/observe/status_view.h"
#include "operator/yurtappdaemon/plan/services.h"

namespace yad {
namespace {

bool NamesServices(const Json& status) {
  const std::vector<PoolStatusView> pools = StatusView(status).pools();
  return std::any_of(pools.begin(), pools.end(), [](const PoolStatusView& pool) { return !pool.service().empty(); });
}

bool HasTemplate(const ObjectPtr& revision) { return ProjectionOf<RevisionProjection>(revision).has_service; }

}  // namespace

Result<bool> ReadServices(Informer* informer, const RevisionHistory::State& revisions, const Json& status,
                          Snapshot& snapshot) {
  const bool needed = NeedsServices(snapshot);
  const bool had = NamesServices(status) || std::any_of(revisions.all.begin(), revisions.all.end(), HasTemplate);
  if (informer == nullptr || (!needed && !had)) return true;
  informer->Demand();
  if (!informer->synced()) {
    const std::string error = informer->last_error();
    if (error.empty()) return false;
    if (!needed) return true;  // No revision in use has a Service template.
    // A missing permission is an error to report. Other errors may be temporary.
    if (error.find("Forbidden") == std::string::npos) return false;
    return Fail(Reason::kNotSynced, "the Services can't be read: " + error);
  }
  YAD_TRY(const auto services, ControlledObjects(informer->store(), snapshot.daemon.meta));
  for (const ObjectPtr& object : services) snapshot.services.push_back({object, object->meta().Label(kPoolNameLabel)});
  return true;
}

}  // namespace yad
