// kubectl yad restart
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "operator/api/conditions.h"
#include "operator/api/well_known.h"
#include "operator/api/yurtappdaemon.h"
#include "operator/yurtappdaemon/observe/ownership.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/daemon.h"

namespace yad {
namespace {

// The annotation of kubectl rollout restart.
constexpr char kRestartedAt[] = "kubectl.kubernetes.io/restartedAt";
// The annotation in the pod template of one pool's workload that restarts only this pool. kubectl's annotation
// (kRestartedAt) can't be used for this: a restart of the whole daemon adds kubectl's annotation to the daemon's
// workload template, and the operator then gives this annotation the same value in each pool. The value of one pool
// would be lost.
constexpr char kPoolRestartedAt[] = "apps.openyurt.io/restartedAt";
constexpr std::size_t kNamedWorkloadPools = 10;

// Returns the kind of the workload template in the spec. Fails if the spec has no template.
Result<WorkloadKind> KindOfTemplate(const Json& daemon, const std::string& name) {
  for (const WorkloadKind kind : {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet}) {
    const Json* found = Find(daemon, {"spec", "workloadTemplate", TemplateField(kind)});
    if (found != nullptr && found->is_object()) return kind;
  }
  return Fail(Reason::kInvalid, Quoted(name) + " has no workload template");
}

Result<int> RestartAll(Session& session) {
  const std::string now = FormatTime(session.clock.WallNow());
  const auto written = EditDaemon(session, [&](Json& daemon) -> Result<bool> {
    const std::string& name = session.options.daemon;
    if (BoolAt(daemon, {"spec", "paused"})) {
      return Fail(Reason::kBadRequest, Quoted(name) + " is paused: run kubectl yad resume " + name +
                                           " first, or restart single pools with --pool POOL");
    }
    YAD_TRY(const auto kind, KindOfTemplate(daemon, name));
    Json& pods = daemon["spec"]["workloadTemplate"][TemplateField(kind)]["spec"]["template"];
    if (StringAt(pods, {"metadata", "annotations", kRestartedAt}) == now) {
      return Fail(Reason::kBadRequest,
                  "if restart has already been triggered within the past second, please wait before "
                  "attempting to trigger another");
    }
    pods["metadata"]["annotations"][kRestartedAt] = now;
    return true;
  });
  if (!written) return Fail(written.error());
  PrintWritten(session, *written, "restarted");
  return kDone;
}

// Restarts each workload, and prints a line after each write. Continues after an error, as kubectl does.
Result<int> RestartWorkloads(Session& session, const ResourceType& type,
                             const std::vector<const ObjectMeta*>& workloads) {
  const OutputFormat output = session.options.output;
  const bool prints_objects = output == OutputFormat::kJson || output == OutputFormat::kYaml;
  Json patch = {
      {"spec",
       {{"template", {{"metadata", {{"annotations", {{kPoolRestartedAt, FormatTime(session.clock.WallNow())}}}}}}}}}};
  std::vector<Json> restarted;
  std::optional<Error> failed;
  for (const ObjectMeta* workload : workloads) {
    const std::string subject = TypedName(type.kind, workload->key.name);
    patch["metadata"]["uid"] = workload->uid;
    auto written = session.client.Patch(type, workload->key, PatchType::kMerge, patch);
    if (!written) {
      const std::string what = "cannot restart " + subject + ": " + written.error().message;
      const std::string before = failed ? failed->message + "; " : "";
      if (!failed) failed = written.error();
      failed->message = before + what;
    } else if (prints_objects) {
      restarted.push_back(*std::move(written));
    } else {
      session.console.out << subject << (output == OutputFormat::kName ? "" : " restarted") << std::endl;
    }
  }
  if (prints_objects) PrintObject(session.options, session.console, ListOf(restarted));
  if (failed) return Fail(*failed);
  return kDone;
}

Result<int> RestartPools(Session& session) {
  YAD_TRY(const auto daemon, GetDaemon(session));
  YAD_TRY(const auto kind, KindOfTemplate(daemon, session.options.daemon));
  const ResourceType& type = TypeOf(kind);
  const std::string uid = ParseMeta(daemon).uid;
  std::multimap<std::string, ObjectMeta> by_pool;
  YAD_TRY_VOID(ForEachMeta(session.client, type, session.ns, kPoolNameLabel, [&](ObjectMeta meta) {
    std::string pool = meta.Label(kPoolNameLabel);
    if (ControlledBy(meta, uid) && !meta.deleting()) by_pool.emplace(std::move(pool), std::move(meta));
  }));
  // Checks all names first. Otherwise, the command could fail because of an unknown name after it has restarted some
  // pools.
  const std::set<std::string> wanted(session.options.pools.begin(), session.options.pools.end());
  for (const std::string& pool : wanted) {
    if (by_pool.contains(pool)) continue;
    std::vector<std::string> known;
    for (const auto& [name, meta] : by_pool) known.push_back(name);
    return Fail(
        Reason::kBadRequest,
        Quoted(session.options.daemon) + " has no workload in pool \"" + pool + "\"; " +
            (known.empty() ? "it has no workloads" : "it has workloads in " + NameSome(known, kNamedWorkloadPools)));
  }
  std::vector<const ObjectMeta*> chosen;
  for (const std::string& pool : wanted) {
    const auto [begin, end] = by_pool.equal_range(pool);
    for (auto it = begin; it != end; ++it) chosen.push_back(&it->second);
  }
  return RestartWorkloads(session, type, chosen);
}

}  // namespace

Result<int> RunRestart(Session& session) {
  return session.options.pools.empty() ? RestartAll(session) : RestartPools(session);
}

}  // namespace yad
