// The snapshot from which the planner makes a plan, and the plan. Plain data.
#ifndef OPERATOR_CAPACITY_CAPACITY_PLAN_H_
#define OPERATOR_CAPACITY_CAPACITY_PLAN_H_

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/node.h"
#include "operator/api/pod.h"
#include "operator/capacity/autoscaler.h"
#include "operator/capacity/lease.h"

namespace yad {

struct CapacityInput {
  const NodePoolAutoscaler& autoscaler;
  PoolAttributes pool;             // set on a node when it joins
  bool pool_gone = false;          // the pool is gone or being deleted; treated like mode Drain
  bool stopped = false;            // mode Auto is refused (see the conditions), so no lease and no release begins
  std::vector<const Node*> nodes;  // the pool's nodes, and nodes that may be spare
  std::vector<const Pod*> pods;    // pods on these nodes, and pods that wait
  WallTime now;

  bool drains() const { return pool_gone || autoscaler.mode == CapacityMode::kDrain; }
  // Returns whether the plan may change nodes. Other plans only complete or undo the releases that have begun.
  bool acts() const { return !stopped && (drains() || autoscaler.mode == CapacityMode::kAuto); }
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
    bool begun = false;  // the phase is already Releasing
    Cause cause = Cause::kIdle;
  };
  struct Change {
    const Node* node = nullptr;
    NodeLease before, after;
    const Pod* pod = nullptr;  // the pod that is expected from now on; nullptr: none
  };
  struct StandbyCount {
    std::string name;
    int want = 0;
    int have = 0;  // idle and healthy now
  };

  std::vector<Lease> leases;                        // within the limit of a cycle; includes leases without a node
  std::vector<Release> releases;                    // sorted by node name
  std::vector<Change> changes;                      // changes of leased nodes that stay
  std::map<std::string, std::string> expectations;  // the node of each waiting pod, by namespace/name of the pod
  std::vector<Shortage> shortages;                  // sorted
  int leased = 0, idle = 0, in_use = 0, joining = 0, releasing = 0, quarantined = 0;
  std::vector<StandbyCount> standby;
  std::optional<WallTime> wake;  // the next time at which the plan may change without an event

  void WakeAt(WallTime then) { wake = wake ? std::min(*wake, then) : then; }
};

// Returns {"leases": [{"node", "for"}], "releases": [], "expectations": {}, "shortages": []}.
Json ToJson(const CapacityPlan& plan);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_CAPACITY_PLAN_H_
