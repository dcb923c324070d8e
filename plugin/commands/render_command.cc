// kubectl yad render, which does not contact a cluster.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/api/names.h"
#include "operator/api/well_known.h"
#include "operator/base/join.h"
#include "operator/workload/service.h"
#include "operator/yurtappdaemon/plan/plan.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/daemon.h"
#include "plugin/commands/revisions.h"
#include "plugin/manifest/manifest.h"
#include "plugin/manifest/yaml.h"

namespace yad {
namespace {

struct PoolsForRender {
  std::vector<NodePool> pools;
  bool described = false;  // the pools are from a file with their labels, types and taints
};

Result<PoolsForRender> PoolsToRender(const PluginOptions& options, Console& console) {
  PoolsForRender result;
  std::vector<NodePool> known;
  if (!options.pool_file.empty()) {
    YAD_TRY(const auto manifests, ReadManifestsOf(kNodePoolType, options.pool_file, console));
    for (const Json& manifest : manifests) known.push_back(ParseNodePool(manifest));
    result.described = true;
  }
  if (options.pools.empty()) result.pools = known;
  for (const std::string& name : options.pools) {
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const NodePool& pool) { return pool.name == name; });
    if (found != known.end()) {
      result.pools.push_back(*found);
    } else if (result.described) {
      std::vector<std::string> names;
      for (const NodePool& pool : known) names.push_back(pool.name);
      return Fail(Reason::kConfig, options.pool_file + " has no NodePool \"" + name + "\"; it has " + Join(names));
    } else {
      result.pools.emplace_back().name = name;
    }
  }
  for (const NodePool& pool : result.pools) {
    if (const std::string fault = CheckLabelValue(pool.name); !fault.empty()) {
      return Fail(Reason::kInvalid,
                  "pool \"" + pool.name +
                      "\" gets no workload: no node can belong to this pool, because the pool's name is not a valid "
                      "label value: " +
                      fault);
    }
  }
  return result;
}

bool SelectsByLabel(const Json& overrides) {
  return overrides.is_array() && std::any_of(overrides.begin(), overrides.end(), [](const Json& entry) {
           return entry.is_object() && entry.contains("nodepoolSelector");
         });
}

void PrintUnknownInputs(const YurtAppDaemon& daemon, const PoolsForRender& pools, Console& console) {
  if (!pools.described) {
    console.err << "note: the taints of the pool are not known"
                << (SelectsByLabel(daemon.overrides) ? ", nor the labels that overrides with a nodepoolSelector need"
                                                     : "")
                << " (give --pool-file FILE)\n";
  }
  if (daemon.meta.uid.empty()) {
    console.err << "note: the last 5 characters of the workload's name depend on the YurtAppDaemon's uid, which is "
                   "not known (give --uid UID, or set metadata.uid in the file)\n";
  }
}

Result<std::vector<Json>> RenderAll(const PluginOptions& options, Console& console) {
  YAD_TRY(auto manifests, ReadManifestsOf(kYurtAppDaemonType, options.file, console));
  YAD_TRY(const auto pools, PoolsToRender(options, console));
  std::vector<Json> rendered;
  for (Json& manifest : manifests) {
    YAD_TRY_VOID(SettleNamespace(manifest, options.ns, "default"));
    if (!options.uid.empty()) manifest["metadata"]["uid"] = options.uid;
    const auto daemon = ParseYurtAppDaemon(manifest);
    if (!daemon) {
      const std::string name = StringAt(manifest, {"metadata", "name"});
      return Fail(WithMessage(daemon.error(), Quoted(name) + " is invalid: " + daemon.error().message));
    }
    const RevisionPtr revision = RevisionOf(*daemon, {});
    for (const NodePool& pool : pools.pools) {
      if (daemon->pools.exclude.contains(pool.name) || (pools.described && !daemon->pools.Selects(pool))) {
        console.err << "note: " << Quoted(daemon->meta.key.name) << " does not select pool " << pool.name
                    << ": nothing would be created\n";
        continue;
      }
      PoolPlan plan;
      plan.pool = pool.name;
      plan.to = {revision, InputsFor(revision->content, pool)};
      YAD_TRY(auto workload, NewWorkload(*daemon, plan));
      if (const Json service = RenderService(revision->content, pool.name); !service.is_null()) {
        const std::string name = ServiceName(StringAt(workload, {"metadata", "name"}));
        rendered.push_back(NewService(service, *daemon, name));
      }
      rendered.push_back(std::move(workload));
    }
    PrintUnknownInputs(*daemon, pools, console);
  }
  return rendered;
}

}  // namespace

Result<int> RunRender(const PluginOptions& options, Console& console) {
  YAD_TRY(const auto rendered, RenderAll(options, console));
  if (options.output == OutputFormat::kJson) {
    if (!rendered.empty()) PrintObject(options, console, rendered.size() == 1 ? rendered.front() : ListOf(rendered));
    return kDone;
  }
  bool first = true;
  for (const Json& workload : rendered) {
    if (options.output == OutputFormat::kName) {
      console.out << TypedName(StringAt(workload, {"kind"}), StringAt(workload, {"metadata", "name"})) << "\n";
      continue;
    }
    console.out << (first ? "" : "---\n") << ToYaml(workload);
    first = false;
  }
  return kDone;
}

}  // namespace yad
