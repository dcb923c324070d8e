#include "operator/yurtappdaemon/plan/assess.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/workload/merge.h"
#include "operator/workload/owner.h"
#include "operator/workload/service.h"
#include "operator/yurtappdaemon/observe/pool_phase.h"

namespace yad {
namespace {

std::uint64_t Mix(std::uint64_t hash, std::uint64_t value) { return (hash ^ value) * 0x9E3779B97F4A7C15ULL; }

bool UpdatesAllPoolsNow(const Snapshot& snapshot) {
  const YurtAppDaemon& daemon = snapshot.daemon;
  return !daemon.paused && !snapshot.freeze && daemon.strategy.type == UpdateStrategyType::kAll;
}

// Returns the taints of the pod template's tolerations with operator Exists, which Render writes. Skips the first
// `first` tolerations.
std::vector<Taint> ToleratedTaints(const Json& workload, std::size_t first) {
  std::vector<Taint> taints;
  const Json& tolerations = ListAt(workload, {"spec", "template", "spec", "tolerations"});
  for (std::size_t i = first; i < tolerations.size(); ++i) {
    const Json& toleration = tolerations[i];
    if (StringAt(toleration, {"operator"}) == "Exists")
      taints.push_back({StringAt(toleration, {"key"}), StringAt(toleration, {"effect"})});
  }
  return taints;
}

// Returns the taints that the workload tolerates beyond its template. OpenYurt appended these tolerations to the list.
std::vector<Taint> TaintsBehindTemplate(const Json& live, const RevisionContent& revision) {
  return ToleratedTaints(live, ListAt(revision.workload_template, {"spec", "template", "spec", "tolerations"}).size());
}

struct InputsOfLive {
  RenderInputs inputs;
  bool recorded = false;  // the inputs were read from the annotation

  // True if this operator wrote the workload, but without a valid annotation. The overrides are unknown.
  bool guessed() const { return !recorded && inputs.rules > 0; }
  // True if OpenYurt wrote the workload, and this operator has not recorded the workload's inputs in an annotation yet.
  bool of_openyurt() const { return !recorded && inputs.rules == 0; }
};

// Sets the inputs that are only for workloads of OpenYurt. OpenYurt kept these values of the live pod template at each
// update, so Render must also keep them.
void ReadRulesOfOpenYurt(const Json& live, RenderInputs& inputs) {
  inputs.rules = 0;
  inputs.pod_revision = StringAt(live, {"spec", "template", "metadata", "labels", kRevisionLabel});
  inputs.pull_policies = PullPoliciesOf(live);
}

InputsOfLive ReadInputs(const Json& live) {
  const std::string annotation = StringAt(live, {"metadata", "annotations", kRenderedFromAnnotation});
  if (!annotation.empty()) {
    if (auto inputs = ParseRenderInputs(annotation)) {
      if (inputs->rules == 0) ReadRulesOfOpenYurt(live, *inputs);
      return {*std::move(inputs), true};
    }
  }
  // Without the annotation, a revision label in the pod template shows that OpenYurt created the workload. Otherwise,
  // this operator created it, and each toleration counts as the toleration of a taint of the pool.
  RenderInputs inputs;
  inputs.tolerations = ToleratedTaints(live, 0);
  const Json* labels = Find(live, {"spec", "template", "metadata", "labels"});
  if (labels != nullptr && labels->contains(kRevisionLabel)) ReadRulesOfOpenYurt(live, inputs);
  return {std::move(inputs), false};
}

// The spec from which the live workload was rendered.
struct Origin {
  RenderSpec spec;
  std::optional<Json> rendered;
  bool intact = false;       // no other actor changed values of the operator
  bool as_recorded = false;  // the workload's label and annotation contain this spec
};

// Returns the object that a repair would write.
Json Repaired(const Origin& origin, const Json& live, const YurtAppDaemon& daemon) {
  Json merged = origin.intact ? live : ThreeWayMerge(*origin.rendered, *origin.rendered, live);
  StampMetadata(merged, daemon, origin.spec);
  return merged;
}

bool HasOverrides(const RevisionPtr& revision, const PoolRef& pool) {
  return !revision->content.override_index.Of(pool.pool()).empty();
}

// Renders the revisions from which a workload may have been rendered.
struct Candidates {
  const PoolRef& pool;
  const WorkloadRef& workload;
  const Json& live;
  const InputsOfLive made = ReadInputs(live);

