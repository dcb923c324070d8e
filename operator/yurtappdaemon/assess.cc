#include "operator/yurtappdaemon/assess.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/workload/merge.h"
#include "operator/workload/owner.h"
#include "operator/workload/service.h"
#include "operator/yurtappdaemon/phase.h"

namespace yad {
namespace {

std::uint64_t Mix(std::uint64_t hash, std::uint64_t value) { return (hash ^ value) * 0x9E3779B97F4A7C15ULL; }

bool MovesAtOnce(const YurtAppDaemon& daemon) {
  return !daemon.paused && daemon.strategy.type == UpdateStrategyType::kAll;
}

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
  bool written = false;  // in the annotation
};

// What rules 0 keep of the live pod template.
void ReadRulesOfOpenYurt(const Json& live, RenderInputs& inputs) {
  inputs.rules = 0;
  inputs.pod_revision = StringAt(live, {"spec", "template", "metadata", "labels", kRevisionLabel});
  inputs.pull_policies = PullPoliciesOf(live);
}

RecordedInputs InputsOf(const Json& live) {
  const std::string annotation = StringAt(live, {"metadata", "annotations", kRenderedFromAnnotation});
  if (!annotation.empty()) {
    if (auto inputs = ParseRenderInputs(annotation)) {
      if (inputs->rules == 0) ReadRulesOfOpenYurt(live, *inputs);
      return {*std::move(inputs), false, true};
    }
  }
  // Without the annotation, OpenYurt's rules are told from ours by the revision label in the pod template. A workload
  // of ours that somebody took the annotation from is read like one whose added tolerations are those that are there.
  RenderInputs inputs;
  inputs.tolerations = ToleratedTaints(live, 0);
  const Json* labels = Find(live, {"spec", "template", "metadata", "labels"});
  const bool ours = labels == nullptr || !labels->contains(kRevisionLabel);
  if (!ours) ReadRulesOfOpenYurt(live, inputs);
  return {std::move(inputs), ours, false};
}

// What made the live workload.
struct Origin {
  Target target;
  std::optional<Json> rendered;
  bool intact = false;       // Nobody changed what is ours.
  bool as_recorded = false;  // It is what the workload's label and annotation say.
};

// What a repair would write.
Json Repaired(const Origin& origin, const Json& live, const YurtAppDaemon& daemon) {
  Json merged = origin.intact ? live : ThreeWayMerge(*origin.rendered, *origin.rendered, live);
  Complete(merged, daemon, origin.target);
  return merged;
}

// The label names the revision. Where the workload is not that revision's rendering, it was changed by hand, or the
// label was: then the revision that it looks like made it. A revision whose wishes the named one fulfils as well is no
// better explanation: with an environment variable changed by hand, an older revision without that variable fits too.
// Nor is there a better one where the server is known not to keep the difference: a webhook may make of the new
// revision what the old one was, and it would be moved for ever.
Origin OriginOf(const Snapshot& snapshot, const PoolRef& pool, const WorkloadRef& workload, const Json& live,
                const PlanMemo& memo) {
  const RecordedInputs recorded = InputsOf(live);
  const auto made_by = [&](const RevisionPtr& revision) {
    Origin origin{{revision, recorded.inputs}, std::nullopt, false, false};
    if (recorded.guessed) origin.target.inputs.overrides = InputsFor(revision->content, pool.pool()).overrides;
    if (recorded.inputs.rules == 0 && !recorded.written) {
      origin.target.inputs.tolerations = TaintsBehindTemplate(live, revision->content);
    }
    if (auto rendered = RenderTarget(origin.target, workload.pool)) {
      origin.intact = IsMerged(*rendered, live);
      origin.rendered = *std::move(rendered);
    }
    return origin;
  };

  Origin named{{nullptr, recorded.inputs}, std::nullopt, false, false};
  const std::string& label = workload.object->meta().Label(kRevisionLabel);
  for (const RevisionPtr& revision : snapshot.revisions) {
    if (revision->label == label) named = made_by(revision);
  }
  named.as_recorded = !recorded.guessed;
  if (named.intact) return named;
  if (named.rendered) {
    const Undone undone = UndoneDifference(live, Repaired(named, live, snapshot.daemon));
    if (memo.Settled(workload.object->meta().key.name, TargetFingerprint(named.target), undone.digest)) return named;
  }
  for (const RevisionPtr& revision : snapshot.revisions) {
    if (revision == named.target.revision) continue;
    Origin other = made_by(revision);
    if (other.intact && !(named.rendered && IsMerged(*other.rendered, *named.rendered))) return other;
  }
  return named;
}

// The workload's own revision for the pool as it is now, where that is another workload. With replicas or labels of the
// workload alone it can wait for the next revision.
std::optional<Target> Adapted(const Target& from, const Origin& origin, const PoolRef& pool) {
  if (from.revision == nullptr || !origin.rendered) return std::nullopt;
  Target adapted{from.revision, InputsFor(from.revision->content, pool.pool())};
  adapted.inputs.KeepRulesOf(from.inputs);
  if (adapted.inputs == from.inputs) return std::nullopt;
  const auto rendered = RenderTarget(adapted, pool.pool().name);
  if (!rendered || Compare(*origin.rendered, *rendered) != Difference::kPodTemplate) return std::nullopt;
  return adapted;
}

// The goal for the pool. A workload keeps the rules that made it until its pod template has to change for another
// reason: neither the takeover from OpenYurt nor a revision that leaves the pod template alone restarts a pod.
Target MoveTo(const Goal& goal, const PoolRef& pool, const Origin& origin) {
  Target move{goal.revision, InputsFor(goal.revision->content, pool.pool())};
  const Target& from = origin.target;
  const bool same_revision = from.revision == goal.revision;
  if (from.inputs.rules == move.inputs.rules || !(same_revision || origin.rendered)) return move;
  Target by_its_rules = move;
  by_its_rules.inputs.KeepRulesOf(from.inputs);
  if (same_revision) return by_its_rules;
  const auto rendered = RenderTarget(by_its_rules, pool.pool().name);
  const bool keeps_pods = rendered && Compare(*origin.rendered, *rendered) != Difference::kPodTemplate;
  return keeps_pods ? by_its_rules : move;
}

struct Examined {
  Verdict verdict;
  // What its label and annotation say is what made the workload, and there is no repair, of which may be remembered
  // that it is in vain.
  bool plain = false;
};

Examined Examine(const Snapshot& snapshot, const Goal& goal, const PoolRef& pool, const WorkloadRef& workload,
                 const PlanMemo& memo) {
  Examined examined;
  Verdict& verdict = examined.verdict;
  const Json live = workload.object->Parse();
  const Origin origin = OriginOf(snapshot, pool, workload, live, memo);
  verdict.from = origin.target;

  Target move = MoveTo(goal, pool, origin);
  // Mostly it is there already: rendered once, and compared with nothing.
  const bool is_there = origin.rendered && verdict.from.revision == goal.revision && verdict.from.inputs == move.inputs;
  const Result<Json> moved = is_there ? Result<Json>(Json()) : RenderTarget(move, workload.pool);
  if (!moved) {
    verdict.failure_reason = kInvalidOverride;
    verdict.failure_message = moved.error().message;
    return examined;
  }
  const Difference difference =
      is_there          ? Difference::kNone
      : origin.rendered ? Compare(origin.target.revision->content, *origin.rendered, goal.revision->content, *moved)
                        : Difference::kPodTemplate;
  verdict.only_service = difference == Difference::kServiceOnly;
  const bool moves =
      difference == Difference::kReplicasOnly || (difference != Difference::kNone && MovesAtOnce(snapshot.daemon));
  verdict.on_goal = moves || difference == Difference::kNone;
  verdict.to = moves ? move : verdict.from;
  if (!verdict.on_goal) {
    verdict.adapted = Adapted(verdict.from, origin, pool);
    verdict.move = std::move(move);
  }
  if (!moves && !origin.rendered) {  // Nothing tells what it is meant to be: left as it is.
    if (!workload.object->meta().Annotation(kRemovalAllowedAnnotation).empty()) verdict.write = Write::kRepair;
    return examined;
  }

  examined.plain = origin.intact && origin.as_recorded;
  if (!moves && origin.intact && IsComplete(live, snapshot.daemon, verdict.to)) return examined;
  Json merged;
  if (moves) {
    merged = ThreeWayMerge(origin.rendered ? *origin.rendered : *moved, *moved, live);
    Complete(merged, snapshot.daemon, verdict.to);
  } else {
    merged = Repaired(origin, live, snapshot.daemon);
  }
  if (merged == live) return examined;
  examined.plain = examined.plain && moves;
  if (!moves && memo.Settled(workload.object->meta().key.name, TargetFingerprint(verdict.to),
                             UndoneDifference(live, merged).digest)) {
    return examined;
  }
  verdict.write = moves ? Write::kMove : Write::kRepair;
  return examined;
}

// Everything that a verdict depends on. 0: not to be remembered.
std::uint64_t MemoKey(const Snapshot& snapshot, const Goal& goal, const PoolRef& pool, const WorkloadRef& workload) {
  std::uint64_t key = Mix(workload.object->digest(), Fnv1a64(goal.revision->name));
  key = Mix(key, pool.fingerprint());
  key = Mix(Mix(key, goal.revision->spelling), MovesAtOnce(snapshot.daemon) ? 1 : 2);
  return key == 0 ? 1 : key;
}

// What a workload may differ in from those that are like it: its own name and what others write, and where a rendering
// without overrides puts the pool's name.
const std::vector<LikenessRule>& WhatMakesAlike() {
  using Rule = LikenessRule;
  constexpr auto kInside = Rule::kInside, kLeftOut = Rule::kLeftOut, kNamed = Rule::kNamed;
  static const auto& rules = *new std::vector<Rule>{
      {"status", kLeftOut, {}},
      {"metadata",
       kInside,
       {{"name", kLeftOut, {}},
        {"uid", kLeftOut, {}},
        {"generation", kLeftOut, {}},
        {"resourceVersion", kLeftOut, {}},
        {"creationTimestamp", kLeftOut, {}},
        {"labels", kInside, {{kPoolNameLabel, kNamed, {}}}},
        {"annotations", kInside, {{kRefNodePoolAnnotation, kNamed, {}}, {kUpdateRecordAnnotation, kLeftOut, {}}}}}},
      {"spec",
       kInside,
       {{"selector", kInside, {{"matchLabels", kInside, {{kPoolNameLabel, kNamed, {}}}}}},
        {"template",
         kInside,
         {{"metadata", kInside, {{"labels", kInside, {{kPoolNameLabel, kNamed, {}}}}}},
          {"spec", kInside, {{"nodeSelector", kInside, {{kNodePoolLabel, kNamed, {}}}}}}}}}}};
  return rules;
}

// In the time that it takes to read both once: who may write the workload decides how large it is.
class Differences {
 public:
  explicit Differences(Undone& undone) : undone_(undone) {}

