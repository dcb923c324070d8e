#include "operator/yurtappdaemon/plan.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_set>

#include "operator/api/names.h"
#include "operator/api/well_known.h"
#include "operator/workload/merge.h"

namespace yad {
namespace {

constexpr std::string_view kHashSuffix = "-xxxxx";  // what WorkloadName ends with

std::uint64_t Mix(std::uint64_t hash, std::uint64_t value) { return (hash ^ value) * 0x9E3779B97F4A7C15ULL; }

bool MovesAllowed(const YurtAppDaemon& daemon) { return !daemon.paused && daemon.strategy == UpdateStrategyType::kAll; }

// OpenYurt left no record of its inputs; the tolerations that it added are read back from what it made.
RenderInputs OpenYurtInputs(const Json& live) {
  RenderInputs inputs;
  inputs.rules = 0;
  const Json* tolerations = Find(live, {"spec", "template", "spec", "tolerations"});
  if (tolerations == nullptr || !tolerations->is_array()) return inputs;
  for (const Json& toleration : *tolerations) {
    if (StringAt(toleration, {"operator"}) == "Exists") {
      inputs.tolerations.push_back({StringAt(toleration, {"key"}), StringAt(toleration, {"effect"})});
    }
  }
  return inputs;
}

RenderInputs InputsOf(const Json& live) {
  const std::string annotation = StringAt(live, {"metadata", "annotations", kRenderedFromAnnotation});
  if (!annotation.empty()) {
    if (auto inputs = ParseRenderInputs(annotation)) return *std::move(inputs);
  }
  // Without the annotation, OpenYurt's rules are told from ours by the revision label in the pod template. A workload of ours that somebody
  // took the annotation from is read like one whose added tolerations are those that are there.
  RenderInputs inputs = OpenYurtInputs(live);
  const Json* labels = Find(live, {"spec", "template", "metadata", "labels"});
  if (labels == nullptr || !labels->contains(kRevisionLabel)) inputs.rules = 1;
  return inputs;
}

Result<Json> RenderTarget(const Target& target, const std::string& pool) {
  return Render(target.revision->content, target.inputs, pool, target.revision->label);
}

void EnsureOwner(Json& object, const YurtAppDaemon& daemon) {
  Json& owners = object["metadata"]["ownerReferences"];
  if (!owners.is_array()) owners = Json::array();
  for (const Json& owner : owners) {
    if (StringAt(owner, {"uid"}) == daemon.meta.uid) return;
  }
  owners.push_back({{"apiVersion", kYurtAppDaemonType.ApiVersion()},
                    {"kind", kYurtAppDaemonType.kind},
                    {"name", daemon.meta.key.name},
                    {"uid", daemon.meta.uid},
                    {"controller", true},
                    {"blockOwnerDeletion", true}});
}

Result<Json> Merged(const YurtAppDaemon& daemon, const std::string& pool, const Target& from, const Target& to,
                    const Json& live) {
  auto now = RenderTarget(to, pool);
  if (!now) return now;
  Json last = *now;
  if (from.revision != nullptr && !(from.revision == to.revision && from.inputs == to.inputs)) {
    // An override that no longer applies to what it once applied to cannot be: renderings are pure. Should it fail all the
    // same, nothing is known to take away.
    if (auto rendered = RenderTarget(from, pool)) last = *std::move(rendered);
  }
  Json merged = ThreeWayMerge(last, *now, live);
  Json& metadata = merged["metadata"];
  metadata["labels"][kRevisionLabel] = to.revision->label;
  if (to.inputs.rules > 0) metadata["annotations"][kRenderedFromAnnotation] = to.inputs.ToAnnotation();
  EnsureOwner(merged, daemon);
  return merged;
}

bool IsOrphanOfOurs(const Snapshot& snapshot, const WorkloadRef& orphan, const PoolRef& pool) {
  const ObjectMeta& meta = orphan.object->meta();
  const std::string& name = pool.pool().name;
  if (meta.deleting() || meta.Annotation(kRefNodePoolAnnotation) != name) return false;
  const std::string stable = WorkloadName(snapshot.daemon.meta.key.name, snapshot.daemon.meta.uid, name,
                                          snapshot.daemon.kind);
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

// The revision that the workload was made from: named by its label, else found by what the workload looks like.
RevisionPtr RevisionOf(const Snapshot& snapshot, const WorkloadRef& workload, const RenderInputs& inputs, const Json& live) {
  const std::string& label = workload.object->meta().Label(kRevisionLabel);
  for (const RevisionPtr& revision : snapshot.revisions) {
    if (revision->label == label) return revision;
  }
  for (const RevisionPtr& revision : snapshot.revisions) {
    const auto rendered = RenderTarget({revision, inputs}, workload.pool);
    if (rendered && ThreeWayMerge(*rendered, *rendered, live) == live) return revision;
  }
  return nullptr;
}

PlanMemo::Verdict Assess(const Snapshot& snapshot, const PoolRef& pool, const WorkloadRef& workload, const PlanMemo& memo) {
  PlanMemo::Verdict verdict;
  const Json live = workload.object->Parse();
  verdict.from.inputs = InputsOf(live);
  verdict.from.revision = RevisionOf(snapshot, workload, verdict.from.inputs, live);

  Target move{snapshot.update, InputsFor(snapshot.update->content, pool.pool())};
  if (verdict.from.revision == snapshot.update) {
    // A workload keeps the rules that made it until its next revision.
    move.inputs.rules = verdict.from.inputs.rules;
  }
  const auto moved = RenderTarget(move, workload.pool);
  if (!moved) {
    verdict.failure_reason = "InvalidOverride";
    verdict.failure_message = moved.error().message;
    return verdict;
  }
  Difference difference = Difference::kPodTemplate;
  if (verdict.from.revision != nullptr) {
    if (const auto stayed = RenderTarget(verdict.from, workload.pool)) difference = Compare(*stayed, *moved);
  }
  verdict.on_update = difference == Difference::kNone;
  if (difference == Difference::kNone) {
    verdict.to = verdict.from;
  } else if (MovesAllowed(snapshot.daemon) || difference == Difference::kReplicasOnly) {
    verdict.to = move;
    verdict.on_update = true;
  } else {
    verdict.to = verdict.from;
    verdict.held = true;
    if (verdict.from.revision == nullptr) return verdict;  // Nothing tells what it is meant to be: left as it is.
  }

  const bool moves = difference != Difference::kNone && !verdict.held;
  const auto merged = Merged(snapshot.daemon, workload.pool, verdict.from, verdict.to, live);
  if (!merged || *merged == live) return verdict;
  if (!moves && memo.Settled(workload.object->meta().key.name, TargetFingerprint(verdict.to), workload.object->digest())) {
    return verdict;
  }
  verdict.write = moves ? Write::kMove : Write::kRepair;
  return verdict;
}

// Everything that a verdict depends on. 0: not to be remembered.
std::uint64_t MemoKey(const Snapshot& snapshot, std::uint64_t update_hash, const PoolRef& pool, const WorkloadRef& workload) {
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

void PlanMemo::Settle(const std::string& workload, std::uint64_t rendered, std::uint64_t digest) {
  Entry& entry = entries_[workload];
  entry.key = 0;
  entry.settled_rendered = rendered;
  entry.settled_digest = digest;
}

bool PlanMemo::Settled(const std::string& workload, std::uint64_t rendered, std::uint64_t digest) const {
  const auto it = entries_.find(workload);
  return it != entries_.end() && it->second.settled_rendered == rendered && it->second.settled_digest == digest;
}

void PlanMemo::Forget(const std::string& workload) { entries_.erase(workload); }

std::uint64_t TargetFingerprint(const Target& target) {
  return Fnv1a64(target.inputs.ToAnnotation(), Fnv1a64(target.revision == nullptr ? "" : target.revision->name));
}

Plan MakePlan(const Snapshot& snapshot, PlanMemo& memo) {
  Plan plan;
  plan.pools.reserve(snapshot.pools.size());
  const std::uint64_t update_hash = Fnv1a64(snapshot.update->name);

  std::unordered_map<std::string_view, const WorkloadRef*> best;
  best.reserve(snapshot.workloads.size());
  for (const WorkloadRef& workload : snapshot.workloads) {
    const WorkloadRef*& slot = best[workload.pool];
    if (slot == nullptr || Better(workload, *slot)) slot = &workload;
  }
  std::unordered_set<std::string_view> selected;
  selected.reserve(snapshot.pools.size());

  for (const PoolRef& pool : snapshot.pools) {
    const std::string& name = pool.pool().name;
    selected.insert(name);
    PoolPlan& entry = plan.pools.emplace_back();
    entry.pool = name;
    entry.offline = pool.pool().offline;
    if (std::string fault = CheckLabelValue(name); !fault.empty()) {
      entry.failure_reason = "InvalidPoolName";
      entry.failure_message = "a node can't belong to this pool, because its name is no label value: " + fault;
      continue;
    }
    const WorkloadRef* workload = nullptr;
    bool adopt = false;
    if (const auto it = best.find(name); it != best.end()) {
      workload = it->second;
    } else {
      for (const WorkloadRef& orphan : snapshot.orphans) {
        if (orphan.pool == name && IsOrphanOfOurs(snapshot, orphan, pool) &&
            (workload == nullptr || Better(orphan, *workload))) {
          workload = &orphan;
          adopt = true;
        }
      }
    }
    if (workload == nullptr) {
      const bool on_current = snapshot.daemon.paused && snapshot.current != nullptr;
      entry.to.revision = on_current ? snapshot.current : snapshot.update;
      entry.to.inputs = InputsFor(entry.to.revision->content, pool.pool());
      entry.on_update = entry.to.revision == snapshot.update;
      entry.held = !entry.on_update;
      entry.write = Write::kCreate;
      if (const auto rendered = RenderTarget(entry.to, name); !rendered) {
        entry.write = Write::kNone;
        entry.failure_reason = "InvalidOverride";
        entry.failure_message = rendered.error().message;
      }
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
    if (adopt && entry.to.revision != nullptr) entry.write = Write::kAdopt;
    // What is being deleted can't be mended; its successor is made when the name is free.
    if (workload->object->meta().deleting()) entry.write = Write::kNone;
  }

  for (const WorkloadRef& workload : snapshot.workloads) {
    if (workload.object->meta().deleting()) {
      if (!selected.contains(workload.pool)) plan.leaving.push_back(workload);
    } else if (!selected.contains(workload.pool)) {
      plan.removals.push_back({workload, false});
    } else if (const WorkloadRef* kept = best[workload.pool]; kept != &workload && kept->state().healthy) {
      plan.removals.push_back({workload, true});
    }
  }
  return plan;
}

Result<Json> MergedWorkload(const YurtAppDaemon& daemon, const PoolPlan& plan, const Json& live) {
  return Merged(daemon, plan.pool, plan.from, plan.to, live);
}

Result<Json> NewWorkload(const YurtAppDaemon& daemon, const PoolPlan& plan) {
  auto rendered = RenderTarget(plan.to, plan.pool);
  if (!rendered) return rendered;
  return CompleteWorkload(*std::move(rendered), daemon,
                          WorkloadName(daemon.meta.key.name, daemon.meta.uid, plan.pool, daemon.kind), plan.to.inputs,
                          plan.to.revision->label);
}

}  // namespace yad