  // Returns the origin that the workload has if it was rendered from `revision`. If `with_overrides` is true, applies
  // the overrides of the revision, although the workload has no annotation that records overrides.
  Origin MadeBy(const RevisionPtr& revision, bool with_overrides = false) const {
    Origin origin{{revision, made.inputs}, std::nullopt, false, false};
    if (made.guessed() || with_overrides)
      origin.spec.inputs.overrides = InputsFor(revision->content, pool.pool()).overrides;
    if (made.of_openyurt()) origin.spec.inputs.tolerations = TaintsBehindTemplate(live, revision->content);
    if (auto rendered = RenderWorkload(origin.spec, workload.pool)) {
      origin.intact = IsMerged(*rendered, live);
      origin.rendered = *std::move(rendered);
    }
    return origin;
  }
};

// Returns the origin of a workload that OpenYurt wrote. `named` is the origin if the workload's label is correct.
//
// The label may refer to an older revision: the webhook of OpenYurt 1.5 and 1.6 sets it to status.currentRevision,
// which never changes. So all revisions are tried. If the workload has the values of several, the revision with the
// most values is the origin, because OpenYurt replaces the spec as a whole. Each revision is tried without and with its
// overrides, because the overrides may repeat the values of a YurtAppOverrider.
//
// If the workload has the values of no revision, a webhook has changed the workload. The origin is then the newest
// revision of OpenYurt, because OpenYurt updates all pools together, or the label's revision if it is newer. An undo
// raises the number of a revision, so OpenYurt's numbers are compared. Older versions of this operator did not store
// them, so a revision after currentRevision without a stored number does not count as OpenYurt's newest.
Origin OriginOfOpenYurt(const Snapshot& snapshot, const Candidates& candidates, const Origin& named) {
  std::vector<RevisionPtr> revisions = snapshot.revisions;
  std::stable_sort(revisions.begin(), revisions.end(),
                   [](const RevisionPtr& a, const RevisionPtr& b) { return a->first_number() > b->first_number(); });
  const auto newest = std::find_if(revisions.begin(), revisions.end(), [&](const RevisionPtr& revision) {
    const bool may_be_undo = snapshot.current != nullptr && revision->number > snapshot.current->number;
    return revision->content.of_openyurt && (revision->openyurt_number || !may_be_undo);
  });
  const RevisionPtr& label = named.spec.revision;
  const bool outdated =
      label != nullptr && newest != revisions.end() && label->first_number() < (*newest)->first_number();
  Origin best = outdated ? candidates.MadeBy(*newest) : named;
  const auto offer = [&](const Origin& other) {
    if (other.intact && (!best.intact || HasMoreValues(*other.rendered, *best.rendered))) best = other;
  };
  for (const RevisionPtr& revision : revisions) {
    offer(revision == label ? named : candidates.MadeBy(revision));
    if (HasOverrides(revision, candidates.pool)) offer(candidates.MadeBy(revision, true));
  }
  return best;
}

// Returns the spec from which the workload was rendered (its origin). A revision fits if the workload has all its
// values.
//
// If the label's revision fits, it is the origin. Otherwise, another actor changed the workload or the label, and
// another revision that fits is the origin. The label's revision is still the origin in these cases:
// - No other revision fits.
// - Its rendered workload has all values of the other revision. Example: a user changed an environment variable that an
//   older revision does not have.
// - The server does not keep the difference (PlanMemo::RecordNotKept). Example: a webhook reverts the new revision to
//   the old revision. Another origin would cause an endless series of updates.
Origin OriginOf(const Snapshot& snapshot, const PoolRef& pool, const WorkloadRef& workload, const Json& live,
                const PlanMemo& memo) {
  const Candidates candidates{pool, workload, live};
  Origin named{{nullptr, candidates.made.inputs}, std::nullopt, false, false};
  const std::string& label = workload.object->meta().Label(kRevisionLabel);
  for (const RevisionPtr& revision : snapshot.revisions) {
    if (revision->label == label) named = candidates.MadeBy(revision);
  }
  named.as_recorded = !candidates.made.guessed();
  if (named.rendered && !named.intact) {
    const MergeChanges changes = ChangesOfMerge(live, Repaired(named, live, snapshot.daemon));
    if (memo.IsNotKept(workload.object->meta().key.name, RenderSpecFingerprint(named.spec), changes.digest))
      return named;
  }
  if (candidates.made.of_openyurt()) return OriginOfOpenYurt(snapshot, candidates, named);
  if (named.intact) return named;
  for (const RevisionPtr& revision : snapshot.revisions) {
    if (revision == named.spec.revision) continue;
    Origin other = candidates.MadeBy(revision);
    if (other.intact && !(named.rendered && IsMerged(*other.rendered, *named.rendered))) return other;
  }
  return named;
}

// Keeps the workload's tolerations if they tolerate the taints of the pool, because a change would restart the pods.
// There are two cases:
// - The taints of the pool differ only in their order.
// - OpenYurt's rules apply, and the pods tolerate all taints. OpenYurt also does not update the workload then.
void KeepTolerations(const Origin& origin, RenderInputs& inputs) {
  const std::vector<Taint>& made = origin.spec.inputs.tolerations;
  const std::set<Taint> taints(inputs.tolerations.begin(), inputs.tolerations.end());
  bool keeps = std::set<Taint>(made.begin(), made.end()) == taints;
  if (!keeps && inputs.rules == 0 && origin.rendered) {
    const std::vector<Taint> tolerated = ToleratedTaints(*origin.rendered, 0);
    keeps = std::all_of(taints.begin(), taints.end(), [&](const Taint& taint) {
      return std::any_of(tolerated.begin(), tolerated.end(), [&](const Taint& by) {
        return (by.key.empty() || by.key == taint.key) && (by.effect.empty() || by.effect == taint.effect);
      });
    });
  }
  if (keeps) inputs.tolerations = made;
}

// Returns the spec that renders the workload's own revision for the pool as it is now. Returns nullopt if the pod
// template would not change, because other changes wait for the next revision.
std::optional<RenderSpec> Adapted(const Origin& origin, const PoolRef& pool) {
  const RenderSpec& from = origin.spec;
  if (from.revision == nullptr || !origin.rendered) return std::nullopt;
  RenderSpec adapted{from.revision, InputsFor(from.revision->content, pool.pool())};
  adapted.inputs.KeepRulesOf(from.inputs);
  KeepTolerations(origin, adapted.inputs);
  adapted.inputs.replicas = from.inputs.replicas;
  adapted.inputs.without_replicas = from.inputs.without_replicas;
  if (adapted.inputs == from.inputs) return std::nullopt;
  const auto rendered = RenderWorkload(adapted, pool.pool().name);
  if (!rendered || Compare(*origin.rendered, *rendered) != Difference::kPodTemplate) return std::nullopt;
  return adapted;
}

// Returns the workload's own spec with the replicas of `target`, the rendered workload of the target, or without
// replicas if `target` has none. Returns nullopt if the replicas stay the same.
std::optional<RenderSpec> Scaled(const Origin& origin, const Json& target) {
  constexpr std::int64_t kNone = -1;
  const std::int64_t replicas = IntAt(target, {"spec", "replicas"}, kNone);
  if (!origin.rendered || replicas > std::numeric_limits<int>::max()) return std::nullopt;
  if (replicas == IntAt(*origin.rendered, {"spec", "replicas"}, kNone)) return std::nullopt;
  RenderSpec scaled = origin.spec;
  scaled.inputs.replicas.reset();
  if (replicas != kNone) scaled.inputs.replicas = static_cast<int>(replicas);
  scaled.inputs.without_replicas = replicas == kNone;
  return scaled;
}

// Returns the spec of the target for the pool. A workload that OpenYurt created is rendered by OpenYurt's rules until
// its pod template changes for another reason. So a takeover from OpenYurt does not restart pods.
RenderSpec SpecForTarget(const Target& target, const PoolRef& pool, const Origin& origin) {
  RenderSpec for_target{target.revision, InputsFor(target.revision->content, pool.pool())};
  const RenderSpec& from = origin.spec;
  const bool same_revision = from.revision == target.revision;
  KeepTolerations(origin, for_target.inputs);
  if (from.inputs.rules == for_target.inputs.rules || !(same_revision || origin.rendered)) return for_target;
  RenderSpec by_its_rules = for_target;
  by_its_rules.inputs.KeepRulesOf(from.inputs);
  KeepTolerations(origin, by_its_rules.inputs);
  if (same_revision) return by_its_rules;
  const auto rendered = RenderWorkload(by_its_rules, pool.pool().name);
  const bool keeps_pods = rendered && Compare(*origin.rendered, *rendered) != Difference::kPodTemplate;
  return keeps_pods ? by_its_rules : for_target;
}

struct Examined {
  Assessment assessment;
  // True if other workloads may share the assessment: the revision label and the annotation of the workload record its
  // origin (Origin::as_recorded), and it needs no repair. Repairs are not shared, because they depend on the memo's
  // data about this workload.
  bool plain = false;
};

Examined Examine(const Snapshot& snapshot, const Target& target, const PoolRef& pool, const WorkloadRef& workload,
                 const PlanMemo& memo) {
  Examined examined;
  Assessment& assessment = examined.assessment;
  const Json live = workload.object->Parse();
  const Origin origin = OriginOf(snapshot, pool, workload, live, memo);
  assessment.from = origin.spec;

  RenderSpec for_target = SpecForTarget(target, pool, origin);
  // Most workloads are on the target, and are not rendered again.
  const bool is_same =
      origin.rendered && assessment.from.revision == target.revision && assessment.from.inputs == for_target.inputs;
  const Result<Json> wanted = is_same ? Result<Json>(Json()) : RenderWorkload(for_target, workload.pool);
  if (!wanted) {
    assessment.failure_reason = kInvalidOverride;
    assessment.failure_message = wanted.error().message;
    return examined;
  }
  const Difference difference =
      is_same           ? Difference::kNone
      : origin.rendered ? Compare(origin.spec.revision->content, *origin.rendered, target.revision->content, *wanted)
                        : Difference::kPodTemplate;
  assessment.only_service = difference == Difference::kServiceOnly;
  const bool updates =
      difference == Difference::kReplicasOnly || (difference != Difference::kNone && UpdatesAllPoolsNow(snapshot));
  assessment.on_target = updates || difference == Difference::kNone;
  assessment.to = updates ? for_target : assessment.from;
  if (!assessment.on_target) {
    assessment.adapted = Adapted(origin, pool);
    assessment.scaled = Scaled(origin, *wanted);
    assessment.for_target = std::move(for_target);
  }
  // If the origin can't be rendered, the only possible repair removes the annotation about an approved removal.
  if (!updates && !origin.rendered) {
    if (!workload.object->meta().Annotation(kRemovalAllowedAnnotation).empty())
      assessment.action = WorkloadAction::kRepair;
    return examined;
  }

  examined.plain = origin.intact && origin.as_recorded;
  if (!updates && origin.intact && HasStamp(live, snapshot.daemon, assessment.to)) return examined;
  Json merged;
  if (updates) {
    merged = ThreeWayMerge(origin.rendered ? *origin.rendered : *wanted, *wanted, live);
    if (origin.rendered && difference != Difference::kPodTemplate) KeepPodTemplate(live, merged);  // see MergedWorkload
    StampMetadata(merged, snapshot.daemon, assessment.to);
  } else {
    merged = Repaired(origin, live, snapshot.daemon);
  }
  if (merged == live) return examined;
  examined.plain = examined.plain && updates;
  if (!updates && memo.IsNotKept(workload.object->meta().key.name, RenderSpecFingerprint(assessment.to),
                                 ChangesOfMerge(live, merged).digest)) {
    return examined;
  }
  assessment.action = updates ? WorkloadAction::kUpdate : WorkloadAction::kRepair;
  return examined;
}

// Returns a digest, never 0, of all data on which an assessment depends.
std::uint64_t MemoKey(const Snapshot& snapshot, const Target& target, const PoolRef& pool,
                      const WorkloadRef& workload) {
  std::uint64_t key = Mix(workload.object->digest(), Fnv1a64(target.revision->name));
  key = Mix(key, pool.fingerprint());
  key = Mix(Mix(key, target.revision->spec_content_digest), UpdatesAllPoolsNow(snapshot) ? 1 : 2);
  return key == 0 ? 1 : key;
}

// Returns the fields that may differ between workloads with the same assessment: names, values of other clients, and
// fields that contain the pool's name.
const std::vector<FieldRule>& WorkloadFieldRules() {
  using Rules = std::vector<FieldRule>;
  const auto in = [](const char* key, Rules inside) { return FieldRule{key, FieldRule::kDescend, std::move(inside)}; };
  const auto ignore = [](const char* key) { return FieldRule{key, FieldRule::kIgnore, {}}; };
  const auto pool_in = [](const char* key) { return FieldRule{key, FieldRule::kSubstituteName, {}}; };
  static const auto& rules = *new Rules{
      ignore("status"),
      in("metadata", {ignore("name"), ignore("uid"), ignore("generation"), ignore("resourceVersion"),
                      ignore("creationTimestamp"), in("labels", {pool_in(kPoolNameLabel)}),
                      in("annotations", {pool_in(kRefNodePoolAnnotation), ignore(kUpdateRecordAnnotation)})}),
      in("spec", {in("selector", {in("matchLabels", {pool_in(kPoolNameLabel)})}),
                  in("template", {in("metadata", {in("labels", {pool_in(kPoolNameLabel)})}),
                                  in("spec", {in("nodeSelector", {pool_in(kNodePoolLabel)})})})})};
  return rules;
}

// Returns a key for PlanMemo::FindShared. Workloads with equal keys have equal assessments, even in different pools.
// This is not true for a pool with overrides, because an override may insert the pool's name into any field.
std::uint64_t SharedKey(const Snapshot& snapshot, const Target& target, const PoolRef& pool,
                        const WorkloadRef& workload) {
  std::uint64_t key = Mix(NormalizedDigestOf(*workload.object, workload.pool), Fnv1a64(target.revision->name));
  key = Mix(key, target.revision->spec_content_digest);
  for (const Taint& taint : pool.pool().taints) key = Mix(Mix(key, Fnv1a64(taint.key)), Fnv1a64(taint.effect));
  return Mix(key, UpdatesAllPoolsNow(snapshot) ? 1 : 2);
}

}  // namespace

bool IsOfRevision(const RenderSpec& spec, const RevisionPtr& revision) {
  return spec.revision != nullptr && revision != nullptr && spec.revision->name == revision->name;
}

Result<Json> RenderWorkload(const RenderSpec& spec, const std::string& pool) {
  return Render(spec.revision->content, spec.inputs, pool, spec.revision->label);
}

void StampMetadata(Json& merged, const YurtAppDaemon& daemon, const RenderSpec& to) {
  EnsureOwner(merged, daemon);
  // The pool is selected. So if a user approved the removal of its workload earlier, the approval no longer applies.
  Json& metadata = merged["metadata"];
  if (metadata.contains("annotations") && metadata["annotations"].is_object())
    metadata["annotations"].erase(kRemovalAllowedAnnotation);
  if (to.revision == nullptr) return;
  metadata["labels"][kRevisionLabel] = to.revision->label;
  // Workloads of this operator always get the annotation. A workload of OpenYurt (rules 0) gets it if it has overrides,
  // or the replicas of a newer revision. It also gets the annotation if an undo raised the revision's number, because
  // the label alone could be an outdated label of OpenYurt.
  const bool recorded = metadata.contains("annotations") && metadata["annotations"].contains(kRenderedFromAnnotation);
  const bool scaled = to.inputs.replicas || to.inputs.without_replicas;
  if (to.inputs.rules > 0 || recorded || !to.inputs.overrides.empty() || scaled || to.revision->openyurt_number) {
    metadata["annotations"][kRenderedFromAnnotation] = to.inputs.ToAnnotation();
  }
}

bool HasStamp(const Json& live, const YurtAppDaemon& daemon, const RenderSpec& to) {
  const Json* metadata = Find(live, {"metadata"});
  if (metadata == nullptr) return false;
  Json stamped{{"metadata", *metadata}};  // StampMetadata reads only the metadata.
  StampMetadata(stamped, daemon, to);
  return stamped["metadata"] == *metadata;
}

void PlanMemo::BeginPlan(const std::string& target) {
  if (target_ == target) return;
  target_ = target;
  for (auto& [workload, entry] : entries_) {
    entry.key = 0;
    entry.assessment.reset();
  }
  shared_.clear();
  last_.reset();
}

const Assessment* PlanMemo::Find(const std::string& workload, std::uint64_t key) const {
  const auto it = entries_.find(workload);
  return it != entries_.end() && it->second.key == key ? it->second.assessment.get() : nullptr;
}

const Assessment& PlanMemo::Put(const std::string& workload, std::uint64_t key, Assessment assessment) {
  Entry& entry = entries_[workload];
  entry.key = key;
  if (last_ == nullptr || *last_ != assessment) last_ = std::make_shared<const Assessment>(std::move(assessment));
  entry.assessment = last_;
  return *entry.assessment;
}

const Assessment* PlanMemo::FindShared(std::uint64_t key) const {
  const auto it = shared_.find(key);
  return it == shared_.end() ? nullptr : &it->second;
}

void PlanMemo::PutShared(std::uint64_t key, const Assessment& assessment) {
  constexpr std::size_t kMost = 64;
  if (shared_.size() >= kMost) shared_.clear();
  shared_.emplace(key, assessment);
}

void PlanMemo::RecordNotKept(const std::string& workload, std::uint64_t rendered, std::uint64_t difference) {
  Entry& entry = entries_[workload];
  entry.key = 0;
  entry.not_kept = {rendered, difference};
}

bool PlanMemo::IsNotKept(const std::string& workload, std::uint64_t rendered, std::uint64_t difference) const {
  const auto it = entries_.find(workload);
  return it != entries_.end() && it->second.not_kept == std::pair(rendered, difference);
}

void PlanMemo::Forget(const std::string& workload) { entries_.erase(workload); }

std::uint64_t NormalizedDigestOf(const StoredObject& workload, const std::string& pool) {
  return workload.NormalizedDigest(WorkloadFieldRules(), pool);
}

std::uint64_t RenderSpecFingerprint(const RenderSpec& spec) {
  return Fnv1a64(spec.inputs.ToAnnotation(), Fnv1a64(spec.revision == nullptr ? "" : spec.revision->name));
}

RevisionPtr CommonOrigin(const Snapshot& snapshot) {
  RevisionPtr common;
  const PlanMemo memo;
  for (const WorkloadRef& workload : snapshot.workloads) {
    const PoolRef* const pool = FindPool(snapshot, workload.pool);
    if (pool == nullptr) continue;
    RevisionPtr origin = OriginOf(snapshot, *pool, workload, workload.object->Parse(), memo).spec.revision;
    if (origin == nullptr || (common != nullptr && origin != common)) return nullptr;
    common = std::move(origin);
  }
  return common;
}

const Assessment& Assess(const Snapshot& snapshot, const Target& target, const PoolRef& pool,
                         const WorkloadRef& workload, PlanMemo& memo) {
  const std::string& name = workload.object->meta().key.name;
  const std::uint64_t key = MemoKey(snapshot, target, pool, workload);
  if (const Assessment* known = memo.Find(name, key)) return *known;
  // Key 0: the assessment is not reused, because a write is needed, or because the revision is unknown and the cache
  // may show it later.
  const auto put = [&](Assessment assessment) -> const Assessment& {
    const bool lasts = assessment.action == WorkloadAction::kNone && assessment.from.revision != nullptr;
    return memo.Put(name, lasts ? key : 0, std::move(assessment));
  };
  if (HasOverrides(target.revision, pool)) return put(Examine(snapshot, target, pool, workload, memo).assessment);
  const std::uint64_t shared = SharedKey(snapshot, target, pool, workload);
  if (const Assessment* known = memo.FindShared(shared);
      known != nullptr && !HasOverrides(known->from.revision, pool)) {
    return put(*known);
  }
  Examined examined = Examine(snapshot, target, pool, workload, memo);
  if (examined.plain && examined.assessment.from.inputs.overrides.empty() &&
      !HasOverrides(examined.assessment.from.revision, pool)) {
    memo.PutShared(shared, examined.assessment);
  }
  return put(std::move(examined.assessment));
}

}  // namespace yad
