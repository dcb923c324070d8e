#include "operator/yurtappdaemon/apply/service_writer.h"

#include <utility>

#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/observe/live_daemon.h"
#include "operator/yurtappdaemon/observe/ownership.h"

namespace yad {
namespace {

constexpr int kAttempts = 4;

// Returns whether an earlier daemon of this name left the Service.
bool IsOrphanedService(const PoolPlan& plan, const Json& wanted, const Json& live) {
  const ObjectMeta meta = ParseMeta(live);
  const Json* selector = Find(live, {"spec", "selector"});
  return meta.controller() == nullptr && !meta.Annotation(kLastRenderedAnnotation).empty() &&
         meta.Annotation(kRefNodePoolAnnotation) == plan.pool && selector != nullptr &&
         *selector == *Find(wanted, {"spec", "selector"});
}

}  // namespace

Status WriteService(Client& client, Informer* services, const YurtAppDaemon& daemon, const PoolPlan& plan,
                    std::stop_token stop) {
  Json live;  // null: no Service is known
  if (plan.service->live != nullptr && !plan.service->live->meta().deleting()) live = plan.service->live->Parse();
  const ObjectKey key{daemon.meta.key.ns, plan.service->name};
  const bool was_ours = !live.is_null() && ControlledBy(plan.service->live->meta(), daemon.meta.uid);
  for (int attempt = 1;; ++attempt) {
    WriteOptions options;
    if (!live.is_null() && ParseMeta(live).controller() == nullptr) {
      // The Service had an owner reference before. The garbage collector may have removed it, because the daemon is
      // deleted with --cascade=orphan. If the operator restored the reference, Kubernetes would delete the Service
      // together with the daemon.
      if (was_ours)
        return Fail(Reason::kConflict,
                    "the owner reference of Service " + key.ToString() + " was removed after it was read");
      YAD_TRY_VOID(ConfirmDaemon(client, daemon.meta, stop));
      options.skips_rate_limit = true;
    }
    const Json wanted = ServiceToWrite(daemon, plan, live.is_null() ? nullptr : &live);
    if (attempt > 1 && wanted == live) break;
    auto written = live.is_null() ? client.Create(kServiceType, wanted, options, stop)
                                  : client.Update(kServiceType, wanted, options, stop);
    if (written) {
      live = *std::move(written);
      break;
    }
    const Reason reason = written.error().reason;
    if ((reason != Reason::kConflict && reason != Reason::kAlreadyExists && reason != Reason::kNotFound) ||
        attempt == kAttempts) {
      return Fail(written.error());
    }
    auto now = client.Get(kServiceType, key, stop);
    if (!now && now.error().reason == Reason::kNotFound) {
      live = Json();
      continue;
    }
    if (!now) return Fail(now.error());
    const ObjectMeta meta = ParseMeta(*now);
    if (!ControlledBy(meta, daemon.meta.uid) && !IsOrphanedService(plan, ServiceToWrite(daemon, plan, nullptr), *now)) {
      return NameConflictError(kServiceType, key.name, "is controlled by " + ControllerOf(meta));
    }
    if (meta.deleting()) return Fail(Reason::kConflict, "Service " + key.ToString() + " is still being deleted");
    live = *std::move(now);
  }
  if (services != nullptr) services->store().Observe(std::make_shared<StoredObject>(live, nullptr));
  return {};
}

Status RemoveService(Client& client, const YurtAppDaemon& daemon, const ServiceRef& service,
                     const StoredObject* workload, std::stop_token stop) {
  if (workload != nullptr) {
    // The workload is read from the server, because a stale cache may show a revision that the pool left long ago.
    const auto now = client.GetMeta(TypeOf(daemon.kind), workload->meta().key, stop);
    if (!now) return Fail(Reason::kConflict, "the pool's workload could not be read: " + now.error().message);
    if (now->uid != workload->meta().uid || now->Label(kRevisionLabel) != workload->meta().Label(kRevisionLabel)) {
      return Fail(Reason::kConflict, now->key.ToString() + " was changed or recreated after it was read");
    }
  }
  const ObjectMeta& meta = service.object->meta();
  // Fails if another controller has adopted the Service.
  const DeleteOptions options{.uid = meta.uid, .resource_version = meta.resource_version, .skips_rate_limit = true};
  return client.Delete(kServiceType, meta.key, options, stop);
}

}  // namespace yad
