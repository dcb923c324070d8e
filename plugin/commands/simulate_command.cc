// kubectl yad simulate
#include <nlohmann/json.hpp>

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/observe/freeze.h"
#include "plugin/commands/cluster_snapshot.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/daemon.h"
#include "plugin/commands/exit_code.h"
#include "plugin/commands/operator_namespace.h"
#include "plugin/commands/timeline.h"
#include "plugin/manifest/apply_dry_run.h"
#include "plugin/manifest/manifest.h"

namespace yad {
namespace {

// Returns the YurtAppDaemon as it would be on the server.
Result<Json> WantedDaemon(Session& session) {
  if (session.options.file.empty()) return GetDaemon(session);
  std::size_t left_out = 0;
  YAD_TRY(auto manifests, ReadManifestsOf(kYurtAppDaemonType, session.options.file, session.console, left_out));
  if (manifests.size() > 1) {
    return Fail(Reason::kBadRequest, session.options.file + " has " + std::to_string(manifests.size()) +
                                         " YurtAppDaemons: give a file with one");
  }
  YAD_TRY_VOID(SettleNamespace(manifests.front(), session.options.ns, session.ns));
  return ApplyAsDryRun(session.client, manifests.front());
}

Result<std::optional<Freeze>> ReadFreeze(Session& session, WallTime now) {
  YAD_TRY(const auto ns, OperatorNamespace(session));
  const auto config_map = session.client.Get(kConfigMapType, {ns, kFreezeName});
  if (!config_map && config_map.error().reason == Reason::kNotFound) return std::nullopt;
  if (!config_map) return Fail(config_map.error());
  Freeze freeze = static_cast<const FreezeProjection&>(*ProjectFreeze(*config_map)).freeze;
  if (!InForce(freeze, now)) return std::nullopt;
  return freeze;
}

}  // namespace

Result<int> RunSimulate(Session& session) {
  const WallTime now = session.clock.WallNow();
  YAD_TRY(const auto daemon, WantedDaemon(session));
  ClusterReader objects(session.client);
  YAD_TRY(auto snapshot, ReadRolloutSnapshot(objects, daemon, now));
  if (snapshot.daemon.strategy.type != UpdateStrategyType::kRollingUpdate) {
    return Fail(Reason::kBadRequest, Quoted(snapshot.daemon.meta.key.name) +
                                         " has no rollout to simulate: updateStrategy.type is not RollingUpdate");
  }
  if (auto freeze = ReadFreeze(session, now)) {
    snapshot.freeze = *std::move(freeze);
  } else {
    session.console.err << "Warning: a freeze can't be read, so the simulation has none: "
                        << Printable(freeze.error().message) << "\n";
  }
  SimulationOptions options;
  options.duration = std::chrono::duration_cast<std::chrono::seconds>(session.options.duration);
  options.failing = session.options.failing;
  const Timeline timeline{snapshot.daemon.meta.key.name, snapshot.update->name, options, Simulate(snapshot, options)};
  if (PrintObject(session.options, session.console, ToJson(timeline))) return kDone;
  for (const std::string& line : DescribeTimeline(timeline)) session.console.out << Printable(line) << "\n";
  return kDone;
}

}  // namespace yad
