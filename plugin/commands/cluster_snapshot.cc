#include "plugin/commands/cluster_snapshot.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/observe/ownership.h"
#include "operator/yurtappdaemon/plan/services.h"
#include "plugin/commands/revision_of.h"
#include "plugin/commands/revisions.h"

namespace yad {
namespace {

Status AddPools(ObjectReader& objects, Snapshot& snapshot) {
  YAD_TRY(auto pools, objects.ListNodePools());
  for (const Json& object : pools) {
    PoolRef pool{std::make_shared<StoredObject>(object, ProjectPool)};
    if (snapshot.daemon.pools.Selects(pool.pool())) snapshot.pools.push_back(std::move(pool));
  }
  std::sort(snapshot.pools.begin(), snapshot.pools.end(),
            [](const PoolRef& a, const PoolRef& b) { return a.pool().name < b.pool().name; });
  return {};
}

// Adds the daemon's workloads and the orphans. Returns their revision labels.
Result<std::set<std::string>> AddWorkloads(ObjectReader& objects, Snapshot& snapshot) {
  const ObjectMeta& meta = snapshot.daemon.meta;
  YAD_TRY(auto workloads, objects.List(TypeOf(snapshot.daemon.kind), meta.key.ns));
  const Projector project = snapshot.daemon.kind == WorkloadKind::kDeployment ? ProjectDeployment : ProjectStatefulSet;
  std::set<std::string> labels;
  for (const Json& object : workloads) {
    const ObjectMeta of_workload = ParseMeta(object);
    const bool ours = ControlledBy(of_workload, meta.uid);
    const bool orphan = of_workload.controller() == nullptr && !of_workload.Label(kPoolNameLabel).empty();
    if (!ours && !orphan) continue;
    labels.insert(of_workload.Label(kRevisionLabel));
    (ours ? snapshot.workloads : snapshot.orphans)
        .push_back(MakeWorkloadRef(std::make_shared<StoredObject>(object, project)));
  }
  return labels;
}

// Adds the revisions that workloads name in `labels`, as the operator does. If a workload names an unknown revision,
// adds all revisions, because any of them may have made it.
Status AddRevisions(ObjectReader& objects, const std::set<std::string>& labels, Snapshot& snapshot) {
  YAD_TRY(auto entries, ReadRevisions(objects, snapshot.daemon.meta.key.ns, snapshot.daemon.meta.uid));
  std::vector<RevisionPtr> all;
  for (const RevisionEntry& entry : entries) all.push_back(entry.revision);
  snapshot.update = RevisionOf(snapshot.daemon, all);
  const std::string current = StringAt(snapshot.daemon.status, {"currentRevision"});
  const bool all_known = std::all_of(labels.begin(), labels.end(), [&](const std::string& label) {
    return std::any_of(all.begin(), all.end(),
                       [&](const RevisionPtr& r) { return r->label == label || r->name == label; });
  });
  snapshot.revisions.push_back(snapshot.update);
  for (const RevisionPtr& revision : all) {
    if (revision->name == current) snapshot.current = revision;
    const bool used =
        !all_known || revision->name == current || labels.contains(revision->label) || labels.contains(revision->name);
    if (used && revision != snapshot.update) snapshot.revisions.push_back(revision);
  }
  return {};
}

Status AddServices(ObjectReader& objects, Snapshot& snapshot) {
  const ObjectMeta& meta = snapshot.daemon.meta;
  YAD_TRY(auto services, objects.List(kServiceType, meta.key.ns, kPoolNameLabel));
  for (const Json& object : services) {
    const ObjectMeta of_service = ParseMeta(object);
    if (!ControlledBy(of_service, meta.uid)) continue;
    snapshot.services.push_back({std::make_shared<StoredObject>(object, nullptr), of_service.Label(kPoolNameLabel)});
  }
  return {};
}

}  // namespace

Result<Snapshot> ReadClusterSnapshot(Client& client, const Json& daemon, WallTime now) {
  Json unhindered = daemon;
  unhindered["spec"].erase("paused");
  unhindered["spec"].erase("updateStrategy");
  ClusterReader objects(client);
  return ReadRolloutSnapshot(objects, unhindered, now);
}

Result<Snapshot> ReadRolloutSnapshot(ObjectReader& objects, const Json& daemon, WallTime now) {
  Snapshot snapshot;
  YAD_TRY(snapshot.daemon, ParseYurtAppDaemon(daemon));
  snapshot.now = now;

  YAD_TRY_VOID(AddPools(objects, snapshot));
  YAD_TRY(const auto labels, AddWorkloads(objects, snapshot));
  YAD_TRY_VOID(AddRevisions(objects, labels, snapshot));
  if (NeedsServices(snapshot)) YAD_TRY_VOID(AddServices(objects, snapshot));
  return snapshot;
}

}  // namespace yad
