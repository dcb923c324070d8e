#include "plugin/commands/cluster_snapshot.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/observe/ownership.h"
#include "operator/yurtappdaemon/observe/status_view.h"
#include "operator/yurtappdaemon/plan/services.h"

namespace yad {
namespace {

void AddPools(const std::vector<ObjectPtr>& pools, Snapshot& snapshot) {
  for (const ObjectPtr& object : pools) {
    PoolRef pool{object};
    if (snapshot.daemon.pools.Selects(pool.pool())) snapshot.pools.push_back(std::move(pool));
  }
  std::sort(snapshot.pools.begin(), snapshot.pools.end(),
            [](const PoolRef& a, const PoolRef& b) { return a.pool().name < b.pool().name; });
}

// Adds the daemon's workloads and orphaned workloads to the snapshot. Returns the values of their revision labels.
std::set<std::string> AddWorkloads(const std::vector<ObjectPtr>& workloads, Snapshot& snapshot) {
  std::set<std::string> labels;
  for (const ObjectPtr& object : workloads) {
    const ObjectMeta& of_workload = object->meta();
    const bool ours = ControlledBy(of_workload, snapshot.daemon.meta.uid);
    const bool orphan = of_workload.controller() == nullptr && !of_workload.Label(kPoolNameLabel).empty();
    if (!ours && !orphan) continue;
    labels.insert(of_workload.Label(kRevisionLabel));
    (ours ? snapshot.workloads : snapshot.orphans).push_back(MakeWorkloadRef(object));
  }
  return labels;
}

// Returns the revision of the spec as it is when its rollout begins. If another revision with the same or a higher
// number exists, the operator first raises the number of this revision, and forgets its last rollout
// (RevisionHistory::Sync).
RevisionPtr Renumbered(const RevisionPtr& update, const std::vector<RevisionPtr>& all) {
  std::int64_t highest = 0;
  for (const RevisionPtr& other : all) {
    if (other->name != update->name) highest = std::max(highest, other->number);
  }
  if (update->number > highest) return update;
  auto renumbered = std::make_shared<Revision>(*update);
  renumbered->number = std::min(highest, std::numeric_limits<std::int64_t>::max() - 1) + 1;
  renumbered->failed_at.clear();
  renumbered->percent_groups.clear();
  return renumbered;
}

// Adds these revisions to the snapshot: the revision of the spec, status.currentRevision, and the revisions in
// `labels`, the values of the workloads' revision labels. Adds all revisions of the daemon in two cases:
// - A label does not refer to a known revision.
// - OpenYurt may have written a workload, so its label may be outdated.
void AddRevisions(const std::vector<RevisionEntry>& entries, const std::set<std::string>& labels, Snapshot& snapshot) {
  std::vector<RevisionPtr> all;
  for (const RevisionEntry& entry : entries) all.push_back(entry.revision);
  snapshot.update = Renumbered(RevisionOf(snapshot.daemon, all), all);
  const std::string current = StringAt(snapshot.daemon.status, {"currentRevision"});
  const bool recorded = !AnyWithoutRecord(snapshot.workloads) && !AnyWithoutRecord(snapshot.orphans);
  const bool all_known = recorded && std::all_of(labels.begin(), labels.end(), [&](const std::string& label) {
                           return std::any_of(all.begin(), all.end(), [&](const RevisionPtr& r) {
                             return r->label == label || r->name == label;
                           });
                         });
  snapshot.revisions.push_back(snapshot.update);
  for (const RevisionPtr& revision : all) {
    const bool is_update = revision->name == snapshot.update->name;
    if (revision->name == current) snapshot.current = is_update ? snapshot.update : revision;
    const bool used =
        !all_known || revision->name == current || labels.contains(revision->label) || labels.contains(revision->name);
    if (used && !is_update) snapshot.revisions.push_back(revision);
  }
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

Result<Snapshot> ComposeSnapshot(const Json& daemon, const SnapshotParts& parts, WallTime now) {
  Snapshot snapshot;
  YAD_TRY(snapshot.daemon, ParseYurtAppDaemon(daemon));
  snapshot.now = now;
  AddPools(parts.pools, snapshot);
  const std::set<std::string> labels = AddWorkloads(parts.workloads, snapshot);
  AddRevisions(parts.revisions, labels, snapshot);
  return snapshot;
}

Result<Snapshot> ReadRolloutSnapshot(ObjectReader& objects, const Json& daemon, WallTime now) {
  YAD_TRY(const auto parsed, ParseYurtAppDaemonWithoutStatus(daemon));
  const auto store = [](const std::vector<Json>& trees, const Projector& projector) {
    std::vector<ObjectPtr> stored;
    for (const Json& tree : trees) stored.push_back(std::make_shared<StoredObject>(tree, projector));
    return stored;
  };
  SnapshotParts parts;
  YAD_TRY(const auto pools, objects.List(kNodePoolType, ""));
  parts.pools = store(pools, ProjectPool);
  YAD_TRY(const auto workloads, objects.List(TypeOf(parsed.kind), parsed.meta.key.ns));
  parts.workloads = store(workloads, ProjectorOf(parsed.kind));
  YAD_TRY(parts.revisions, ReadRevisions(objects, parsed.meta));
  YAD_TRY(auto snapshot, ComposeSnapshot(daemon, parts, now));
  if (NeedsServices(snapshot)) YAD_TRY_VOID(AddServices(objects, snapshot));
  return snapshot;
}

void RestoreRollout(Snapshot& snapshot, HealthRecord& health) {
  const StatusView status(snapshot.daemon.status);
  health = RestoreHealth(status);
  snapshot.health = &health;
  // If a truncated status omits a pool, the plugin does not know since when the pool is healthy. So the pool counts as
  // soaked.
  snapshot.unlisted_have_soaked = status.pools_truncated();
  snapshot.begun = status.BegunGroups(snapshot.update->name);
  snapshot.daemon.strategy.rolling.checks.clear();
  snapshot.daemon.strategy.rolling.prefetch.reset();
}

}  // namespace yad
