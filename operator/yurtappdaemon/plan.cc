#include "operator/yurtappdaemon/plan.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "operator/api/names.h"
#include "operator/api/well_known.h"
#include "operator/workload/merge.h"
#include "operator/workload/owner.h"

namespace yad {
namespace {

constexpr std::string_view kHashSuffix = "-xxxxx";  // what WorkloadName ends with
constexpr char kInvalidOverride[] = "InvalidOverride";

std::uint64_t Mix(std::uint64_t hash, std::uint64_t value) { return (hash ^ value) * 0x9E3779B97F4A7C15ULL; }

bool MovesAllowed(const YurtAppDaemon& daemon) { return !daemon.paused && daemon.strategy == UpdateStrategyType::kAll; }

// Of a list of tolerations from `first` on, those that a taint of a pool may have added.
std::vector<Taint> ToleratedTaints(const Json& workload, std::size_t first) {
  std::vector<Taint> taints;
  const Json* tolerations = Find(workload, {"spec", "template", "spec", "tolerations"});
  if (tolerations == nullptr || !tolerations->is_array()) return taints;
  for (std::size_t i = first; i < tolerations->size(); ++i) {
    const Json& toleration = (*tolerations)[i];
    if (StringAt(toleration, {"operator"}) == "Exists") {
      taints.push_back({StringAt(toleration, {"key"}), StringAt(toleration, {"effect"})});
    }
  }
  return taints;
}

// OpenYurt left no record of its inputs, but it put the pool's tolerations behind those of the template.
std::vector<Taint> TaintsBehindTemplate(const Json& live, const RevisionContent& revision) {
  const Json* own = Find(revision.workload_template, {"spec", "template", "spec", "tolerations"});
  return ToleratedTaints(live, own != nullptr && own->is_array() ? own->size() : 0);
}

struct RecordedInputs {
  RenderInputs inputs;
  bool guessed = false;  // ours, but the annotation is gone: what the overrides were is unknown
};

RecordedInputs InputsOf(const Json& live) {
  const std::string annotation = StringAt(live, {"metadata", "annotations", kRenderedFromAnnotation});
  if (!annotation.empty()) {
    if (auto inputs = ParseRenderInputs(annotation)) return {*std::move(inputs), false};
  }
  // Without the annotation, OpenYurt's rules are told from ours by the revision label in the pod template. A workload
  // of ours that somebody took the annotation from is read like one whose added tolerations are those that are there.
  RenderInputs inputs;
  inputs.tolerations = ToleratedTaints(live, 0);
  const Json* labels = Find(live, {"spec", "template", "metadata", "labels"});
  const bool ours = labels == nullptr || !labels->contains(kRevisionLabel);
  inputs.rules = ours ? 1 : 0;
  return {std::move(inputs), ours};
}

Result<Json> RenderTarget(const Target& target, const std::string& pool) {
  return Render(target.revision->content, target.inputs, pool, target.revision->label);
}

void EnsureOwner(Json& object, const YurtAppDaemon& daemon) {
  Json& owners = object["metadata"]["ownerReferences"];
  if (!owners.is_array()) owners = Json::array();
  for (Json& owner : owners) {
    if (StringAt(owner, {"uid"}) != daemon.meta.uid) continue;
    owner["controller"] = true;
    return;
  }
  owners.push_back(ControllerReference(daemon));
}

// What stands outside the rendering.
void Complete(Json& merged, const YurtAppDaemon& daemon, const Target& to) {
  EnsureOwner(merged, daemon);
  // Its pool is selected: it is not to be removed after all.
  Json& metadata = merged["metadata"];
  if (metadata.contains("annotations") && metadata["annotations"].is_object()) {
    metadata["annotations"].erase(kRemovalAllowedAnnotation);
  }
  if (to.revision == nullptr) return;
  metadata["labels"][kRevisionLabel] = to.revision->label;
  if (to.inputs.rules > 0) metadata["annotations"][kRenderedFromAnnotation] = to.inputs.ToAnnotation();
}

bool IsOrphanOfOurs(const Snapshot& snapshot, const WorkloadRef& orphan, const PoolRef& pool) {
  const ObjectMeta& meta = orphan.object->meta();
  const std::string& name = pool.pool().name;
  if (meta.deleting() || meta.Annotation(kRefNodePoolAnnotation) != name) return false;
  const std::string stable =
      WorkloadName(snapshot.daemon.meta.key.name, snapshot.daemon.meta.uid, name, snapshot.daemon.kind);
  const std::string prefix = stable.substr(0, stable.size() - kHashSuffix.size() + 1);
  const std::string generated = snapshot.daemon.meta.key.name + "-" + name + "-";
  if (!meta.key.name.starts_with(prefix) && !meta.key.name.starts_with(generated)) return false;
  const auto rendered = RenderTarget({snapshot.update, InputsFor(snapshot.update->content, pool.pool())}, name);
  if (!rendered) return false;
  const Json live = orphan.object->Parse();
  const Json* ours = Find(*rendered, {"spec", "selector"});
  const Json* theirs = Find(live, {"spec", "selector"});
  return ours != nullptr && theirs != nullptr && DropInsignificant(*ours) == DropInsignificant(*theirs);
}

// Whether the workload has all that a rendering wants.
bool Satisfies(const Json& live, const Json& rendered) { return ThreeWayMerge(rendered, rendered, live) == live; }

// What made the live workload.
struct Origin {
  Target target;
  std::optional<Json> rendered;
  bool intact = false;  // Nobody changed what is ours.
};

// The label names the revision. Where the workload is not that revision's rendering, it was changed by hand, or the
// label was: then the revision that it looks like made it. A revision whose wishes the named one fulfils as well is no
// better explanation: with an environment variable changed by hand, an older revision without that variable fits too.
Origin OriginOf(const Snapshot& snapshot, const PoolRef& pool, const WorkloadRef& workload, const Json& live) {
  const RecordedInputs recorded = InputsOf(live);
  const auto made_by = [&](const RevisionPtr& revision) {
    Origin origin{{revision, recorded.inputs}, std::nullopt, false};
    if (recorded.guessed) origin.target.inputs.overrides = InputsFor(revision->content, pool.pool()).overrides;
    if (recorded.inputs.rules == 0) origin.target.inputs.tolerations = TaintsBehindTemplate(live, revision->content);
    if (auto rendered = RenderTarget(origin.target, workload.pool)) {
      origin.intact = Satisfies(live, *rendered);
      origin.rendered = *std::move(rendered);
    }
    return origin;
  };

  Origin named{{nullptr, recorded.inputs}, std::nullopt, false};
  const std::string& label = workload.object->meta().Label(kRevisionLabel);
  for (const RevisionPtr& revision : snapshot.revisions) {
    if (revision->label == label) named = made_by(revision);
  }
  if (named.intact) return named;
  for (const RevisionPtr& revision : snapshot.revisions) {
    if (revision == named.target.revision) continue;
    Origin other = made_by(revision);
    if (other.intact && !(named.rendered && Satisfies(*named.rendered, *other.rendered))) return other;
  }
  return named;
}

PlanMemo::Verdict Assess(const Snapshot& snapshot, const PoolRef& pool, const WorkloadRef& workload,
                         const PlanMemo& memo) {
  PlanMemo::Verdict verdict;
  const Json live = workload.object->Parse();
  const Origin origin = OriginOf(snapshot, pool, workload, live);
  verdict.from = origin.target;

  Target move{snapshot.update, InputsFor(snapshot.update->content, pool.pool())};
  if (verdict.from.revision == snapshot.update) {
    // A workload keeps the rules that made it until its next revision.
    move.inputs.rules = verdict.from.inputs.rules;
  }
  const auto moved = RenderTarget(move, workload.pool);
  if (!moved) {
    verdict.failure_reason = kInvalidOverride;
    verdict.failure_message = moved.error().message;
    return verdict;
  }
  const Difference difference = origin.rendered ? Compare(*origin.rendered, *moved) : Difference::kPodTemplate;
  const bool moves =
      difference == Difference::kReplicasOnly || (difference != Difference::kNone && MovesAllowed(snapshot.daemon));
  verdict.on_update = moves || difference == Difference::kNone;
  verdict.held = !verdict.on_update;
  verdict.to = moves ? move : verdict.from;
  if (!moves && !origin.rendered) {  // Nothing tells what it is meant to be: left as it is.
    if (!workload.object->meta().Annotation(kRemovalAllowedAnnotation).empty()) verdict.write = Write::kRepair;
    return verdict;
  }

  Json merged = live;
  if (moves) {
    merged = ThreeWayMerge(origin.rendered ? *origin.rendered : *moved, *moved, live);
  } else if (!origin.intact) {
    merged = ThreeWayMerge(*origin.rendered, *origin.rendered, live);
  }
  Complete(merged, snapshot.daemon, verdict.to);
  if (merged == live) return verdict;
  if (!moves &&
      memo.Settled(workload.object->meta().key.name, TargetFingerprint(verdict.to), UndoneDifference(live, merged))) {
    return verdict;
  }
  verdict.write = moves ? Write::kMove : Write::kRepair;
  return verdict;
}

// A pool without a workload: on the update revision, or, while moves are paused, on the one that the others are on.
void PlanCreation(const Snapshot& snapshot, const PoolRef& pool, PoolPlan& entry) {
  entry.write = Write::kCreate;
  entry.to = {snapshot.update, InputsFor(snapshot.update->content, pool.pool())};
  entry.on_update = true;
  auto rendered = RenderTarget(entry.to, entry.pool);
  if (snapshot.daemon.paused && snapshot.current != nullptr && snapshot.current != snapshot.update) {
    Target current{snapshot.current, InputsFor(snapshot.current->content, pool.pool())};
    auto on_current = RenderTarget(current, entry.pool);
    const Difference difference = rendered && on_current ? Compare(*on_current, *rendered) : Difference::kPodTemplate;
    if (difference != Difference::kNone && difference != Difference::kReplicasOnly) {
      entry.to = std::move(current);
      entry.on_update = false;
      entry.held = true;
      rendered = std::move(on_current);
    }
  }
  if (rendered) return;
  entry.write = Write::kNone;
  entry.failure_reason = kInvalidOverride;
  entry.failure_message = rendered.error().message;
}

// Everything that a verdict depends on. 0: not to be remembered.
std::uint64_t MemoKey(const Snapshot& snapshot, std::uint64_t update_hash, const PoolRef& pool,
                      const WorkloadRef& workload) {
  std::uint64_t key = Mix(workload.object->digest(), update_hash);
  key = Mix(key, pool.fingerprint());
  key = Mix(key, MovesAllowed(snapshot.daemon) ? 1 : 2);
  return key == 0 ? 1 : key;
}

// Of several workloads for one pool: the most available stays, then the oldest.
bool Better(const WorkloadRef& a, const WorkloadRef& b) {
  const auto rank = [](const WorkloadRef& w) {
    const ObjectMeta& meta = w.object->meta();
    return std::tuple(meta.deleting(), -w.state().available_replicas, meta.creation_timestamp, meta.key.name);
  };
  return rank(a) < rank(b);
}

}  // namespace

const PlanMemo::Verdict* PlanMemo::Find(const std::string& workload, std::uint64_t key) const {
  const auto it = entries_.find(workload);
  return it != entries_.end() && it->second.key == key ? &it->second.verdict : nullptr;
}

void PlanMemo::Put(const std::string& workload, std::uint64_t key, Verdict verdict) {
  Entry& entry = entries_[workload];
  entry.key = key;
  entry.verdict = std::move(verdict);
}

void PlanMemo::Settle(const std::string& workload, std::uint64_t rendered, std::uint64_t difference) {
  Entry& entry = entries_[workload];
  entry.key = 0;
  entry.settled_rendered = rendered;
  entry.settled_difference = difference;
}

bool PlanMemo::Settled(const std::string& workload, std::uint64_t rendered, std::uint64_t difference) const {
  const auto it = entries_.find(workload);
  return it != entries_.end() && it->second.settled_rendered == rendered && it->second.settled_difference == difference;
}

void PlanMemo::Forget(const std::string& workload) { entries_.erase(workload); }

std::uint64_t TargetFingerprint(const Target& target) {
  return Fnv1a64(target.inputs.ToAnnotation(), Fnv1a64(target.revision == nullptr ? "" : target.revision->name));
}

std::uint64_t UndoneDifference(const Json& live, const Json& merged) {
  return Fnv1a64(Json::diff(live, merged).dump(-1, ' ', false, Json::error_handler_t::replace),
                 static_cast<std::uint64_t>(IntAt(live, {"metadata", "generation"})));
}

Plan MakePlan(const Snapshot& snapshot, PlanMemo& memo) {
  Plan plan;
  plan.pools.reserve(snapshot.pools.size());
  const std::uint64_t update_hash = Fnv1a64(snapshot.update->name);

  struct PoolOfWorkloads {
    const WorkloadRef* best = nullptr;
    bool selected = false;
  };
  std::unordered_map<std::string_view, PoolOfWorkloads> by_pool;
  by_pool.reserve(snapshot.workloads.size());
  for (const WorkloadRef& workload : snapshot.workloads) {
    const WorkloadRef*& best = by_pool[workload.pool].best;
    if (best == nullptr || Better(workload, *best)) best = &workload;
  }
  std::unordered_multimap<std::string_view, const WorkloadRef*> orphans;
  for (const WorkloadRef& orphan : snapshot.orphans) {
    orphans.emplace(orphan.pool, &orphan);
    plan.orphans.insert(orphan.object->meta().uid);
  }

  for (const PoolRef& pool : snapshot.pools) {
    const std::string& name = pool.pool().name;
    const auto known = by_pool.find(name);
    if (known != by_pool.end()) known->second.selected = true;
    PoolPlan& entry = plan.pools.emplace_back();
    entry.pool = name;
    entry.offline = pool.pool().offline;
    if (std::string fault = CheckLabelValue(name); !fault.empty()) {
      entry.failure_reason = kInvalidPoolName;
      entry.failure_message = "a node can't belong to this pool, because its name is no label value: " + fault;
      continue;
    }
    const WorkloadRef* workload = nullptr;
    bool adopt = false;
    if (known != by_pool.end()) {
      workload = known->second.best;
    } else {
      const auto [begin, end] = orphans.equal_range(name);
      for (auto orphan = begin; orphan != end; ++orphan) {
        if (IsOrphanOfOurs(snapshot, *orphan->second, pool) &&
            (workload == nullptr || Better(*orphan->second, *workload))) {
          workload = orphan->second;
          adopt = true;
        }
      }
    }
    if (workload == nullptr) {
      PlanCreation(snapshot, pool, entry);
      continue;
    }
    entry.workload = *workload;
    const std::string& workload_name = workload->object->meta().key.name;
    const std::uint64_t key = MemoKey(snapshot, update_hash, pool, *workload);
    const PlanMemo::Verdict* verdict = memo.Find(workload_name, key);
    PlanMemo::Verdict fresh;
    if (verdict == nullptr) {
      fresh = Assess(snapshot, pool, *workload, memo);
      // A revision that was not found may yet arrive, and what has to be written is looked at again anyway.
      if (fresh.write == Write::kNone && fresh.from.revision != nullptr) memo.Put(workload_name, key, fresh);
      verdict = &fresh;
    }
    entry.from = verdict->from;
    entry.to = verdict->to;
    entry.on_update = verdict->on_update;
    entry.held = verdict->held;
    entry.failure_reason = verdict->failure_reason;
    entry.failure_message = verdict->failure_message;
    entry.write = verdict->write;
    if (adopt && entry.failure_reason.empty()) entry.write = Write::kAdopt;
    // What is being deleted can't be mended; its successor is made when the name is free.
    if (workload->object->meta().deleting()) entry.write = Write::kNone;
  }

  for (const WorkloadRef& workload : snapshot.workloads) {
    const PoolOfWorkloads& pool = by_pool.at(workload.pool);
    if (workload.object->meta().deleting()) {
      if (!pool.selected) plan.leaving.push_back(workload);
    } else if (!pool.selected) {
      plan.removals.push_back({workload, std::nullopt});
    } else if (pool.best != &workload && pool.best->state().available()) {
      plan.removals.push_back({workload, *pool.best});
    }
  }
  // Caches have no order: the same removals would go out, and be told in events, in another order each time.
  std::sort(plan.removals.begin(), plan.removals.end(), [](const Removal& a, const Removal& b) {
    return a.workload.object->meta().key < b.workload.object->meta().key;
  });
  return plan;
}

Result<Json> MergedWorkload(const YurtAppDaemon& daemon, const PoolPlan& plan, const Json& live) {
  Json merged = live;
  if (plan.to.revision != nullptr) {
    auto now = RenderTarget(plan.to, plan.pool);
    if (!now) return now;
    Json last = *now;
    if (plan.from.revision != nullptr &&
        !(plan.from.revision == plan.to.revision && plan.from.inputs == plan.to.inputs)) {
      // Should an old revision no longer render, nothing is known to take away.
      if (auto rendered = RenderTarget(plan.from, plan.pool)) last = *std::move(rendered);
    }
    merged = ThreeWayMerge(last, *now, live);
  }
  Complete(merged, daemon, plan.to);
  return merged;
}

Result<Json> NewWorkload(const YurtAppDaemon& daemon, const PoolPlan& plan) {
  auto rendered = RenderTarget(plan.to, plan.pool);
  if (!rendered) return rendered;
  return CompleteWorkload(*std::move(rendered), daemon,
                          WorkloadName(daemon.meta.key.name, daemon.meta.uid, plan.pool, daemon.kind), plan.to.inputs,
                          plan.to.revision->label);
}

}  // namespace yad
