// kubectl yad diff
#include <nlohmann/json.hpp>

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/plan/plan.h"
#include "plugin/commands/cluster_snapshot.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/daemon.h"
#include "plugin/manifest/apply_dry_run.h"
#include "plugin/manifest/manifest.h"
#include "plugin/manifest/preview.h"
#include "plugin/manifest/yaml.h"
#include "plugin/view/unified_diff.h"

namespace yad {
namespace {

constexpr std::size_t kPoolsNamedInDiff = 20;

std::string DescribePools(const std::vector<std::string>& pools) {
  return (pools.size() == 1 ? "pool " : std::to_string(pools.size()) + " pools: ") + NameSome(pools, kPoolsNamedInDiff);
}

// Returns the object as the server would store it, with defaults and the changes of webhooks.
Result<Json> ServersView(Session& session, const ResourceType& type, const Change& change) {
  std::vector<std::string> warnings;  // These warnings are about the operator's write, so the user does not see them.
  const WriteOptions dry_run{.dry_run = true, .warnings = &warnings};
  Json object = change.after;
  object["metadata"].erase("resourceVersion");  // If it is absent, a change of status does not cause a conflict.
  auto stored = change.before.is_null() ? session.client.Create(type, object, dry_run)
                                        : session.client.Update(type, object, dry_run);
  if (!stored && stored.error().reason == Reason::kForbidden) {
    session.console.Warn("the server forbids a dry run of this write, so the server's defaults are not shown: " +
                         stored.error().message);
    return change.after;
  }
  return stored;
}

// Prints the changes of the workloads of one YurtAppDaemon. Returns true if there are changes.
Result<bool> PrintDiff(Session& session, Json wanted) {
  // Without these fields, the plan changes all pools together.
  for (const char* field : {"paused", "updateStrategy"}) wanted["spec"].erase(field);
  ClusterReader objects(session.client);
  YAD_TRY(const auto snapshot, ReadRolloutSnapshot(objects, wanted, session.clock.WallNow()));
  const YurtAppDaemon& daemon = snapshot.daemon;
  YAD_TRY(const auto preview, MakePreview(snapshot));
  std::ostream& out = session.console.out;
  bool differs = !preview.removals.empty();
  for (const Change& change : preview.changes) {
    const bool service = StringAt(change.after, {"kind"}) == kServiceType.kind;
    const ResourceType& type = service ? kServiceType : TypeOf(daemon.kind);
    const auto after = ServersView(session, type, change);
    if (!after) return Fail(WithMessage(after.error(), DescribePools(change.pools) + ": " + after.error().message));
    const Json before = Shown(change.before);
    const std::string text = UnifiedDiff(before.is_null() ? "" : ToYaml(before), ToYaml(Shown(*after)));
    if (text.empty()) continue;  // The server would store the same object.
    differs = true;
    const std::string name = StringAt(change.after, {"metadata", "name"});
    const std::string path =
        (service ? "" : type.group + ".") + type.version + "." + type.kind + "." + daemon.meta.key.ns + "." + name;
    out << "# " << DescribePools(change.pools) << "\n"
        << "diff -u -N LIVE/" << path << " MERGED/" << path << "\n"
        << "--- " << (before.is_null() ? "/dev/null" : "LIVE/" + path) << "\n"
        << "+++ MERGED/" << path << "\n"
        << text;
  }
  for (const Preview::Removal& removal : preview.removals) {
    out << "# pool " << removal.pool << ": " << TypedName(removal.kind, removal.name) << " would be removed\n";
  }
  for (const Preview::Failure& failure : preview.failures) {
    session.console.err << Printable("pool " + failure.pool + " gets no workload: " + failure.reason + ": " +
                                     failure.message)
                        << "\n";
  }
  return differs;
}

}  // namespace

Result<int> RunDiff(Session& session) {
  std::vector<Json> wanted;
  if (session.options.file.empty()) {
    YAD_TRY(auto daemon, GetDaemon(session));
    wanted.push_back(std::move(daemon));
  } else {
    std::size_t skipped = 0;
    YAD_TRY(auto manifests, ReadManifestsOf(kYurtAppDaemonType, session.options.file, session.console, &skipped));
    if (skipped > 0) {
      session.console.err << "note: " << skipped
                          << (skipped == 1 ? " object of another type is" : " objects of other types are")
                          << " ignored (kubectl diff shows their changes)\n";
    }
    for (Json& manifest : manifests) {
      YAD_TRY_VOID(SettleNamespace(manifest, session.options.ns, session.ns));
      YAD_TRY(auto applied, ApplyAsDryRun(session.client, manifest));
      if (StringAt(applied, {"metadata", "resourceVersion"}).empty()) {
        session.console.err
            << "note: " << Quoted(StringAt(manifest, {"metadata", "name"}))
            << " does not exist yet: the last 5 characters of the workloads' names depend on its uid, and "
               "will differ\n";
      }
      wanted.push_back(std::move(applied));
    }
  }
  bool differs = false;
  for (const Json& daemon : wanted) {
    YAD_TRY(const auto printed, PrintDiff(session, daemon));
    differs = differs || printed;
  }
  return differs ? kNo : kDone;
}

}  // namespace yad
