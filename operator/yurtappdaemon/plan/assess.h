// Finds out from which revision and inputs a workload was rendered, and which write updates it to the target. Pure: the
// memo only makes it faster.
//
// Terms:
//
// - rendered workload: the result of Render for a revision and one pool
// - inputs: the data besides the revision on which a rendered workload depends, such as the pool's taints and overrides
// - target: the revision that the pools must have now (observe/target.h)
// - repair: a write that restores values that another actor has changed
#ifndef OPERATOR_YURTAPPDAEMON_PLAN_ASSESS_H_
#define OPERATOR_YURTAPPDAEMON_PLAN_ASSESS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "operator/workload/render.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "operator/yurtappdaemon/observe/target.h"
#include "operator/yurtappdaemon/plan/merge_changes.h"

namespace yad {

enum class WorkloadAction {
  kNone,
  kCreate,
  kUpdate,  // an update to another revision, or for a change of the pool
  kScale,   // changes only the replicas; the other changes of the target wait
  kRepair,  // another actor changed values of the operator
  kAdopt,   // an earlier daemon of this name left the workload
};

// A revision and the inputs to render it for one pool.
struct RenderSpec {
  RevisionPtr revision;  // null: unknown, because the label does not refer to a revision of the daemon
  RenderInputs inputs;

  bool operator==(const RenderSpec&) const = default;
};
// Returns whether the spec has this revision. Compares the names, because an assessment may keep an older copy of the
// revision. Returns false if a revision is unknown (null).
bool IsOfRevision(const RenderSpec& spec, const RevisionPtr& revision);
// Renders a spec whose revision is known. Fails as Render does.
Result<Json> RenderWorkload(const RenderSpec& spec, const std::string& pool);
// Sets the metadata that a rendered workload lacks: the owner reference, the revision label, and the annotation that
// records the inputs. Removes the annotation about an approved removal.
void StampMetadata(Json& merged, const YurtAppDaemon& daemon, const RenderSpec& to);
// Returns whether StampMetadata would change nothing.
bool HasStamp(const Json& live, const YurtAppDaemon& daemon, const RenderSpec& to);

struct Assessment {
  WorkloadAction action = WorkloadAction::kNone;
  RenderSpec from;  // the spec from which the workload was rendered
  RenderSpec to;    // the spec of the write: the target if it may be written now, otherwise `from`
  bool on_target = false;
  // True if an update to the target would change only the Service, or only the Service and the replicas.
  bool only_service = false;
  // The specs of other possible writes. They are set only if on_target is false.
  // - `for_target`: the target.
  // - `adapted`: the workload's own revision, rendered for the pool as it is now. Set only if the pod template changes.
  // - `scaled`: `from` with the replicas of the target, or without replicas. Set only if the replicas change.
  std::optional<RenderSpec> for_target, adapted, scaled;
  std::string failure_reason, failure_message;

  bool operator==(const Assessment&) const = default;
};

// Keeps the assessments of workloads that do not need a write, so that a reconcile without changes is cheap. Entries
// are never outdated, because a key covers everything on which an assessment depends. Belongs to one daemon. Not
// thread-safe.
class PlanMemo {
 public:
  // Must be called before each plan. `target` is the name of the revision that the pools must have. If it has changed,
  // all assessments are dropped to save memory.
  void BeginPlan(const std::string& target);
  const Assessment* Find(const std::string& workload, std::uint64_t key) const;
  // Keeps an assessment. If `key` is 0, no later call of Find returns it.
  const Assessment& Put(const std::string& workload, std::uint64_t key, Assessment assessment);
  // Returns the assessment of another workload that differs at most in its pool's name, or nullptr.
  const Assessment* FindShared(std::uint64_t key) const;
  void PutShared(std::uint64_t key, const Assessment& assessment);
  // Records a write whose result the server does not keep, for example because a webhook reverts it. IsNotKept then
  // returns true until the difference, the workload's generation or the render spec changes.
  // - `rendered`: RenderSpecFingerprint of the write
  // - `difference`: MergeChanges::digest of the values that the server did not keep
  void RecordNotKept(const std::string& workload, std::uint64_t rendered, std::uint64_t difference);
  bool IsNotKept(const std::string& workload, std::uint64_t rendered, std::uint64_t difference) const;
  void Forget(const std::string& workload);

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::shared_ptr<const Assessment> assessment;
    std::pair<std::uint64_t, std::uint64_t> not_kept;  // `rendered` and `difference` of RecordNotKept
  };
  std::string target_;  // the name of the target's revision
  std::unordered_map<std::string, Entry> entries_;
  std::unordered_map<std::uint64_t, Assessment> shared_;
  std::shared_ptr<const Assessment> last_;  // shared by the entries, because most assessments of a daemon are equal
};

// Returns the assessment of a pool's workload. The reference is valid until Put or Forget for this workload, or until
// BeginPlan for another target.
const Assessment& Assess(const Snapshot& snapshot, const Target& target, const PoolRef& pool,
                         const WorkloadRef& workload, PlanMemo& memo);

// Returns the revision from which the workloads of all selected pools were rendered. Returns nullptr if they have
// different revisions, or an unknown revision. Slow, because it renders each workload.
RevisionPtr CommonOrigin(const Snapshot& snapshot);

// Returns a digest of the parts of a workload on which its assessment depends. Workloads that differ only in the name
// of their pool have equal digests, unless they have overrides.
std::uint64_t NormalizedDigestOf(const StoredObject& workload, const std::string& pool);

// Returns a digest for PlanMemo::RecordNotKept.
std::uint64_t RenderSpecFingerprint(const RenderSpec& spec);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_ASSESS_H_
