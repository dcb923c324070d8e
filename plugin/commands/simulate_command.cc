// kubectl yad simulate
#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/observe/freeze.h"
#include "plugin/commands/cluster_snapshot.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/daemon.h"
#include "plugin/commands/operator_namespace.h"
#include "plugin/commands/snapshot_file.h"
#include "plugin/commands/timeline.h"
#include "plugin/manifest/apply_dry_run.h"
#include "plugin/manifest/manifest.h"

namespace yad {
namespace {

// Reads the YurtAppDaemon from the file of --filename.
Result<Json> ReadManifest(const PluginOptions& options, Console& console) {
  YAD_TRY(auto manifests, ReadManifestsOf(kYurtAppDaemonType, options.file, console));
  if (manifests.size() > 1) {
    return Fail(Reason::kBadRequest,
                options.file + " has " + std::to_string(manifests.size()) + " YurtAppDaemons: give a file with one");
  }
  return std::move(manifests.front());
}

// Reads the YurtAppDaemon from the server. If --filename is set, returns the result of applying the file.
Result<Json> WantedDaemon(Session& session) {
  if (session.options.file.empty()) return GetDaemon(session);
  YAD_TRY(auto manifest, ReadManifest(session.options, session.console));
  YAD_TRY_VOID(SettleNamespace(manifest, session.options.ns, session.ns));
  return ApplyAsDryRun(session.client, manifest);
}

// Does the same with a snapshot file instead of the server.
Result<Json> WantedDaemon(SnapshotFile& file, const PluginOptions& options, Console& console) {
  if (options.file.empty()) {
    YAD_TRY(const auto ns, file.NamespaceOf(options.daemon, options.ns));
    YAD_TRY_VOID(file.CheckSpec({ns, options.daemon}));
    return file.Get(kYurtAppDaemonType, {ns, options.daemon});
  }
  YAD_TRY(auto manifest, ReadManifest(options, console));
  const std::string name = StringAt(manifest, {"metadata", "name"});
  auto ns = file.NamespaceOf(name, options.ns);
  if (!ns && ns.error().reason != Reason::kNotFound) return Fail(ns.error());
  YAD_TRY_VOID(SettleNamespace(manifest, options.ns, ns ? *ns : "default"));
  const auto live = file.Get(kYurtAppDaemonType, {StringAt(manifest, {"metadata", "namespace"}), name});
  return ApplyWithoutServer(live ? *live : Json(), manifest);
}

Result<std::optional<Freeze>> ReadFreeze(ObjectReader& objects, const PluginOptions& options, WallTime now) {
  YAD_TRY(const auto ns, OperatorNamespace(objects, options.operator_ns));
  const auto config_map = objects.Get(kConfigMapType, {ns, kFreezeName});
  if (!config_map && config_map.error().reason == Reason::kNotFound) return std::nullopt;
  if (!config_map) return Fail(config_map.error());
  return FreezeAmong({std::make_shared<StoredObject>(*config_map, ProjectFreeze)}, now);
}

// The simulation counts in whole seconds. It would observe the end of an update of 0 s only at the pool's deadline.
constexpr std::chrono::seconds kShortestUpdate{1};

SimulationOptions OptionsOf(const PluginOptions& given, const Snapshot& snapshot) {
  SimulationOptions options;
  options.failing = given.failing;
  if (given.duration) {
    options.duration = std::max(std::chrono::duration_cast<std::chrono::seconds>(*given.duration), kShortestUpdate);
    return options;
  }
  options.durations = MeasureDurations(snapshot);
  if (!options.durations.empty()) options.duration = MedianOf(options.durations);
  return options;
}

Result<int> SimulateFor(const Json& daemon, ObjectReader& objects, const PluginOptions& given, Console& console,
                        WallTime now) {
  YAD_TRY(auto snapshot, ReadRolloutSnapshot(objects, daemon, now));
  if (snapshot.daemon.strategy.type != UpdateStrategyType::kRollingUpdate) {
    return Fail(Reason::kBadRequest, Quoted(snapshot.daemon.meta.key.name) +
                                         " has no rollout to simulate: updateStrategy.type is not RollingUpdate");
  }
  if (auto freeze = ReadFreeze(objects, given, now)) {
    snapshot.freeze = *std::move(freeze);
  } else {
    console.Warn("the freeze can't be read, so the simulation assumes that updates are not frozen: " +
                 freeze.error().message);
  }
  Timeline timeline;
  timeline.daemon = snapshot.daemon.meta.key.name;
  timeline.revision = snapshot.update->name;
  timeline.duration_given = given.duration.has_value();
  timeline.options = OptionsOf(given, snapshot);
  timeline.simulation = Simulate(snapshot, timeline.options);
  if (given.failure_rate)
    timeline.failures = SimulateFailures(snapshot, timeline.options, {*given.failure_rate, given.runs, given.seed});
  if (given.output == OutputFormat::kHtml) {
    console.out << TimelinePage(timeline);
    return kDone;
  }
  if (PrintObject(given, console, ToJson(timeline))) return kDone;
  for (const std::string& line : DescribeTimeline(timeline)) console.out << Printable(line) << "\n";
  return kDone;
}

}  // namespace

Result<int> RunSimulate(Session& session) {
  YAD_TRY(const auto daemon, WantedDaemon(session));
  ClusterReader objects(session.client);
  const WallTime now = session.options.now.value_or(session.clock.WallNow());
  return SimulateFor(daemon, objects, session.options, session.console, now);
}

Result<int> RunSimulateFrom(const PluginOptions& options, Console& console) {
  YAD_TRY(auto file, SnapshotFile::Read(options.from, console));
  YAD_TRY(const auto daemon, WantedDaemon(file, options, console));
  YAD_TRY_VOID(file.CheckParts(daemon));
  return SimulateFor(daemon, file, options, console, options.now.value_or(Clock::Real().WallNow()));
}

}  // namespace yad
