#include "operator/yurtappdaemon/observe/freeze.h"

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"

namespace yad {

std::unique_ptr<const Projection> ProjectFreeze(const Json& config_map) {
  auto projection = std::make_unique<FreezeProjection>();
  Freeze& freeze = projection->freeze;
  freeze.reason = Cut(StringAt(config_map, {"data", "reason"}), kMaxFreezeReason);
  const std::string until = StringAt(config_map, {"data", "until"});
  if (until.empty()) return projection;
  if (const WallTime end = ParseTime(until); end != WallTime()) {
    freeze.until = end;
  } else {
    freeze.reason +=
        (freeze.reason.empty() ? "" : "; ") + std::string("`until` is not a valid RFC 3339 time, so it is ignored");
  }
  return projection;
}

bool InForce(const Freeze& freeze, WallTime now) { return !freeze.until || now < *freeze.until; }

ReflectorOptions WatchingFreeze(const std::string& ns) {
  return {.type = kConfigMapType,
          .ns = ns,
          .field_selector = std::string("metadata.name=") + kFreezeName,
          .project = ProjectFreeze,
          .on_demand = true};
}

std::optional<Freeze> FreezeAmong(const std::vector<ObjectPtr>& config_maps, WallTime now) {
  for (const ObjectPtr& object : config_maps) {
    if (object->meta().key.name != kFreezeName || object->meta().deleting()) continue;
    const Freeze& freeze = ProjectionOf<FreezeProjection>(object).freeze;
    if (InForce(freeze, now)) return freeze;
  }
  return std::nullopt;
}

Result<std::optional<Freeze>> ReadFreeze(const Informer& config_maps, ForbiddenReads& forbidden_reads, Clock& clock) {
  const auto found = config_maps.store().List();
  if (!found) {
    const std::string error = config_maps.last_error();
    if (forbidden_reads.IsPermanentlyForbidden(error, clock.Now())) return std::nullopt;
    return Fail(Reason::kNotSynced, "ConfigMap " + std::string(kFreezeName) + " can't be read: " + error);
  }
  return FreezeAmong(*found, clock.WallNow());
}

}  // namespace yad