  // nullptr where one of them has nothing.
  void Add(const Json* live, const Json* merged) {
    const auto both = [&](bool (Json::*is)() const noexcept) {
      return live != nullptr && merged != nullptr && (live->*is)() && (merged->*is)();
    };
    if (both(&Json::is_object)) {
      for (const auto& [key, member] : live->items()) AddAt(key, &member, Find(*merged, {key}));
      for (const auto& [key, member] : merged->items()) {
        if (!live->contains(key)) AddAt(key, nullptr, &member);
      }
    } else if (both(&Json::is_array)) {
      for (std::size_t i = 0; i < std::max(live->size(), merged->size()); ++i) {
        AddAt(std::to_string(i), i < live->size() ? &(*live)[i] : nullptr,
              i < merged->size() ? &(*merged)[i] : nullptr);
      }
    } else if (live == nullptr || merged == nullptr || *live != *merged) {
      const std::string pointer = at_.to_string();
      if (undone_.at.empty()) undone_.at = pointer;
      undone_.digest = Fnv1a64(pointer, undone_.digest);
      for (const Json* value : {live, merged}) {
        const std::string text = value == nullptr ? "" : value->dump(-1, ' ', false, Json::error_handler_t::replace);
        undone_.digest = Fnv1a64(text, undone_.digest);
      }
    }
  }

