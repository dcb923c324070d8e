// What made one workload, and what the goal asks of it. Pure; a memo only saves time.
#ifndef OPERATOR_YURTAPPDAEMON_ASSESS_H_
#define OPERATOR_YURTAPPDAEMON_ASSESS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "operator/workload/render.h"
#include "operator/yurtappdaemon/goal.h"
#include "operator/yurtappdaemon/snapshot.h"

namespace yad {

enum class Write {
  kNone,
  kCreate,
  kMove,    // to another revision, or to the pool as it is now
  kRepair,  // somebody changed what is ours
  kAdopt,   // an orphan of an earlier daemon of this name
};

// A revision as it is rendered for one pool.
struct Target {
  RevisionPtr revision;  // null: unknown (a label that names no revision of ours)
  RenderInputs inputs;

  bool operator==(const Target&) const = default;
};
Result<Json> RenderTarget(const Target& target, const std::string& pool);
// Puts what stands outside the rendering into the object to write: owner, revision label, record of the inputs.
void Complete(Json& merged, const YurtAppDaemon& daemon, const Target& to);
// Whether that would change nothing.
bool IsComplete(const Json& live, const YurtAppDaemon& daemon, const Target& to);

struct Verdict {
  Write write = Write::kNone;
  Target from;  // what made the workload
  Target to;    // what it is to be now: `from`, or the goal where it may be moved at once
  bool on_goal = false;
  bool only_service = false;  // the goal changes nothing of the workload but its replicas
  // Where `to` is not the goal: the goal, and its own revision for the pool as it is now where that is another pod
  // template.
  std::optional<Target> move, adapted;
  std::string failure_reason, failure_message;

  bool operator==(const Verdict&) const = default;
};

// Remembers which workloads were found to need no write, so that a plan costs about nothing where nothing changed.
// Entries are keyed by everything the verdict depends on: a stale memo is impossible, a missing one only costs time.
// Not thread-safe: one per daemon.
class PlanMemo {
 public:
  // Before each plan. Verdicts of another goal are found by nobody, and each keeps revisions parsed: they are released.
  void BeginPlan(const std::string& goal);
  const Verdict* Find(const std::string& workload, std::uint64_t key) const;
  // Key 0: found by nobody.
  const Verdict& Put(const std::string& workload, std::uint64_t key, Verdict verdict);
  // For workloads that are alike in all that a verdict depends on, each with its own pool's name.
  const Verdict* FindAlike(std::uint64_t key) const;
  void PutAlike(std::uint64_t key, const Verdict& verdict);
  // The server does not keep `difference` (UndoneDifference) of what is written for `rendered`, and will not the next
  // time: until what it drops, the spec's generation or the target is another, it is not written again. So somebody's
  // annotation is no reason to try once more.
  void Settle(const std::string& workload, std::uint64_t rendered, std::uint64_t difference);
  bool Settled(const std::string& workload, std::uint64_t rendered, std::uint64_t difference) const;
  void Forget(const std::string& workload);

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::shared_ptr<const Verdict> verdict;
    std::uint64_t settled_rendered = 0;
    std::uint64_t settled_difference = 0;
  };
  std::string goal_;  // a revision's name
  std::unordered_map<std::string, Entry> entries_;
  std::unordered_map<std::uint64_t, Verdict> alike_;
  std::shared_ptr<const Verdict> last_;  // Most workloads of a daemon have the same: one for all of them.
};

// A pool's workload. The answer lives in the memo, until something is put there for the same workload.
const Verdict& Assess(const Snapshot& snapshot, const Goal& goal, const PoolRef& pool, const WorkloadRef& workload,
                      PlanMemo& memo);

// A digest of all that a verdict depends on of a pool's workload: equal ones mean that two differ in nothing but that
// each has its own pool's name where a rendering without overrides puts it.
std::uint64_t LikenessOf(const StoredObject& workload, const std::string& pool);

// For PlanMemo::Settle.
std::uint64_t TargetFingerprint(const Target& target);

// What a merge would change in the live workload.
struct Undone {
  std::uint64_t digest = 0;  // of all places that differ with both of their values, and of the workload's generation
  std::string at;            // the first of them, a JSON pointer; "" where nothing differs
};
Undone UndoneDifference(const Json& live, const Json& merged);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_ASSESS_H_
