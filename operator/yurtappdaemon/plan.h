// What has to be written for one daemon. Pure: a function of a Snapshot (and a memo that only saves time).
#ifndef OPERATOR_YURTAPPDAEMON_PLAN_H_
#define OPERATOR_YURTAPPDAEMON_PLAN_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "operator/workload/render.h"
#include "operator/yurtappdaemon/snapshot.h"

namespace yad {

enum class Write {
  kNone,
  kCreate,
  kMove,    // to another revision, or to the pool as it is now
  kRepair,  // somebody changed what is ours
  kAdopt,   // an orphan of an earlier daemon of this name
};

// Reasons of failures that are not the revision's. InvalidPoolName, WorkloadConflict, and a create that quota refuses.
inline constexpr char kInvalidPoolName[] = "InvalidPoolName";
inline constexpr char kWorkloadConflict[] = "WorkloadConflict";
inline constexpr char kQuotaExceeded[] = "QuotaExceeded";

// A revision as it is rendered for one pool.
struct Target {
  RevisionPtr revision;  // null: unknown (a label that names no revision of ours)
  RenderInputs inputs;
};

struct PoolPlan {
  std::string pool;
  bool offline = false;
  Write write = Write::kNone;
  std::optional<WorkloadRef> workload;  // none: there is none yet
  Target from;                          // what made the live workload; unset for kCreate
  Target to;                            // what it is meant to be now
  // `to` renders as the daemon's update revision does: the pool needs no move.
  bool on_update = false;
  // A move that is held back (the daemon is paused, or OnDelete).
  bool held = false;
  std::string failure_reason;  // InvalidPoolName …; nothing is written then
  std::string failure_message;
};

struct Removal {
  WorkloadRef workload;
  // Set for a second workload of a pool: the one that stays. Who deletes makes sure first that it is still there.
  std::optional<WorkloadRef> kept = std::nullopt;
  // Set for one that only a token allows: the workload is marked with it before any of them is removed.
  std::string mark = {};
};

// Removals that do not happen now.
struct HeldRemovals {
  std::vector<WorkloadRef> workloads;
  // Of those that are blocked until somebody allows them. All empty: it is not decided yet.
  std::string token;
  std::string reason;
  std::string message;

  bool blocked() const { return !token.empty(); }
  bool undecided() const { return !workloads.empty() && token.empty(); }
};

struct Plan {
  std::vector<PoolPlan> pools;       // as in the snapshot
  std::vector<Removal> removals;     // workloads of pools that are selected no longer, and duplicates
  std::vector<WorkloadRef> leaving;  // workloads of such pools that are being deleted already
  HeldRemovals held;                 // GuardRemovals moves them here
  std::set<std::string> orphans;     // uids of all workloads without a controller that the plan was made with
};

// Remembers which workloads were found to need no write, so that a plan costs about nothing where nothing changed.
// Entries are keyed by everything the verdict depends on: a stale memo is impossible, a missing one only costs time.
// Not thread-safe: one per daemon.
class PlanMemo {
 public:
  struct Verdict {
    Write write = Write::kNone;
    Target from, to;
    bool on_update = false;
    bool held = false;
    std::string failure_reason, failure_message;
  };
  const Verdict* Find(const std::string& workload, std::uint64_t key) const;
  void Put(const std::string& workload, std::uint64_t key, Verdict verdict);
  // The server does not keep `difference` (UndoneDifference) of what is written for `rendered`, and will not the next
  // time: until what it drops, the spec's generation or the target is another, it is not written again. So somebody's
  // annotation is no reason to try once more.
  void Settle(const std::string& workload, std::uint64_t rendered, std::uint64_t difference);
  bool Settled(const std::string& workload, std::uint64_t rendered, std::uint64_t difference) const;
  void Forget(const std::string& workload);

 private:
  struct Entry {
    std::uint64_t key = 0;
    Verdict verdict;
    std::uint64_t settled_rendered = 0;
    std::uint64_t settled_difference = 0;
  };
  std::unordered_map<std::string, Entry> entries_;
};

Plan MakePlan(const Snapshot& snapshot, PlanMemo& memo);

// The object to PUT so that the live workload becomes plan.to: a three-way merge with labels, annotations and owner in
// place. Equal to `live`: nothing to write. Where plan.to is unknown, only the owner.
Result<Json> MergedWorkload(const YurtAppDaemon& daemon, const PoolPlan& plan, const Json& live);
// The object to POST.
Result<Json> NewWorkload(const YurtAppDaemon& daemon, const PoolPlan& plan);
// Fingerprints for PlanMemo::Settle: of plan.to, and of what a merge would change in the live workload.
std::uint64_t TargetFingerprint(const Target& target);
std::uint64_t UndoneDifference(const Json& live, const Json& merged);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_H_