 private:
  void AddAt(const std::string& step, const Json* live, const Json* merged) {
    at_.push_back(step);
    Add(live, merged);
    at_.pop_back();
  }

  Undone& undone_;
  Json::json_pointer at_;
};

bool HasOverrides(const RevisionPtr& revision, const PoolRef& pool) {
  return !revision->content.override_index.Of(pool.pool()).empty();
}

// Equal for workloads with equal verdicts, where no override applies: they may have the pool's name anywhere.
std::uint64_t AlikeKey(const Snapshot& snapshot, const Goal& goal, const PoolRef& pool, const WorkloadRef& workload) {
  std::uint64_t key = Mix(LikenessOf(*workload.object, workload.pool), Fnv1a64(goal.revision->name));
  key = Mix(key, goal.revision->spelling);
  for (const Taint& taint : pool.pool().taints) key = Mix(Mix(key, Fnv1a64(taint.key)), Fnv1a64(taint.effect));
  return Mix(key, MovesAtOnce(snapshot.daemon) ? 1 : 2);
}

}  // namespace

Result<Json> RenderTarget(const Target& target, const std::string& pool) {
  return Render(target.revision->content, target.inputs, pool, target.revision->label);
}

void Complete(Json& merged, const YurtAppDaemon& daemon, const Target& to) {
  EnsureOwner(merged, daemon);
  // Its pool is selected: it is not to be removed after all.
  Json& metadata = merged["metadata"];
  if (metadata.contains("annotations") && metadata["annotations"].is_object()) {
    metadata["annotations"].erase(kRemovalAllowedAnnotation);
  }
  if (to.revision == nullptr) return;
  metadata["labels"][kRevisionLabel] = to.revision->label;
  // OpenYurt left no record, and a workload of its making needs none before an override applies.
  const bool recorded = metadata.contains("annotations") && metadata["annotations"].contains(kRenderedFromAnnotation);
  if (to.inputs.rules > 0 || recorded || !to.inputs.overrides.empty()) {
    metadata["annotations"][kRenderedFromAnnotation] = to.inputs.ToAnnotation();
  }
}

