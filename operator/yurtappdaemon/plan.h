// What has to be written for one daemon. Pure: a function of a Snapshot (and a memo that only saves time).
#ifndef OPERATOR_YURTAPPDAEMON_PLAN_H_
#define OPERATOR_YURTAPPDAEMON_PLAN_H_

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/yurtappdaemon/assess.h"
#include "operator/yurtappdaemon/rollout.h"
#include "operator/yurtappdaemon/snapshot.h"
#include "operator/yurtappdaemon/update_record.h"

namespace yad {

enum class ServiceWrite {
  kNone,
  kCreate,
  kUpdate,  // the template asks for something else than before
  kRepair,  // somebody changed what is ours
};

// A StatefulSet, or a pod of it, that has not got on for so long may never do so by itself.
inline constexpr std::chrono::seconds kStuckAfter{10};

struct ServicePlan {
  std::string name;
  ServiceWrite write = ServiceWrite::kNone;
  ObjectPtr live;  // null: there is none yet
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
  // An update that a user holds back: the daemon is paused, OnDelete, a partition, a hold, an open approval.
  bool held = false;
  // An update that the rollout makes later by itself.
  bool waits = false;
  // With `held` or `waits`: the reason.
  WaitingFor waiting_for = WaitingFor::kNone;
  std::string hold;  // why the site holds the pool; "" if it does not, or does not say why
  // Of RollingUpdate: the pool's health so far; whether it is healthy, but not for minReadySeconds yet; whether it
  // should have become healthy by now; whether it went offline because of its update, as far as is known; whether it
  // joined with its workload and has never been healthy.
  PoolHealth health;
  bool soaking = false;
  bool overdue = false;
  bool dark = false;
  bool joining = false;
  // Of RollingUpdate: it has failed on the goal, and counts for maxFailures.
  bool failed = false;
  // Of RollingUpdate: the record that the write sets. none: the write leaves the record as it is.
  std::optional<UpdateRecord> record;
  // A StatefulSet that has not got on for a while, and may wait for a pod that never becomes ready (ReplaceStuckPods).
  bool may_be_stuck = false;
  // The Service that goes with `to`; none where its revision has none, and where nothing is made of the pool now.
  std::optional<ServicePlan> service;
  // The server refused these writes lately, and they are not tried again yet.
  std::optional<RefusedWrite> withheld;
  std::string failure_reason;  // InvalidPoolName …; nothing is written then
  std::string failure_message;
};

bool WritesAnything(const PoolPlan& pool);
// Whether the pool, and not (only) the daemon, asks for the update.
bool IsForThePool(const PoolPlan& pool);

struct Removal {
  WorkloadRef workload;
  // Set for a second workload of a pool: the one that stays. Who deletes makes sure first that it is still there.
  std::optional<WorkloadRef> kept = std::nullopt;
  // Set for one that only a token allows: the workload is marked with it before any of them is removed.
  std::string mark = {};
};

// A Service of ours that no pool asks for any more.
struct ServiceRemoval {
  ServiceRef service;
  // Set where its pool is selected, and is to have none, or one with another name: its place in Plan::pools. Else it
  // goes when the pool's workloads have gone.
  std::optional<std::size_t> pool;
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

// How a rollout stands, with what only the snapshot knows.
struct Rollout {
  Goal goal;
  RolloutDecision decision;
};

struct Plan {
  std::vector<PoolPlan> pools;       // as in the snapshot
  std::vector<Removal> removals;     // workloads of pools that are selected no longer, and duplicates
  std::vector<WorkloadRef> leaving;  // workloads of such pools that are being deleted already
  std::vector<ServiceRemoval> service_removals;
  HeldRemovals held;               // GuardRemovals moves them here
  std::optional<Rollout> rollout;  // of RollingUpdate
  std::optional<WallTime> wake;    // when time alone changes something: a soak or a deadline ends
  std::set<std::string> orphans;   // uids of all workloads without a controller that the plan was made with
};

Plan MakePlan(const Snapshot& snapshot, PlanMemo& memo);

// The object to PUT so that the live workload becomes plan.to: a three-way merge with labels, annotations and owner in
// place. Equal to `live`: nothing to write. Where plan.to is unknown, only the owner.
Result<Json> MergedWorkload(const YurtAppDaemon& daemon, const PoolPlan& plan, Json live);
// Whether that is `live`, where plan.from is plan.to. Cheap where it is so.
bool NeedsNoWrite(const YurtAppDaemon& daemon, const PoolPlan& plan, const Json& live);
// The object to POST. A StatefulSet whose template names no Service gets that of its pool, for good: no rendering
// speaks of it, because it can't be changed.
Result<Json> NewWorkload(const YurtAppDaemon& daemon, const PoolPlan& plan);
}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_PLAN_H_
