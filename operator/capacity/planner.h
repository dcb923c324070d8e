// Plans which nodes one pool leases and releases. Pure: a function of one snapshot, and deterministic for any order of
// its nodes and pods. The only memory is in the snapshot.
#ifndef OPERATOR_CAPACITY_PLANNER_H_
#define OPERATOR_CAPACITY_PLANNER_H_

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
  PoolAttributes pool;             // given to a node when it joins
  bool pool_gone = false;          // or being deleted; treated as mode Drain
  bool stopped = false;            // Auto is refused (see the conditions): nothing is leased or released
  std::vector<const Node*> nodes;  // the pool's nodes, and candidates for spare nodes
  std::vector<const Pod*> pods;    // pods on these nodes, and waiting pods
  WallTime now;
};

struct CapacityPlan {
  struct Lease {
    const Node* node = nullptr;  // nullptr: no free node fits
    std::vector<const Pod*> pods;
    std::string standby;     // the standby entry, if there are no pods
    StringMap requirements;  // labels that the pods or the standby require
  };
  struct Release {
    enum class Cause { kIdle, kNotReady, kNotJoined, kDraining };
    const Node* node = nullptr;
    NodeLease lease;     // the node's current lease
    bool begun = false;  // the phase is Releasing already
    Cause cause = Cause::kIdle;
  };
  struct Change {
    const Node* node = nullptr;
    NodeLease before, after;
    const Pod* pod = nullptr;  // newly expected; nullptr: none
  };
  struct StandbyCount {
    std::string name;
    int want = 0;
    int have = 0;  // idle and healthy now
  };

  std::vector<Lease> leases;                        // within the cycle's limit; includes those without a node
  std::vector<Release> releases;                    // sorted by node name
  std::vector<Change> changes;                      // of leased nodes that stay
  std::map<std::string, std::string> expectations;  // namespace/name of a waiting pod -> node
  std::vector<Shortage> shortages;                  // sorted
  int leased = 0, idle = 0, in_use = 0, joining = 0, releasing = 0, quarantined = 0;
  std::vector<StandbyCount> standby;
  std::optional<WallTime> wake;  // when the plan changes without an event
};

CapacityPlan PlanCapacity(const CapacityInput& input);

// {"leases": [{"node", "for"}], "releases": [], "expectations": {}, "shortages": []}
Json ToJson(const CapacityPlan& plan);

// Returns why a node stays out of the inventory after its release; "" if it does not.
std::string QuarantineReason(const NodePoolAutoscaler& autoscaler, const Node& node, const NodeLease& lease,
                             WallTime now);

// Returns whether the inventory selects the node, and it is in no pool, not leased, Ready, schedulable, not quarantined
// and not being deleted.
bool IsFree(const Node& node, const NodePoolAutoscaler& autoscaler);
// Returns the labels that a pod requires of a node, except the pool's.
StringMap RequirementsOf(const Pod& pod);

}  // namespace yad

#endif  // OPERATOR_CAPACITY_PLANNER_H_