bool IsComplete(const Json& live, const YurtAppDaemon& daemon, const Target& to) {
  const Json* metadata = Find(live, {"metadata"});
  if (metadata == nullptr) return false;
  Json completed{{"metadata", *metadata}};  // All that is looked at.
  Complete(completed, daemon, to);
  return completed["metadata"] == *metadata;
}

void PlanMemo::BeginPlan(const std::string& goal) {
  if (goal_ == goal) return;
  goal_ = goal;
  for (auto& [workload, entry] : entries_) {
    entry.key = 0;
    entry.verdict.reset();
  }
  alike_.clear();
  last_.reset();
}

const Verdict* PlanMemo::Find(const std::string& workload, std::uint64_t key) const {
  const auto it = entries_.find(workload);
  return it != entries_.end() && it->second.key == key ? it->second.verdict.get() : nullptr;
}

const Verdict& PlanMemo::Put(const std::string& workload, std::uint64_t key, Verdict verdict) {
  Entry& entry = entries_[workload];
  entry.key = key;
  if (last_ == nullptr || *last_ != verdict) last_ = std::make_shared<const Verdict>(std::move(verdict));
  entry.verdict = last_;
  return *entry.verdict;
}

const Verdict* PlanMemo::FindAlike(std::uint64_t key) const {
  const auto it = alike_.find(key);
  return it == alike_.end() ? nullptr : &it->second;
}

void PlanMemo::PutAlike(std::uint64_t key, const Verdict& verdict) {
  constexpr std::size_t kMost = 64;
  if (alike_.size() >= kMost) alike_.clear();
  alike_.emplace(key, verdict);
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

std::uint64_t LikenessOf(const StoredObject& workload, const std::string& pool) {
  return workload.Likeness(WhatMakesAlike(), pool);
}

std::uint64_t TargetFingerprint(const Target& target) {
  return Fnv1a64(target.inputs.ToAnnotation(), Fnv1a64(target.revision == nullptr ? "" : target.revision->name));
}

Undone UndoneDifference(const Json& live, const Json& merged) {
  Undone undone{static_cast<std::uint64_t>(IntAt(live, {"metadata", "generation"})), ""};
  Differences(undone).Add(&live, &merged);
  return undone;
}

const Verdict& Assess(const Snapshot& snapshot, const Goal& goal, const PoolRef& pool, const WorkloadRef& workload,
                      PlanMemo& memo) {
  const std::string& name = workload.object->meta().key.name;
  const std::uint64_t key = MemoKey(snapshot, goal, pool, workload);
  if (const Verdict* known = memo.Find(name, key)) return *known;
  // A revision that was not found may yet arrive, and what has to be written is looked at again anyway.
  const auto put = [&](Verdict verdict) -> const Verdict& {
    const bool lasts = verdict.write == Write::kNone && verdict.from.revision != nullptr;
    return memo.Put(name, lasts ? key : 0, std::move(verdict));
  };
  if (HasOverrides(goal.revision, pool)) return put(Examine(snapshot, goal, pool, workload, memo).verdict);
  const std::uint64_t alike = AlikeKey(snapshot, goal, pool, workload);
  if (const Verdict* known = memo.FindAlike(alike); known != nullptr && !HasOverrides(known->from.revision, pool)) {
    return put(*known);
  }
  Examined examined = Examine(snapshot, goal, pool, workload, memo);
  if (examined.plain && examined.verdict.from.inputs.overrides.empty() &&
      !HasOverrides(examined.verdict.from.revision, pool)) {
    memo.PutAlike(alike, examined.verdict);
  }
  return put(std::move(examined.verdict));
}

}  // namespace yad
