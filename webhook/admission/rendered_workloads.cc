#include "webhook/admission/rendered_workloads.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "operator/api/names.h"
#include "operator/api/well_known.h"
#include "operator/workload/semantics.h"
#include "operator/yurtappdaemon/observe/history.h"
#include "operator/yurtappdaemon/observe/ownership.h"

namespace yad {
namespace {

RevisionPtr RevisionOf(const YurtAppDaemon& daemon) {
  auto revision = std::make_shared<Revision>();
  revision->content = ContentOf(daemon);
  revision->hash = RevisionHash(revision->content, IntAt(daemon.status, {"collisionCount"}));
  revision->name = RevisionName(daemon.meta.key.name, revision->hash);
  revision->label = RevisionLabelValue(revision->name, revision->hash);
  return revision;
}

// Assigns a number to each entry of spec.overrides. Two entries with the same changes, for different pools, have the
// same number.
std::vector<int> EffectsOf(const RevisionContent& content) {
  std::vector<int> effects;
  std::map<std::string, int> numbers;
  for (Json entry : content.overrides) {
    if (entry.is_object()) {
      entry.erase("pools");
      entry.erase("nodepoolSelector");
    }
    effects.push_back(numbers.try_emplace(DumpJson(entry), static_cast<int>(numbers.size())).first->second);
  }
  return effects;
}

std::vector<int> Sequence(const RenderInputs& inputs, const std::vector<int>& effects) {
  std::vector<int> sequence;
  for (const int index : inputs.overrides) sequence.push_back(effects[static_cast<std::size_t>(index)]);
  return sequence;
}

// Returns the revision and the inputs from which the pool's workload was rendered. Reads the inputs from the workload's
// annotation. If it has no annotation, computes them from the pool.
RenderSpec Recorded(const RevisionPtr& revision, const NodePool& pool, const ObjectMeta& workload) {
  const std::string& annotation = workload.Annotation(kRenderedFromAnnotation);
  if (auto inputs = ParseRenderInputs(annotation); inputs && !annotation.empty()) return {revision, *inputs};
  return {revision, InputsFor(revision->content, pool)};
}

// Returns the daemon's ControllerRevision for the revision label of a workload; null if the cache does not have it, or
// has not synced.
ObjectPtr RevisionLabelled(const std::string& label, const YurtAppDaemon& daemon, const AdmissionStores& stores) {
  const auto revisions = ControlledObjects(stores.revisions, daemon.meta);
  if (!revisions) return nullptr;
  for (const ObjectPtr& object : *revisions) {
    const bool usable = ProjectionOf<RevisionProjection>(object).digest_hash != 0 && !object->meta().deleting();
    if (usable && RevisionLabelOf(object->meta()) == label) return object;
  }
  return nullptr;
}

// Sets rendered.before, the plan for the old spec. Also sets, for both plans, the revision from which the workload was
// rendered: as `from`, or as `origin`.
void SetBefore(const RevisionPtr& old, const NodePool& pool, const YurtAppDaemon& daemon, const AdmissionStores& stores,
               RenderedWorkload& rendered) {
  rendered.before = rendered.plan;
  rendered.before.to = {old, InputsFor(old->content, pool)};
  if (!rendered.plan.workload) return;
  const ObjectMeta& workload = rendered.plan.workload->object->meta();
  const std::string& label = workload.Label(kRevisionLabel);
  if (label == old->label) {
    rendered.before.to = rendered.before.from = rendered.plan.from = Recorded(old, pool, workload);
    return;
  }
  rendered.origin = RevisionLabelled(label, daemon, stores);
  rendered.unknown_origin = rendered.origin == nullptr;
}

// Returns the daemon's workloads by pool. Empty if the cache has not synced; every workload then counts as new.
std::unordered_map<std::string, WorkloadRef> LiveWorkloads(const YurtAppDaemon& daemon, const AdmissionStores& stores) {
  std::unordered_map<std::string, WorkloadRef> by_pool;
  const auto workloads = ControlledObjects(stores.WorkloadsOf(daemon.kind), daemon.meta);
  if (!workloads) return by_pool;
  for (const ObjectPtr& object : *workloads) {
    if (object->meta().deleting()) continue;
    WorkloadRef workload = MakeWorkloadRef(object);
    by_pool.try_emplace(workload.pool, workload);
  }
  return by_pool;
}

// Returns the selected pools: first the pools with a workload, then the other pools, each sorted by name.
std::vector<PoolRef> SelectedPools(const YurtAppDaemon& daemon, const AdmissionStores& stores,
                                   const std::unordered_map<std::string, WorkloadRef>& live) {
  std::vector<PoolRef> pools;
  auto all = stores.pools.List();
  if (!all) return pools;
  for (ObjectPtr& object : *all) {
    PoolRef pool{std::move(object)};
    // A pool whose name is not a valid label value has no workload.
    if (daemon.pools.Selects(pool.pool()) && CheckLabelValue(pool.pool().name).empty()) pools.push_back(pool);
  }
  std::sort(pools.begin(), pools.end(),
            [](const PoolRef& a, const PoolRef& b) { return a.pool().name < b.pool().name; });
  std::stable_partition(pools.begin(), pools.end(), [&](const PoolRef& p) { return live.contains(p.pool().name); });
  return pools;
}

}  // namespace

RenderSpec OriginOf(const RenderedWorkload& rendered) {
  const auto revision = ParseRevision(rendered.origin->Parse());
  if (!revision) return {};
  return Recorded(*revision, rendered.pool.pool(), rendered.plan.workload->object->meta());
}

std::vector<RenderedWorkload> DistinctWorkloads(const YurtAppDaemon& wanted, const YurtAppDaemon* before,
                                                const AdmissionStores& stores, std::size_t limit,
                                                const std::function<bool()>& expired) {
  const RevisionPtr to = RevisionOf(wanted);
  const RevisionPtr from = before == nullptr ? nullptr : RevisionOf(*before);
  const std::vector<int> effects = EffectsOf(to->content);

  const auto live = LiveWorkloads(wanted, stores);
  const std::vector<PoolRef> selected = SelectedPools(wanted, stores, live);
  std::vector<const NodePool*> pools;
  for (const PoolRef& pool : selected) pools.push_back(&pool.pool());
  NodePool made_up;
  made_up.name = kAnyPool;
  if (selected.empty()) pools.push_back(&made_up);

  std::vector<RenderedWorkload> by_overrides;  // the first workload with each set of overrides
  std::vector<RenderedWorkload> by_taints;     // the other distinct workloads, which differ only in taints
  std::set<std::vector<int>> seen_overrides;
  std::set<std::pair<std::vector<int>, std::vector<Taint>>> seen;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    if (by_overrides.size() >= limit || expired()) break;
    const NodePool& pool = *pools[i];
    const RenderInputs inputs = InputsFor(to->content, pool);
    std::vector<int> sequence = Sequence(inputs, effects);
    if (!seen.emplace(sequence, pool.taints).second) continue;
    const bool new_overrides = seen_overrides.insert(std::move(sequence)).second;
    if (!new_overrides && by_taints.size() >= limit) continue;

    RenderedWorkload& rendered = (new_overrides ? by_overrides : by_taints).emplace_back();
    if (!selected.empty()) rendered.pool = selected[i];
    rendered.plan.pool = pool.name;
    if (const auto found = live.find(pool.name); found != live.end()) rendered.plan.workload = found->second;
    if (from != nullptr) SetBefore(from, pool, wanted, stores, rendered);
    rendered.plan.to = {to, inputs};
  }
  std::move(by_taints.begin(), by_taints.end(), std::back_inserter(by_overrides));
  if (by_overrides.size() > limit) by_overrides.resize(limit);
  return by_overrides;
}

}  // namespace yad
