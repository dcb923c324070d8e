// The input and the output of the planner.
#ifndef OPERATOR_CAPACITY_CAPACITY_PLAN_H_
#define OPERATOR_CAPACITY_CAPACITY_PLAN_H_

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/api/node.h"
#include "operator/api/pod.h"
#include "operator/capacity/autoscaler.h"
#include "operator/capacity/lease.h"

namespace yad {

struct CapacityInput {
  const NodePoolAutoscaler& autoscaler;
  PoolAttributes pool;             // labels, annotations and taints for nodes of the pool
  bool pool_gone = false;          // the pool is gone or being deleted, so its nodes are released
  bool stopped = false;            // leases and releases must not begin; see WhyStopped in capacity_reconciler.h
  std::vector<const Node*> nodes;  // the pool's nodes, free nodes and quarantined nodes
  std::vector<const Pod*> pods;    // pods on these nodes, and pods without a node
  WallTime now;
  std::set<const Node*> rejected = {};  // leases and releases of these nodes must not begin; see NodeRejections

  bool drains() const { return pool_gone || autoscaler.mode == CapacityMode::kDrain; }
  // Returns whether the plan may change nodes. Otherwise, it may only complete or undo releases that have begun.
  bool acts() const { return !stopped && (drains() || autoscaler.mode == CapacityMode::kAuto); }
  bool acts_on(const Node* node) const { return acts() && !rejected.contains(node); }
};

struct CapacityPlan {
  struct Lease {
    const Node* node = nullptr;  // nullptr: no free node fits
    std::vector<const Pod*> pods;
    std::string standby;     // the name of the standby; "" if the lease is for pods
    StringMap requirements;  // labels that the node must have
  };
  struct Release {
    enum class Cause { kIdle, kNotReady, kNotJoined, kDraining };
    const Node* node = nullptr;
    NodeLease lease;     // the node's current lease
    bool begun = false;  // the phase of the lease is already Releasing
    Cause cause = Cause::kIdle;
  };
  struct Change {
    const Node* node = nullptr;
    NodeLease before, after;
    const Pod* pod = nullptr;  // the pod that the node is reserved for from now on; nullptr: none
  };
  struct StandbyCount {
    std::string name;
    int want = 0;
    int have = 0;  // idle nodes that are Ready
  };

  std::vector<Lease> leases;                        // new leases, and leases for which no node was found
  std::vector<Release> releases;                    // sorted by node name
  std::vector<Change> changes;                      // of leased nodes that are not released
  std::map<std::string, std::string> expectations;  // the node reserved for each waiting pod, by namespace/name
  std::vector<Shortage> shortages;                  // sorted
  int leased = 0, idle = 0, in_use = 0, joining = 0, releasing = 0, quarantined = 0;
  std::vector<StandbyCount> standby;
  std::optional<WallTime> wake;  // the time of the next plan, if no event arrives earlier

  void WakeAt(WallTime then) { wake = wake ? std::min(*wake, then) : then; }
};

// The counters of a plan, with their names in the metrics and in the status.
struct CapacityCounter {
  const char* metric;
  const char* field;
  int CapacityPlan::*count;
};
inline constexpr CapacityCounter kCapacityCounters[] = {
    {"leased", "leased", &CapacityPlan::leased},          {"idle", "idle", &CapacityPlan::idle},
    {"in_use", "inUse", &CapacityPlan::in_use},           {"joining", "joining", &CapacityPlan::joining},
    {"releasing", "releasing", &CapacityPlan::releasing}, {"quarantined", "quarantined", &CapacityPlan::quarantined}};

// Plans which nodes one pool leases and releases. The plan depends only on the input, and not on the order of its nodes
// and pods. The input's shortages are the only memory of earlier plans.
CapacityPlan PlanCapacity(const CapacityInput& input);

// Returns {"leases": [{"node", "for"}], "releases": [], "expectations": {}, "shortages": []} for /debug/capacity.
Json ToJson(const CapacityPlan& plan);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_CAPACITY_PLAN_H_
